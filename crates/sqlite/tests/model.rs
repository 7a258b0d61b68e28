//! Random operations through the engine do what a plain map with version lists and an undo stack would do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use throughline_core::engine::{Edit, EngineError, NewMemory, Outcome, Remembered, Restored};
use throughline_core::model::{EntryId, Status, Verb};
use throughline_core::ports::{Page, StoreError};
use throughline_core::recall::{Filter, RecallRequest};
use throughline_sqlite::{Durability, SqliteStore};
use throughline_testkit::{World, stores};

const CASES: u32 = 64;
const OPS: usize = 40;

const WORDS: [&str; 4] = ["apple", "river", "stone", "cloud"];
const KEYS: [&str; 3] = ["first-key", "second-key", "third-key"];
const PROJECTS: [&str; 2] = ["apollo", "zeus"];

/// What somebody does. Numbers pick among what is there.
#[derive(Debug, Clone)]
enum Act {
    Remember { words: (usize, usize), key: Option<usize>, project: Option<usize> },
    EditText { which: usize, words: (usize, usize) },
    EditKey { which: usize, key: Option<usize> },
    Forget { which: usize },
    ForgetByKey { key: usize },
    Restore { which: usize, version: usize },
    Undo,
    Recall { word: usize },
    List { status: Option<Status> },
}

fn acts() -> impl Strategy<Value = Act> {
    let words = || (0..WORDS.len(), 0..WORDS.len());
    let key = || proptest::option::of(0..KEYS.len());
    let which = || 0usize..1000;
    let project = proptest::option::weighted(0.2, 0..PROJECTS.len());
    prop_oneof![
        6 => (words(), key(), project).prop_map(|(words, key, project)| Act::Remember { words, key, project }),
        3 => (which(), words()).prop_map(|(which, words)| Act::EditText { which, words }),
        2 => (which(), key()).prop_map(|(which, key)| Act::EditKey { which, key }),
        3 => which().prop_map(|which| Act::Forget { which }),
        1 => (0..KEYS.len()).prop_map(|key| Act::ForgetByKey { key }),
        3 => (which(), which()).prop_map(|(which, version)| Act::Restore { which, version }),
        4 => Just(Act::Undo),
        2 => (0..WORDS.len()).prop_map(|word| Act::Recall { word }),
        1 => proptest::option::of(prop_oneof![Just(Status::Active), Just(Status::Inactive)])
            .prop_map(|status| Act::List { status }),
    ]
}

fn content((one, two): (usize, usize)) -> String {
    format!("{} and {}", WORDS[one], WORDS[two])
}

fn name<const N: usize>(of: [&str; N], index: Option<usize>) -> Option<String> {
    index.map(|index| of[index].to_owned())
}

/// One version of a memory, as far as this model goes.
#[derive(Debug, Clone, PartialEq)]
struct State {
    content: String,
    key: Option<String>,
    project: Option<String>,
    status: Status,
}

impl State {
    fn is_active(&self) -> bool {
        self.status == Status::Active
    }
}

/// The plain truth: every version of every memory, what can be undone, and how often each was recalled.
#[derive(Default)]
struct Model {
    memories: BTreeMap<EntryId, Vec<State>>,
    undo: Vec<(EntryId, Option<State>)>,
    recalls: BTreeMap<EntryId, u64>,
}

/// What the model expects of an operation on one memory.
#[derive(Debug, PartialEq)]
enum Expected {
    Done(Outcome),
    Conflict,
}

impl Model {
    fn pick(&self, which: usize) -> Option<EntryId> {
        let ids: Vec<&EntryId> = self.memories.keys().collect();
        (!ids.is_empty()).then(|| ids[which % ids.len()].clone())
    }

    fn now(&self, id: &EntryId) -> &State {
        self.memories[id].last().unwrap()
    }

    fn active(&self) -> impl Iterator<Item = (&EntryId, &State)> {
        self.memories.keys().map(|id| (id, self.now(id))).filter(|(_, state)| state.is_active())
    }

    fn key_taken(&self, id: &EntryId, state: &State) -> bool {
        let same = |(other, taken): (&EntryId, &State)| {
            other != id && taken.key == state.key && taken.project == state.project
        };
        state.is_active() && state.key.is_some() && self.active().any(same)
    }

    /// The next state of a memory, unless it is the same or its key is taken.
    fn change(&mut self, id: &EntryId, next: State) -> Expected {
        let before = self.now(id).clone();
        if before == next {
            return Expected::Done(Outcome::Unchanged);
        }
        if self.key_taken(id, &next) {
            return Expected::Conflict;
        }
        self.memories.get_mut(id).unwrap().push(next);
        self.undo.push((id.clone(), Some(before)));
        Expected::Done(Outcome::Updated)
    }
}

