//! The plain truth: every version of everything, what can be undone, and how often each memory was recalled.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use throughline_core::model::{Entry, EntryId, Layer, Status, Task, TaskId, TaskStatus, Verb};

use super::acts::Which;

/// One version of a memory, as far as this model goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    pub(crate) content: String,
    pub(crate) key: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) layer: Layer,
    pub(crate) tags: Vec<String>,
    pub(crate) supersedes: Vec<EntryId>,
    pub(crate) status: Status,
}

impl State {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self {
            content: entry.content.clone(),
            key: entry.key.clone(),
            project: entry.project.clone(),
            task: entry.task.clone(),
            layer: entry.layer,
            tags: entry.tags.clone(),
            supersedes: entry.supersedes.clone(),
            status: entry.status,
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.status == Status::Active
    }

    pub(crate) fn inactive(&self) -> Self {
        Self { status: Status::Inactive, ..self.clone() }
    }

    /// Whether both live in the same layer of the same project.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        (self.layer, &self.project) == (other.layer, &other.project)
    }
}

/// Adds what is not there yet.
pub(crate) fn add_missing<T: PartialEq + Clone>(list: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}

/// One version of a task, as far as this model goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TaskState {
    pub(crate) title: String,
    pub(crate) status: TaskStatus,
    pub(crate) state: String,
    pub(crate) project: Option<String>,
    pub(crate) done_at: Option<Timestamp>,
    pub(crate) archive: Option<EntryId>,
}

impl TaskState {
    pub(crate) fn of(task: &Task) -> Self {
        Self {
            title: task.title.clone(),
            status: task.status,
            state: task.state.clone(),
            project: task.project.clone(),
            done_at: task.done_at,
            archive: task.archive.clone(),
        }
    }
}

/// What one change did: each thing that it touched as it was before, or nothing where it is new.
#[derive(Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) verb: Verb,
    pub(crate) memories: Vec<(EntryId, Option<State>)>,
    pub(crate) tasks: Vec<(TaskId, Option<TaskState>)>,
}

impl Step {
    pub(crate) fn new(verb: Verb) -> Self {
        Self { verb, memories: Vec::new(), tasks: Vec::new() }
    }
}

#[derive(Default)]
pub(crate) struct Model {
    pub(crate) memories: BTreeMap<EntryId, Vec<State>>,
    pub(crate) tasks: BTreeMap<TaskId, Vec<TaskState>>,
    pub(crate) undo: Vec<Step>,
    pub(crate) recalls: BTreeMap<EntryId, u64>,
    /// How often each verb had an effect.
    pub(crate) effects: BTreeMap<String, usize>,
    order: Vec<EntryId>,
    task_order: Vec<TaskId>,
    active: BTreeSet<EntryId>,
}

impl Model {
    pub(crate) fn pick(&self, which: &Which) -> Option<EntryId> {
        if which.active {
            let at = (!self.active.is_empty()).then(|| which.at.index(self.active.len()))?;
            return self.active.iter().nth(at).cloned();
        }
        (!self.order.is_empty()).then(|| which.at.get(&self.order).clone())
    }

    /// One of the active memories that could be merged with this one, itself among them.
    pub(crate) fn pick_beside(&self, id: &EntryId, which: &Which) -> EntryId {
        let beside: Vec<&EntryId> =
            self.active().filter(|(_, state)| state.is_beside(self.now(id))).map(|(id, _)| id).collect();
        if beside.is_empty() { id.clone() } else { (*which.at.get(&beside)).clone() }
    }

    pub(crate) fn pick_task(&self, at: proptest::sample::Index) -> Option<TaskId> {
        (!self.task_order.is_empty()).then(|| at.get(&self.task_order).clone())
    }

    pub(crate) fn now(&self, id: &EntryId) -> &State {
        self.memories[id].last().unwrap()
    }

    pub(crate) fn task(&self, id: &TaskId) -> &TaskState {
        self.tasks[id].last().unwrap()
    }

    pub(crate) fn active(&self) -> impl Iterator<Item = (&EntryId, &State)> {
        self.active.iter().map(|id| (id, self.now(id)))
    }

