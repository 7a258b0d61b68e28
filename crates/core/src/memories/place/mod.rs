//! The one writer of statements: every path that keeps what somebody said decides here where it goes.
//!
//! Goes in: a statement and where it came from. Comes out: operations and edits of documents for one change. A statement
//! that is known is confirmed; what it replaces is superseded, wherever it lives; else it goes to its one place. Never
//! happens: a write (whoever asked commits), the same statement active in two places.

mod known;
mod lines;

use jiff::{SignedDuration, Timestamp};

use crate::consolidation::facts::FactKind;
use crate::documents::fold_blanks;
use crate::error::{Done, EngineError};
use crate::input;
use crate::memories::{MemoryService, Outcome, same_but_for_time, successor};
use crate::model::{Document, DocumentName, Entry, EntryId, Importance, Kind, MemorySection, Source, Status};
use crate::ports::Op;
use crate::statements::{self, Meaning};

pub(crate) use known::Known;

/// What is known so much longer than a statement was said is no older news: the statement does not replace it.
const NEWS: SignedDuration = SignedDuration::from_hours(24);

/// Where a statement is to go.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wanted {
    /// Where statements of this kind belong, as consolidation names it.
    ByKind(FactKind),
    /// Among what is searched.
    Knowledge,
    /// Into the profile, under a heading where one is named.
    Profile { section: Option<String> },
    /// Into a section of a memory file.
    File { name: DocumentName, section: MemorySection },
}

/// A statement to be kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    /// The entry that it would be: text, source, weight, labels, conversation, provenance.
    pub(crate) entry: Entry,
    pub(crate) wanted: Wanted,
    /// When it was said, where that was not now.
    pub(crate) said_at: Option<Timestamp>,
    /// What it is known to replace.
    pub(crate) replaces: Vec<EntryId>,
    /// The weight that somebody gave it.
    pub(crate) weight: Option<Importance>,
}

impl Statement {
    /// A statement that was made just now and names nothing that it replaces.
    pub(crate) fn new(entry: Entry, wanted: Wanted) -> Self {
        Self { entry, wanted, said_at: None, replaces: Vec::new(), weight: None }
    }

    fn text(&self) -> &str {
        &self.entry.content
    }

    fn is_correction(&self) -> bool {
        self.wanted == Wanted::ByKind(FactKind::Correction)
    }

    /// Whether a document was asked for: what says the same elsewhere moves there.
    fn wants_document(&self) -> bool {
        matches!(self.wanted, Wanted::Profile { .. } | Wanted::File { .. })
    }
}

/// What became of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed {
    /// The entry or line that says it now.
    pub(crate) id: EntryId,
    /// What that says.
    pub(crate) content: String,
    /// The document of a line.
    pub(crate) document: Option<DocumentName>,
    pub(crate) outcome: Outcome,
    /// Whether nothing said it before.
    pub(crate) is_new: bool,
    /// What it replaced.
    pub(crate) superseded: Vec<EntryId>,
}

/// What a change will do: several statements may be placed by one change, each sees what those before it did.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    ops: Vec<Op>,
    documents: Vec<(Document, String)>,
    /// Documents cannot be written this time: everything becomes an entry.
    without_documents: bool,
    /// Whoever asked checks the length of the profile when all is placed.
    is_limit_checked_later: bool,
}

impl Placement {
    /// A placement that leaves documents alone.
    pub(crate) fn without_documents() -> Self {
        Self { without_documents: true, ..Self::default() }
    }

    /// The profile may be too long until all of a batch is placed.
    pub(crate) fn check_limit_later(&mut self) {
        self.is_limit_checked_later = true;
    }

    /// Whether this change takes an entry back, or changes it.
    pub(crate) fn is_retired(&self, id: &EntryId) -> bool {
        self.planned(id).is_some_and(|entry| entry.status == Status::Inactive)
    }

    /// The operations on entries.
    pub(crate) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The documents that change, as they are and as they will be.
    pub(crate) fn documents(&self) -> Vec<(Document, String)> {
        self.documents.iter().filter(|(before, after)| before.text != *after).cloned().collect()
    }

