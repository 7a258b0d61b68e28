//! Compares the engine with the model: what was touched, or everything.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use throughline_core::model::{Entry, EntryId, Status, TaskId, Verb};
use throughline_core::ports::{ErasureMark, Page};
use throughline_core::recall::{Filter, RecallRequest};
use throughline_testkit::{Fresh, stores};

use super::acts::WORDS;
use super::pair::Pair;
use super::plain::{State, TaskState};

/// No page of a listing holds everything for long.
const PAGE: usize = 97;

impl Pair {
    /// Compares one memory, with its history, and whether it can be recalled.
    pub(crate) fn touched(&mut self, id: &EntryId) {
        let versions = &self.model.memories[id];
        let entry = self.world.store.memory(id).unwrap().unwrap().entry;
        assert_eq!(State::of(&entry), *self.model.now(id));
        assert_eq!(entry.version as usize, versions.len());
        let kept = self.world.store.entry_versions(id).unwrap();
        assert_eq!(kept.iter().map(|version| State::of(&version.entry)).collect::<Vec<_>>(), *versions);
        assert_eq!(kept.last().map(|version| &version.entry), Some(&entry));
        self.recall_one(&entry);
    }

    /// Whether one memory can be recalled: no other is as old to the second.
    fn recall_one(&mut self, entry: &Entry) {
        let word = WORDS.into_iter().find(|word| entry.content.contains(word)).unwrap();
        let (since, until) = (entry.created_at, entry.created_at + SignedDuration::from_secs(1));
        let filter = Filter { since: Some(since), until: Some(until), ..Filter::recallable(self.world.engine.now()) };
        let got =
            self.world.engine.recall().recall(&RecallRequest { query: word.to_owned(), limit: 9, filter }).unwrap();
        let found: Vec<EntryId> = got.hits.into_iter().map(|hit| hit.memory.entry.id).collect();
        let expected: Vec<EntryId> =
            self.model.now(&entry.id).is_active().then(|| entry.id.clone()).into_iter().collect();
        assert_eq!(found, expected, "recalling {word}");
        for id in expected {
            *self.model.recalls.entry(id).or_default() += 1;
        }
    }

    /// Compares one task, with its history.
    pub(crate) fn touched_task(&self, id: &TaskId) {
        let versions = &self.model.tasks[id];
        let task = self.world.store.task(id).unwrap().unwrap();
        assert_eq!(TaskState::of(&task), *self.model.task(id));
        assert_eq!(task.version as usize, versions.len());
        let kept = self.world.store.task_versions(id).unwrap();
        assert_eq!(kept.iter().map(|version| TaskState::of(&version.task)).collect::<Vec<_>>(), *versions);
    }

    /// Compares all that a word finds.
    pub(crate) fn recall(&mut self, word: &str) {
        let filter = Filter::recallable(self.world.engine.now());
        let request = RecallRequest { query: word.to_owned(), limit: 1000, filter };
        let got = self.world.engine.recall().recall(&request).unwrap();
        let shown: Vec<EntryId> = got.hits.iter().map(|hit| hit.memory.entry.id.clone()).collect();
        // What says the same as another is named behind it.
        let found = shown.iter().chain(got.hits.iter().flat_map(|hit| &hit.evidence)).cloned().collect::<BTreeSet<_>>();
        let expected: BTreeSet<EntryId> =
            self.model.active().filter(|(_, state)| state.content.contains(word)).map(|(id, _)| id.clone()).collect();
        assert_eq!(found, expected, "recalling {word}");
        for id in shown {
            *self.model.recalls.entry(id).or_default() += 1;
        }
    }

    /// Compares a listing, page by page.
    pub(crate) fn list(&self, status: Option<Status>) {
        let filter = Filter { status, ..Filter::default() };
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.world.engine.memories().list(&filter, &Page { limit: PAGE, cursor }).unwrap();
            found.extend(page.memories.into_iter().map(|memory| memory.entry.id));
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        let wanted = |id: &&EntryId| status.is_none_or(|status| self.model.now(id).status == status);
        let expected: BTreeSet<EntryId> = self.model.memories.keys().filter(wanted).cloned().collect();
        assert_eq!(found.len(), expected.len(), "each once");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }

