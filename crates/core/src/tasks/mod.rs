//! Tasks and projects: what the person is at, where, and what is kept of it when it is done.

mod report;

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::consolidation::plan;
use crate::error::{Done, EngineError};
use crate::input;
use crate::kernel::{Kernel, Race as _, conflict, retry};
use crate::model::{Entry, EntryId, Importance, Kind, Layer, Memory, Status, Task, TaskId, TaskStatus, Thread, Verb};
use crate::ports::{self, ErasureMark, Op};
use crate::threads::{ThreadEdit, ThreadService};

pub use report::{Period, Report, ReportBy};

/// The tag of what the archive keeps of a task.
pub(super) const TASK_TAG: &str = "task";

/// A task as it is to be, and what that does to entries.
type WithOps = (Task, Vec<Op>);

/// The key of what the archive keeps of a task.
pub(crate) fn archive_key(task: &TaskId) -> String {
    format!("task_{task}")
}

/// A task to add.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    /// What is to be done.
    pub title: String,
    /// Where it stands.
    pub state: String,
    /// The project it belongs to.
    pub project: Option<String>,
}

/// What to change of a task; what is not given stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskEdit {
    /// What is to be done.
    pub title: Option<String>,
    /// Where it stands.
    pub state: Option<String>,
    /// The project; `Some(None)` removes it.
    pub project: Option<Option<String>>,
    /// Whether it is open, or not wanted any more. Done is a verb of its own.
    pub status: Option<TaskStatus>,
    /// The version that the writer saw; another one is a conflict.
    pub expected_version: Option<u32>,
}

/// A task that was done, and what the archive keeps of it.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Finished {
    /// The task, its fields at the same level.
    #[serde(flatten)]
    pub task: Task,
    /// The entry in the archive.
    pub archived: Option<Memory>,
}

/// Tasks.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Tasks {
    /// The latest changed first.
    pub tasks: Vec<Task>,
}

/// Tasks, and reports about them.
#[derive(Clone, Copy)]
pub struct TaskService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) task_store: &'e dyn ports::Tasks,
    pub(crate) threads: ThreadService<'e>,
}

