//! The command line as a person meets it: what is typed, what is answered, and how each command ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "story/editing.rs"]
mod editing;
#[path = "story/shapes.rs"]
mod shapes;

use std::io::{BufRead as _, BufReader};

use common::{Home, Story, mode, string};
use serde_json::json;

#[test]
fn the_first_run_makes_a_private_home_and_says_what_to_try() {
    let home = Home::new();
    let mut story = Story::of(&home);
    story.step(&[]);
    story.step(&[]);
    insta::assert_snapshot!("first_run", story.told());
    assert_eq!(home.text("config.toml"), throughline::config::FIRST_RUN);
    let outside: Vec<_> = std::fs::read_dir(home.root().join("person")).unwrap().collect();
    assert!(outside.is_empty(), "nothing is kept outside of THROUGHLINE_HOME: {outside:?}");
}

#[test]
fn directories_are_0700_and_files_0600() {
    let home = Home::new();
    home.remember(&["--layer", "identity", "My name is Ada"]);
    home.remember(&["We deploy on Fridays"]);
    home.run_with(&["write", "user/notes/travel"], "- Lisbon in May\n").done();
    home.run(&["backup"]).done();
    home.run(&["recall", "deploy"]).done();
    let open: Vec<String> = common::tree(&home.path(""))
        .into_keys()
        .map(|path| (mode(&path), path.is_dir(), path))
        .filter(|(mode, is_dir, _)| *mode != if *is_dir { 0o700 } else { 0o600 })
        .map(|(mode, _, path)| format!("{} is {mode:o}", path.display()))
        .collect();
    assert_eq!(mode(&home.path("")), 0o700);
    assert!(open.is_empty(), "{open:#?}");
    assert!(home.json(&["doctor"])["remarks"].as_array().unwrap().is_empty());
}

#[test]
fn without_a_home_of_its_own_the_platforms_places_are_used() {
    let mut home = Home::new();
    home.set("THROUGHLINE_HOME", "");
    home.run(&["remember", "in the usual place"]).done();
    let person = home.root().join("person");
    assert!(person.join(".config/throughline/config.toml").is_file());
    assert!(person.join(".local/share/throughline/memory.db").is_file());
    assert_eq!(mode(&person.join(".local/share/throughline")), 0o700);
}

#[test]
fn a_day_with_a_memory() {
    let mut home = Home::new();
    let mut told = String::new();
    let day: [(&str, &[&[&str]]); 7] = [
        (
            "2026-03-01T09:00:00Z",
            &[&["remember", "We deploy on Fridays at noon", "--key", "deploy", "--tag", "ops", "--sig", "4"]],
        ),
        ("2026-03-01T09:10:00Z", &[&["remember", "--layer", "identity", "My name is Ada; I like short answers"]]),
        (
            "2026-03-01T09:30:00Z",
            &[&["recall", "when do we deploy?", "--why"], &["context", "--message", "when do we deploy?"]],
        ),
        (
            "2026-03-01T10:00:00Z",
            &[
                &["remember", "We deploy on Mondays", "--key", "deploy"],
                &["list"],
                &["history", "deploy"],
                &["show", "deploy"],
            ],
        ),
        ("2026-03-01T11:00:00Z", &[&["forget", "deploy"], &["recall", "deploy"], &["forget", "deploy"]]),
        (
            "2026-03-02T08:00:00Z",
            &[&["undo"], &["edit", "deploy", "--content", "We deploy daily"], &["restore", "deploy", "1"], &["undo"]],
        ),
        ("2026-03-05T08:00:00Z", &[&["history"], &["recall", "deploy"], &["profile"], &["read", "user/facts"], &[]]),
    ];
    for (now, steps) in day {
        home.set_now(now);
        let mut story = Story::of(&home);
        steps.iter().for_each(|step| story.step(step));
        told.push_str(&format!("--- {now}\n\n{}", story.told()));
    }
    insta::assert_snapshot!("a_day", told);
}

