//! History, restore, undo.

mod touched;

use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, ObjectBuilder, Schema};

use crate::documents::DocumentService;
use crate::documents::commit::FileStep;
use crate::error::{Done, EngineError};
use crate::kernel::{Kernel, retry};
use crate::memories::{MemoryService, Remembered};
use crate::model::{
    Change, ChangeId, ContentHash, Document, DocumentName, DocumentVersion, Entry, EntryId, EntryVersion, Kind, Memory,
    Name, Namespace, Project, Source, Status, Task, TaskId, TaskStatus, TaskVersion, Thread, ThreadId, ThreadStatus,
    Verb,
};
use crate::ports::{self, DocumentError, Documents, ErasureMark, Op, Undoable};
use crate::tasks::TaskService;

pub use touched::{ToldChange, ToldChanges, Touched, TouchedMemory, TouchedTask, TouchedThread};

/// What a history is of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HistoryOf {
    /// A memory, oldest version first.
    Entry {
        /// Its versions.
        versions: Vec<EntryVersion>,
    },
    /// A task, oldest version first.
    Task {
        /// Its versions.
        versions: Vec<TaskVersion>,
    },
    /// A document, oldest version first.
    Document {
        /// Its versions.
        versions: Vec<DocumentVersion>,
    },
}

/// An empty history is one of each, so it is any of them and not exactly one.
impl utoipa::ToSchema for HistoryOf {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        <EntryVersion as utoipa::ToSchema>::schemas(schemas);
        <TaskVersion as utoipa::ToSchema>::schemas(schemas);
        <DocumentVersion as utoipa::ToSchema>::schemas(schemas);
    }
}

impl utoipa::PartialSchema for HistoryOf {
    fn schema() -> RefOr<Schema> {
        let all = [EntryVersion::schema(), TaskVersion::schema(), DocumentVersion::schema()];
        let version = all.into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item).build();
        let versions = ArrayBuilder::new().items(RefOr::T(Schema::AnyOf(version))).build();
        ObjectBuilder::new().property("versions", versions).required("versions").into()
    }
}

/// What a reference names.
enum Target {
    Entry(EntryId),
    Document(DocumentName),
    Task(TaskId),
}

/// What was brought back.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum Restored {
    /// A memory.
    Memory(Box<Remembered>),
    /// A document.
    Document(Document),
    /// A task.
    Task(Task),
}

/// The receipt for an undo.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Undone {
    /// The change that was reverted.
    pub undone: Change,
    /// The change that reverted it.
    pub change: ChangeId,
    /// The memories as they now are.
    pub memories: Vec<Memory>,
    /// The documents that were put back.
    pub documents: Vec<DocumentName>,
    /// The tasks that were put back.
    pub tasks: Vec<TaskId>,
    /// The threads that were put back.
    pub threads: Vec<ThreadId>,
    /// The projects that were put back.
    pub projects: Vec<Name>,
}

/// The latest changes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Changes {
    /// Newest first.
    pub changes: Vec<Change>,
}

/// History, restore, undo.
#[derive(Clone, Copy)]
pub struct HistoryService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) history: &'e dyn ports::History,
    pub(crate) reviews: &'e dyn ports::Reviews,
    pub(crate) task_store: &'e dyn ports::Tasks,
    pub(crate) files: &'e dyn Documents,
    pub(crate) documents: DocumentService<'e>,
    pub(crate) memories: MemoryService<'e>,
    pub(crate) tasks: TaskService<'e>,
}

