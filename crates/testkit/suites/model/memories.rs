//! One memory at a time: remember, edit, forget, restore; and undo.

use std::collections::BTreeSet;

use proptest::sample::Index;
use throughline_core::engine::{Edit, EngineError, NewMemory, Outcome, Remembered, Restored};
use throughline_core::model::{EntryId, TaskId, Verb};

use super::acts::Which;
use super::pair::{Pair, unless_taken};
use super::plain::{State, Step, add_missing};

impl Pair {
    pub(crate) fn remember(&mut self, wanted: State) {
        let new = NewMemory {
            key: wanted.key.clone(),
            project: wanted.project.clone(),
            layer: wanted.layer,
            tags: wanted.tags.clone(),
            ..NewMemory::fact(wanted.content.clone())
        };
        let holder = wanted.key.as_deref().and_then(|key| self.model.keyed(wanted.project.as_deref(), key));
        let said = self.model.saying(&wanted, holder.as_ref());
        let got = self.world.engine.memories().remember(&new).unwrap();
        let id = got.memory.entry.id.clone();
        if let Some(holder) = holder {
            assert_eq!(id, holder, "the key stands for the same memory");
            self.remembered_again(&id, &said, wanted, &got);
        } else if said.is_empty() {
            assert_eq!(got.outcome, Outcome::Created);
            assert!(self.is_new(&id), "a new id");
            let mut step = Step::new(Verb::Remember);
            self.model.set(&mut step, &id, wanted);
            self.model.done(step);
        } else {
            assert!(said.contains(&id), "{id} is not one of {said:?}");
            let before = self.model.now(&id).clone();
            let mut tags = before.tags.clone();
            add_missing(&mut tags, &wanted.tags);
            let key = before.key.clone().or(wanted.key.filter(|_| before.project == wanted.project));
            self.changes(Verb::Remember, &id, State { tags, key, ..before }, Some(got));
        }
        self.touched(&id);
    }

    /// A key stands for another text; one without a key that said so already becomes part of it.
    fn remembered_again(&mut self, id: &EntryId, said: &[EntryId], wanted: State, got: &Remembered) {
        assert_eq!(got.superseded.len(), said.len().min(1), "what says the same is merged");
        assert!(got.superseded.iter().all(|merged| said.contains(merged)));
        let before = self.model.now(id).clone();
        let tags = if wanted.tags.is_empty() { before.tags.clone() } else { wanted.tags.clone() };
        let mut supersedes = before.supersedes.clone();
        add_missing(&mut supersedes, &got.superseded);
        let next = State { tags, task: before.task.clone(), supersedes, ..wanted };
        if next == before {
            return assert_eq!(got.outcome, Outcome::Unchanged);
        }
        assert_eq!(got.outcome, Outcome::Updated);
        let mut step = Step::new(Verb::Remember);
        for merged in &got.superseded {
            let gone = self.model.now(merged).inactive();
            self.model.set(&mut step, merged, gone);
        }
        self.model.set(&mut step, id, next);
        self.model.done(step);
        got.superseded.iter().for_each(|merged| self.touched(merged));
    }

    /// The next state of one memory, unless it is the same or its key is another's. `got` is what the engine said.
    fn changes(&mut self, verb: Verb, id: &EntryId, next: State, got: Option<Remembered>) {
        if *self.model.now(id) == next {
            assert_eq!(got.map(|got| got.outcome), Some(Outcome::Unchanged));
        } else if self.model.is_taken(id, &next) {
            assert_eq!(got, None, "the key is taken");
        } else {
            assert_eq!(got.map(|got| got.outcome), Some(Outcome::Updated));
            let mut step = Step::new(verb);
            self.model.set(&mut step, id, next);
            self.model.done(step);
        }
    }

    pub(crate) fn edit(&mut self, which: &Which, edit: &Edit, change: impl FnOnce(State) -> State) {
        let Some(id) = self.model.pick(which) else { return };
        let got = unless_taken(self.world.engine.memories().edit(id.as_str(), edit));
        let next = change(self.model.now(&id).clone());
        let copies = self.model.copies(&id, &next);
        match got {
            Some(got) if !copies.is_empty() => self.edited_to_a_copy(&id, next, &copies, &got),
            got => self.changes(Verb::Edit, &id, next, got),
        }
        self.touched(&id);
    }