impl TaskService<'_> {
    /// Adds a task.
    pub fn add(&self, new: &NewTask) -> Done<Task> {
        let now = self.kernel.now;
        let task = Task {
            id: TaskId::new(self.kernel.new_id()),
            title: input::title(&new.title)?,
            status: TaskStatus::Open,
            state: input::state(&new.state)?,
            project: new.project.as_deref().map(input::project).transpose()?,
            created_at: now,
            updated_at: now,
            done_at: None,
            archive: None,
            version: 0,
        };
        self.kernel.apply(Verb::Task, &[Op::Task(task.clone())])?;
        Ok(Task { version: 1, ..task })
    }

    /// Tasks of a status and a project, where given; the latest changed first.
    pub fn list(&self, status: Option<TaskStatus>, project: Option<&str>) -> Done<Vec<Task>> {
        let mut tasks = self.task_store.tasks()?;
        tasks.retain(|task| status.is_none_or(|status| task.status == status));
        tasks.retain(|task| project.is_none_or(|project| task.project.as_deref() == Some(project)));
        Ok(tasks)
    }

    /// The one task that `reference` names: an id, the beginning of one, or a whole title.
    pub fn get(&self, reference: &str) -> Done<Task> {
        if let Some(task) = self.task_store.task(&TaskId::new(reference))? {
            return Ok(task);
        }
        let tasks = self.task_store.tasks()?;
        let titled = |task: &&Task| task.status != TaskStatus::Removed && task.title == reference;
        let begins = |task: &&Task| reference.len() >= 6 && task.id.as_str().starts_with(reference);
        let mut found: Vec<&Task> = tasks.iter().filter(titled).collect();
        // A title that comes again means the task that is open now.
        if found.iter().filter(|task| task.status == TaskStatus::Open).count() == 1 {
            found.retain(|task| task.status == TaskStatus::Open);
        }
        if found.is_empty() {
            found = tasks.iter().filter(begins).collect();
        }
        match found.as_slice() {
            [only] => Ok((*only).clone()),
            [] => Err(EngineError::NoTask { reference: reference.to_owned() }),
            several => {
                let ids = several.iter().map(|task| EntryId::new(task.id.as_str())).collect();
                Err(EngineError::Ambiguous { what: "tasks", reference: reference.to_owned(), ids })
            }
        }
    }

    /// Changes a task.
    pub fn update(&self, reference: &str, edit: &TaskEdit) -> Done<Task> {
        if edit.status == Some(TaskStatus::Done) {
            return Err(EngineError::invalid(
                "the status",
                "done is reached with `task done`, which archives the task",
            ));
        }
        self.change(reference, Verb::Task, &|task| {
            if edit.expected_version.is_some_and(|expected| expected != task.version) {
                return Err(conflict(&task.id));
            }
            let mut next = task.clone();
            if let Some(title) = &edit.title {
                next.title = input::title(title)?;
            }
            if let Some(state) = &edit.state {
                next.state = input::state(state)?;
            }
            if let Some(project) = &edit.project {
                next.project = project.as_deref().map(input::project).transpose()?;
            }
            if let Some(status) = edit.status {
                next.status = status;
                if status == TaskStatus::Open {
                    next.done_at = None;
                }
            }
            Ok((next, Vec::new()))
        })
    }

    /// Completes a task: its working state, and what was concluded, go to the archive; the rest of it stays.
    pub fn finish(&self, reference: &str, conclusion: Option<&str>) -> Done<Finished> {
        let task = self.change(reference, Verb::Done, &|task| {
            if task.status == TaskStatus::Removed {
                let problem = "was removed; `task update ID --reopen` brings it back";
                return Err(EngineError::invalid("the task", problem));
            }
            if task.status == TaskStatus::Done && conclusion.is_none() {
                return Ok((task.clone(), Vec::new()));
            }
            let now = self.kernel.now;
            let op = self.archive_of(task, conclusion.unwrap_or_default(), now)?;
            let archive = match &op {
                Op::Insert(entry) | Op::Update(entry) => Some(entry.id.clone()),
                _ => None,
            };
            let next =
                Task { status: TaskStatus::Done, state: String::new(), done_at: Some(now), archive, ..task.clone() };
            Ok((next, vec![op]))
        })?;
        let archived = task.archive.as_ref().map(|id| self.entries.memory(id)).transpose()?.flatten();
        Ok(Finished { task, archived })
    }

    /// What the archive keeps of a task: one entry, which a task that was reopened writes on. One that was forgotten or
    /// corrected stays so: what took its key is written on, or a new one made.
    fn archive_of(&self, task: &Task, conclusion: &str, now: Timestamp) -> Done<Op> {
        let parts = [format!("Task done: {}", task.title), task.state.clone(), input::state(conclusion)?];
        let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
        let text = plan::timeline_text(now, &parts.collect::<Vec<_>>().join("\n\n"));
        let linked = task.archive.as_ref().map(|id| self.entries.memory(id)).transpose()?.flatten();
        let known = match linked {
            Some(Memory { entry, .. }) if entry.status == Status::Active => Some(entry),
            _ => self.entries.keyed(&self.kernel.facts(), task.project.as_deref(), &archive_key(&task.id))?,
        };
        if let Some(entry) = known {
            let content = input::latest(&format!("{}\n\n{text}", entry.content));
            return Ok(Op::Update(Entry { content, updated_at: now, ..entry }));
        }
        Ok(Op::Insert(Entry {
            id: EntryId::new(self.kernel.new_id()),
            kind: Kind::Entry,
            namespace: self.kernel.facts(),
            layer: Layer::Archive,
            key: Some(archive_key(&task.id)),
            content: input::latest(&text),
            source: self.kernel.actor.who,
            status: Status::Active,
            importance: Importance::default(),
            tags: vec![TASK_TAG.to_owned()],
            session: None,
            task: Some(task.id.to_string()),
            project: task.project.clone(),
            created_at: now,
            updated_at: now,
            expires_at: None,
            supersedes: Vec::new(),
            provenance: Vec::new(),
            version: 1,
        }))
    }

    /// Writes a task. What conversations left to go on from about it is finished with it.
    fn commit(&self, verb: Verb, ops: &[Op], task: &Task) -> Done<Option<Vec<Entry>>> {
        let is_its = |thread: &Thread| thread.task.as_deref() == Some(task.id.as_str());
        if task.status == TaskStatus::Open || !self.threads.list()?.iter().any(is_its) {
            return self.threads.documents.commit(verb, ops, &[]);
        }
        self.threads.commit(verb, ops, &ThreadEdit::Close(&is_its))
    }

    /// Changes a task by a function of what it is now; what it does to entries belongs to the same change.
    pub(crate) fn change(&self, reference: &str, verb: Verb, edit: &dyn Fn(&Task) -> Done<WithOps>) -> Done<Task> {
        let id = self.get(reference)?.id;
        let attempt = |since: &ErasureMark| {
            let no_task = || EngineError::NoTask { reference: reference.to_owned() };
            let task = self.task_store.task(&id)?.ok_or_else(no_task)?;
            let (next, mut ops) = edit(&task)?;
            if next == task {
                return Ok(Some(task));
            }
            let next = Task { updated_at: self.kernel.now, ..next };
            ops.extend([Op::Task(next.clone()), Op::Unerased(since.clone())]);
            let applied = self.commit(verb, &ops, &next);
            Ok(applied.unless_outrun_or_taken()?.flatten().map(|_| Task { version: next.version + 1, ..next }))
        };
        self.kernel.unless_erased(|since| retry(|| conflict(reference), || attempt(since)))
    }
}

/// The task of this id, while it is open.
pub(crate) fn open(store: &dyn ports::Tasks, id: Option<&str>) -> Done<Option<Task>> {
    let task = id.map(|id| store.task(&TaskId::new(id))).transpose()?.flatten();
    Ok(task.filter(|task| task.status == TaskStatus::Open))
}

/// The open task of a project that changed last; nothing without a project.
pub(crate) fn latest_open(store: &dyn ports::Tasks, project: Option<&str>) -> Done<Option<Task>> {
    let Some(project) = project else { return Ok(None) };
    let is_wanted = |task: &Task| task.status == TaskStatus::Open && task.project.as_deref() == Some(project);
    Ok(store.tasks()?.into_iter().find(is_wanted))
}
