//! Tasks: add, update, done, reopen, remove.

use proptest::sample::Index;
use throughline_core::engine::{EngineError, NewTask, TaskEdit};
use throughline_core::model::{EntryId, Layer, Status, Task, TaskId, TaskStatus, Verb};

use super::acts::TaskChange;
use super::pair::Pair;
use super::plain::{State, Step, TaskState};

impl Pair {
    pub(crate) fn add_task(&mut self, title: &str, state: &str, project: Option<&String>) {
        let new = NewTask { title: title.to_owned(), state: state.to_owned(), project: project.cloned() };
        let task = self.world.engine.tasks().add(&new).unwrap();
        assert!(!self.model.tasks.contains_key(&task.id), "a new id");
        let (title, state, project) = (new.title, new.state, new.project);
        let first = TaskState { title, status: TaskStatus::Open, state, project, done_at: None, archive: None };
        self.task_changes(&task, Step::new(Verb::Task), first);
    }

    pub(crate) fn update_task(&mut self, which: Index, change: &TaskChange) {
        let Some(id) = self.model.pick_task(which) else { return };
        let (mut edit, mut next) = (TaskEdit::default(), self.model.task(&id).clone());
        match change.clone() {
            TaskChange::Title(title) => (edit.title, next.title) = (Some(title.clone()), title),
            TaskChange::State(state) => (edit.state, next.state) = (Some(state.clone()), state),
            TaskChange::Project(project) => (edit.project, next.project) = (Some(project.clone()), project),
        }
        let task = self.world.engine.tasks().update(id.as_str(), &edit).unwrap();
        self.task_changes(&task, Step::new(Verb::Task), next);
    }

    pub(crate) fn set_status(&mut self, which: Index, status: TaskStatus) {
        let Some(id) = self.model.pick_task(which) else { return };
        let edit = TaskEdit { status: Some(status), ..TaskEdit::default() };
        let task = self.world.engine.tasks().update(id.as_str(), &edit).unwrap();
        let before = self.model.task(&id).clone();
        let done_at = before.done_at.filter(|_| status != TaskStatus::Open);
        let next = TaskState { status, done_at, ..before };
        self.task_changes(&task, Step::new(Verb::Task), next);
    }

    pub(crate) fn finish_task(&mut self, which: Index, conclusion: Option<&str>) {
        let Some(id) = self.model.pick_task(which) else { return };
        let before = self.model.task(&id).clone();
        let got = self.world.engine.tasks().finish(id.as_str(), conclusion);
        if before.status == TaskStatus::Removed {
            assert!(matches!(got, Err(EngineError::Invalid { .. })), "what was removed is not done: {got:?}");
            return;
        }
        let got = got.unwrap();
        if before.status == TaskStatus::Done && conclusion.is_none() {
            return self.task_changes(&got.task, Step::new(Verb::Done), before);
        }
        let archive = got.archived.expect("an archive").entry.id;
        let mut step = Step::new(Verb::Done);
        self.archived(&mut step, &id, &archive, conclusion);
        let (done_at, archive) = (Some(self.world.engine.now()), Some(archive));
        let next = TaskState { status: TaskStatus::Done, state: String::new(), done_at, archive, ..before };
        self.task_changes(&got.task, step, next);
    }

    /// What the archive keeps of a task that is done now.
    fn archived(&mut self, step: &mut Step, id: &TaskId, archive: &EntryId, conclusion: Option<&str>) {
        let task = self.model.task(id).clone();
        let day = self.world.engine.now().strftime("%Y-%m-%d %H:%M");
        let parts =
            [format!("[{day}] Task done: {}", task.title), task.state, conclusion.unwrap_or_default().to_owned()];
        let text = parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("\n\n");
        let key = format!("task_{id}");
        let linked = task.archive.filter(|id| self.model.now(id).is_active());
        let next = match linked.or_else(|| self.model.keyed(task.project.as_deref(), &key)) {
            Some(known) => {
                assert_eq!(*archive, known, "the archive goes on");
                let before = self.model.now(&known).clone();
                State { content: format!("{}\n\n{text}", before.content), ..before }
            }
            None => {
                assert!(self.is_new(archive), "{archive} is new");
                State {
                    content: text,
                    key: Some(key),
                    project: task.project,
                    task: Some(id.to_string()),
                    layer: Layer::Archive,
                    tags: vec!["task".to_owned()],
                    supersedes: Vec::new(),
                    status: Status::Active,
                }
            }
        };
        self.model.set(step, archive, next);
    }

    /// The next state of a task, unless it is the same.
    fn task_changes(&mut self, got: &Task, mut step: Step, next: TaskState) {
        assert_eq!(TaskState::of(got), next);
        if self.model.tasks.get(&got.id).is_none_or(|versions| versions.last() != Some(&next)) {
            self.model.set_task(&mut step, &got.id, next);
            let memories: Vec<EntryId> = step.memories.iter().map(|(id, _)| id.clone()).collect();
            self.model.done(step);
            memories.iter().for_each(|id| self.touched(id));
        }
        assert_eq!(got.version as usize, self.model.tasks[&got.id].len());
        self.touched_task(&got.id);
    }
}
