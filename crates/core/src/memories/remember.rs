//! Remember: a memory that somebody asks for by name, layer or key, and facts for a memory file.

use std::cell::RefCell;

use crate::documents::{LineOutcome, Recorded, RecordedLine, fold_blanks};
use crate::error::{Done, EngineError};
use crate::kernel::{Race as _, conflict, retry};
use crate::model::{Actor, DocumentName, Entry, EntryId, Importance, Layer, MemorySection, Significance, Verb};
use crate::ports::{Op, Upcoming};
use crate::text::bullets;

use super::place::{Placed, Placement, Statement, Wanted};
use super::{MemoryService, NewMemory, Outcome, Remembered, same_but_for_time, successor};

/// What a change stored: the entries that were planned, by the ids that they were planned with.
pub(crate) struct Stored(Vec<(EntryId, Entry)>);

impl Stored {
    /// The memory that says what was planned under an id: the store keeps what is said twice once.
    pub(crate) fn id<'a>(&'a self, planned: &'a EntryId) -> &'a EntryId {
        self.entry(planned).map_or(planned, |entry| &entry.id)
    }

    /// What was stored under the id that it was planned with; none for lines of documents, and for what was known.
    pub(crate) fn entry(&self, planned: &EntryId) -> Option<&Entry> {
        self.0.iter().find(|(id, _)| id == planned).map(|(_, entry)| entry)
    }
}

