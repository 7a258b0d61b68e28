//! `throughline demo`: a month of somebody who does not exist, made by the real verbs, away from the real home.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;

use common::{Home, string, tree};
use serde_json::Value;

/// What was pasted by mistake.
const SECRET: &str = "Barnacle-Quay-4821";

/// A machine whose memory is the demo's, filled once for each test.
fn filled() -> (Home, PathBuf, Value) {
    let mut home = Home::new();
    let dir = home.root().join("demo");
    let made = home.json(&["demo", "--fill-only", dir.to_str().unwrap()]);
    home.set("THROUGHLINE_HOME", dir.to_str().unwrap());
    (home, dir, made)
}

#[track_caller]
fn finds(home: &Home, question: &str, expected: &str) {
    let found = home.found(&[question]);
    assert!(found.iter().take(3).any(|text| text.contains(expected)), "{question}: no `{expected}` in {found:#?}");
}

#[test]
fn a_filled_home_is_healthy_and_holds_a_whole_month() {
    let (home, dir, told) = filled();
    assert!(home.run(&["doctor"]).done().contains("healthy"));

    let sessions = home.json(&["session", "list"]);
    let sessions = sessions["sessions"].as_array().unwrap();
    assert_eq!(sessions.len() as u64, told["made"]["conversations"].as_u64().unwrap());
    let channels: BTreeSet<String> =
        sessions.iter().map(|session| string(&session["id"]).split(':').next().unwrap().to_owned()).collect();
    assert_eq!(channels.iter().map(String::as_str).collect::<Vec<_>>(), ["cli", "editor", "telegram"]);
    let days: BTreeSet<String> =
        sessions.iter().map(|session| string(&session["updated_at"])[..10].to_owned()).collect();
    assert!(days.len() > 15, "{days:?}");
    assert!(days.first().unwrap().as_str() < "2026-02-05" && days.last().unwrap() == "2026-03-01", "{days:?}");

    let tasks = home.json(&["task", "list", "--status", "all"]);
    let done = tasks["tasks"].as_array().unwrap().iter().filter(|task| task["status"] == "done").count();
    assert!(done >= 4 && done < tasks["tasks"].as_array().unwrap().len(), "{tasks}");
    let memory = std::fs::read_to_string(dir.join("work/limpet/memory.md")).unwrap();
    assert!(memory.contains("## What Happened") && memory.contains("because two people edit them"), "{memory}");
    assert!(home.run(&["profile"]).done().contains("Mirela"));
    assert!(home.run(&["working"]).done().contains("tide table"));
    assert!(home.run(&["vault", "search", "how long does the battery last"]).done().contains("340 photographs"));
    let passes = home.json(&["reflect", "log"]);
    assert!(passes["passes"].as_array().unwrap().len() >= 3, "{passes}");
}

#[test]
fn the_month_can_be_asked_about() {
    let (home, _, _) = filled();
    finds(&home, "when is the lab meeting", "Thursdays at 10:00");
    finds(&home, "where does Gerald live", "quadrat 6 again");
    finds(&home, "why SQLite instead of CSV", "two people edit");
    finds(&home, "when do I fly to Hakodate", "3 March");
    finds(&home, "which calipers do I prefer", "yellow calipers");
    finds(&home, "what is the headline of the autumn survey", "2,140 limpets");
    let wrong = "the lab meeting is on Tuesdays at 10:00 in the boat shed.";
    assert!(!home.found(&["lab meeting"]).iter().any(|text| text == wrong));
    assert!(home.listed(&["--status", "inactive"]).iter().any(|text| text == wrong));
    let given = home.json(&["session", "explain", "telegram:students"]);
    let given: Vec<String> =
        given["memories"].as_array().unwrap().iter().map(|used| string(&used["content"])).collect();
    assert!(given.iter().any(|text| text.contains("quadrat 6 again")), "{given:#?}");
}

#[test]
fn what_was_pasted_by_mistake_is_in_no_file() {
    let (home, dir, _) = filled();
    assert!(home.run(&["session", "show", "cli:deploy-docs"]).done().contains("[redacted:password]"));
    for (path, bytes) in tree(&dir) {
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "{}", path.display());
    }
}

#[test]
fn the_real_home_is_neither_made_nor_changed() {
    let home = Home::new();
    let dir = home.root().join("demo");
    home.run(&["demo", "--fill-only", dir.to_str().unwrap()]).done();
    assert!(!home.path("").exists());
    assert!(tree(&home.root().join("person")).is_empty());

    home.remember(&["The real memory"]);
    let before = tree(&home.path(""));
    home.run(&["demo", "--fill-only", dir.to_str().unwrap()]).failed(2, "is not empty", "nothing was changed");
    let own = home.path("");
    home.run(&["demo", "--fill-only", own.to_str().unwrap()]).failed(2, "your own memory", "another directory");
    assert_eq!(tree(&home.path("")), before);
    assert!(tree(&home.root().join("person")).is_empty());
}

#[cfg(unix)]
#[test]
fn the_demo_serves_its_panel_and_leaves_nothing_behind() {
    let home = Home::new();
    let mut child = home.throughline(&["demo", "--json", "--port", "0"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    assert!(string(&told["link"]).starts_with("http://127.0.0.1:"), "{told}");
    let demo = PathBuf::from(string(&told["home"]));
    assert!(demo.starts_with(home.root().join("tmp")) && demo.join("memory.db").exists(), "{told}");

    let stop = home.command("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(stop.success());
    assert!(child.wait().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&rest).unwrap()["kept"], false, "{rest}");
    assert!(tree(&home.root().join("tmp")).is_empty());
    assert!(!home.path("").exists() && tree(&home.root().join("person")).is_empty());
}

#[cfg(unix)]
#[test]
fn a_demo_that_is_stopped_while_it_is_filled_leaves_nothing_behind() {
    let home = Home::new();
    let mut child = home.throughline(&["demo", "--port", "0"]).spawn().unwrap();
    let places = home.root().join("tmp");
    let is_begun =
        || std::fs::read_dir(&places).unwrap().flatten().any(|home| home.path().join("config.toml").exists());
    while !is_begun() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    assert!(home.command("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(tree(&places).is_empty());
}
