//! Looking back on a document by rules: repetitions become one, what is finished goes to what is done, old events fade.
//! In a project's file, what was decided is written down.
//!
//! Never happens: a word that neither the document nor the person said.

use jiff::SignedDuration;
use serde_json::{Value, json};
use throughline_core::model::MemorySection;
use throughline_core::model::{Role, Turn};
use throughline_core::ports::{ExtractBrief, KnownFact, ReflectBrief, ReflectFact};
use throughline_core::reflection::says_the_same;

use super::extract;
use super::words::Words;
use throughline_core::text::sentences::of_line;

/// Days after which an event weighs one step less: from 3, and from 2.
const FADES_AFTER: [i64; 2] = [90, 180];
/// Days after which an event of weight 1 is let go.
const GONE_AFTER: i64 = 365;
/// A sentence that has this share of a fact's words is about it.
const ABOUT: f64 = 0.75;
/// Facts that share less of their words are not compared further.
const ALIKE: f64 = 0.8;
/// Decisions that one pass writes down.
const MAX_ADDED: usize = 5;

/// Words that say that something is finished, at the end or the beginning of a fact, or anywhere in a sentence.
const DONE: [&str; 8] = ["done", "finished", "completed", "shipped", "merged", "fixed", "erledigt", "fertig"];
const DONE_CJK: [&str; 7] = ["完成了", "已完成", "做完了", "搞定了", "已解决", "修好了", "完了しました"];
/// Words that say how far something is, and not what it is.
const HOW_FAR: [&str; 12] = [
    "being",
    "open",
    "pending",
    "progress",
    "ongoing",
    "started",
    "todo",
    "still",
    "wip",
    "underway",
    "currently",
    "planned",
];
/// Words that take it back: not yet, almost, when.
const NOT_YET: [&str; 22] = [
    "not", "n't", "isn't", "never", "almost", "nearly", "when", "once", "until", "if", "should", "will", "must",
    "need", "half", "to", "before", "still", "noch", "nicht", "partly", "wasn't",
];
const NOT_YET_CJK: [&str; 8] = ["没", "未", "还", "快", "如果", "才", "等", "不"];

/// The operations, as JSON.
pub(super) fn reflect(brief: &ReflectBrief) -> String {
    let mut operations = Vec::new();
    let mut used: Vec<&str> = Vec::new();
    for (fact, others) in repetitions(&brief.facts) {
        let ids: Vec<&str> = std::iter::once(fact).chain(others).map(|fact| fact.id.as_str()).collect();
        operations.push(json!({ "op": "merge", "ids": ids, "text": fact.text }));
        used.extend(ids);
    }
    let said = finished(&brief.turns);
    for fact in &brief.facts {
        if used.contains(&fact.id.as_str()) {
            continue;
        }
        if fact.section == Some(MemorySection::Is) && (is_done(&fact.text) || is_said_to_be_done(fact, &said)) {
            operations.push(json!({ "op": "move", "id": fact.id, "section": "done" }));
        } else if let Some(operation) = faded(fact, brief) {
            operations.push(operation);
        }
    }
    operations.extend(decisions(brief));
    json!({ "operations": operations }).to_string()
}

/// Facts of a section that say the same: the one that weighs most, the first of them, and the others.
fn repetitions(facts: &[ReflectFact]) -> Vec<(&ReflectFact, Vec<&ReflectFact>)> {
    let mut groups: Vec<(Words, Vec<&ReflectFact>)> = Vec::new();
    for fact in facts {
        let own = Words::of(&fact.text);
        let is_same = |(words, group): &&mut (Words, Vec<&ReflectFact>)| {
            group[0].section == fact.section
                && words.overlap(&own) >= ALIKE
                && says_the_same(&group[0].text, &fact.text)
        };
        match groups.iter_mut().find(is_same) {
            Some((_, group)) => group.push(fact),
            None => groups.push((own, vec![fact])),
        }
    }
    let groups = groups.into_iter().map(|(_, group)| group);
    let ordered = groups.filter(|group| group.len() > 1).map(|mut group| {
        group.sort_by_key(|fact| std::cmp::Reverse(fact.significance));
        let first = group.remove(0);
        (first, group)
    });
    ordered.collect()
}