/// Both at once.
struct Pair {
    world: World,
    model: Model,
}

impl Pair {
    fn act(&mut self, act: &Act) {
        self.world.clock.advance(jiff::SignedDuration::from_secs(1));
        match act {
            Act::Remember { words, key, project } => self.remember(*words, *key, *project),
            Act::EditText { which, words } => {
                let text = content(*words);
                let edit = Edit { content: Some(text.clone()), ..Edit::default() };
                self.edit(*which, &edit, |state| State { content: text, ..state });
            }
            Act::EditKey { which, key } => {
                let key = name(KEYS, *key);
                let edit = Edit { key: Some(key.clone()), ..Edit::default() };
                self.edit(*which, &edit, |state| State { key, ..state });
            }
            Act::Forget { which } => {
                let Some(id) = self.model.pick(*which) else { return };
                self.forget(id.as_str(), &id);
            }
            Act::ForgetByKey { key } => self.forget_by_key(KEYS[*key]),
            Act::Restore { which, version } => self.restore(*which, *version),
            Act::Undo => self.undo(),
            Act::Recall { word } => self.recall(WORDS[*word]),
            Act::List { status } => self.list(*status),
        }
    }

    fn remember(&mut self, words: (usize, usize), key: Option<usize>, project: Option<usize>) {
        let (key, project) = (name(KEYS, key), name(PROJECTS, project));
        let wanted = State { content: content(words), key, project, status: Status::Active };
        let new = NewMemory {
            key: wanted.key.clone(),
            project: wanted.project.clone(),
            ..NewMemory::fact(wanted.content.clone())
        };
        let got = self.world.engine.remember(&new).unwrap();
        let id = got.memory.entry.id.clone();
        let known: Vec<EntryId> = self
            .model
            .active()
            .filter(|(_, state)| state.key == wanted.key && state.project == wanted.project)
            .filter(|(_, state)| state.key.is_some() || state.content == wanted.content)
            .map(|(id, _)| id.clone())
            .collect();
        if known.is_empty() {
            assert_eq!(got.outcome, Outcome::Created);
            assert!(!self.model.memories.contains_key(&id), "a new id");
            self.model.memories.insert(id.clone(), vec![wanted]);
            self.model.undo.push((id.clone(), None));
        } else {
            assert!(known.contains(&id), "{id} is not one of {known:?}");
            assert_eq!(Expected::Done(got.outcome), self.model.change(&id, wanted));
        }
        self.touched(&id);
    }

    fn edit(&mut self, which: usize, edit: &Edit, change: impl FnOnce(State) -> State) {
        let Some(id) = self.model.pick(which) else { return };
        let got = self.world.engine.edit(id.as_str(), edit);
        let next = change(self.model.now(&id).clone());
        assert_eq!(outcome(got), self.model.change(&id, next));
        self.touched(&id);
    }

    fn forget(&mut self, reference: &str, id: &EntryId) {
        let got = self.world.engine.forget(reference).unwrap();
        assert_eq!(got.id, *id);
        assert_eq!(got.already, !self.model.now(id).is_active());
        let next = State { status: Status::Inactive, ..self.model.now(id).clone() };
        self.model.change(id, next);
        self.touched(id);
    }

    fn forget_by_key(&mut self, key: &str) {
        let meant: Vec<EntryId> = self
            .model
            .active()
            .filter(|(_, state)| state.key.as_deref() == Some(key))
            .map(|(id, _)| id.clone())
            .collect();
        match meant.as_slice() {
            [id] => self.forget(key, &id.clone()),
            [] => match self.world.engine.forget(key) {
                Ok(forgotten) => assert!(forgotten.already, "only a forgotten one has the key"),
                Err(error) => assert!(matches!(error, EngineError::NotFound { .. }), "{error:?}"),
            },
            _ => {
                let error = self.world.engine.forget(key).unwrap_err();
                assert!(matches!(error, EngineError::Ambiguous { .. }), "{error:?}");
            }
        }
    }

    fn restore(&mut self, which: usize, version: usize) {
        let Some(id) = self.model.pick(which) else { return };
        let versions = &self.model.memories[&id];
        let index = version % versions.len();
        let wanted = versions[index].clone();
        let got = self.world.engine.restore(id.as_str(), u32::try_from(index).unwrap() + 1).map(memory);
        assert_eq!(outcome(got), self.model.change(&id, wanted));
        self.touched(&id);
    }

