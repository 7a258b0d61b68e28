//! Correct what is wrong, and merge what says the same. The old ones are kept for audit and never recalled again.

use serde::Serialize;

use crate::model::{Change, Entry, EntryId, Kind, Layer, Memory, SessionId, Source, Status, Verb};
use crate::ports::{Op, StoreError};
use crate::recall::{CORRECTION_TAG, Filter, Hit, RecallRequest};

use super::find::Fallback;
use super::memories::{Edit, Outcome, TRIES};
use super::{Done, Engine, EngineError, prepare};

/// How many memories are proposed as what a correction may mean.
const PROPOSALS: usize = 5;

/// What is right, and whose word it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// What is right.
    pub content: String,
    /// Whose word it is.
    pub source: Source,
    /// Labels beside those that the wrong one has.
    pub tags: Vec<String>,
    /// The conversation it came from.
    pub session: Option<SessionId>,
}

impl Correction {
    /// A correction by the person.
    pub fn by_person(content: impl Into<String>) -> Self {
        Self { content: content.into(), source: Source::User, tags: Vec::new(), session: None }
    }
}

/// The receipt for a correction or a merge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replaced {
    /// The memory that now stands, its fields at the same level.
    #[serde(flatten)]
    pub memory: Memory,
    /// What became of it.
    pub outcome: Outcome,
    /// The memories that it replaced: inactive now, and kept.
    pub superseded: Vec<Memory>,
    /// The kinds of secrets that were taken out.
    pub redacted: Vec<&'static str>,
}

impl Engine {
    /// Puts what is right in the place of what is wrong. A line of a document is changed where it stands.
    pub fn correct(&self, reference: &str, correction: &Correction) -> Done<Replaced> {
        let id = self.resolve(reference)?;
        for _ in 0..TRIES {
            let wrong = self.memory(&id)?.entry;
            if wrong.kind == Kind::Bullet {
                let edit = Edit { content: Some(correction.content.clone()), ..Edit::default() };
                let edited = self.edit(id.as_str(), &edit)?;
                let (memory, outcome, redacted) = (edited.memory, edited.outcome, edited.redacted);
                return Ok(Replaced { memory, outcome, superseded: Vec::new(), redacted });
            }
            if wrong.status != Status::Active {
                let problem =
                    format!("`{reference}` is not active any more: it was forgotten, or something took its place");
                return Err(EngineError::invalid("the target", problem));
            }
            let (right, redacted) = self.corrected(&wrong, correction)?;
            if right.content == wrong.content {
                let memory = self.memory(&id)?;
                return Ok(Replaced { memory, outcome: Outcome::Unchanged, superseded: Vec::new(), redacted });
            }
            let ops = [Op::Update(self.retired(&wrong)), Op::Insert(right.clone())];
            let change = self.change(Verb::Correct);
            match self.store.apply(&change, &ops, &mut || true) {
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
                Ok(entries) => {
                    let known = entries.last().filter(|entry| entry.id != right.id);
                    let outcome = if known.is_some() { Outcome::Updated } else { Outcome::Created };
                    let stands = known.map_or(&right.id, |entry| &entry.id);
                    if outcome == Outcome::Updated {
                        self.vouch(&change, stands, &right)?;
                    }
                    let (memory, superseded) = (self.memory(stands)?, vec![self.memory(&id)?]);
                    return Ok(Replaced { memory, outcome, superseded, redacted });
                }
            }
        }
        Err(StoreError::Conflict { what: reference.to_owned() }.into())
    }

    /// What is right was known already: it gets what the correction says about it, as part of the same change.
    fn vouch(&self, change: &Change, known: &EntryId, right: &Entry) -> Done<()> {
        for _ in 0..TRIES {
            let known = self.memory(known)?.entry;
            let mut next = Entry {
                source: known.source.max(right.source),
                importance: known.importance.max(right.importance),
                updated_at: self.clock.now(),
                ..known.clone()
            };
            add_superseded(&mut next, &right.supersedes);
            let tags: Vec<String> = known.tags.iter().chain(&right.tags).cloned().collect();
            // Labels that do not fit beside its own are left out: the wrong one is replaced already.
            next.tags = prepare::labels(&tags).map_or(known.tags, |labels| labels.tags);
            match self.store.apply(change, &[Op::Update(next)], &mut || true) {
                Err(StoreError::Conflict { .. }) => {}
                outcome => return outcome.map(drop).map_err(EngineError::from),
            }
        }
        Err(StoreError::Conflict { what: known.to_string() }.into())
    }