/// Whether a fact itself says that it is finished: a ticked box, or a word at its beginning or end.
fn is_done(text: &str) -> bool {
    let text = text.trim();
    if text.starts_with("[x]") || text.starts_with("[X]") || text.starts_with("✅") {
        return true;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = words(&lower).collect();
    let at_edge = [words.first(), words.last()].into_iter().flatten().any(|word| DONE.contains(word));
    let in_cjk = DONE_CJK.iter().any(|done| lower.contains(done));
    (at_edge || in_cjk) && !takes_back(&lower)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

fn takes_back(lower: &str) -> bool {
    lower.contains('?')
        || lower.contains('？')
        || words(lower).any(|word| NOT_YET.contains(&word) || word.ends_with("n't"))
        || NOT_YET_CJK.iter().any(|mark| lower.contains(mark))
}

/// Sentences of the person's that say that something is finished.
fn finished(turns: &[Turn]) -> Vec<Words> {
    let theirs = turns.iter().filter(|turn| turn.role == Role::User);
    let said = theirs.flat_map(|turn| of_line(&turn.content)).filter(|sentence| {
        let lower = sentence.to_lowercase();
        let says = words(&lower).any(|word| DONE.contains(&word)) || DONE_CJK.iter().any(|done| lower.contains(done));
        says && !takes_back(&lower)
    });
    said.map(Words::of).collect()
}

/// Whether a sentence that says so is about this fact: two of its words at least, and most of them.
fn is_said_to_be_done(fact: &ReflectFact, said: &[Words]) -> bool {
    let lower = fact.text.to_lowercase();
    let what: Vec<&str> = lower.split_whitespace().filter(|word| !HOW_FAR.contains(word)).collect();
    let own = Words::of(&what.join(" "));
    said.iter().any(|sentence| own.shared(sentence) >= 2 && own.share_in(sentence) >= ABOUT)
}

/// An old event weighs less, and one that weighs nothing goes.
fn faded(fact: &ReflectFact, brief: &ReflectBrief) -> Option<Value> {
    let at = fact.at.filter(|_| fact.section == Some(MemorySection::Happened))?;
    let is_older = |days: i64| brief.now.duration_since(at) >= SignedDuration::from_hours(24 * days);
    match fact.significance.value() {
        3 if is_older(FADES_AFTER[0]) => Some(json!({ "op": "reweigh", "id": fact.id, "significance": 2 })),
        2 if is_older(FADES_AFTER[1]) => Some(json!({ "op": "reweigh", "id": fact.id, "significance": 1 })),
        1 if is_older(GONE_AFTER) => Some(json!({ "op": "prune", "id": fact.id })),
        _ => None,
    }
}

/// What was decided in a project's conversations, word for word. The person's own facts are kept as entries already.
fn decisions(brief: &ReflectBrief) -> Vec<Value> {
    if brief.document.as_project().is_none() || brief.turns.is_empty() {
        return Vec::new();
    }
    let known = brief.facts.iter().map(|fact| KnownFact::said(&fact.text)).collect();
    let extracted = extract::extract(&ExtractBrief { before: Vec::new(), turns: brief.turns.clone(), known });
    let value: Value = serde_json::from_str(&extracted).unwrap_or_default();
    let facts = value["facts"].as_array().cloned().unwrap_or_default();
    let wanted = facts.into_iter().filter(|fact| matches!(fact["kind"].as_str(), Some("decision" | "constraint")));
    let add = |fact: Value| json!({ "op": "add", "text": fact["text"], "significance": 3, "section": "is" });
    wanted.take(MAX_ADDED).map(add).collect()
}

#[cfg(test)]
#[path = "reflect/tests.rs"]
mod tests;