impl MemoryService<'_> {
    /// Stores a memory. One that is known is confirmed, wherever it stands; what it replaces is superseded; under a key that
    /// is taken, it replaces what is there.
    pub fn remember(&self, new: &NewMemory) -> Done<Remembered> {
        let _reading = self.kernel.reading(Upcoming { searches: true, ..Upcoming::default() });
        match new.layer {
            Layer::Identity => self.remember_identity(new),
            Layer::Knowledge => {
                let (entry, redacted) = self.draft(new)?;
                let statement = Statement { weight: new.importance, ..Statement::new(entry, Wanted::Knowledge) };
                self.remember_statement(&statement, redacted)
            }
            Layer::Archive => retry(|| conflict(new.key.clone().unwrap_or_default()), || self.try_archive(new)),
        }
    }

    /// One more line of identity.
    fn remember_identity(&self, new: &NewMemory) -> Done<Remembered> {
        if self.kernel.settings.namespace.is_none() {
            return Err(EngineError::NoNamespace);
        }
        if new.key.is_some() || !new.tags.is_empty() || new.project.is_some() {
            return Err(EngineError::invalid("identity", "takes a text and a weight, and no key, tag or project"));
        }
        let (entry, redacted) = self.draft(&NewMemory { content: fold_blanks(&new.content), ..new.clone() })?;
        let (written, content) = bullets::weight(&entry.content);
        let importance = new.importance.or(written).unwrap_or_default();
        let entry = Entry { content: fold_blanks(&content), importance, ..entry };
        let actor = Actor { who: new.source, ..self.kernel.actor.clone() };
        let service = MemoryService { documents: self.documents.acting(&actor), ..*self };
        service.remember_statement(&Statement::new(entry, Wanted::Profile { section: None }), redacted)
    }

    fn remember_statement(&self, statement: &Statement, redacted: Vec<&'static str>) -> Done<Remembered> {
        self.documents.notice_all_quietly();
        let (placed, stored) = self.write_placed(Verb::Remember, &|placement| self.place(statement, placement))?;
        let id = stored.id(&placed.id);
        let outcome = if *id == placed.id { placed.outcome } else { Outcome::Unchanged };
        let receipt = match stored.entry(&placed.id) {
            Some(written) => self.receipt_of(written.clone(), outcome, redacted)?,
            None => self.receipt(id, outcome, redacted)?,
        };
        Ok(Remembered { superseded: placed.superseded, ..receipt })
    }

    /// Decides and commits until nobody was faster. A document that others keep changing is kept beside.
    pub(crate) fn write_placed<T>(&self, verb: Verb, decide: &dyn Fn(&mut Placement) -> Done<T>) -> Done<(T, Stored)> {
        let in_the_way: RefCell<Option<(DocumentName, String)>> = RefCell::default();
        let exhausted = || match in_the_way.take() {
            Some((name, text)) => self.documents.kept_beside(&name, &text),
            None => conflict("memory"),
        };
        retry(exhausted, || {
            let mut placement = Placement::default();
            let decided = decide(&mut placement)?;
            let documents = placement.documents();
            if placement.ops().is_empty() && documents.is_empty() {
                return Ok(Some((decided, Stored(Vec::new()))));
            }
            let committed = self.documents.commit(verb, placement.ops(), &documents);
            let is_files = matches!(committed, Ok(None));
            let Some(entries) = committed.unless_outrun_or_taken()?.flatten() else {
                let first = documents.into_iter().next().map(|(before, after)| (before.name, after));
                in_the_way.replace(first.filter(|_| is_files));
                return Ok(None);
            };
            let planned = placement.planned_ids();
            Ok(Some((decided, Stored(planned.into_iter().zip(entries).collect()))))
        })
    }

    /// Adds facts to a section of a memory file. One that is known in a document stays there; one that is known as an entry
    /// moves into the file.
    pub fn record(
        &self,
        file: &DocumentName,
        facts: &[(String, Significance)],
        section: MemorySection,
    ) -> Done<Recorded> {
        if section == MemorySection::Done {
            return self.documents.record_done(file, facts);
        }
        self.documents.check_namespace(file)?;
        if facts.is_empty() {
            return Err(EngineError::invalid("the text", "is empty"));
        }
        self.documents.notice_all_quietly();
        let statement = |(fact, weight): &(String, Significance)| -> Done<Statement> {
            let project = file.as_project().map(ToString::to_string);
            let new = NewMemory {
                source: self.kernel.actor.who,
                project,
                ..NewMemory::fact(self.documents.fact_text(fact, section)?)
            };
            let entry = Entry { importance: Importance::from(*weight), ..self.draft(&new)?.0 };
            Ok(Statement::new(entry, Wanted::File { name: file.clone(), section }))
        };
        let statements = facts.iter().map(statement).collect::<Done<Vec<_>>>()?;
        let place = |placement: &mut Placement| {
            statements.iter().map(|statement| self.place(statement, placement)).collect::<Done<Vec<_>>>()
        };
        let (placed, stored) = self.write_placed(Verb::Remember, &place)?;
        let mut lines: Vec<RecordedLine> = Vec::new();
        for Placed { id, content, outcome, .. } in placed {
            let outcome = if outcome == Outcome::Unchanged { LineOutcome::Unchanged } else { LineOutcome::Created };
            let id = stored.id(&id).clone();
            if lines.iter().all(|line| line.id != id) {
                lines.push(RecordedLine { id, content, outcome });
            }
        }
        Ok(Recorded { file: file.clone(), ids: lines.iter().map(|line| line.id.clone()).collect(), lines })
    }

    /// One attempt to keep something in the archive; `None` where another writer was faster.
    fn try_archive(&self, new: &NewMemory) -> Done<Option<Remembered>> {
        let (draft, redacted) = self.draft(new)?;
        let known = match &draft.key {
            Some(key) => self.entries.keyed(&draft.namespace, draft.project.as_deref(), key)?,
            None => None,
        };
        let (entry, outcome) = match known {
            None => (draft, Outcome::Created),
            Some(known) => {
                let next = successor(&known, draft, new.importance);
                if same_but_for_time(&known, &next) {
                    return self.receipt(&known.id, Outcome::Unchanged, redacted).map(Some);
                }
                (next, Outcome::Updated)
            }
        };
        let wanted = entry.id.clone();
        let op = if outcome == Outcome::Created { Op::Insert(entry) } else { Op::Update(entry) };
        let Some(entries) = self.kernel.apply(Verb::Remember, &[op]).unless_outrun_or_taken()? else { return Ok(None) };
        let entry = entries.into_iter().next().ok_or_else(|| conflict(&wanted))?;
        let outcome = if entry.id == wanted { outcome } else { Outcome::Unchanged };
        self.receipt_of(entry, outcome, redacted).map(Some)
    }
}
