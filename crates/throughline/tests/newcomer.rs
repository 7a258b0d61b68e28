//! What a newcomer types that is not quite right, and what the program says to it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use common::daemon::Daemon;
use common::terminal::Terminal;
use common::{Home, string};
use serde_json::{Value, json};

/// Nothing starts by itself.
const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\
    idle_consolidation_minutes = 0\n";

fn quiet() -> Home {
    Home::with_config("config.toml", QUIET)
}

#[test]
fn help_is_a_command_and_other_names_of_commands_lead_to_them() {
    let home = Home::new();
    assert!(home.run(&["help", "forget"]).done().contains("Make memories inactive"));
    for (called, here) in [
        ("search", "`throughline recall`"),
        ("add", "`throughline remember`"),
        ("delete", "`throughline forget`"),
        ("rm", "`throughline forget`"),
        ("status", "`throughline` alone"),
        ("version", "`throughline --version`"),
    ] {
        home.run(&[called, "x"]).failed(2, "unrecognized subcommand", here);
    }
    let ran = home.run(&["session", "delete"]);
    assert!(ran.code == 2 && !ran.stderr.contains("throughline forget"), "another list of commands: {ran:?}");
}

#[test]
fn the_version_of_the_program_is_no_option_of_a_command() {
    let home = Home::new();
    let id = home.remember(&["We deploy on Fridays"]);
    home.run(&["restore", &id, "--version", "1"]).failed(2, "--version", "`throughline restore ID VERSION`");
    home.run(&["list", "-V"]).failed(2, "-V", "`throughline --version`");
    assert!(home.run(&["--version"]).done().contains("build"));
}

#[test]
fn a_conversation_is_named_to_consolidate_as_to_observe() {
    let home = quiet();
    home.run(&["session", "observe", "--session", "cli:1", "We decided to use PostgreSQL for billing."]).done();
    assert!(home.run(&["session", "consolidate", "--session", "cli:1"]).done().contains("summarised"));
    assert_eq!(home.run(&["session", "consolidate", "cli:1"]).stdout, "nothing new was said\n");
    assert_eq!(home.run(&["session", "consolidate", "cli:1", "--session", "cli:1"]).code, 2);
    assert_eq!(home.run(&["session", "consolidate", "--all", "--session", "cli:1"]).code, 2);
}

#[test]
fn filters_that_fit_nothing_are_not_an_empty_memory() {
    let home = Home::new();
    assert!(home.run(&["list"]).stdout.contains("nothing yet"));
    home.remember(&["We deploy on Fridays"]);
    let none = home.run(&["list", "--tag", "never"]);
    assert!(none.code == 1 && none.stdout.starts_with("nothing fits these filters"), "{none:?}");
    assert!(home.run(&["list", "--status", "inactive"]).stdout.starts_with("nothing fits these filters"));
    for nothing in [&["recall", ""][..], &["recall", " ", "\t"]] {
        home.run(nothing).failed(2, "there is nothing to look for", "throughline recall");
    }
}

#[test]
fn a_turn_is_told_from_a_memory() {
    let home = quiet();
    home.run(&["session", "observe", "--session", "web:1", "We decided to use PostgreSQL for billing."]).done();
    let shown = home.json(&["session", "show", "web:1"]);
    let turn = string(&shown["turns"][0]["id"]);
    let short = &turn[..8];
    for command in [&["show"][..], &["forget"], &["edit", "--content", "x"], &["mute"], &["history"]] {
        let (first, more) = command.split_first().unwrap();
        let args = [&[*first, short], more].concat();
        home.run(&args).failed(1, "a turn of the conversation web:1", "`throughline session show web:1`");
    }
    home.run(&["correct", "x", "--wrong", &turn]).failed(1, "a turn of the conversation web:1", "session show");
    home.run(&["session", "end", "web:1"]).done();
    let all = home.json(&["list"])["memories"].clone();
    let is_of_turn = |memory: &&Value| memory["provenance"].to_string().contains(&turn);
    let made = all.as_array().unwrap().iter().find(is_of_turn).expect("a memory of it");
    home.run(&["show", &turn]).failed(1, "a turn", &format!("made of it is {}", string(&made["id"])));
    home.run(&["show", "zzzzzz"]).failed(1, "no memory has the id", "throughline list");
}

#[test]
fn a_review_says_what_each_key_did() {
    let home = quiet();
    for text in ["We decided to use PostgreSQL for billing.", "We decided to write commit messages in English."] {
        home.run(&["session", "observe", "--session", "one", text]).done();
    }
    home.run(&["session", "end", "one"]).done();
    let waiting = home.json(&["review"])["items"].as_array().unwrap().len();
    assert!(waiting >= 2);
    let mut terminal = Terminal::start(&home, &["review"]);
    // Each line ends with Enter, which leaves the first one for later and the text of the second as it is.
    terminal.answer("? help", "?");
    terminal.answer("? help", "e");
    for _ in 2..waiting {
        terminal.answer("? help", "");
    }
    let ended = terminal.end();
    assert!(ended.stdout.contains("keep it as a rule"), "{}", ended.stdout);
    assert!(ended.stdout.contains("unchanged: left for later"), "{}", ended.stdout);
    assert_eq!(home.json(&["review"])["items"].as_array().unwrap().len(), waiting, "nothing was decided");
}

