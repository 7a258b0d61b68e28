//! Conversations with their exact summaries and facts: `@role` begins a turn, `@expect …` an expected reply.

use throughline_core::model::Turn;
use throughline_core::ports::{Brief, ExtractBrief, KnownFact, Model, SummaryBrief};

use super::Offline;

const MAX_TOKENS: usize = 400;

pub(super) fn turn(role: &str, content: &str) -> Turn {
    let json = serde_json::json!({
        "id": "t", "session": "cli:test", "role": role, "speaker": null, "content": content, "at": "2026-02-25T11:30:00Z"
    });
    serde_json::from_value(json).unwrap()
}

/// The blocks of a fixture: what follows the `@` at the beginning of a line, and the text below.
fn blocks(fixture: &str) -> Vec<(&str, &str)> {
    let parts = fixture.strip_prefix('@').unwrap_or_default().split("\n@");
    parts.map(|part| part.split_once('\n').unwrap_or((part, ""))).map(|(name, text)| (name, text.trim_end())).collect()
}

fn reply(brief: Brief) -> String {
    Offline.complete(&brief, &mut |_| true).unwrap().text
}

fn check(name: &str, fixture: &str) {
    let blocks = blocks(fixture);
    let find = |wanted: &str| blocks.iter().find(|(name, _)| *name == wanted).map(|(_, text)| (*text).to_owned());
    let is_turn = |name: &str| matches!(name, "user" | "assistant" | "tool" | "system" | "summary");
    let turns: Vec<Turn> =
        blocks.iter().filter(|(name, _)| is_turn(name)).map(|(role, text)| turn(role, text)).collect();
    let known = find("known").map(|text| text.lines().map(KnownFact::said).collect()).unwrap_or_default();
    let summary = |personal| {
        let turns = turns.clone();
        reply(Brief::Summarise(SummaryBrief {
            person: Default::default(),
            personal,
            turns,
            previous: None,
            knowledge: Vec::new(),
            max_tokens: MAX_TOKENS,
        }))
    };
    assert_eq!(Some(summary(true)), find("expect personal"), "personal summary of {name}");
    assert_eq!(Some(summary(false)), find("expect generic"), "generic summary of {name}");
    let facts =
        reply(Brief::Extract(ExtractBrief { before: Vec::new(), turns: turns.clone(), known })).replace("},{", "},\n{");
    assert_eq!(Some(facts), find("expect facts"), "facts of {name}");
}

macro_rules! conversations {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), include_str!(concat!("fixtures/", stringify!($name), ".txt")));
        })*
    };
}

conversations!(chores, coding, correction, introduction, meeting, mixed, nothing, question, tool_output, travel);
