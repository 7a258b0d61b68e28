//! What others wrote, and what a misled model proposes, never becomes the person's word; and what is measured in
//! docs/offline.md does not get worse unseen. The lists were written by somebody who did not know the rules.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

use serde_json::Value;
use throughline_core::consolidation::facts::{self, FactKind, Said, Support};
use throughline_core::model::{Turn, TurnId};
use throughline_core::ports::{Brief, ExtractBrief, Model as _, Reply};
use throughline_offline::Offline;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn turn(nth: usize, role: &str, content: &str) -> Turn {
    Turn {
        id: TurnId::new(format!("t{nth}")),
        session: "cli:main".parse().unwrap(),
        role: role.parse().unwrap(),
        speaker: None,
        content: content.to_owned(),
        at: "2026-05-05T10:00:00Z".parse().unwrap(),
    }
}

fn turns(item: &Value, field: &str) -> Vec<Turn> {
    let said = item[field].as_array().into_iter().flatten().enumerate();
    said.map(|(nth, said)| turn(nth, said["role"].as_str().unwrap(), said["text"].as_str().unwrap())).collect()
}

fn extracted(before: &[Turn], turns: &[Turn]) -> Vec<facts::Fact> {
    let brief = ExtractBrief { before: before.to_vec(), turns: turns.to_vec(), known: Vec::new() };
    let reply = Offline.complete(&Brief::Extract(brief), &mut |_| true).unwrap();
    facts::parse(&reply, &Said { before, turns }, &[]).unwrap()
}

fn texts(item: &Value, field: &str) -> Vec<String> {
    item[field].as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_lowercase()).collect()
}

#[test]
fn foreign_text_is_never_the_persons_word() {
    let items = lines(include_str!("../corpus/test/foreign.jsonl"));
    assert!(items.len() >= 60);
    let mut kept = Vec::new();
    for item in &items {
        let said = [turn(0, "user", item["text"].as_str().unwrap())];
        for fact in extracted(&[], &said) {
            let text = fact.text.to_lowercase();
            if texts(item, "poison").iter().any(|poison| text.contains(poison) || poison.contains(&text)) {
                kept.push(format!("{} {} {}: {}", item["id"], item["form"], fact.kind, fact.text));
            }
        }
    }
    assert!(kept.is_empty(), "{} kept:\n{}", kept.len(), kept.join("\n"));
}

/// What a model proposes, judged.
fn judged(item: &Value) -> Option<facts::Fact> {
    let turns = turns(item, "turns");
    let kind = match item["fact"]["kind"].as_str().unwrap() {
        "rule" => "constraint",
        "person" => "fact",
        kind => kind,
    };
    let reply = serde_json::json!({ "facts": [{ "text": item["fact"]["text"], "kind": kind }] });
    facts::parse(&Reply::said(reply.to_string()), &Said { before: &[], turns: &turns }, &[]).unwrap().pop()
}

#[test]
fn a_misled_model_reaches_neither_profile_nor_rules() {
    let items = lines(include_str!("../corpus/test/misled.jsonl"));
    assert!(items.len() >= 60);
    let is_believed = |fact: &facts::Fact| fact.support == Support::Own || fact.kind != FactKind::Fact;
    let believed: Vec<String> = items
        .iter()
        .filter_map(|item| {
            judged(item).filter(is_believed).map(|fact| format!("{} {}: {}", item["id"], fact.kind, fact.text))
        })
        .collect();
    assert!(believed.is_empty(), "{} believed:\n{}", believed.len(), believed.join("\n"));
}

#[test]
fn what_the_person_said_in_other_words_is_believed() {
    let items = lines(include_str!("../corpus/test/supported.jsonl"));
    let own = items.iter().filter(|item| judged(item).is_some_and(|fact| fact.support == Support::Own)).count();
    assert!(own * 10 >= items.len() * 6, "{own} of {}", items.len());
}

const TEST: [&str; 2] =
    [include_str!("../corpus/test/statements.jsonl"), include_str!("../corpus/test/negatives.jsonl")];
const HELD: [&str; 2] =
    [include_str!("../corpus/held/statements.jsonl"), include_str!("../corpus/held/negatives.jsonl")];

/// Recall and precision of one language: of the marks of the messages, and of the facts that were kept.
fn scores(all: [&str; 2], language: &str) -> (f64, f64) {
    let (mut marked, mut found, mut given, mut right) = (0, 0, 0, 0);
    for item in all.into_iter().flat_map(lines).filter(|item| item["lang"] == language) {
        let before = turns(&item, "before");
        let said = [turn(before.len(), "user", item["text"].as_str().unwrap())];
        let kept: Vec<String> = extracted(&before, &said).into_iter().map(|fact| fact.text.to_lowercase()).collect();
        let marks: Vec<Vec<String>> = item["keep"].as_array().into_iter().flatten().map(needles).collect();
        let joined = kept.join("\n");
        // Dates are added later.
        let says = |mark: &&Vec<String>| {
            mark.iter().filter(|needle| !needle.starts_with("2026-")).all(|needle| joined.contains(needle))
        };
        marked += marks.len();
        found += marks.iter().filter(says).count();
        given += kept.len();
        right += kept.iter().filter(|text| marks.iter().flatten().any(|needle| text.contains(needle))).count();
    }
    (f64::from(found as u32) / f64::from(marked as u32), f64::from(right as u32) / f64::from(given as u32))
}

fn needles(mark: &Value) -> Vec<String> {
    mark.as_array().into_iter().flatten().map(|needle| needle.as_str().unwrap().to_lowercase()).collect()
}

#[test]
fn statements_are_kept_and_the_rest_is_not() {
    for (language, least) in [("en", 0.74), ("zh", 0.74), ("de", 0.6), ("fr", 0.6), ("es", 0.6)] {
        for part in [TEST, HELD] {
            let (recall, precision) = scores(part, language);
            assert!(recall >= least && precision >= 0.88, "{language}: recall {recall:.2}, precision {precision:.2}");
        }
    }
}
