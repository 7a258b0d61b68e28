//! What somebody does.

use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;
use proptest::sample::Index;
use throughline_core::model::{Layer, Status};

pub(crate) const WORDS: [&str; 48] = [
    "apple", "river", "stone", "cloud", "tiger", "lemon", "piano", "castle", "winter", "garden", "marble", "copper",
    "falcon", "harbor", "island", "jungle", "kettle", "ladder", "meadow", "needle", "orchid", "pepper", "quartz",
    "ribbon", "saddle", "temple", "tunnel", "velvet", "walnut", "window", "yellow", "zebra", "anchor", "basket",
    "candle", "desert", "engine", "forest", "guitar", "hammer", "insect", "jacket", "lantern", "mirror", "napkin",
    "oyster", "parrot", "rocket",
];
pub(crate) const KEYS: [&str; 5] = ["first-key", "second-key", "third-key", "fourth-key", "fifth-key"];
const PROJECTS: [&str; 2] = ["apollo", "zeus"];
const TAGS: [&str; 2] = ["red", "blue"];

/// One of what is there: of the active ones, or of all.
#[derive(Debug, Clone)]
pub(crate) struct Which {
    pub(crate) active: bool,
    pub(crate) at: Index,
}

/// What is changed of a task.
#[derive(Debug, Clone)]
pub(crate) enum TaskChange {
    Title(String),
    State(String),
    Project(Option<String>),
}

#[derive(Debug, Clone)]
pub(crate) enum Act {
    Remember { content: String, key: Option<String>, project: Option<String>, tag: Option<String>, layer: Layer },
    EditText { which: Which, content: String },
    EditKey { which: Which, key: Option<String> },
    Forget { which: Which },
    ForgetByKey { key: String },
    Restore { which: Which, version: Index },
    Correct { which: Which, content: String, tag: Option<String> },
    Merge { first: Which, others: Vec<Which>, alike: bool, content: Option<String> },
    Undo,
    Recall { word: &'static str },
    List { status: Option<Status> },
    AddTask { title: String, state: String, project: Option<String> },
    UpdateTask { which: Index, change: TaskChange },
    FinishTask { which: Index, conclusion: Option<String> },
    ReopenTask { which: Index },
    RemoveTask { which: Index },
}

/// Texts that say the same if they are the same: two words in the order of the list.
fn content() -> impl Strategy<Value = String> {
    let words = |(one, two): (usize, usize)| format!("{} and {}", WORDS[one.min(two)], WORDS[one.max(two)]);
    (0..WORDS.len(), 0..WORDS.len()).prop_map(words)
}

fn one_of(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    (0..names.len()).prop_map(|at| names[at].to_owned())
}

fn which() -> impl Strategy<Value = Which> {
    (weighted(0.7, Just(())), index()).prop_map(|(active, at)| Which { active: active.is_some(), at })
}

fn index() -> impl Strategy<Value = Index> {
    proptest::prelude::any::<Index>()
}

/// Anything that somebody may do.
pub(crate) fn any() -> BoxedStrategy<Act> {
    prop_oneof![20 => to_memories(), 7 => to_several(), 7 => to_tasks(), 4 => Just(Act::Undo), 2 => looking()].boxed()
}

fn to_memories() -> impl Strategy<Value = Act> {
    let project = weighted(0.2, one_of(&PROJECTS));
    let layer = prop_oneof![5 => Just(Layer::Knowledge), 1 => Just(Layer::Archive)];
    prop_oneof![
        7 => (content(), of(one_of(&KEYS)), project, weighted(0.3, one_of(&TAGS)), layer).prop_map(
            |(content, key, project, tag, layer)| Act::Remember { content, key, project, tag, layer }
        ),
        4 => (which(), content()).prop_map(|(which, content)| Act::EditText { which, content }),
        2 => (which(), of(one_of(&KEYS))).prop_map(|(which, key)| Act::EditKey { which, key }),
        4 => which().prop_map(|which| Act::Forget { which }),
        1 => one_of(&KEYS).prop_map(|key| Act::ForgetByKey { key }),
        3 => (which(), index()).prop_map(|(which, version)| Act::Restore { which, version }),
    ]
}

fn to_several() -> impl Strategy<Value = Act> {
    let alike = weighted(0.8, Just(())).prop_map(|alike| alike.is_some());
    prop_oneof![
        (which(), content(), weighted(0.3, one_of(&TAGS))).prop_map(|(which, content, tag)| Act::Correct {
            which,
            content,
            tag
        }),
        (which(), vec(which(), 1..3), alike, of(content())).prop_map(|(first, others, alike, content)| Act::Merge {
            first,
            others,
            alike,
            content
        }),
    ]
}

fn to_tasks() -> impl Strategy<Value = Act> {
    let state = || of(content()).prop_map(Option::unwrap_or_default);
    let project = || weighted(0.3, one_of(&PROJECTS));
    let change = prop_oneof![
        1 => content().prop_map(TaskChange::Title),
        2 => state().prop_map(TaskChange::State),
        1 => project().prop_map(TaskChange::Project),
    ];
    prop_oneof![
        3 => (content(), state(), project()).prop_map(|(title, state, project)| Act::AddTask { title, state, project }),
        3 => (index(), change).prop_map(|(which, change)| Act::UpdateTask { which, change }),
        4 => (index(), of(content())).prop_map(|(which, conclusion)| Act::FinishTask { which, conclusion }),
        3 => index().prop_map(|which| Act::ReopenTask { which }),
        1 => index().prop_map(|which| Act::RemoveTask { which }),
    ]
}

fn looking() -> impl Strategy<Value = Act> {
    let status = of(prop_oneof![Just(Status::Active), Just(Status::Inactive)]);
    prop_oneof![
        (0..WORDS.len()).prop_map(|word| Act::Recall { word: WORDS[word] }),
        status.prop_map(|status| Act::List { status }),
    ]
}