    /// What takes the place of `wrong`: in its layer, under its key, with its labels.
    pub(super) fn corrected(&self, wrong: &Entry, correction: &Correction) -> Done<(Entry, Vec<&'static str>)> {
        let (content, redacted) = prepare::content(&correction.content)?;
        let mut tags = wrong.tags.clone();
        tags.extend(correction.tags.iter().cloned().chain([CORRECTION_TAG.to_owned()]));
        let labels = prepare::labels(&tags)?;
        let now = self.clock.now();
        let right = Entry {
            id: EntryId::new(self.ids.next()),
            content,
            source: correction.source,
            status: Status::Active,
            tags: labels.tags,
            task: labels.task.or_else(|| wrong.task.clone()),
            project: labels.project.or_else(|| wrong.project.clone()),
            session: correction.session.clone().or_else(|| wrong.session.clone()),
            created_at: now,
            updated_at: now,
            supersedes: vec![wrong.id.clone()],
            provenance: Vec::new(),
            version: 1,
            ..wrong.clone()
        };
        Ok((right, redacted))
    }

    pub(super) fn retired(&self, entry: &Entry) -> Entry {
        Entry { status: Status::Inactive, updated_at: self.clock.now(), ..entry.clone() }
    }

    /// What a correction may mean, best first: for somebody to choose from. Changes nothing.
    pub fn wrong_about(&self, content: &str) -> Done<Vec<Hit>> {
        let layers = vec![Layer::Identity, Layer::Knowledge];
        let filter = Filter { layers, ..Filter::recallable(self.clock.now()) };
        let request = RecallRequest { query: content.to_owned(), limit: PROPOSALS, filter };
        self.find(&request, Fallback::Nothing)
    }

    /// Makes one memory of several that say the same. The first stands; with `content`, it says that.
    pub fn merge(&self, references: &[String], content: Option<&str>) -> Done<Replaced> {
        let mut ids = references.iter().map(|reference| self.resolve(reference)).collect::<Done<Vec<_>>>()?;
        let mut seen = std::collections::HashSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        if ids.len() < 2 {
            return Err(EngineError::invalid("a merge", "needs two different memories at least"));
        }
        for _ in 0..TRIES {
            let entries = ids.iter().map(|id| Ok(self.memory(id)?.entry)).collect::<Done<Vec<Entry>>>()?;
            let (standing, redacted) = self.merged(&entries, content)?;
            let retired = entries[1..].iter().map(|entry| Op::Update(self.retired(entry)));
            let ops: Vec<Op> = retired.chain([Op::Update(standing)]).collect();
            match self.store.apply(&self.change(Verb::Merge), &ops, &mut || true) {
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => {
                    let superseded = ids[1..].iter().map(|id| self.memory(id)).collect::<Done<_>>()?;
                    let memory = self.memory(&ids[0])?;
                    return Ok(Replaced { memory, outcome: Outcome::Updated, superseded, redacted });
                }
            }
        }
        Err(StoreError::Conflict { what: ids[0].to_string() }.into())
    }

    /// The first of several with all that the others add: the highest weight, every label, every source.
    fn merged(&self, entries: &[Entry], content: Option<&str>) -> Done<(Entry, Vec<&'static str>)> {
        let first = &entries[0];
        for entry in entries {
            check_mergeable(first, entry)?;
        }
        let (content, redacted) = match content {
            Some(text) => prepare::content(text)?,
            None => (first.content.clone(), Vec::new()),
        };
        let mut standing = Entry { content, updated_at: self.clock.now(), ..first.clone() };
        for entry in &entries[1..] {
            standing.importance = standing.importance.max(entry.importance);
            add_missing(&mut standing.tags, &entry.tags);
            add_missing(&mut standing.provenance, &entry.provenance);
            add_superseded(&mut standing, &entry.supersedes);
            add_superseded(&mut standing, std::slice::from_ref(&entry.id));
            standing.task = standing.task.or_else(|| entry.task.clone());
        }
        standing.tags = prepare::labels(&standing.tags)?.tags;
        Ok((standing, redacted))
    }
}

fn check_mergeable(first: &Entry, other: &Entry) -> Done<()> {
    let problem = if other.kind != Kind::Entry {
        "is a line of a document; edit it there"
    } else if other.status != Status::Active {
        "is not active; restore it first"
    } else if (&other.namespace, other.layer, &other.project) != (&first.namespace, first.layer, &first.project) {
        "belongs to another layer, project or namespace"
    } else {
        return Ok(());
    };
    Err(EngineError::invalid("a merge", format!("cannot take `{}`: it {problem}", other.id)))
}

/// No memory replaces itself, even where it was restored and merged with what had replaced it.
fn add_superseded(entry: &mut Entry, more: &[EntryId]) {
    add_missing(&mut entry.supersedes, more);
    entry.supersedes.retain(|id| *id != entry.id);
}

fn add_missing<T: PartialEq + Clone>(list: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}