    /// Compares everything.
    pub(crate) fn compare_all(&mut self) {
        [Status::Active, Status::Inactive].into_iter().for_each(|status| self.list(Some(status)));
        WORDS.into_iter().for_each(|word| self.recall(word));
        self.compare_export();
        self.compare_undoable();
    }

    fn compare_export(&self) {
        let bundle = self.world.engine.transfer().export().unwrap().bundle;
        let now: BTreeMap<EntryId, State> =
            bundle.memories.iter().map(|memory| (memory.entry.id.clone(), State::of(&memory.entry))).collect();
        let expected: BTreeMap<EntryId, State> =
            self.model.memories.keys().map(|id| (id.clone(), self.model.now(id).clone())).collect();
        assert_eq!(now, expected);
        let mut history: BTreeMap<EntryId, Vec<State>> = BTreeMap::new();
        for version in &bundle.history {
            history.entry(version.entry.id.clone()).or_default().push(State::of(&version.entry));
        }
        assert_eq!(history, self.model.memories);
        let mut tasks: BTreeMap<TaskId, Vec<TaskState>> = BTreeMap::new();
        for version in &bundle.task_history {
            tasks.entry(version.task.id.clone()).or_default().push(TaskState::of(&version.task));
        }
        assert_eq!(tasks, self.model.tasks);
        let now: BTreeMap<&TaskId, TaskState> =
            bundle.tasks.iter().map(|task| (&task.id, TaskState::of(task))).collect();
        assert!(now.iter().all(|(id, task)| task == self.model.task(id)) && now.len() == tasks.len());
        let counted = bundle.memories.iter().filter(|memory| memory.recall_count > 0);
        let counted: BTreeMap<EntryId, u64> =
            counted.map(|memory| (memory.entry.id.clone(), memory.recall_count)).collect();
        assert_eq!(counted, self.model.recalls);
    }

    /// What `undo` would take back, and to what.
    fn compare_undoable(&self) {
        let got = self.world.store.undoable().unwrap();
        let Some(step) = self.model.undo.last() else {
            assert_eq!(got, None);
            return;
        };
        let got = got.expect("something to undo");
        assert_eq!(got.change.verb, step.verb);
        let before = |(now, before): &(Entry, Option<_>)| (now.id.clone(), before.as_ref().map(State::of));
        let mut memories: Vec<_> = got.entries.iter().map(before).collect();
        let mut expected = step.memories.clone();
        memories.sort_by(|a, b| a.0.cmp(&b.0));
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(memories, expected);
        let before = |(now, before): &(throughline_core::model::Task, Option<_>)| {
            (now.id.clone(), before.as_ref().map(TaskState::of))
        };
        assert_eq!(got.tasks.iter().map(before).collect::<Vec<_>>(), step.tasks);
    }

    /// Compares everything for the last time, and what another store makes of it.
    pub(crate) fn finish(&mut self) {
        self.compare_all();
        assert_eq!(self.world.store.check().unwrap(), Vec::<String>::new());
        let bundle = self.world.store.bundle().unwrap();
        let other = Fresh::new(crate::fixture());
        other.adopt(&stores::change(Verb::Import), &bundle, &ErasureMark::default(), &mut |_| true).unwrap();
        assert_eq!(other.bundle().unwrap(), bundle);
        assert_eq!(other.check().unwrap(), Vec::<String>::new());
    }

    /// A long run did something of every sort, and often.
    pub(crate) fn check_coverage(&self) {
        for verb in ["remember", "edit", "forget", "restore", "undo", "correct", "merge", "task", "done"] {
            assert!(
                self.model.effects.get(verb).is_some_and(|count| *count >= crate::LONG_RUN / 100),
                "{verb}: {:?}",
                self.model.effects
            );
        }
    }
}
