//! What is learnt from whole conversations by the offline model, through the real program: everything worth keeping is marked
//! in `crates/offline/corpus`, by somebody who did not know the rules.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]
#![allow(clippy::print_stdout, reason = "the table is for whoever runs it with --nocapture")]

mod common;

use std::path::Path;

use common::Home;
use serde_json::{Value, json};

const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n";

/// What came of a conversation.
#[derive(Debug, Default, Clone, PartialEq)]
struct Learnt {
    marked: usize,
    kept: usize,
    /// Marks that more than one memory says.
    twice: usize,
    memories: usize,
    unmarked: Vec<String>,
    missed: Vec<String>,
    /// What should not be there any more, or never.
    stale: Vec<String>,
}

fn conversations(part: &str) -> Vec<Value> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../offline/corpus").join(part).join("conversations");
    let mut paths: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

/// Feeds a conversation in batches of so many turns; gives all memories that are active then.
fn memories(conversation: &Value, batch: usize) -> Vec<String> {
    let turns = conversation["turns"].as_array().unwrap();
    let mut home = Home::with_config("config.toml", QUIET);
    home.set_now(turns.last().unwrap()["at"].as_str().unwrap());
    let mut args = vec!["session", "observe", "--session", "web:talk"];
    if let Some(project) = conversation["project"].as_str() {
        args.extend(["--project", project]);
    }
    for some in turns.chunks(batch) {
        let line = |turn: &Value| {
            let line = json!({ "role": turn["role"], "content": turn["text"], "at": turn["at"] });
            format!("{line}\n")
        };
        home.run_with(&args, &some.iter().map(line).collect::<String>()).done();
        home.run(&["session", "consolidate", "web:talk"]);
    }
    home.run(&["session", "end", "web:talk"]).done();
    let layers = ["identity", "knowledge"];
    let mut listed: Vec<String> =
        layers.iter().flat_map(|layer| home.listed(&["--layer", layer, "--limit", "500"])).collect();
    listed.sort();
    listed
}

fn needles(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|needle| needle.as_str().unwrap().to_lowercase()).collect()
}

fn learnt(conversation: &Value) -> Learnt {
    let memories = memories(conversation, 1_000);
    let lower: Vec<String> = memories.iter().map(|text| text.to_lowercase()).collect();
    let mut learnt = Learnt { memories: memories.len(), ..Learnt::default() };
    let mut is_marked = vec![false; lower.len()];
    for mark in conversation["keep"].as_array().unwrap() {
        let mut forms = vec![needles(&mark["needles"])];
        forms.extend(mark["or"].as_array().into_iter().flatten().map(needles));
        let says = |text: &String| forms.iter().any(|form| form.iter().all(|needle| text.contains(needle)));
        let saying: Vec<usize> = (0..lower.len()).filter(|at| says(&lower[*at])).collect();
        saying.iter().for_each(|at| is_marked[*at] = true);
        // A memory that has some of the words is no stray one.
        for (at, text) in lower.iter().enumerate() {
            is_marked[at] |= forms.iter().flatten().any(|needle| text.contains(needle));
        }
        learnt.marked += 1;
        learnt.kept += usize::from(!saying.is_empty());
        learnt.twice += usize::from(saying.len() > 1);
        if saying.is_empty() {
            learnt.missed.push(mark["needles"].to_string());
        }
    }
    let unmarked = memories.iter().zip(&is_marked).filter(|(_, is_marked)| !**is_marked);
    learnt.unmarked = unmarked.map(|(text, _)| text.clone()).collect();
    let gone = needles(&conversation["gone"]);
    learnt.stale = lower.iter().filter(|text| gone.iter().any(|needle| text.contains(needle))).cloned().collect();
    learnt
}

/// All conversations of a part, summed up; prints what was missed and what should not be there.
fn summed(part: &str, tells: bool) -> Learnt {
    let mut all = Learnt::default();
    for conversation in conversations(part) {
        let one = learnt(&conversation);
        println!(
            "{}: {} of {} kept, {} twice; {} memories, {} unmarked, {} stale",
            conversation["id"],
            one.kept,
            one.marked,
            one.twice,
            one.memories,
            one.unmarked.len(),
            one.stale.len()
        );
        if tells {
            println!("  missed {:#?}\n  unmarked {:#?}\n  stale {:#?}", one.missed, one.unmarked, one.stale);
        }
        all.marked += one.marked;
        all.kept += one.kept;
        all.twice += one.twice;
        all.memories += one.memories;
        all.unmarked.extend(one.unmarked);
        all.stale.extend(one.stale);
    }
    println!(
        "{part}: {} of {} kept, {} twice; {} memories, {} unmarked, {} stale",
        all.kept,
        all.marked,
        all.twice,
        all.memories,
        all.unmarked.len(),
        all.stale.len()
    );
    all
}

#[test]
fn most_of_what_is_worth_keeping_is_kept_once() {
    let dev = summed("dev", true);
    let test = summed("test", false);
    let held = summed("held", false);
    for all in [dev, test, held] {
        assert!(all.kept * 100 >= all.marked * 70, "{} of {}", all.kept, all.marked);
        assert!(all.unmarked.len() * 100 <= all.memories * 16, "{} of {}", all.unmarked.len(), all.memories);
    }
}

#[test]
fn batches_do_not_matter() {
    for conversation in conversations("dev").into_iter().step_by(2) {
        let whole = memories(&conversation, 1_000);
        for batch in [1, 5] {
            assert_eq!(memories(&conversation, batch), whole, "{} in batches of {batch}", conversation["id"]);
        }
    }
}
