//! What a change touched, in a few words: for sentences that lead somewhere.

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Done;
use crate::model::{
    Change, DocumentName, Entry, EntryId, Kind, Layer, Name, SessionId, Status, TaskId, TaskStatus, Verb,
};
use crate::ports::Undoable;
use crate::text::tokens;

use super::HistoryService;

/// So many memories of one change are named.
const MOST_NAMED: usize = 5;

/// So much of each, in tokens.
const NAMED_TOKENS: usize = 60;

/// The latest changes, with what they touched.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToldChanges {
    /// Newest first.
    pub changes: Vec<ToldChange>,
}

/// A change, and what it touched.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToldChange {
    /// The change, its fields at the same level.
    #[serde(flatten)]
    pub change: Change,
    /// What it touched; none for one that was undone, an undo, an import and an erasure.
    pub touched: Option<Touched>,
}

/// What a change touched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct Touched {
    /// The first memories.
    pub memories: Vec<TouchedMemory>,
    /// How many memories there are in all.
    pub count: usize,
    /// How many of them are new things that are known.
    pub learnt: usize,
    /// Documents.
    pub documents: Vec<DocumentName>,
    /// Tasks.
    pub tasks: Vec<TouchedTask>,
    /// Open threads of working memory.
    pub threads: Vec<TouchedThread>,
    /// Projects.
    pub projects: Vec<Name>,
}

/// A memory that a change touched.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TouchedMemory {
    /// Its identifier.
    pub id: EntryId,
    /// What it is.
    pub kind: Kind,
    /// Its layer.
    pub layer: Layer,
    /// Whether it is active now.
    pub status: Status,
    /// The beginning of what it says.
    pub content: String,
    /// Whether the change created it.
    pub is_new: bool,
    /// The conversation that it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
}

/// A task that a change touched.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TouchedTask {
    /// Its identifier.
    pub id: TaskId,
    /// What it is about.
    pub title: String,
    /// How it stands.
    pub status: TaskStatus,
}

/// A thread that a change touched.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TouchedThread {
    /// The conversation.
    pub session: SessionId,
    /// What it is about.
    pub title: String,
}

impl HistoryService<'_> {
    /// The newest changes first, with what they touched.
    pub fn told_changes(&self, limit: usize) -> Done<ToldChanges> {
        let told = |change: Change| Ok(ToldChange { touched: self.touched(&change)?, change });
        Ok(ToldChanges { changes: self.changes(limit)?.into_iter().map(told).collect::<Done<_>>()? })
    }

    /// An import may have touched everything there is: it is not read.
    fn touched(&self, change: &Change) -> Done<Option<Touched>> {
        if matches!(change.verb, Verb::Import | Verb::Erase | Verb::Undo) {
            return Ok(None);
        }
        Ok(self.reviews.touched(&change.id)?.map(|undoable| touched(&undoable)))
    }
}

fn touched(undoable: &Undoable) -> Touched {
    let is_learnt = |(now, before): &&(Entry, Option<Entry>)| before.is_none() && now.layer == Layer::Knowledge;
    let mut entries: Vec<&(Entry, Option<Entry>)> = undoable.entries.iter().collect();
    // What is known says more than a summary, and what is new more than what it replaced.
    entries.sort_by_key(|(now, before)| (now.layer == Layer::Archive, before.is_some()));
    Touched {
        memories: entries.iter().take(MOST_NAMED).map(|(now, before)| memory(now, before.is_none())).collect(),
        count: entries.len(),
        learnt: undoable.entries.iter().filter(is_learnt).count(),
        documents: undoable.documents.iter().map(|(name, ..)| name.clone()).collect(),
        tasks: undoable.tasks.iter().map(|(task, _)| task).map(TouchedTask::from).collect(),
        threads: undoable.threads.iter().map(|(thread, _)| thread).map(TouchedThread::from).collect(),
        projects: undoable.projects.iter().map(|(project, _)| project.name.clone()).collect(),
    }
}

fn memory(entry: &Entry, is_new: bool) -> TouchedMemory {
    TouchedMemory {
        id: entry.id.clone(),
        kind: entry.kind,
        layer: entry.layer,
        status: entry.status,
        content: tokens::cut(&entry.content, NAMED_TOKENS).to_owned(),
        is_new,
        session: entry.session.clone(),
    }
}

impl From<&crate::model::Task> for TouchedTask {
    fn from(task: &crate::model::Task) -> Self {
        Self { id: task.id.clone(), title: task.title.clone(), status: task.status }
    }
}

impl From<&crate::model::Thread> for TouchedThread {
    fn from(thread: &crate::model::Thread) -> Self {
        Self { session: thread.session.clone(), title: thread.title.clone() }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::{Actor, ChangeId, Source, sample_entry};

    #[test]
    fn what_is_new_and_known_is_named_first() {
        let entry = |id: &str, layer| Entry { id: EntryId::new(id), layer, ..sample_entry(id, "x") };
        let actor = Actor::new(Source::System, "job");
        let (id, at) = (ChangeId::new("c"), Timestamp::UNIX_EPOCH);
        let old = entry("old", Layer::Knowledge);
        let undoable = Undoable {
            change: Change { id, actor, verb: Verb::Consolidate, at, undoes: None },
            entries: vec![
                (entry("summary", Layer::Archive), None),
                (old.clone(), Some(old)),
                (entry("fact", Layer::Knowledge), None),
            ],
            documents: Vec::new(),
            tasks: Vec::new(),
            threads: Vec::new(),
            projects: Vec::new(),
        };
        let touched = touched(&undoable);
        let named: Vec<(&str, bool)> =
            touched.memories.iter().map(|memory| (memory.id.as_str(), memory.is_new)).collect();
        assert_eq!(named, [("fact", true), ("old", false), ("summary", true)]);
        assert_eq!((touched.count, touched.learnt), (3, 1));
    }
}