    /// A document as it will be.
    pub(crate) fn text(&self, name: &DocumentName) -> Option<&str> {
        self.documents.iter().find(|(before, _)| before.name == *name).map(|(_, after)| after.as_str())
    }

    pub(crate) fn set_text(&mut self, name: &DocumentName, text: String) {
        if let Some((_, after)) = self.documents.iter_mut().find(|(before, _)| before.name == *name) {
            *after = text;
        }
    }

    /// Adds an operation on an entry; one entry has one operation.
    pub(crate) fn put(&mut self, op: Op) {
        let known = self.ops.iter_mut().find(|known| match (&**known, &op) {
            (Op::Insert(known) | Op::Update(known), Op::Insert(new) | Op::Update(new)) => known.id == new.id,
            _ => false,
        });
        match (known, op) {
            (Some(Op::Insert(known)), Op::Update(new)) => *known = new,
            (Some(known), op) => *known = op,
            (None, op) => self.ops.push(op),
        }
    }

    /// An entry as it will be, where this change touches it.
    fn planned(&self, id: &EntryId) -> Option<&Entry> {
        self.entries().find(|entry| entry.id == *id)
    }

    /// The ids of the entries that it touches, in the order of its operations.
    pub(crate) fn planned_ids(&self) -> Vec<EntryId> {
        self.entries().map(|entry| entry.id.clone()).collect()
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.ops.iter().filter_map(|op| match op {
            Op::Insert(entry) | Op::Update(entry) => Some(entry),
            _ => None,
        })
    }
}