#[test]
fn failures_say_what_is_wrong_and_what_to_try_next() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays at noon", "--key", "deploy"]);
    let mut story = Story::of(&home);
    for step in [
        &["show", "zzzzzz"][..],
        &["forget", "nothing-like-it"],
        &["restore", "deploy", "7"],
        &["restore", "user/profile", "1"],
        &["recall", "deploy", "--since", "2026-03-02", "--until", "2026-03-01"],
        &["recall", "deploy", "--since", "whenever"],
        &["remember", " \n "],
        &["remember", "x", "--sig", "6"],
        &["remember", "x", "--importance", "1.5"],
        &["remember", "x", "--layer", "archive"],
        &["remember", "x", "--project", "a", "--tag", "project:b"],
        &["edit", "deploy"],
        &["write", "user/facts"],
        &["context", "--session", "a/b"],
        &["list", "--status", "lost"],
        &["recal", "deploy"],
    ] {
        story.step(step);
    }
    insta::assert_snapshot!("failures", story.told());
    assert_eq!(home.listed(&[]), ["We deploy on Fridays at noon"], "nothing was changed");
}

#[test]
fn mistakes_in_arguments_have_a_hint_too() {
    let home = Home::new();
    home.run(&["read", "nowhere"]).failed(2, "is not an address of memory", "try `user/profile`");
    home.run(&["recall", "x", "--namespace", "nowhere"]).failed(2, "is not an address of memory", "`global`");
    home.run(&["import", "no-such-file.json"]).failed(2, "cannot read no-such-file.json", "throughline export");
    home.run(&["list", "--cursor", "nonsense"]).failed(2, "`nonsense` did not come from a listing", "--cursor");
}

#[test]
fn nothing_found_is_code_1_and_not_an_error() {
    let home = Home::new();
    for (args, said) in [
        (&["recall", "anything"][..], "nothing found\n"),
        (&["recall", "anything", "--limit", "0"], "nothing found\n"),
        (&["list"], "nothing yet; try `throughline remember \"I prefer short answers\"`\n"),
        (&["read", "user/profile"], "user/profile is empty\n"),
        (&["working"], "no recent context: nothing was written, or it has expired\n"),
        (&["history"], "no changes yet\n"),
    ] {
        let ran = home.run(args);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (1, said, ""), "{args:?}");
    }
    home.run(&["undo"]).failed(1, "there is nothing to undo", "throughline history");
}

#[test]
fn storing_again_under_a_key_updates_and_forgetting_frees_it() {
    let home = Home::new();
    let first = home.remember(&["Tea", "--key", "drink", "--sig", "5", "--tag", "taste"]);
    let again = home.json(&["remember", "Coffee", "--key", "drink"]);
    assert_eq!((string(&again["id"]), &again["outcome"]), (first.clone(), &json!("updated")));
    assert_eq!((&again["significance"], &again["tags"]), (&json!(5), &json!(["taste"])), "what is not given stays");
    assert_eq!(home.json(&["remember", "Coffee", "--key", "drink"])["outcome"], "unchanged");
    home.run(&["forget", "drink"]).done();
    assert_ne!(home.remember(&["Water", "--key", "drink"]), first);
    assert_eq!(home.listed(&[]), ["Water"]);
    assert_eq!(home.json(&["show", "drink"])["content"], "Water", "the key means the active one");
    assert_eq!(home.listed(&["--status", "inactive"]), ["Coffee"]);
    let same = [home.remember(&["Rain is wet"]), home.remember(&["Rain is wet"])];
    assert_eq!(same[0], same[1], "the same text twice is one memory");
}

/// Two memories whose ids share six characters, and a third whose key is that beginning.
fn confusable() -> Home {
    let home = Home::new();
    let entry = |id: &str, key: Option<&str>, content: &str| {
        json!({
            "id": id, "kind": "entry", "namespace": "user/facts", "layer": "knowledge", "key": key,
            "content": content, "source": "user", "status": "active",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "version": 1
        })
    };
    let memories = [
        entry("aaaaaab222222222", None, "first"),
        entry("aaaaaac222222222", None, "second"),
        entry("bbbbbbb222222222", Some("cccccc"), "by its key"),
        entry("ccccccc222222222", None, "by its id"),
    ];
    let export = json!({ "version": 1, "exported_at": "2026-01-01T00:00:00Z", "memories": memories });
    home.run_with(&["import", "-"], &export.to_string()).done();
    home
}