    /// The active memory that has this key in this project.
    pub(crate) fn keyed(&self, project: Option<&str>, key: &str) -> Option<EntryId> {
        let has = |state: &State| state.key.as_deref() == Some(key) && state.project.as_deref() == project;
        self.active().find(|(_, state)| has(state)).map(|(id, _)| id.clone())
    }

    /// The active memories in reach that say this, but for this one. Two keys are two memories; the archive keeps what has
    /// a key apart.
    pub(crate) fn saying(&self, wanted: &State, but: Option<&EntryId>) -> Vec<EntryId> {
        let is_archive = wanted.layer == Layer::Archive;
        if is_archive && wanted.key.is_some() {
            return Vec::new();
        }
        let is_in_reach = |state: &State| {
            let is_there = state.project.is_none() || state.project == wanted.project;
            if is_archive {
                state.key.is_none() && state.is_beside(wanted)
            } else {
                is_there && state.layer == wanted.layer
            }
        };
        let is_said = |(id, state): &(&EntryId, &State)| {
            let is_other_key = wanted.key.is_some() && state.key.is_some();
            !is_other_key && is_in_reach(state) && state.content == wanted.content && Some(*id) != but
        };
        self.active().filter(is_said).map(|(id, _)| id.clone()).collect()
    }

    /// The active statements that say what a memory says from now on, in the same project; two keys are two memories.
    pub(crate) fn copies(&self, id: &EntryId, next: &State) -> Vec<EntryId> {
        let is_edited = next.is_active() && next.layer == Layer::Knowledge && next.content != self.now(id).content;
        let is_copy = |(other, state): &(&EntryId, &State)| {
            let is_other_key = next.key.is_some() && state.key.is_some();
            *other != id && !is_other_key && state.is_beside(next) && state.content == next.content
        };
        self.active().filter(|_| is_edited).filter(is_copy).map(|(id, _)| id.clone()).collect()
    }

    /// Whether a memory could not be so, because another active one has its key.
    pub(crate) fn is_taken(&self, id: &EntryId, state: &State) -> bool {
        let Some(key) = state.key.as_deref().filter(|_| state.is_active()) else { return false };
        self.keyed(state.project.as_deref(), key).is_some_and(|holder| holder != *id)
    }

    /// The next version of a memory, or its first.
    pub(crate) fn set(&mut self, step: &mut Step, id: &EntryId, next: State) {
        if !self.memories.contains_key(id) {
            self.order.push(id.clone());
        }
        let versions = self.memories.entry(id.clone()).or_default();
        step.memories.push((id.clone(), versions.last().cloned()));
        if next.is_active() {
            self.active.insert(id.clone());
        } else {
            self.active.remove(id);
        }
        versions.push(next);
    }

    /// The next version of a task, or its first.
    pub(crate) fn set_task(&mut self, step: &mut Step, id: &TaskId, next: TaskState) {
        if !self.tasks.contains_key(id) {
            self.task_order.push(id.clone());
        }
        let versions = self.tasks.entry(id.clone()).or_default();
        step.tasks.push((id.clone(), versions.last().cloned()));
        versions.push(next);
    }

    /// A step is done, and can be undone.
    pub(crate) fn done(&mut self, step: Step) {
        *self.effects.entry(step.verb.as_str().to_owned()).or_default() += 1;
        self.undo.push(step);
    }

    /// Takes the last step back; gives it.
    pub(crate) fn take_back(&mut self) -> Option<Step> {
        let step = self.undo.pop()?;
        let mut undoing = Step::new(Verb::Undo);
        for (id, before) in &step.memories {
            let before = before.clone().unwrap_or_else(|| self.now(id).inactive());
            self.set(&mut undoing, id, before);
        }
        for (id, before) in &step.tasks {
            let gone = || TaskState { status: TaskStatus::Removed, ..self.task(id).clone() };
            let before = before.clone().unwrap_or_else(gone);
            self.set_task(&mut undoing, id, before);
        }
        *self.effects.entry(Verb::Undo.as_str().to_owned()).or_default() += 1;
        Some(step)
    }
}