impl MemoryService<'_> {
    /// Decides what becomes of a statement, and adds that to the change. A line gets the turns that it came from.
    pub(crate) fn place(&self, statement: &Statement, placement: &mut Placement) -> Done<Placed> {
        let placed = self.decide(statement, placement)?;
        let turns = &statement.entry.provenance;
        if placed.document.is_some() && !turns.is_empty() {
            placement.put(Op::LineSources { line: placed.id.clone(), turns: turns.clone() });
        }
        Ok(placed)
    }

    fn decide(&self, statement: &Statement, placement: &mut Placement) -> Done<Placed> {
        let keyed = self.keyed(statement, placement)?;
        let new = Meaning::of(statement.text());
        let (mut said, mut replaced) = (None, Vec::new());
        for known in self.known(statement, placement)? {
            if keyed.as_ref().is_some_and(|keyed| *known.id() == keyed.id) {
                continue;
            }
            let meaning = Meaning::beside(known.content(), &new);
            if is_said(statement, &new, &known, &meaning) && is_better(&known, said.as_ref()) {
                said = Some(known);
            } else if is_replaced(statement, &new, &known, &meaning) {
                replaced.push(known);
            }
        }
        match (keyed, said) {
            (Some(keyed), said) => self.place_keyed(statement, &keyed, said.as_ref(), &replaced, placement),
            (None, Some(said)) => self.confirm_instead(statement, &said, &replaced, placement),
            (None, None) if replaced.is_empty() => self.add(statement, placement),
            (None, None) => self.supersede(statement, &replaced, placement),
        }
    }

    /// The entry that has the key of a statement.
    fn keyed(&self, statement: &Statement, placement: &Placement) -> Done<Option<Entry>> {
        let own = &statement.entry;
        let Some(key) = &own.key else { return Ok(None) };
        let known = self.entries.keyed(&own.namespace, own.project.as_deref(), key)?;
        let known = known.map(|known| placement.planned(&known.id).cloned().unwrap_or(known));
        let stands = |known: &Entry| known.status == Status::Active && !statement.replaces.contains(&known.id);
        Ok(known.filter(stands))
    }

    /// A statement that stands already is confirmed; what it replaces goes, and the statement names that.
    fn confirm_instead(
        &self,
        statement: &Statement,
        said: &Known,
        replaced: &[Known],
        placement: &mut Placement,
    ) -> Done<Placed> {
        // What goes first: its key may be taken over.
        for known in replaced {
            match known {
                Known::Line { name, id, .. } => drop(self.replace_line(name, id, statement.text(), None, placement)?),
                Known::Entry(entry) => placement.put(Op::Update(self.retired(entry))),
            }
        }
        let placed = self.confirm(statement, said, placement)?;
        if replaced.is_empty() {
            return Ok(placed);
        }
        let retired: Vec<EntryId> = replaced.iter().filter_map(Known::entry).map(|entry| entry.id.clone()).collect();
        if let Some(entry) = self.standing(&placed.id, placement)?.filter(|_| !retired.is_empty()) {
            placement.put(Op::Update(self.vouched(entry, &statement.entry, &retired)));
        }
        let superseded = placed.superseded.iter().chain(replaced.iter().map(Known::id)).cloned().collect();
        Ok(Placed { superseded, outcome: Outcome::Updated, ..placed })
    }

    /// An entry as the change leaves it.
    fn standing(&self, id: &EntryId, placement: &Placement) -> Done<Option<Entry>> {
        let planned = placement.planned(id).cloned();
        let entry = match planned {
            Some(entry) => Some(entry),
            None => self.entries.memory(id)?.map(|memory| memory.entry),
        };
        Ok(entry.filter(|entry| entry.kind == Kind::Entry))
    }

    /// What a key stands for says something else from now on. A document that says it already stands instead.
    fn place_keyed(
        &self,
        statement: &Statement,
        keyed: &Entry,
        said: Option<&Known>,
        replaced: &[Known],
        placement: &mut Placement,
    ) -> Done<Placed> {
        if let Some(said) = said.filter(|said| said.entry().is_none()) {
            placement.put(Op::Update(self.retired(keyed)));
            return self.confirm(statement, said, placement);
        }
        if replaced.iter().any(|known| known.entry().is_none()) {
            placement.put(Op::Update(self.retired(keyed)));
            return match said {
                Some(said) => self.confirm_instead(statement, said, replaced, placement),
                None => self.supersede(statement, replaced, placement),
            };
        }
        let others: Vec<&Entry> = said.into_iter().chain(replaced).filter_map(Known::entry).collect();
        others.iter().for_each(|entry| placement.put(Op::Update(self.retired(entry))));
        let mut next = successor(keyed, statement.entry.clone(), statement.weight);
        let superseded: Vec<EntryId> = others.iter().map(|entry| entry.id.clone()).collect();
        next.supersedes.extend(superseded.iter().cloned());
        let (id, content) = (next.id.clone(), next.content.clone());
        let is_same = same_but_for_time(keyed, &next);
        if !is_same {
            placement.put(Op::Update(next));
        }
        let outcome = if is_same { Outcome::Unchanged } else { Outcome::Updated };
        Ok(Placed { id, content, document: None, outcome, is_new: false, superseded })
    }

    /// What is known stands. A line that was asked for takes the place of an entry that says the same.
    fn confirm(&self, statement: &Statement, said: &Known, placement: &mut Placement) -> Done<Placed> {
        match said {
            Known::Line { name, id, content, .. } => Ok(Placed {
                id: id.clone(),
                content: content.clone(),
                document: Some(name.clone()),
                outcome: Outcome::Unchanged,
                is_new: false,
                superseded: Vec::new(),
            }),
            Known::Entry(entry) if statement.wants_document() => {
                let placed = self.add(statement, placement)?;
                placement.put(Op::Update(self.retired(entry)));
                Ok(Placed { superseded: vec![entry.id.clone()], ..placed })
            }
            Known::Entry(entry) => {
                let next = self.confirmed(entry, statement);
                let (id, content) = (entry.id.clone(), entry.content.clone());
                let has_more = |entry: &Entry| (entry.key.clone(), entry.tags.clone(), entry.importance);
                let outcome = if has_more(&next) == has_more(entry) { Outcome::Unchanged } else { Outcome::Updated };
                if !same_but_for_time(entry, &next) {
                    placement.put(Op::Update(next));
                }
                Ok(Placed { id, content, document: None, outcome, is_new: false, superseded: Vec::new() })
            }
        }
    }

    /// What is known with what the same statement adds: its sources, its labels, a key. A day that it names by its distance
    /// stays the day that was meant.
    fn confirmed(&self, known: &Entry, statement: &Statement) -> Entry {
        let (mut next, new) = (known.clone(), &statement.entry);
        if statements::has_relative_date(&known.content) {
            return next;
        }
        next.importance = statement.weight.unwrap_or(known.importance);
        for turn in &new.provenance {
            if !next.provenance.contains(turn) {
                next.provenance.push(turn.clone());
            }
        }
        // A kind is the program's guess; labels are what somebody gave.
        let given: &[String] = if matches!(statement.wanted, Wanted::ByKind(_)) { &[] } else { &new.tags };
        let mut tags: Vec<String> = known.tags.iter().chain(given).cloned().collect();
        // Who says it now vouches for it.
        if new.reservation().is_none() {
            tags.retain(|tag| known.reservation() != Some(tag));
        }
        next.tags = input::labels(&tags).map_or(next.tags, |labels| labels.tags);
        // A key belongs to a project: what another scope says keeps to itself.
        let key = new.key.clone().filter(|_| known.project == new.project);
        next.key = known.key.clone().or(key);
        next.source = known.source.max(new.source);
        next.updated_at = self.kernel.now;
        next
    }

    /// Puts a statement in the place of what it replaces: of a line, in its document; else of an entry.
    fn supersede(&self, statement: &Statement, replaced: &[Known], placement: &mut Placement) -> Done<Placed> {
        let mut placed = None;
        for known in replaced {
            if let Known::Line { name, id, .. } = known {
                let says = fold_blanks(statement.text());
                let says = placed.is_none().then_some(says.as_str());
                let line = match self.replace_line(name, id, statement.text(), says, placement) {
                    Err(EngineError::IdentityFull { .. }) if matches!(statement.wanted, Wanted::ByKind(_)) => {
                        self.replace_line(name, id, statement.text(), None, placement)?
                    }
                    line => line?,
                };
                placed = placed.or(line);
            }
        }
        let entries: Vec<&Entry> = replaced.iter().filter_map(|known| known.entry()).collect();
        entries.iter().for_each(|entry| placement.put(Op::Update(self.retired(entry))));
        let superseded: Vec<EntryId> = replaced.iter().map(|known| known.id().clone()).collect();
        let placed = match (placed, entries.first()) {
            (Some(line), _) => line,
            (None, Some(wrong)) if !statement.wants_document() => {
                self.insert_in_place(statement, wrong, &entries, placement)
            }
            (None, _) => self.add(statement, placement)?,
        };
        Ok(Placed { outcome: Outcome::Updated, superseded, ..placed })
    }

    /// A new entry with the place, the key and at least the weight of what it replaces, and the link.
    fn insert_in_place(
        &self,
        statement: &Statement,
        wrong: &Entry,
        replaced: &[&Entry],
        placement: &mut Placement,
    ) -> Placed {
        let own = &statement.entry;
        let heaviest = replaced.iter().map(|entry| entry.importance).fold(own.importance, Importance::max);
        let entry = Entry {
            key: own.key.clone().or_else(|| wrong.key.clone()),
            project: wrong.project.clone(),
            importance: heaviest,
            supersedes: replaced.iter().map(|entry| entry.id.clone()).collect(),
            ..own.clone()
        };
        insert(entry, placement)
    }

    /// A statement that is new goes to its one place.
    fn add(&self, statement: &Statement, placement: &mut Placement) -> Done<Placed> {
        let own = &statement.entry;
        match &statement.wanted {
            Wanted::Knowledge => Ok(insert(own.clone(), placement)),
            Wanted::File { name, section } => self.add_to_file(name, *section, own, placement),
            Wanted::Profile { section } => {
                let namespace = self.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
                self.open_document(&DocumentName::profile(namespace), placement)?;
                let line = self.add_to_profile(own, section.as_deref(), placement)?;
                line.ok_or_else(|| EngineError::invalid("the text", "cannot stand as a line of the profile"))
            }
            Wanted::ByKind(kind) => self.add_by_kind(own, *kind, placement),
        }
    }

    /// About the person: the profile, and knowledge that matters where that is full. Else knowledge, of the project that it
    /// was said in; a rule there matters.
    fn add_by_kind(&self, own: &Entry, kind: FactKind, placement: &mut Placement) -> Done<Placed> {
        let matters = Importance::new(0.75).unwrap_or_default();
        if self.kernel.settings.namespace.is_some() && is_of_person(own, kind) {
            match self.add_to_profile(own, None, placement) {
                Ok(Some(line)) => return Ok(line),
                Ok(None) | Err(EngineError::IdentityFull { .. }) => {}
                Err(error) => return Err(error),
            }
            let entry = Entry { project: None, task: None, importance: own.importance.max(matters), ..own.clone() };
            return Ok(insert(entry, placement));
        }
        let is_kind = matches!(kind, FactKind::Identity | FactKind::Constraint | FactKind::Correction);
        let is_project_rule =
            own.project.is_some() && (kind == FactKind::Preference || statements::is_rule(&own.content));
        let importance = if is_kind || is_project_rule { own.importance.max(matters) } else { own.importance };
        Ok(insert(Entry { importance, ..own.clone() }, placement))
    }
}