#[test]
fn an_id_may_be_shortened_to_six_characters_while_it_is_unique() {
    let home = confusable();
    let shown = |reference: &str| string(&home.json(&["show", reference])["content"]);
    assert_eq!(shown("aaaaaab222222222"), "first");
    assert_eq!(shown("aaaaaac"), "second");
    assert_eq!(shown("bbbbbb"), "by its key");
    home.run(&["show", "bbbbb"]).failed(1, "no memory has the id or key `bbbbb`", "six characters");
    home.run(&["show", "aaaaaa"]).failed(2, "could mean 2 memories: aaaaaab222222222, aaaaaac222222222", "more of");
    for command in ["forget", "history"] {
        home.run(&[command, "aaaaaa"]).failed(2, "could mean 2 memories", "more of");
    }
    assert_eq!(home.listed(&[]).len(), 4, "nothing was forgotten");
}

#[test]
fn an_exact_key_wins_over_the_beginning_of_an_id() {
    let home = confusable();
    assert_eq!(home.json(&["show", "cccccc"])["content"], "by its key");
    assert_eq!(home.json(&["show", "ccccccc"])["content"], "by its id");
    home.run(&["forget", "cccccc"]).done();
    assert_eq!(home.json(&["show", "ccccccc"])["status"], "active");
}

#[test]
fn stored_text_never_reaches_the_terminal_raw() {
    let home = Home::new();
    let hostile = "a\u{1b}[31mred\u{7}\u{8}\u{9b}2J\u{202e}evil\r\u{85}\u{7f}end";
    home.run_with(&["remember", "-", "--key", "trap", "--tag", "t"], hostile).done();
    home.run_with(&["write", "user/profile"], &format!("- {hostile}\n")).done();
    home.run_with(&["write", "user/working"], hostile).done();
    for args in [
        &["list"][..],
        &["show", "trap"],
        &["recall", "red", "--why"],
        &["history", "trap"],
        &["history", "user/profile"],
        &["read", "user/facts"],
        &["read", "user/profile"],
        &["profile"],
        &["working"],
        &["context", "--message", "red"],
        &["forget", "trap"],
        &["undo"],
        &["edit", "trap", "--sig", "4"],
        &["show", "\u{1b}[31mno such"],
        &["read", "user/\u{1b}[31m"],
        &["recall", "x", "--since", "\u{1b}[31m"],
        &["\u{1b}[31mno-command"],
    ] {
        let ran = home.run(args);
        let raw = |c: &char| (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(c);
        let found: Vec<char> = ran.stdout.chars().chain(ran.stderr.chars()).filter(raw).collect();
        assert!(found.is_empty(), "{args:?} printed {found:?}: {ran:?}");
    }
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let mut home = Home::new();
    home.remember(&["We deploy on Fridays at noon", "--key", "deploy"]);
    let commands: [&[&str]; 6] =
        [&[], &["list"], &["show", "deploy"], &["recall", "deploy", "--why"], &["show", "nope"], &["--help"]];
    let coloured = |home: &Home| {
        commands
            .iter()
            .filter(|args| {
                let ran = home.run(args);
                ran.stdout.contains('\u{1b}') || ran.stderr.contains('\u{1b}')
            })
            .count()
    };
    assert_eq!(coloured(&home), 0, "never in a pipe");
    home.set("CLICOLOR_FORCE", "1");
    assert_eq!(coloured(&home), commands.len(), "where somebody asks for it, all of them");
    home.set("NO_COLOR", "1");
    assert_eq!(coloured(&home), 0, "NO_COLOR has the last word");
}

#[test]
fn a_reader_that_goes_away_early_is_no_failure() {
    let home = Home::new();
    let long = "a long memory with many words in it ".repeat(1500);
    for n in 0..4 {
        home.remember(&[&format!("{n} {long}")]);
    }
    for args in [&["recall", "long"][..], &["list", "--json"], &["export"], &["read", "user/facts"]] {
        let mut child = home.throughline(args).spawn().unwrap();
        let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
        reader.read_line(&mut String::new()).unwrap();
        drop(reader);
        let output = child.wait_with_output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), complaint.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn nobody_listening_to_the_errors_is_no_panic() {
    let home = Home::new();
    let mut child = home.throughline(&["show", "nothing-like-it"]).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_cannot_be_printed_is_a_failure() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays"]);
    let ran = home.shell("\"$THROUGHLINE\" list > /dev/full");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: cannot print the answer"), "{ran:?}");
}
