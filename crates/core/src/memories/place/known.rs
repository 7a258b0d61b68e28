//! What is known that a new statement may repeat or replace: entries and lines of every document in reach.

use jiff::Timestamp;

use crate::error::Done;
use crate::memories::MemoryService;
use crate::model::{Bullet, DocumentName, Entry, EntryId, Kind, Layer, Namespace, Status};
use crate::recall::{Filter, Projects, RecallRequest};
use crate::statements::{self, Meaning};
use crate::text::bullets;
use crate::text::sentences::of_line;

use super::{Placement, Statement};

/// How many memories are compared with a new one.
const COMPARED: usize = 12;

/// An entry or a line of a document.
#[derive(Debug, Clone)]
pub(crate) enum Known {
    Entry(Box<Entry>),
    /// A line, and when it was written, where that is known.
    Line {
        name: DocumentName,
        id: EntryId,
        content: String,
        at: Option<Timestamp>,
    },
}

impl Known {
    pub(crate) fn id(&self) -> &EntryId {
        match self {
            Self::Entry(entry) => &entry.id,
            Self::Line { id, .. } => id,
        }
    }

    pub(crate) fn content(&self) -> &str {
        match self {
            Self::Entry(entry) => &entry.content,
            Self::Line { content, .. } => content,
        }
    }

    /// When it was learned, where that is known.
    pub(super) fn learned_at(&self) -> Option<Timestamp> {
        match self {
            Self::Entry(entry) => Some(entry.created_at),
            Self::Line { at, .. } => *at,
        }
    }

    pub(crate) fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Line { .. } => None,
        }
    }

    /// Whether it says this, as a whole or in one of its sentences.
    pub(super) fn says(&self, own: &Meaning, new: &Meaning) -> bool {
        let says = |said: &str| {
            let said = Meaning::of(said);
            said.is_same(new) || said.has_part(new)
        };
        own.is_same(new) || own.has_part(new) || sentences(self.content()).into_iter().any(says)
    }

    /// Whether this takes its place, or that of one of its sentences.
    pub(super) fn is_replaced_by(&self, own: &Meaning, new: &Meaning, is_correction: bool) -> bool {
        match self {
            Self::Line { content, .. } if !sentences(content).is_empty() => {
                replaced_sentence(content, new, is_correction).is_some()
            }
            _ => new.replaces(own, is_correction),
        }
    }
}

/// The sentence of a line that a statement replaces.
pub(super) fn replaced_sentence<'a>(line: &'a str, new: &Meaning, is_correction: bool) -> Option<&'a str> {
    let all = sentences(line);
    let all = if all.is_empty() { vec![line] } else { all };
    all.into_iter().find(|sentence| new.replaces(&Meaning::of(sentence), is_correction))
}

/// The sentences of a text that has several.
fn sentences(text: &str) -> Vec<&str> {
    let sentences = of_line(text);
    if sentences.len() > 1 { sentences } else { Vec::new() }
}