/// Whether a statement of this kind belongs into the profile.
fn is_of_person(entry: &Entry, kind: FactKind) -> bool {
    match kind {
        FactKind::Identity => statements::is_lasting(&entry.content),
        FactKind::Preference | FactKind::Constraint => {
            let is_theirs = entry.project.is_none() || statements::is_about_person(&entry.content);
            is_theirs && statements::is_lasting(&entry.content)
        }
        FactKind::Correction => {
            statements::about(&entry.content).is_some_and(|about| about.property != statements::Property::Is)
        }
        // A model may call a plain introduction a fact like others.
        FactKind::Fact => statements::tells_who(&entry.content) && statements::is_lasting(&entry.content),
        FactKind::Decision | FactKind::FollowUp => false,
    }
}

fn insert(entry: Entry, placement: &mut Placement) -> Placed {
    let (id, content) = (entry.id.clone(), entry.content.clone());
    placement.put(Op::Insert(entry));
    Placed { id, content, document: None, outcome: Outcome::Created, is_new: true, superseded: Vec::new() }
}

/// Whether this says what a statement says. A key is a name: what has another key is another memory.
fn is_said(statement: &Statement, new: &Meaning, known: &Known, meaning: &Meaning) -> bool {
    let has_other_key = statement.entry.key.is_some() && known.entry().is_some_and(|entry| entry.key.is_some());
    !has_other_key && !statement.replaces.contains(known.id()) && known.says(meaning, new)
}

/// Whether this is to be confirmed rather than what was found before: a line stands where a document was asked for, and an
/// entry beside it may say more.
fn is_better(known: &Known, said: Option<&Known>) -> bool {
    said.is_none_or(|said| known.entry().is_none() && said.entry().is_some())
}

/// Whether a statement takes the place of what is known. What somebody said matters much is left for the person to
/// correct, and so is what was learned after the statement was made.
fn is_replaced(statement: &Statement, new: &Meaning, known: &Known, meaning: &Meaning) -> bool {
    if statement.replaces.contains(known.id()) {
        return true;
    }
    let is_newer = statement.said_at.zip(known.learned_at()).is_some_and(|(said, at)| at.duration_since(said) > NEWS);
    let is_guess = statement.entry.source == Source::System;
    let is_weighed = |entry: &Entry| entry.source != Source::System && entry.importance.significance().value() >= 4;
    if is_newer || is_guess && known.entry().is_some_and(is_weighed) {
        return false;
    }
    known.is_replaced_by(meaning, new, statement.is_correction())
}
