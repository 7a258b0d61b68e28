//! Correct what is wrong, and merge what says the same. The old ones are kept for audit and never recalled again.

use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::input;
use crate::kernel::{Race as _, conflict, retry};
use crate::memories::place::{Placed, Placement, Statement, Wanted};
use crate::memories::{MemoryService, Outcome};
use crate::model::{Entry, EntryId, Kind, Layer, Memory, Namespace, SessionId, Source, Status, TurnId, Verb};
use crate::ports::Op;
use crate::recall::find::Fallback;
use crate::recall::{CORRECTION_TAG, Filter, Hit, Projects, RecallRequest, Scope};

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
    /// The turns it came from.
    pub provenance: Vec<TurnId>,
}

impl Correction {
    /// A correction by the person.
    pub fn by_person(content: impl Into<String>) -> Self {
        Self { content: content.into(), source: Source::User, tags: Vec::new(), session: None, provenance: Vec::new() }
    }
}

/// The receipt for a correction or a merge.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
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

impl MemoryService<'_> {
    /// Puts what is right in the place of what is wrong, wherever that stands, and of whatever else it replaces.
    pub fn correct(&self, reference: &str, correction: &Correction) -> Done<Replaced> {
        self.documents.notice_all_or_warn();
        let id = self.resolve(reference)?;
        let decide = |placement: &mut Placement| {
            let wrong = self.memory(&id)?.entry;
            if wrong.status != Status::Active {
                let problem =
                    format!("`{reference}` is not active any more: it was forgotten, or something took its place");
                return Err(EngineError::invalid("the target", problem));
            }
            self.plan_correction(&wrong, correction, placement)
        };
        let ((placed, redacted), stored) = self.write_placed(Verb::Correct, &decide)?;
        let gone = placed.superseded.iter().map(|id| self.entries.memory(id)).collect::<Result<Vec<_>, _>>()?;
        let superseded = gone.into_iter().flatten().filter(|memory| memory.entry.kind == Kind::Entry).collect();
        let memory = self.memory(stored.id(&placed.id))?;
        Ok(Replaced { memory, outcome: placed.outcome, superseded, redacted })
    }

    /// What putting right in the place of wrong takes. Where what is right is known already, that stands from now on.
    pub(crate) fn plan_correction(
        &self,
        wrong: &Entry,
        correction: &Correction,
        placement: &mut Placement,
    ) -> Done<(Placed, Vec<&'static str>)> {
        let (right, redacted) = self.corrected(wrong, correction)?;
        let document = match &wrong.namespace {
            Namespace::Document(name) => Some(name.clone()),
            _ => None,
        };
        if right.content == wrong.content {
            let (id, content, outcome) = (wrong.id.clone(), wrong.content.clone(), Outcome::Unchanged);
            return Ok((Placed { id, content, document, outcome, is_new: false, superseded: Vec::new() }, redacted));
        }
        let right = if document.is_some() {
            Entry { namespace: self.kernel.facts(), kind: Kind::Entry, layer: Layer::Knowledge, ..right }
        } else {
            right
        };
        if right.layer == Layer::Archive {
            return Ok((self.correct_archived(wrong, right, placement)?, redacted));
        }
        let statement = Statement { replaces: vec![wrong.id.clone()], ..Statement::new(right, Wanted::Knowledge) };
        let placed = self.place(&statement, placement)?;
        // A new memory stands for the wrong one; a line is the same line with other words.
        let outcome = if placed.document.is_none() && placed.is_new { Outcome::Created } else { Outcome::Updated };
        Ok((Placed { outcome, ..placed }, redacted))
    }

    /// What the archive keeps is no statement: what is right takes the place of wrong alone.
    fn correct_archived(&self, wrong: &Entry, right: Entry, placement: &mut Placement) -> Done<Placed> {
        let known = self.archived_as(&right)?;
        placement.put(Op::Update(self.retired(wrong)));
        let (is_new, superseded) = (known.is_none(), vec![wrong.id.clone()]);
        let stands = known.map_or_else(|| right.clone(), |known| self.vouched(known, &right, &superseded));
        let (id, content) = (stands.id.clone(), stands.content.clone());
        placement.put(if is_new { Op::Insert(stands) } else { Op::Update(stands) });
        let outcome = if is_new { Outcome::Created } else { Outcome::Updated };
        Ok(Placed { id, content, document: None, outcome, is_new, superseded })
    }

    /// The other entry of the archive that says exactly this, where neither has a key.
    fn archived_as(&self, right: &Entry) -> Done<Option<Entry>> {
        if right.key.is_some() {
            return Ok(None);
        }
        let projects = right.project.clone().map_or(Projects::NoneOr(Vec::new()), Projects::Only);
        let filter = Filter {
            scope: Scope::Only(right.namespace.clone()),
            layers: vec![right.layer],
            projects,
            ..Filter::recallable(self.kernel.now)
        };
        let request = RecallRequest { query: right.content.clone(), limit: PROPOSALS, filter };
        let hits = self.recall.find(&request, Fallback::Nothing)?;
        let mut entries = hits.into_iter().map(|hit| hit.memory.entry);
        Ok(entries.find(|entry| entry.key.is_none() && entry.content == right.content))
    }

    /// What was known already, with what a new statement says about it, and the link to what both replace.
    pub(crate) fn vouched(&self, known: Entry, right: &Entry, superseded: &[EntryId]) -> Entry {
        let mut next = Entry {
            source: known.source.max(right.source),
            importance: known.importance.max(right.importance),
            updated_at: self.kernel.now,
            ..known.clone()
        };
        add_superseded(&mut next, superseded);
        let tags: Vec<String> = known.tags.iter().chain(&right.tags).cloned().collect();
        // Labels that do not fit beside its own are left out: the wrong one is replaced already.
        next.tags = input::labels(&tags).map_or(known.tags, |labels| labels.tags);
        next
    }

    /// What takes the place of `wrong`: in its layer, under its key, with its labels.
    pub(crate) fn corrected(&self, wrong: &Entry, correction: &Correction) -> Done<(Entry, Vec<&'static str>)> {
        let (content, redacted) = input::content(&correction.content)?;
        let tags: Vec<String> = wrong.tags.iter().chain(&correction.tags).cloned().collect();
        let mut labels = input::labels(&tags)?;
        // Beside all that a memory may have: none is too full to be corrected.
        if !labels.tags.iter().any(|tag| tag == CORRECTION_TAG) {
            labels.tags.push(CORRECTION_TAG.to_owned());
        }
        let now = self.kernel.now;
        let right = Entry {
            id: EntryId::new(self.kernel.new_id()),
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
            provenance: correction.provenance.clone(),
            version: 1,
            ..wrong.clone()
        };
        Ok((right, redacted))
    }

    pub(crate) fn retired(&self, entry: &Entry) -> Entry {
        Entry { status: Status::Inactive, updated_at: self.kernel.now, ..entry.clone() }
    }

    /// What a correction may mean, best first: for somebody to choose from. Changes nothing.
    pub fn wrong_about(&self, content: &str) -> Done<Vec<Hit>> {
        self.documents.notice_all_or_warn();
        let layers = vec![Layer::Identity, Layer::Knowledge];
        let filter = Filter { layers, ..Filter::recallable(self.kernel.now) };
        let request = RecallRequest { query: content.to_owned(), limit: PROPOSALS, filter };
        self.recall.find(&request, Fallback::Nothing)
    }

    /// Makes one memory of several that say the same. The first stands; with `content`, it says that.
    pub fn merge(&self, references: &[String], content: Option<&str>) -> Done<Replaced> {
        let mut ids = references.iter().map(|reference| self.resolve(reference)).collect::<Done<Vec<_>>>()?;
        let mut seen = std::collections::HashSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        if ids.len() < 2 {
            return Err(EngineError::invalid("a merge", "needs two different memories at least"));
        }
        retry(
            || conflict(&ids[0]),
            || {
                let entries = ids.iter().map(|id| Ok(self.memory(id)?.entry)).collect::<Done<Vec<Entry>>>()?;
                let (standing, redacted) = self.merged(&entries, content)?;
                let retired = entries[1..].iter().map(|entry| Op::Update(self.retired(entry)));
                let ops: Vec<Op> = retired.chain([Op::Update(standing)]).collect();
                if self.kernel.apply(Verb::Merge, &ops).unless_outrun()?.is_none() {
                    return Ok(None);
                }
                let superseded = ids[1..].iter().map(|id| self.memory(id)).collect::<Done<_>>()?;
                let memory = self.memory(&ids[0])?;
                Ok(Some(Replaced { memory, outcome: Outcome::Updated, superseded, redacted }))
            },
        )
    }

    /// The first of several with all that the others add: the highest weight, every label, every source.
    pub(crate) fn merged(&self, entries: &[Entry], content: Option<&str>) -> Done<(Entry, Vec<&'static str>)> {
        let first = &entries[0];
        for entry in entries {
            check_mergeable(first, entry)?;
        }
        let (content, redacted) = match content {
            Some(text) => input::content(text)?,
            None => (first.content.clone(), Vec::new()),
        };
        let standing = Entry { content, updated_at: self.kernel.now, ..first.clone() };
        let mut standing = with_copies(standing, &entries[1..]);
        standing.tags = input::labels(&standing.tags)?.tags;
        Ok((standing, redacted))
    }
}

/// An entry with all that its copies add: the highest weight, every label, every source. Whether its words are the person's
/// is its own matter.
pub(super) fn with_copies(mut standing: Entry, copies: &[Entry]) -> Entry {
    for copy in copies {
        standing.importance = standing.importance.max(copy.importance);
        add_missing(&mut standing.tags, &copy.labels().cloned().collect::<Vec<_>>());
        add_missing(&mut standing.provenance, &copy.provenance);
        add_superseded(&mut standing, &copy.supersedes);
        add_superseded(&mut standing, std::slice::from_ref(&copy.id));
        standing.task = standing.task.or_else(|| copy.task.clone());
    }
    standing
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
