//! Scores what the offline model keeps of a corpus: `cargo run --release -p throughline-offline --example score -- DIR [--wrong]`.
//!
//! DIR holds `statements.jsonl` and `negatives.jsonl`, in the format of `crates/offline/corpus`. A statement counts as kept where
//! one of the facts has all of its words; every fact that matches no mark of its message is wrong. The tables are Markdown, as
//! they stand in docs/offline.md; `--wrong` lists what was missed and what was kept wrongly.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool for developers: it stops at what is wrong"
)]

use std::collections::BTreeMap;

use serde_json::Value;
use throughline_core::consolidation::facts;
use throughline_core::model::{Turn, TurnId};
use throughline_core::ports::{Brief, ExtractBrief, Model as _};
use throughline_core::text::relative_dates::dated;
use throughline_offline::Offline;

#[derive(Default, Clone, Copy)]
struct Tally {
    marked: usize,
    found: usize,
    given: usize,
    right: usize,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.marked += other.marked;
        self.found += other.found;
        self.given += other.given;
        self.right += other.right;
    }

    fn row(&self) -> String {
        let share =
            |part: usize, of: usize| if of == 0 { "–".to_owned() } else { format!("{:.2}", part as f64 / of as f64) };
        let (recall, precision) = (share(self.found, self.marked), share(self.right, self.given));
        format!("{} | {} | {recall} | {precision}", self.marked, self.given)
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let directory = args.next().unwrap_or_else(|| "crates/offline/corpus/dev".to_owned());
    let lists = args.any(|arg| arg == "--wrong");
    let (mut by_language, mut by_kind) = (BTreeMap::new(), BTreeMap::new());
    for name in ["statements.jsonl", "negatives.jsonl"] {
        for line in read(&format!("{directory}/{name}")).lines() {
            let item: Value = serde_json::from_str(line).expect("a line of JSON");
            let tally = score(&item, lists);
            let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
            let row: &mut Tally = by_language.entry(text("lang")).or_default();
            row.add(tally);
            let row: &mut Tally = by_kind.entry((text("kind"), text("lang"))).or_default();
            row.add(tally);
        }
    }
    println!("| language | marked | kept | recall | precision |\n|---|---|---|---|---|");
    for (language, tally) in &by_language {
        println!("| {language} | {} |", tally.row());
    }
    println!("\n| kind | language | marked | kept | recall | precision |\n|---|---|---|---|---|---|");
    for ((kind, language), tally) in &by_kind {
        println!("| {kind} | {language} | {} |", tally.row());
    }
}

#[allow(clippy::disallowed_methods, reason = "a tool for developers")]
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn turn(nth: usize, role: &str, content: &str, at: &str) -> Turn {
    Turn {
        id: TurnId::new(format!("t{nth}")),
        session: "cli:main".parse().expect("a session's id"),
        role: role.parse().expect("a role"),
        speaker: None,
        content: content.to_owned(),
        at: at.parse().expect("a time"),
    }
}

fn score(item: &Value, lists: bool) -> Tally {
    let at = item["at"].as_str().unwrap_or("2026-05-05T10:00:00Z");
    let before = item["before"].as_array().into_iter().flatten().enumerate();
    let before: Vec<Turn> = before
        .map(|(nth, said)| {
            turn(nth, said["role"].as_str().unwrap_or("user"), said["text"].as_str().unwrap_or_default(), at)
        })
        .collect();
    let turns = vec![turn(before.len(), "user", item["text"].as_str().unwrap_or_default(), at)];
    let brief = ExtractBrief { before: before.clone(), turns: turns.clone(), known: Vec::new() };
    let reply = Offline.complete(&Brief::Extract(brief), &mut |_| true).expect("a reply");
    let kept = facts::parse(&reply, &facts::Said { before: &before, turns: &turns }, &[]).expect("facts");
    let texts: Vec<String> = kept
        .iter()
        .map(|fact| dated(&fact.text, turns[0].at.to_zoned(jiff::tz::TimeZone::UTC).date()).to_lowercase())
        .collect();
    let marks: Vec<Vec<String>> = item["keep"].as_array().into_iter().flatten().map(needles).collect();
    let says = |text: &String, mark: &Vec<String>| mark.iter().all(|needle| text.contains(needle));
    // Needles of one mark may stand in two facts of the message.
    let all = texts.join("\n");
    let found = marks.iter().filter(|mark| texts.iter().any(|text| says(text, mark)) || says(&all, mark)).count();
    let is_right = |text: &&String| marks.iter().flatten().any(|needle| text.contains(needle));
    let unwanted: Vec<String> =
        item["not"].as_array().into_iter().flatten().filter_map(|n| n.as_str().map(str::to_lowercase)).collect();
    let right =
        texts.iter().filter(is_right).filter(|text| !unwanted.iter().any(|needle| text.contains(needle))).count();
    if lists && (found < marks.len() || right < texts.len()) {
        let missed = if found < marks.len() { "missed" } else { "" };
        let wrong = if right < texts.len() { "WRONG" } else { "" };
        println!(
            "{} {} {missed} {wrong}\n    {}\n    → {texts:?}\n    of {}",
            item["id"], item["kind"], item["text"], reply.text
        );
    }
    Tally { marked: marks.len(), found, given: texts.len(), right }
}

fn needles(mark: &Value) -> Vec<String> {
    mark.as_array().into_iter().flatten().filter_map(|needle| needle.as_str().map(str::to_lowercase)).collect()
}
