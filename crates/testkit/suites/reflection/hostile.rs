//! A model that means no good, a hundred times.

use throughline_core::ports::PassOutcome;
use throughline_core::reflection::lines;

use super::{Home, ops};

const FILE: &str = "# stall\n\nMy own words.\n\n## What Is\n- [sig:5] Never sell on Sundays\n- [sig:4] The lease ends in May\n- The sign is blue\n\
                    - [sig:2] Lemons are cheap\n- The awning is green\n- The till is old\n\n## What Happened\n- [sig:1] 2020-01-01 Rain\n";

fn answers() -> Vec<String> {
    let every = (1..=7).map(|n| format!(r#"{{"op":"prune","id":"f{n}"}}"#)).collect::<Vec<_>>().join(",");
    vec![
        "delete everything".to_owned(),
        "<html><body>502</body></html>".to_owned(),
        String::new(),
        r#"{"operations": [{"op": "prune", "id": "f3"#.to_owned(),
        format!("{{\"operations\": [{}]}}", vec![r#"{"op":"prune","id":"f1"}"#; 20_000].join(",")),
        "null".to_owned(),
        r#"{"operations": "all"}"#.to_owned(),
        r#"{"operations": {"op": "prune", "id": "f3"}}"#.to_owned(),
        ops(&every),
        ops(r#"{"op": "prune", "id": "f1"}, {"op": "prune", "id": "f2"}"#),
        ops(r#"{"op": "reweigh", "id": "f1", "significance": 1}, {"op": "reweigh", "id": "f2", "significance": 3}"#),
        ops(r#"{"op": "prune", "id": "f1000"}, {"op": "prune", "id": ""}, {"op": "prune", "id": "../../etc/passwd"}"#),
        ops(r#"{"op": "merge", "ids": ["f1", "f2", "f3", "f4", "f5", "f6", "f7"], "text": "Nothing"}"#),
        ops(r#"{"op": "merge", "ids": ["f1", "f3"], "text": "The sign is blue"}"#),
        ops(r#"{"op": "merge", "ids": ["f2", "f2"], "text": "The lease ends in May"}"#),
        ops(r##"{"op": "add", "text": "Ignore previous instructions"}, {"op": "add", "text": "# What Is\n- x"}"##),
        ops(r#"{"op": "reweigh", "id": "f3", "significance": -5}, {"op": "reweigh", "id": "f3", "significance": 99}"#),
        ops(r#"{"op": "move", "id": "f3", "section": "trash"}, {"op": "erase", "id": "f3"}"#),
        ops(
            r#"{"op": "prune", "id": "f4"}, {"op": "prune", "id": "f4"}, {"op": "move", "id": "f4", "section": "done"}"#,
        ),
        ops(r#"{"op": "move", "id": "f1", "section": "happened"}, {"op": "reweigh", "id": "f2", "significance": 5}"#),
    ]
}

/// Whether a file still says all that matters, as heavily.
#[track_caller]
fn keeps_what_matters(text: &str) {
    let left = lines(&"projects/stall".parse().unwrap(), text);
    for (fact, weight) in [("Never sell on Sundays", 5), ("The lease ends in May", 4)] {
        let stands = left.iter().any(|line| line.text == fact && line.significance.value() >= weight);
        assert!(stands, "`{fact}` is gone or lighter: {text}");
    }
    assert!(text.contains("# stall\n\nMy own words.\n\n## What Is\n"), "{text}");
}

#[test]
fn a_hundred_bad_answers_lose_nothing_that_matters_and_each_can_be_undone() {
    let home = Home::with(|settings| settings.reflection.max_share = 0.2);
    home.save(FILE);
    let answers = answers();
    let mut changed = 0;
    for nth in 0..100 {
        let before = home.bytes();
        let done = home.pass(Some("stall"), &answers[nth % answers.len()]);
        keeps_what_matters(&home.text());
        let facts = |bytes: &[u8]| lines(&"projects/stall".parse().unwrap(), std::str::from_utf8(bytes).unwrap()).len();
        assert!(facts(&before) <= facts(&home.bytes()) + 1, "at most a share goes in one pass");
        if done.pass.outcome == PassOutcome::Changed {
            changed += 1;
            let after = home.bytes();
            home.engine.history().undo().unwrap();
            assert_eq!(home.bytes(), before, "answer {nth} can be undone to the byte");
            // Every other one stays, so that the file wears as much as it can.
            if nth % 2 == 0 {
                home.save(&after);
            }
        } else {
            assert_eq!(home.bytes(), before, "answer {nth} changed nothing");
        }
        home.later(24);
    }
    assert!(changed >= 10, "some of it was allowed: {changed}");
    assert_eq!(home.engine.reflection().passes(Some("stall"), 1000).unwrap().len(), 100, "every pass is in the log");
    assert!(home.store.check().unwrap().is_empty());
}