#[test]
fn without_an_editor_each_command_names_its_own_way() {
    let home = quiet();
    home.run(&["profile", "--edit"]).failed(2, "no editor is set", "`throughline write user/profile`");
    home.run(&["config", "edit"]).failed(2, "no editor is set", "`throughline config set KEY VALUE`");
    let id = home.remember(&["We deploy on Fridays"]);
    home.run(&["edit", &id]).failed(2, "no editor is set", "--content TEXT");
}

#[test]
fn an_undo_is_shown_before_and_says_how_it_comes_back() {
    let home = Home::new();
    let id = home.remember(&["We deploy on Fridays"]);
    home.run(&["edit", &id, "--content", "We deploy on Mondays"]).done();
    let shown = home.run(&["undo", "--dry-run"]).done();
    assert!(shown.contains("`edit`") && shown.contains("We deploy on Mondays"), "{shown}");
    assert_eq!(home.json(&["undo", "--dry-run"])["dry_run"], true);
    assert_eq!(home.listed(&[]), ["We deploy on Mondays"], "nothing was changed");
    let undone = home.run(&["undo"]).done();
    assert_eq!(home.listed(&[]), ["We deploy on Fridays"]);
    let back = undone.lines().last().unwrap().split('`').nth(1).unwrap().to_owned();
    let back: Vec<&str> = back.split(' ').skip(1).collect();
    assert_eq!(back[0], "restore");
    home.run(&back).done();
    assert_eq!(home.listed(&[]), ["We deploy on Mondays"]);

    home.run(&["forget", &id]).done();
    assert!(home.run(&["undo"]).done().contains("throughline forget"));
    let new = home.remember(&["The harbour master is called Otto"]);
    let undone = home.run(&["undo"]).done();
    let back = undone.lines().last().unwrap().split('`').nth(1).unwrap().to_owned();
    home.run(&back.split(' ').skip(1).collect::<Vec<_>>()).done();
    assert_eq!(home.json(&["show", &new])["status"], "active", "{back}");
}

#[test]
fn at_a_terminal_an_undo_of_what_somebody_else_did_is_asked_about() {
    let home = Home::new();
    let old = home.remember(&["We deploy on Fridays"]);
    let learnt = quiet();
    learnt.run(&["session", "observe", "--session", "one", "We decided to use PostgreSQL for billing."]).done();
    learnt.run(&["session", "end", "one"]).done();
    let before = learnt.listed(&[]);
    assert!(!before.is_empty());
    let mut terminal = Terminal::start(&learnt, &["undo"]);
    terminal.answer("Undo it? [y/N] ", "n");
    let ended = terminal.end();
    assert!(ended.code == 2 && ended.stdout.contains("not agreed: nothing was changed"), "{}", ended.stdout);
    assert_eq!(learnt.listed(&[]), before);
    let mut terminal = Terminal::start(&learnt, &["undo"]);
    terminal.answer("Undo it? [y/N] ", "y");
    assert_eq!(terminal.end().code, 0);
    assert_ne!(learnt.listed(&[]), before);
    // One's own change is not asked about.
    assert_eq!(Terminal::start(&home, &["undo"]).end().code, 0);
    assert_eq!(home.json(&["show", &old])["status"], "inactive");
}

#[test]
fn a_value_that_does_not_fit_is_named() {
    let home = Home::with_config("config.toml", "");
    home.run(&["config", "set", "server.port", "abc"]).failed(2, "`server.port` cannot be `abc`: expected", "");
    home.run(&["config", "set", "memory.enabled", "maybe"]).failed(2, "`memory.enabled` cannot be `maybe`", "");
    let secret = home.run(&["config", "set", "model.api_key_env", "sk-1 2"]);
    assert!(secret.code == 2 && !secret.stderr.contains("sk-1"), "what may be a secret is not repeated: {secret:?}");
    home.run(&["remember", "x", "--sig=high"]).failed(2, "expected a whole number from 1 to 5", "");
    home.run(&["remember", "x", "--importance=high"]).failed(2, "expected a number from 0 to 1", "");
}

#[test]
fn a_daemon_that_is_in_the_way_is_named_with_how_to_stop_it() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays"]);
    let daemon = Daemon::start(&home);
    let kill = if cfg!(unix) { format!("`kill {}`", daemon.process()) } else { "taskkill".to_owned() };
    home.run(&["uninstall", "--data", "--yes"]).failed(2, "a daemon runs on this memory", &kill);
    daemon.stop();
    assert_eq!(home.listed(&[]), ["We deploy on Fridays"]);
}

#[test]
fn a_correction_of_what_was_never_said_proposes_nothing() {
    let home = Home::new();
    for text in ["We deploy on Fridays", "I prefer short answers", "My cat likes tuna", "I live in Lisbon"] {
        home.remember(&[text]);
    }
    home.run(&["reindex", "--vectors"]).done();
    let none = home.run(&["correct", "Something never said"]);
    assert!(none.code == 1 && none.stdout.starts_with("nothing that is stored sounds like this"), "{none:?}");
    assert_eq!(home.json(&["correct", "Something never said"])["proposals"], json!([]));
    let one = home.run(&["correct", "I live in Porto now"]);
    assert!(one.stdout.contains("I live in Lisbon") && !one.stdout.contains("tuna"), "{one:?}");
}