    fn undo(&mut self) {
        let got = self.world.engine.undo();
        let Some((id, before)) = self.model.undo.pop() else {
            assert!(matches!(got, Err(EngineError::NothingToUndo)), "{got:?}");
            return;
        };
        let got = got.unwrap();
        assert_eq!(got.memories.iter().map(|memory| &memory.entry.id).collect::<Vec<_>>(), [&id]);
        let gone = State { status: Status::Inactive, ..self.model.now(&id).clone() };
        self.model.memories.get_mut(&id).unwrap().push(before.unwrap_or(gone));
        self.touched(&id);
    }

    fn recall(&mut self, word: &str) {
        let filter = Filter::recallable(self.world.engine.now());
        let request = RecallRequest { query: word.to_owned(), limit: 1000, filter };
        let got = self.world.engine.recall(&request).unwrap();
        let found: BTreeSet<EntryId> = got.hits.into_iter().map(|hit| hit.memory.entry.id).collect();
        let expected: BTreeSet<EntryId> =
            self.model.active().filter(|(_, state)| state.content.contains(word)).map(|(id, _)| id.clone()).collect();
        assert_eq!(found, expected, "recalling {word}");
        for id in expected {
            *self.model.recalls.entry(id).or_default() += 1;
        }
    }

    fn list(&mut self, status: Option<Status>) {
        let filter = Filter { status, ..Filter::default() };
        let got = self.world.engine.list(&filter, &Page { limit: 1000, cursor: None }).unwrap();
        let found: BTreeSet<EntryId> = got.memories.into_iter().map(|memory| memory.entry.id).collect();
        let wanted = |id: &&EntryId| status.is_none_or(|status| self.model.now(id).status == status);
        let expected: BTreeSet<EntryId> = self.model.memories.keys().filter(wanted).cloned().collect();
        assert_eq!(found, expected);
    }

    /// Compares the one memory that was touched.
    fn touched(&self, id: &EntryId) {
        let entry = self.world.store.memory(id).unwrap().unwrap().entry;
        let versions = &self.model.memories[id];
        assert_eq!(state(&entry), *self.model.now(id));
        assert_eq!(entry.version as usize, versions.len());
    }

    /// Compares everything.
    fn finish(&self) {
        let bundle = self.world.store.bundle().unwrap();
        let now: BTreeMap<EntryId, State> =
            bundle.memories.iter().map(|memory| (memory.entry.id.clone(), state(&memory.entry))).collect();
        let expected: BTreeMap<EntryId, State> =
            self.model.memories.keys().map(|id| (id.clone(), self.model.now(id).clone())).collect();
        assert_eq!(now, expected);
        let mut history: BTreeMap<EntryId, Vec<State>> = BTreeMap::new();
        for version in &bundle.history {
            history.entry(version.entry.id.clone()).or_default().push(state(&version.entry));
        }
        assert_eq!(history, self.model.memories);
        let counted = bundle.memories.iter().filter(|memory| memory.recall_count > 0);
        let counted: BTreeMap<EntryId, u64> =
            counted.map(|memory| (memory.entry.id.clone(), memory.recall_count)).collect();
        assert_eq!(counted, self.model.recalls);
        assert_eq!(self.world.store.check().unwrap(), Vec::<String>::new());
        let fresh = tempfile::tempdir().unwrap();
        let other = open(&fresh);
        other.adopt(&stores::change(Verb::Import), &bundle, &mut || true).unwrap();
        assert_eq!(other.bundle().unwrap(), bundle);
        assert_eq!(other.check().unwrap(), Vec::<String>::new());
    }
}

fn state(entry: &throughline_core::model::Entry) -> State {
    State {
        content: entry.content.clone(),
        key: entry.key.clone(),
        project: entry.project.clone(),
        status: entry.status,
    }
}

fn outcome(got: Result<Remembered, EngineError>) -> Expected {
    match got {
        Ok(remembered) => Expected::Done(remembered.outcome),
        Err(EngineError::Store(StoreError::Conflict { .. } | StoreError::KeyTaken { .. })) => Expected::Conflict,
        Err(error) => panic!("{error:?}"),
    }
}

fn open(home: &tempfile::TempDir) -> Arc<dyn throughline_core::ports::Store> {
    Arc::new(SqliteStore::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_a_plain_map_would_do(acts in proptest::collection::vec(acts(), OPS)) {
        let home = tempfile::tempdir().unwrap();
        let mut pair = Pair { world: World::around(open(&home)), model: Model::default() };
        acts.iter().for_each(|act| pair.act(act));
        pair.finish();
    }
}

/// The memory that was brought back.
fn memory(restored: Restored) -> Remembered {
    match restored {
        Restored::Memory(memory) => *memory,
        Restored::Document(document) => panic!("{} is a document", document.name),
    }
}
