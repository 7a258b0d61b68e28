use throughline_core::model::Significance;

use super::*;
use crate::corpus::turn;

fn fact(id: &str, text: &str, significance: i64, section: MemorySection, at: Option<&str>) -> ReflectFact {
    let significance = Significance::new(significance).unwrap();
    ReflectFact {
        id: id.to_owned(),
        text: text.to_owned(),
        significance,
        section: Some(section),
        at: at.map(|at| format!("{at}T00:00:00Z").parse().unwrap()),
    }
}

fn operations(facts: Vec<ReflectFact>, turns: Vec<Turn>) -> Vec<String> {
    let (document, now) = ("projects/stall".parse().unwrap(), "2026-03-01T12:00:00Z".parse().unwrap());
    let brief = ReflectBrief { document, facts, turns, now };
    let reply = reflect(&brief);
    assert_eq!(reply, reflect(&brief), "the same brief gives the same answer");
    let value: Value = serde_json::from_str(&reply).unwrap();
    value["operations"].as_array().unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn repetitions_become_the_one_that_weighs_most() {
    let is = MemorySection::Is;
    let facts = vec![
        fact("f1", "Lemons cost 3 euros", 2, is, None),
        fact("f2", "Lemons cost 4 euros", 3, is, None),
        fact("f3", "lemons cost 3 euros.", 4, is, None),
    ];
    assert_eq!(operations(facts, Vec::new()), [r#"{"ids":["f3","f1"],"op":"merge","text":"lemons cost 3 euros."}"#]);
}

#[test]
fn what_is_finished_goes_to_what_is_done() {
    let moved = |text: &str, said: &str| {
        let turns = if said.is_empty() { Vec::new() } else { vec![turn("user", said)] };
        let all = operations(vec![fact("f1", text, 3, MemorySection::Is, None)], turns);
        all.iter().any(|operation| operation.contains(r#""op":"move""#))
    };
    for (text, said) in [
        ("Parser rewrite: done", ""),
        ("[x] order lemons", ""),
        ("菜单已完成", ""),
        ("Finished the sign for the stall", ""),
        ("The parser rewrite is open", "I finished the parser rewrite."),
        ("The new sign is being painted", "We finished painting the new sign!"),
        ("网站迁移", "网站迁移完成了。"),
    ] {
        assert!(moved(text, said), "{text} / {said}");
    }
    for (text, said) in [
        ("The parser rewrite is not done", ""),
        ("Call Ann when the sign is finished", ""),
        ("The parser rewrite is open", "Is the parser rewrite done?"),
        ("The parser rewrite is open", "The parser rewrite isn't finished yet."),
        ("The parser rewrite is open", "I finished lunch."),
        ("The new sign is being painted", "I finished painting the new kitchen."),
        ("网站迁移", "网站迁移还没完成了一半"),
        ("Lemons cost 3 euros", ""),
    ] {
        assert!(!moved(text, said), "{text} / {said}");
    }
}

#[test]
fn old_events_fade_and_only_the_lightest_go() {
    let happened = MemorySection::Happened;
    let faded = |significance, at| operations(vec![fact("f1", "Rain", significance, happened, Some(at))], Vec::new());
    assert_eq!(faded(3, "2025-11-01"), [r#"{"id":"f1","op":"reweigh","significance":2}"#]);
    assert_eq!(faded(2, "2025-08-01"), [r#"{"id":"f1","op":"reweigh","significance":1}"#]);
    assert_eq!(faded(1, "2025-02-01"), [r#"{"id":"f1","op":"prune"}"#]);
    for (significance, at) in
        [(3, "2026-01-01"), (2, "2025-11-01"), (1, "2025-06-01"), (4, "2020-01-01"), (5, "2020-01-01")]
    {
        assert!(faded(significance, at).is_empty(), "{significance} {at}");
    }
    let is = operations(vec![fact("f1", "Rain", 1, MemorySection::Is, Some("2020-01-01"))], Vec::new());
    assert!(is.is_empty(), "how things stand does not fade");
}

#[test]
fn decisions_are_written_down_word_for_word() {
    let turns =
        vec![turn("user", "We decided to use Postgres for the stall."), turn("assistant", "We decided to use Mongo.")];
    let all = operations(Vec::new(), turns);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].contains("Postgres") && all[0].contains(r#""op":"add""#));
}