    /// An edited memory says what others say: it stands, with all that they add.
    fn edited_to_a_copy(&mut self, id: &EntryId, mut next: State, copies: &[EntryId], got: &Remembered) {
        assert_eq!(got.outcome, Outcome::Updated);
        assert!(!got.superseded.is_empty() && got.superseded.iter().all(|copy| copies.contains(copy)), "{got:?}");
        let mut step = Step::new(Verb::Edit);
        for copy in &got.superseded {
            let other = self.model.now(copy).clone();
            add_missing(&mut next.tags, &other.tags);
            add_missing(&mut next.supersedes, &other.supersedes);
            add_missing(&mut next.supersedes, std::slice::from_ref(copy));
            next.task = next.task.or_else(|| other.task.clone());
            next.key = next.key.or_else(|| other.key.clone());
            self.model.set(&mut step, copy, other.inactive());
        }
        next.supersedes.retain(|other| other != id);
        self.model.set(&mut step, id, next);
        self.model.done(step);
        got.superseded.iter().for_each(|copy| self.touched(copy));
    }

    pub(crate) fn forget_one(&mut self, which: &Which) {
        let Some(id) = self.model.pick(which) else { return };
        self.forget(id.as_str(), &id);
    }

    fn forget(&mut self, reference: &str, id: &EntryId) {
        let got = self.world.engine.memories().forget(reference).unwrap();
        let before = self.model.now(id).clone();
        assert_eq!((&got.id, got.already), (id, !before.is_active()));
        if before.is_active() {
            let mut step = Step::new(Verb::Forget);
            self.model.set(&mut step, id, before.inactive());
            self.model.done(step);
        }
        self.touched(id);
    }

    pub(crate) fn forget_by_key(&mut self, key: &str) {
        let meant: Vec<EntryId> = self
            .model
            .active()
            .filter(|(_, state)| state.key.as_deref() == Some(key))
            .map(|(id, _)| id.clone())
            .collect();
        match meant.as_slice() {
            [id] => self.forget(key, id),
            [] => match self.world.engine.memories().forget(key) {
                Ok(forgotten) => assert!(forgotten.already, "only a forgotten one has the key"),
                Err(error) => assert!(matches!(error, EngineError::NotFound { .. }), "{error:?}"),
            },
            _ => {
                let error = self.world.engine.memories().forget(key).unwrap_err();
                assert!(matches!(error, EngineError::Ambiguous { .. }), "{error:?}");
            }
        }
    }

    pub(crate) fn restore(&mut self, which: &Which, version: Index) {
        let Some(id) = self.model.pick(which) else { return };
        let versions = &self.model.memories[&id];
        let at = version.index(versions.len());
        let wanted = versions[at].clone();
        let got = self.world.engine.history().restore(id.as_str(), u32::try_from(at).unwrap() + 1).map(memory);
        self.changes(Verb::Restore, &id, wanted, unless_taken(got));
        self.touched(&id);
    }

    pub(crate) fn undo(&mut self) {
        let got = self.world.engine.history().undo();
        let Some(step) = self.model.take_back() else {
            assert!(matches!(got, Err(EngineError::NothingToUndo)), "{got:?}");
            return;
        };
        let got = got.unwrap();
        let memories: BTreeSet<EntryId> = step.memories.into_iter().map(|(id, _)| id).collect();
        let tasks: BTreeSet<TaskId> = step.tasks.into_iter().map(|(id, _)| id).collect();
        assert_eq!(got.undone.verb, step.verb);
        assert_eq!(got.memories.into_iter().map(|memory| memory.entry.id).collect::<BTreeSet<_>>(), memories);
        assert_eq!(got.tasks.into_iter().collect::<BTreeSet<_>>(), tasks);
        memories.iter().for_each(|id| self.touched(id));
        tasks.iter().for_each(|id| self.touched_task(id));
    }
}

/// The memory that was brought back.
fn memory(restored: Restored) -> Remembered {
    match restored {
        Restored::Memory(memory) => *memory,
        other => panic!("this is no memory: {other:?}"),
    }
}
