//! Draws facts that the offline model learns from recorded conversations, for a reader to grade:
//! `cargo run --release -p throughline-offline --example draw -- SEED COUNT FILE…`.
//!
//! FILE holds a turn per line: `{"corpus", "session_id", "speaker", "text", "timestamp"}`. The first speaker of a corpus is the person,
//! `assistant` is the assistant, and what others say is left out, as it is in the program. Each session is read whole. Every
//! line that comes out is a fact with its kind and its support; a COUNT of 0 gives all of them in order.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool for developers: it stops at what is wrong"
)]

use std::collections::HashMap;

use serde_json::Value;
use throughline_core::consolidation::facts;
use throughline_core::model::{Turn, TurnId};
use throughline_core::ports::{Brief, ExtractBrief, Model as _};
use throughline_core::text::relative_dates::dated;
use throughline_offline::Offline;

fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = |name| args.next().and_then(|arg| arg.parse::<u64>().ok()).unwrap_or_else(|| panic!("no {name}"));
    let (seed, count) = (number("SEED"), number("COUNT"));
    let sessions: Vec<Vec<Turn>> = args.flat_map(|path| sessions(&read(&path))).collect();
    let facts: Vec<String> = sessions.iter().flat_map(|turns| learnt(turns)).collect();
    println!("# {} facts of {} sessions", facts.len(), sessions.len());
    let drawn = if count == 0 { facts } else { drawn(facts, seed, count as usize) };
    drawn.iter().for_each(|fact| println!("{fact}"));
}

#[allow(clippy::disallowed_methods, reason = "a tool for developers")]
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The turns of the person and the assistant, by session.
fn sessions(lines: &str) -> Vec<Vec<Turn>> {
    let mut persons: HashMap<String, String> = HashMap::new();
    let mut sessions: Vec<(String, Vec<Turn>)> = Vec::new();
    for line in lines.lines() {
        let said: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = |field: &str| said[field].as_str().unwrap_or_default().to_owned();
        let speaker = text("speaker");
        let person = persons.entry(text("corpus")).or_insert_with(|| speaker.clone());
        let role = match speaker.as_str() {
            speaker if speaker == person => "user",
            "assistant" => "assistant",
            _ => continue,
        };
        if sessions.last().is_none_or(|(session, _)| *session != text("session_id")) {
            sessions.push((text("session_id"), Vec::new()));
        }
        let turns = &mut sessions.last_mut().expect("a session").1;
        turns.push(turn(turns.len(), role, text("text"), &text("timestamp")));
    }
    sessions.into_iter().map(|(_, turns)| turns).collect()
}

fn turn(nth: usize, role: &str, content: String, at: &str) -> Turn {
    Turn {
        id: TurnId::new(format!("t{nth}")),
        session: "cli:main".parse().expect("a session's id"),
        role: role.parse().expect("a role"),
        speaker: None,
        content,
        at: format!("{at}Z").parse().expect("a time"),
    }
}

/// The facts of a session, as they are stored.
fn learnt(turns: &[Turn]) -> Vec<String> {
    let brief = ExtractBrief { before: Vec::new(), turns: turns.to_vec(), known: Vec::new() };
    let reply = Offline.complete(&Brief::Extract(brief), &mut |_| true).expect("a reply");
    let day = turns[0].at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let kept = facts::parse(&reply, &facts::Said { before: &[], turns }, &[]).expect("facts");
    kept.iter().map(|fact| format!("{}\t{:?}\t{}", fact.kind, fact.support, dated(&fact.text, day))).collect()
}

/// So many of the items, chosen by a seed.
fn drawn(mut items: Vec<String>, seed: u64, count: usize) -> Vec<String> {
    let mut state = seed;
    for at in 0..count.min(items.len()) {
        let left = (items.len() - at) as u64;
        items.swap(at, at + (next(&mut state) % left) as usize);
    }
    items.truncate(count);
    items
}

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
