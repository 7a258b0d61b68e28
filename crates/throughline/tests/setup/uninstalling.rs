//! The way back.

use serde_json::json;

use super::{machine, person, told, until_consolidated};
use crate::common::terminal::Terminal;
use crate::common::tree;

#[test]
fn uninstall_leaves_every_byte_as_it_was_and_keeps_the_memory() {
    let home = machine();
    let before = tree(&person(&home, ""));
    home.json(&["setup", "--yes"]);
    until_consolidated(&home);
    let set_up = tree(&person(&home, ""));
    assert_ne!(set_up, before);
    let shown = home.json(&["uninstall", "--dry-run"]);
    assert_eq!(shown["plan"]["data"]["action"], "keep", "{shown}");
    let told_why = home.run(&["uninstall"]);
    assert!(told_why.code == 2 && told_why.stdout.contains("disconnect codex"), "{told_why:?}");
    assert_eq!(tree(&person(&home, "")), set_up, "without a terminal and without --yes nothing is changed");

    let done = home.json(&["uninstall", "--yes"]);
    assert_eq!((&done["changed"], &done["problems"]), (&json!(true), &json!([])), "{done}");
    let now = tree(&person(&home, ""));
    let added: Vec<_> = now.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(added.is_empty(), "{added:?}");
    assert_eq!(now, before);
    assert_eq!(told(&home)[2..], ["disable --now throughline", "daemon-reload"]);
    assert!(!home.found(&["--kind", "turn", "green brompton"]).is_empty(), "the memory is kept");
    assert_eq!(home.json(&["uninstall", "--yes"])["changed"], false);
}

#[test]
fn the_data_goes_where_that_is_said_and_nothing_that_is_not_ours() {
    let home = machine();
    let before = tree(&person(&home, ""));
    home.json(&["setup", "--yes"]);
    until_consolidated(&home);
    home.run(&["backup"]).done();
    home.put("letters.txt", "mine");
    let export = home.root().join("memory.json").display().to_string();
    home.run(&["export", "--out", &export]).done();
    let shown = home.json(&["uninstall", "--dry-run", "--data"]);
    assert_eq!(shown["plan"]["data"]["copies"], json!([export]), "what goes is named before: {shown}");
    let done = home.json(&["uninstall", "--yes", "--data"]);
    assert_eq!(done["problems"], json!([]), "{done}");
    let left: Vec<_> = tree(&home.path("")).into_keys().collect();
    assert_eq!(left, [home.path("letters.txt")]);
    assert_eq!(tree(&person(&home, "")), before);
}

#[test]
fn a_person_types_the_word_to_erase_their_data() {
    let home = machine();
    home.remember(&["We deploy on Fridays at noon"]);
    let mut terminal = Terminal::start(&home, &["uninstall"]);
    terminal.answer("erases it too", "yes");
    assert_eq!(terminal.end().code, 2, "neither Enter nor the word");
    assert_eq!(home.listed(&[]), ["We deploy on Fridays at noon"]);
    let mut terminal = Terminal::start(&home, &["uninstall", "--data"]);
    terminal.answer("Type `erase`", "");
    assert_eq!(terminal.end().code, 0);
    assert_eq!(home.listed(&[]), ["We deploy on Fridays at noon"], "Enter keeps it");
    let mut terminal = Terminal::start(&home, &["uninstall"]);
    terminal.answer("erases it too", "erase");
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(!home.path("").exists(), "{}", ended.stdout);
}
