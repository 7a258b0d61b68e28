//! One statement, one place, whichever way it comes: commands, tools, consolidation, reflection, import. And whatever a
//! statement replaced comes back by undo.

use proptest::collection::vec;
use proptest::prelude::*;
use throughline_core::engine::{Correction, EngineError, NewMemory};
use throughline_core::model::{Kind, MemorySection, Namespace, Significance};
use throughline_core::ports::ToolCall;
use throughline_core::statements;
use throughline_core::transfer::formats::{Format, read};

use super::*;

/// Statements in two wordings each. The first three are values of one property.
const SAID: [[&str; 2]; 8] = [
    ["I live in Lisbon", "Lisbon is my home"],
    ["I live in Porto", "I moved to Porto"],
    ["I live in Bern", "Bern is where I live"],
    ["We deploy on Fridays", "Deployments happen every Friday"],
    ["I prefer tea over coffee", "As I said, I prefer tea over coffee"],
    ["The staging port is 5432", "5432 is the staging port"],
    ["No, the staging port is 5433 now", "Actually the staging port is 5433"],
    ["我对花生过敏", "花生我不能吃，会过敏"],
];
const HOMES: usize = 3;
const KINDS: [&str; 4] = ["identity", "preference", "fact", "correction"];

#[derive(Debug, Clone)]
enum Act {
    Remember,
    Identity,
    Keyed,
    WriteL0,
    WriteL1,
    Record,
    Consolidate(usize),
    CorrectAny(prop::sample::Index),
    Import,
    Reflect,
}

fn act() -> impl Strategy<Value = (Act, &'static str)> {
    let act = prop_oneof![
        Just(Act::Remember),
        Just(Act::Identity),
        Just(Act::Keyed),
        Just(Act::WriteL0),
        Just(Act::WriteL1),
        Just(Act::Record),
        (0..KINDS.len()).prop_map(Act::Consolidate),
        any::<prop::sample::Index>().prop_map(Act::CorrectAny),
        Just(Act::Import),
        Just(Act::Reflect),
    ];
    (act, (0..SAID.len(), 0..2_usize).prop_map(|(statement, wording)| SAID[statement][wording]))
}

/// A statement that is active, where it stands, and its key.
type Standing = (String, Option<String>, String);

impl Home {
    /// Entries and lines that are active, but for working memory and the archive.
    fn standing(&self) -> Vec<Standing> {
        let filter = Filter {
            kinds: vec![Kind::Entry, Kind::Bullet],
            layers: vec![Layer::Identity, Layer::Knowledge],
            ..Filter::recallable(self.engine.now())
        };
        let page = Page { limit: usize::MAX, cursor: None };
        let listed =
            self.engine.memories().list(&filter, &page).unwrap().memories.into_iter().map(|memory| memory.entry);
        let mut all: Vec<Standing> =
            listed.map(|entry| (entry.namespace.to_string(), entry.key, entry.content)).collect();
        all.sort();
        all
    }

    fn call(&self, name: &str, arguments: serde_json::Value) {
        let call = ToolCall { id: String::new(), name: name.to_owned(), arguments: arguments.to_string() };
        let answer = self.engine.tools().call(&session("cli:tools"), &call);
        assert!(!answer.is_error, "{}", answer.content);
    }

