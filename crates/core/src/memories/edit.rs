//! Edit: a memory says something else. What says the same elsewhere is superseded by the same change, so that the words that
//! were chosen last stand alone.

use crate::documents::fold_blanks;
use crate::error::{Done, EngineError};
use crate::input;
use crate::kernel::conflict;
use crate::memories::correct::with_copies;
use crate::memories::place::{Known, Placement, Statement, Wanted};
use crate::memories::{Edit, MemoryService, Outcome, Remembered, bullet_in, same_but_for_time};
use crate::model::{DocumentName, Entry, EntryId, Kind, Layer, Namespace, Status, Verb};
use crate::ports::{Op, StoreError};
use crate::statements::Meaning;
use crate::text::{bullets, redact::redact};

/// What an edit does.
struct Edited {
    /// The memory as it is named from then on: a line is named after its text.
    id: EntryId,
    outcome: Outcome,
    superseded: Vec<EntryId>,
    redacted: Vec<&'static str>,
}

impl MemoryService<'_> {
    /// Changes a memory. What says the same elsewhere, of the same project, goes by the same change.
    pub fn edit(&self, reference: &str, edit: &Edit) -> Done<Remembered> {
        let id = self.resolve(reference)?;
        let (edited, stored) = self.write_placed(Verb::Edit, &|placement| self.plan_edit(&id, edit, placement))?;
        let Edited { id, outcome, superseded, redacted } = edited;
        let receipt = match stored.entry(&id) {
            Some(written) => self.receipt_of(written.clone(), outcome, redacted)?,
            None => self.receipt(&id, outcome, redacted)?,
        };
        Ok(Remembered { superseded, ..receipt })
    }

    fn plan_edit(&self, id: &EntryId, edit: &Edit, placement: &mut Placement) -> Done<Edited> {
        let entry = self.memory(id)?.entry;
        if edit.expected_version.is_some_and(|expected| expected != entry.version) {
            return Err(conflict(id));
        }
        let (next, redacted) = self.edited(&entry, edit)?;
        if same_but_for_time(&entry, &next) {
            return Ok(Edited { id: id.clone(), outcome: Outcome::Unchanged, superseded: Vec::new(), redacted });
        }
        let (id, superseded) = match (entry.kind, &entry.namespace) {
            (Kind::Bullet, Namespace::Document(name)) => self.plan_line_edit(name, &entry, &next, placement)?,
            _ => {
                self.check_key(&next)?;
                (id.clone(), self.plan_entry_edit(&entry, next, placement)?)
            }
        };
        Ok(Edited { id, outcome: Outcome::Updated, superseded, redacted })
    }

    /// A key names one memory.
    fn check_key(&self, next: &Entry) -> Done<()> {
        let Some(key) = next.key.as_deref().filter(|_| next.status == Status::Active) else { return Ok(()) };
        match self.entries.keyed(&next.namespace, next.project.as_deref(), key)? {
            Some(other) if other.id != next.id => Err(StoreError::KeyTaken { key: key.to_owned() }.into()),
            _ => Ok(()),
        }
    }

    /// An entry as it is to be. It takes over what its copies have: sources, labels, a key.
    pub(crate) fn plan_entry_edit(&self, entry: &Entry, next: Entry, placement: &mut Placement) -> Done<Vec<EntryId>> {
        if next.content == entry.content {
            placement.put(Op::Update(next));
            return Ok(Vec::new());
        }
        let copies = self.supersede_copies(&next, placement)?;
        let entries: Vec<Entry> = copies.iter().filter_map(Known::entry).cloned().collect();
        let key = next.key.clone().or_else(|| entries.iter().find_map(|copy| copy.key.clone()));
        let (importance, tags) = (next.importance, next.tags.clone());
        let with_copies = with_copies(next, &entries);
        let tags = input::labels(&with_copies.tags).map_or(tags, |labels| labels.tags);
        placement.put(Op::Update(Entry { key, importance, tags, ..with_copies }));
        Ok(copies.iter().map(|copy| copy.id().clone()).collect())
    }

    fn plan_line_edit(
        &self,
        name: &DocumentName,
        entry: &Entry,
        next: &Entry,
        placement: &mut Placement,
    ) -> Done<(EntryId, Vec<EntryId>)> {
        self.open_document(name, placement)?;
        let gone = || EngineError::NotFound { reference: entry.id.to_string() };
        let text = placement.text(name).unwrap_or_default().to_owned();
        let line = bullet_in(name, &text, &entry.id).ok_or_else(gone)?;
        // Untouched text stays as it stands in the file, secrets and all.
        let says_other = next.content != entry.content;
        let content = if says_other { &next.content } else { &line.content };
        placement.set_text(name, bullets::with_replaced(&text, &line, content, next.importance));
        let new = self.line_at(name, line.span.start, placement).ok_or_else(gone)?;
        let copies = match says_other {
            true => self.supersede_copies(&Entry { id: new, ..next.clone() }, placement)?,
            false => Vec::new(),
        };
        let text = placement.text(name).unwrap_or_default();
        self.documents.check_identity(name, text)?;
        let content = fold_blanks(&next.content);
        let says = |line: &crate::model::Bullet| redact(&line.content).text == content;
        let line = bullets::parse(name, text).into_iter().find(says).ok_or_else(gone)?;
        Ok((line.id, copies.iter().map(|copy| copy.id().clone()).collect()))
    }

    /// The line that begins at a byte of a document as the change leaves it.
    fn line_at(&self, name: &DocumentName, at: usize, placement: &Placement) -> Option<EntryId> {
        let lines = bullets::parse(name, placement.text(name)?);
        lines.into_iter().find(|line| line.span.start == at).map(|line| line.id)
    }

    /// Takes away what else says what a memory says from now on, of the same project; gives what that was.
    pub(crate) fn supersede_copies(&self, own: &Entry, placement: &mut Placement) -> Done<Vec<Known>> {
        if own.layer == Layer::Archive || own.status != Status::Active {
            return Ok(Vec::new());
        }
        let new = Meaning::of(&own.content);
        let known = self.known(&Statement::new(own.clone(), Wanted::Knowledge), placement)?;
        let mut copies: Vec<Known> = known.into_iter().filter(|known| is_copy(known, own, &new)).collect();
        // It can take one key over: two keys are two memories.
        let mut has_key = own.key.is_some();
        copies.retain(|copy| {
            let is_keyed = copy.entry().is_some_and(|entry| entry.key.is_some());
            let may_go = !(is_keyed && has_key);
            has_key |= is_keyed;
            may_go
        });
        for copy in &copies {
            match copy {
                Known::Line { name, id, .. } => drop(self.replace_line(name, id, &own.content, None, placement)?),
                Known::Entry(entry) => placement.put(Op::Update(self.retired(entry))),
            }
        }
        Ok(copies)
    }
}

/// Whether it says the same of the same project. The memory file of a project is its own.
fn is_copy(known: &Known, own: &Entry, new: &Meaning) -> bool {
    let may_go = match known {
        Known::Entry(entry) => entry.project == own.project,
        Known::Line { name, .. } => own.project.is_none() && name.as_project().is_none(),
    };
    may_go && *known.id() != own.id && Meaning::of(known.content()).is_same(new)
}