impl HistoryService<'_> {
    /// Every version of a memory, a document or a task. A bullet's history is its document's.
    pub fn of(&self, reference: &str) -> Done<HistoryOf> {
        self.documents.notice_all()?;
        Ok(match self.target(reference)? {
            Target::Document(name) => HistoryOf::Document { versions: self.history.document_versions(&name)? },
            Target::Entry(id) => HistoryOf::Entry { versions: self.history.entry_versions(&id)? },
            Target::Task(id) => HistoryOf::Task { versions: self.task_store.task_versions(&id)? },
        })
    }

    /// Every version of a document, whatever else has its name.
    pub fn versions_of(&self, name: &DocumentName) -> Done<HistoryOf> {
        self.documents.notice(name)?;
        Ok(HistoryOf::Document { versions: self.history.document_versions(name)? })
    }

    /// What `reference` names: a memory by its id or key, else a document by its address, else a task; a bullet is its
    /// document.
    fn target(&self, reference: &str) -> Done<Target> {
        let id = match (self.memories.resolve(reference), reference.parse()) {
            (Err(EngineError::NotFound { .. }), Ok(Namespace::Document(name))) => return Ok(Target::Document(name)),
            (Err(missing @ EngineError::NotFound { .. }), _) => {
                return self.tasks.get(reference).map(|task| Target::Task(task.id)).map_err(|_| missing);
            }
            (id, _) => id?,
        };
        let entry = self.memories.memory(&id)?.entry;
        match (entry.kind, entry.namespace) {
            (Kind::Bullet, Namespace::Document(name)) => Ok(Target::Document(name)),
            _ => Ok(Target::Entry(id)),
        }
    }

    /// The newest changes first.
    pub fn changes(&self, limit: usize) -> Done<Vec<Change>> {
        Ok(self.kernel.changes.changes(limit)?)
    }

    /// Brings an earlier version of a memory, a document or a task back, as its newest.
    pub fn restore(&self, reference: &str, version: u32) -> Done<Restored> {
        self.documents.notice_all()?;
        match self.target(reference)? {
            Target::Entry(id) => {
                self.memories.restore_version(&id, version).map(|memory| Restored::Memory(Box::new(memory)))
            }
            Target::Document(name) => self.restore_document(name, version).map(Restored::Document),
            Target::Task(id) => self.restore_task(&id, version).map(Restored::Task),
        }
    }

    /// The entry that a task left in the archive has versions of its own.
    fn restore_task(&self, id: &TaskId, version: u32) -> Done<Task> {
        let no_version = || EngineError::NoVersion { reference: id.to_string(), version };
        self.tasks.change(id.as_str(), Verb::Restore, &|task| {
            let versions = self.task_store.task_versions(id)?;
            let wanted = versions.into_iter().find(|candidate| candidate.task.version == version);
            let wanted = wanted.ok_or_else(no_version)?.task;
            Ok((Task { version: task.version, updated_at: task.updated_at, ..wanted }, Vec::new()))
        })
    }

    /// Brings an earlier version of a document back, as its newest.
    pub fn restore_document(&self, name: DocumentName, version: u32) -> Done<Document> {
        let text = self.kernel.unless_erased(|since| {
            let text = self.whole_version(&name, version)?;
            retry(
                || DocumentError::Conflict { name: name.clone() }.into(),
                || {
                    let current = self.documents.current_document(&name)?;
                    if current.text == text {
                        return Ok(Some(text.clone()));
                    }
                    let (unerased, next) = ([Op::Unerased(since.clone())], [(current, text.clone())]);
                    Ok(self.documents.commit(Verb::Restore, &unerased, &next)?.map(|_| text.clone()))
                },
            )
        })?;
        Ok(Document::new(name, text))
    }

    /// The text of a version, if nothing was left out of it.
    fn whole_version(&self, name: &DocumentName, version: u32) -> Done<String> {
        let versions = self.history.document_versions(name)?;
        let wanted = versions.into_iter().find(|candidate| candidate.version == version);
        let no_version = || EngineError::NoVersion { reference: name.to_string(), version };
        let (text, hash) = wanted.and_then(|found| Some((found.text?, found.hash))).ok_or_else(no_version)?;
        if ContentHash::of(&text) == hash { Ok(text) } else { Err(EngineError::LeftOut { name: name.clone() }) }
    }

    /// Reverts the last change as a whole: one edit, a file that was saved, an import.
    pub fn undo(&self) -> Done<Undone> {
        self.documents.notice_all()?;
        let undone = self.kernel.unless_erased(|since| self.undo_last(since))?;
        self.documents.notice_all()?;
        Ok(undone)
    }

    /// What [`undo`](Self::undo) would revert.
    pub fn undoable(&self) -> Done<Undoable> {
        self.documents.notice_all()?;
        let undoable = self.kernel.changes.undoable()?.ok_or(EngineError::NothingToUndo)?;
        if undoable.change.verb == Verb::Erase { Err(EngineError::WasErased) } else { Ok(undoable) }
    }

    fn undo_last(&self, since: &ErasureMark) -> Done<Undone> {
        let undoable = self.kernel.changes.undoable()?.ok_or(EngineError::NothingToUndo)?;
        if undoable.change.verb == Verb::Erase {
            return Err(EngineError::WasErased);
        }
        let steps = self.undo_steps(&undoable)?;
        let change = Change { undoes: Some(undoable.change.id.clone()), ..self.kernel.change(Verb::Undo) };
        let mut ops = self.undo_ops(&undoable)?;
        ops.push(Op::Unerased(since.clone()));
        let entries = self.documents.with_files(&steps, |last| self.kernel.changes.apply(&change, &ops, last))?;
        if undoable.change.verb == Verb::Review {
            // What the verdict was about is new again.
            entries.iter().try_for_each(|entry| self.reviews.note_unseen(&entry.id))?;
        }
        let memories = entries.iter().map(|entry| self.memories.memory(&entry.id)).collect::<Done<_>>()?;
        Ok(Undone {
            undone: undoable.change,
            change: change.id,
            memories,
            documents: undoable.documents.into_iter().map(|(name, ..)| name).collect(),
            tasks: undoable.tasks.into_iter().map(|(task, _)| task.id).collect(),
            threads: undoable.threads.into_iter().map(|(thread, _)| thread.id).collect(),
            projects: undoable.projects.into_iter().map(|(project, _)| project.name).collect(),
        })
    }

    /// Refuses to put back a text from which a secret was left out, or to take away one that is kept only without it.
    fn check_whole(&self, name: &DocumentName, left: &ContentHash, before: Option<&str>) -> Done<()> {
        let versions = self.history.document_versions(name)?;
        let is_whole = |text: &str, hash: &ContentHash| {
            versions.iter().any(|version| version.text.as_deref() == Some(text) && version.hash == *hash)
                && ContentHash::of(text) == *hash
        };
        let is_kept = match before {
            Some(text) => is_whole(text, &ContentHash::of(text)),
            None if *left == ContentHash::missing() => true,
            None => versions.iter().any(|version| version.text.as_deref().is_some_and(|text| is_whole(text, left))),
        };
        if is_kept { Ok(()) } else { Err(EngineError::LeftOut { name: name.clone() }) }
    }

    /// Leaves the last change as it is, so that `undo` goes on with the one before.
    pub fn skip(&self) -> Done<Change> {
        let undoable = self.kernel.changes.undoable()?.ok_or(EngineError::NothingToUndo)?;
        let change = Change { undoes: Some(undoable.change.id.clone()), ..self.kernel.change(Verb::Undo) };
        self.kernel.changes.apply(&change, &[], &mut || true)?;
        Ok(undoable.change)
    }

    fn undo_ops(&self, undoable: &Undoable) -> Done<Vec<Op>> {
        let now = self.kernel.now;
        let mut entries: Vec<Entry> = undoable
            .entries
            .iter()
            .map(|(current, before)| match before {
                Some(before) => crate::memories::revived(current, before.clone(), now),
                None => Entry { status: Status::Inactive, updated_at: now, ..current.clone() },
            })
            .collect();
        // What gives a key up comes before what takes it back.
        entries.sort_by_key(|entry| (entry.status == Status::Active, entry.key.is_some()));
        let documents =
            undoable.documents.iter().map(|(name, _, before)| self.undone_document(undoable, name, before.as_deref()));
        let documents = documents.collect::<Done<Vec<Op>>>()?;
        let tasks = undoable.tasks.iter().map(|(current, before)| {
            let before = before.clone().unwrap_or_else(|| Task { status: TaskStatus::Removed, ..current.clone() });
            Op::Task(Task { version: current.version, updated_at: now, ..before })
        });
        let threads = undoable.threads.iter().map(|(current, before)| {
            let before = before.clone().unwrap_or_else(|| closed(current));
            Op::Thread(Thread { version: current.version, ..before })
        });
        let projects = undoable.projects.iter().map(|(current, before)| {
            let before = before.clone().unwrap_or_else(|| Project { status: Status::Inactive, ..current.clone() });
            Op::Project(Project { version: current.version, updated_at: now, ..before })
        });
        Ok(entries.into_iter().map(Op::Update).chain(documents).chain(tasks).chain(threads).chain(projects).collect())
    }

    /// Puts the documents of a change back, each only over what that change left. The file of a project that the change
    /// moved stays where it is: the project goes back to the directory that has the other one.
    fn undo_steps(&self, undoable: &Undoable) -> Done<Vec<FileStep>> {
        let mut steps = Vec::new();
        for (name, left, before) in undoable.documents.iter().filter(|(name, ..)| !is_moved(undoable, name)) {
            self.check_whole(name, left, before.as_deref())?;
            let current = self.files.read(name)?;
            if current.as_ref().map_or_else(ContentHash::missing, |current| current.hash.clone()) != *left {
                return Err(DocumentError::Conflict { name: name.clone() }.into());
            }
            steps.push(FileStep {
                name: name.clone(),
                expected: left.clone(),
                before: current.map(|current| current.text),
                after: before.clone(),
            });
        }
        Ok(steps)
    }

    /// The version of a document that undoing a change makes.
    fn undone_document(&self, undoable: &Undoable, name: &DocumentName, before: Option<&str>) -> Done<Op> {
        if !is_moved(undoable, name) {
            return Ok(Op::document(name.clone(), before.map(str::to_owned)));
        }
        // The file in the other directory may hold a secret that was left out here: it is known by its digest.
        let versions = self.history.document_versions(name)?;
        let known = versions.into_iter().rfind(|version| version.text.as_deref() == before);
        Ok(match (self.documents.versioned(name, before, Source::User), known) {
            (Op::Document { name, text, bullets, .. }, Some(known)) if before.is_some() => {
                Op::Document { name, text, hash: known.hash, bullets }
            }
            (op, _) => op,
        })
    }
}

/// A thread that a change began, without that change.
fn closed(thread: &Thread) -> Thread {
    Thread { status: ThreadStatus::Closed, rendered: None, ..thread.clone() }
}

/// Whether a change registered or moved the project that this document belongs to.
fn is_moved(undoable: &Undoable, name: &DocumentName) -> bool {
    name.as_project().is_some_and(|name| undoable.projects.iter().any(|(project, _)| project.name == *name))
}