    fn perform(&self, nth: usize, act: &Act, text: &str) {
        let memories = self.engine.memories();
        match act {
            Act::Remember => drop(memories.remember(&NewMemory::fact(text)).unwrap()),
            Act::Identity => {
                drop(memories.remember(&NewMemory { layer: Layer::Identity, ..NewMemory::fact(text) }).unwrap());
            }
            Act::Keyed => {
                let key = Some("the key".to_owned());
                drop(memories.remember(&NewMemory { key, ..NewMemory::fact(text) }).unwrap());
            }
            Act::WriteL0 => {
                self.call("memory_write", serde_json::json!({"action": "add", "layer": "L0", "content": text}))
            }
            Act::WriteL1 => {
                self.call("memory_write", serde_json::json!({"action": "add", "layer": "L1", "content": text}))
            }
            Act::Record => {
                let weight = Significance::new(3).unwrap();
                let facts = [(text.to_owned(), weight)];
                drop(memories.record(&document("user/memory"), &facts, MemorySection::Is).unwrap());
            }
            Act::Consolidate(kind) => {
                let id = format!("cli:{nth}");
                self.say(&id, text);
                let facts = serde_json::json!({"facts": [{"text": text, "kind": KINDS[*kind]}]}).to_string();
                self.consolidate(&id, &ScriptedModel::saying(["NOTHING", &facts]));
            }
            Act::CorrectAny(which) => self.correct_any(which, text),
            Act::Import => {
                let found =
                    read("notes.md", format!("# Notes\n\n- {text}\n").as_bytes(), Some(Format::Markdown)).unwrap();
                drop(self.engine.transfer().import_found(&found, false, &mut |_, _| {}).unwrap());
            }
            Act::Reflect => {
                let worker = Worker { holder: throughline_testkit::stores::holder("worker"), is_gone: &|_| false };
                let model = ScriptedModel::saying([r#"{"operations": []}"#; 4]);
                drop(self.engine.reflection().run(None, &model, &worker, false).unwrap());
            }
        }
    }

    fn correct_any(&self, which: &prop::sample::Index, text: &str) {
        let page = Page { limit: usize::MAX, cursor: None };
        let filter = Filter {
            kinds: vec![Kind::Entry, Kind::Bullet],
            layers: vec![Layer::Identity, Layer::Knowledge],
            ..Filter::recallable(self.engine.now())
        };
        let all = self.engine.memories().list(&filter, &page).unwrap().memories;
        let all: Vec<_> = all
            .into_iter()
            .filter(|memory| !matches!(&memory.entry.namespace, Namespace::Document(name) if name.is_working()))
            .collect();
        if !all.is_empty() {
            let wrong = which.get(&all).entry.id.clone();
            self.engine.memories().correct(wrong.as_str(), &Correction::by_person(text)).unwrap();
        }
    }

    fn changes(&self) -> usize {
        self.engine.history().changes(usize::MAX).unwrap().len()
    }
}

/// The places of statements that stand twice.
fn twice(standing: &[Standing]) -> Vec<(&Standing, &Standing)> {
    let pairs =
        standing.iter().enumerate().flat_map(|(nth, one)| standing[nth + 1..].iter().map(move |other| (one, other)));
    pairs.filter(|(one, other)| statements::same(&one.2, &other.2)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_statement_stands_twice_and_every_supersession_is_undone(acts in vec(act(), 1..9)) {
        let home = Home::new();
        let mut before: Vec<Vec<Standing>> = Vec::new();
        for (nth, (act, text)) in acts.iter().enumerate() {
            let (standing, changes) = (home.standing(), home.changes());
            home.perform(nth, act, text);
            let now = home.standing();
            prop_assert_eq!(twice(&now), vec![], "after {:?} {:?}", act, text);
            let homes = |entry: &&Standing| {
                SAID[..HOMES].iter().flatten().any(|home| statements::same(home, &entry.2))
            };
            // An import adds what is new and replaces nothing.
            let imports = acts[..=nth].iter().any(|(act, _)| matches!(act, Act::Import));
            prop_assert!(imports || now.iter().filter(homes).count() <= 1, "a person has one home: {:?}", now);
            prop_assert!(home.changes() <= changes + 1, "each is one change");
            if home.changes() > changes {
                before.push(standing);
            }
            home.pass(1);
        }
        while let Some(earlier) = before.pop() {
            match home.engine.history().undo() {
                Err(EngineError::NothingToUndo) => break,
                undone => drop(undone.unwrap()),
            }
            prop_assert_eq!(home.standing(), earlier, "undone");
        }
    }
}

/// The statement stands without a key, its key stands for something else, and a line of the profile says what it replaces.
#[test]
fn a_key_moves_to_the_entry_that_says_it_already() {
    let home = Home::new();
    let said = "No, the staging port is 5433 now";
    let acts = [
        (Act::WriteL1, said),
        (Act::Keyed, "I live in Lisbon"),
        (Act::WriteL0, "The staging port is 5432"),
        (Act::Keyed, said),
    ];
    for (nth, (act, text)) in acts.iter().enumerate() {
        home.perform(nth, act, text);
        home.pass(1);
    }
    assert_eq!(home.standing(), [("user/facts".to_owned(), Some("the key".to_owned()), said.to_owned())]);
}

/// The imported entry says it under a heading, and more than the line does.
#[test]
fn a_line_that_says_it_is_confirmed_before_an_entry_that_says_more() {
    let home = Home::new();
    let said = "我对花生过敏";
    for (nth, act) in [Act::Identity, Act::Import, Act::WriteL0].iter().enumerate() {
        home.perform(nth, act, said);
        home.pass(1);
    }
    let lines = home.standing().into_iter().filter(|(place, ..)| place == "user/profile").count();
    assert_eq!(lines, 1);
}