impl MemoryService<'_> {
    /// What may say the same as a statement, or be replaced by it, as this change leaves it so far.
    pub(in crate::memories) fn known(&self, statement: &Statement, placement: &Placement) -> Done<Vec<Known>> {
        let mut found: Vec<Entry> = Vec::new();
        for id in &statement.replaces {
            found.extend(self.entries.memory(id)?.map(|memory| memory.entry));
        }
        found.extend(self.found(&statement.entry.content, statement.entry.project.as_deref())?);
        let mut known: Vec<Known> = Vec::new();
        for entry in found {
            let is_new = known.iter().all(|known| *known.id() != entry.id);
            known.extend(self.as_planned(entry, placement).filter(|_| is_new));
        }
        let is_active = |entry: &&Entry| entry.status == Status::Active;
        for entry in placement.entries().filter(is_active).filter(|entry| is_in_reach(entry, &statement.entry)) {
            if known.iter().all(|known| *known.id() != entry.id) {
                known.push(Known::Entry(Box::new(entry.clone())));
            }
        }
        for (before, after) in &placement.documents {
            known.extend(self.lines(&before.name, after)?);
        }
        Ok(known)
    }

    /// The document that says what an entry says.
    pub(crate) fn line_saying(&self, entry: &Entry) -> Done<Option<DocumentName>> {
        let lines = self
            .found(&entry.content, entry.project.as_deref())?
            .into_iter()
            .filter(|found| found.kind == Kind::Bullet);
        let says = |line: &Entry| statements::same(&line.content, &entry.content);
        Ok(lines.filter(says).find_map(|line| match line.namespace {
            Namespace::Document(name) => Some(name),
            _ => None,
        }))
    }

    /// The entries that say this, of a project or of none.
    pub(crate) fn entries_saying(&self, text: &str, project: Option<&str>) -> Done<Vec<Entry>> {
        let found = self.found(text, project)?.into_iter().filter(|entry| entry.kind == Kind::Entry);
        Ok(found
            .filter(|entry| entry.project.as_deref() == project && statements::same(&entry.content, text))
            .collect())
    }

    /// Entries and lines that share words or meaning with a statement, best first.
    fn found(&self, text: &str, project: Option<&str>) -> Done<Vec<Entry>> {
        let filter = Filter {
            kinds: vec![Kind::Entry, Kind::Bullet],
            layers: vec![Layer::Identity, Layer::Knowledge],
            projects: Projects::NoneOr(project.map(str::to_owned).into_iter().collect()),
            ..Filter::recallable(self.kernel.now)
        };
        let request = |query: String| RecallRequest { query, limit: COMPARED, filter: filter.clone() };
        let mut hits = self.recall.find_alike(&request(text.to_owned()))?;
        let forms = statements::about(text).map(|about| about.property.words()).unwrap_or_default();
        if !forms.is_empty() {
            hits.extend(self.recall.find_words(&request(forms.to_owned()))?);
        }
        let mut found: Vec<Entry> = Vec::new();
        for entry in hits.into_iter().map(|hit| hit.memory.entry).filter(|entry| self.is_statement(entry)) {
            if found.iter().all(|known| known.id != entry.id) {
                found.push(entry);
            }
        }
        Ok(found)
    }

    /// The lines of a document that the change has open.
    fn lines(&self, name: &DocumentName, text: &str) -> Done<Vec<Known>> {
        if name.is_working() {
            return Ok(Vec::new());
        }
        let line = |bullet: Bullet| {
            let at = self.entries.memory(&bullet.id)?.map(|memory| memory.entry.created_at);
            Ok(Known::Line { name: name.clone(), id: bullet.id, content: bullet.content, at })
        };
        bullets::parse(name, text).into_iter().map(line).collect()
    }

    /// Whether it is where statements live: the person's facts, or a document that is not rendered.
    fn is_statement(&self, entry: &Entry) -> bool {
        match &entry.namespace {
            Namespace::Document(name) => !name.is_working(),
            namespace => *namespace == self.kernel.facts(),
        }
    }

    /// An entry as the change leaves it; none if it goes, or where the change has the whole document.
    fn as_planned(&self, entry: Entry, placement: &Placement) -> Option<Known> {
        if let (Kind::Bullet, Namespace::Document(name)) = (entry.kind, &entry.namespace) {
            let is_open = placement.text(name).is_some();
            let (name, id, content, at) = (name.clone(), entry.id, entry.content, Some(entry.created_at));
            return (!is_open && !placement.without_documents).then_some(Known::Line { name, id, content, at });
        }
        let entry = placement.planned(&entry.id).cloned().unwrap_or(entry);
        (entry.status == Status::Active).then(|| Known::Entry(Box::new(entry)))
    }
}

fn is_in_reach(entry: &Entry, new: &Entry) -> bool {
    entry.layer == Layer::Knowledge && (entry.project.is_none() || entry.project == new.project)
}
