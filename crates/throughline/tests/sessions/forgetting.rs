//! Forgetting by topic, and erasing conversations, projects and everything: shown first, and never without a yes.

use serde_json::{Value, json};

use super::{quiet, say};
use crate::common::terminal::Terminal;
use crate::common::{Home, tree};

/// Whether any file of the home still has this text.
fn stands_anywhere(home: &Home, text: &str) -> bool {
    let holds = |bytes: &Vec<u8>| bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()));
    tree(&home.path("")).values().any(holds)
}

fn talk(home: &Home, session: &str, text: &str) {
    say(home, session, text);
    home.run(&["session", "end", session]).done();
}

#[test]
fn a_topic_is_shown_first_and_forgotten_as_one_change() {
    let home = quiet();
    home.remember(&["Project Zephyr ships in May"]);
    home.remember(&["The Zephyr budget is 40k"]);
    home.remember(&["We deploy on Fridays"]);
    home.put("user/notes.md", "- Zephyr is led by Ines\n- buy milk\n");
    say(&home, "cli:one", "Zephyr is late again");
    let shown = home.json(&["forget", "--about", "zephyr"]);
    assert_eq!((&shown["dry_run"], shown["memories"].as_array().unwrap().len()), (&json!(true), 3), "{shown}");
    assert_eq!(shown["turns"].as_array().unwrap().len(), 1, "{shown}");
    let told = home.run(&["forget", "--about", "zephyr"]).done();
    assert!(told.contains("nothing was changed; --yes does it") && home.found(&["zephyr"]).len() > 2, "{told}");
    let told = home.run(&["forget", "--about", "zephyr", "--yes"]).done();
    assert!(told.contains("forgot 3 memories"), "{told}");
    assert_eq!(home.listed(&[]), ["buy milk", "We deploy on Fridays"].map(str::to_owned));
    home.run(&["undo"]).done();
    assert_eq!(home.listed(&[]).len(), 5, "one undo brings all of it back");
    let nothing = home.run(&["forget", "--about", "unicorns", "--yes"]);
    assert_eq!(nothing.code, 1, "{nothing:?}");
}

#[test]
fn what_was_erased_does_not_come_back_with_the_summary_of_its_conversation() {
    let home = quiet();
    home.remember(&["We decided that the trip to Lisbon is in May"]);
    say(&home, "cli:one", "We decided that the trip to Lisbon is in May");
    say(&home, "cli:one", "We decided to rent a van for the tools");
    home.run(&["forget", "--about", "trip lisbon", "--erase", "--yes"]).done();
    home.run(&["session", "end", "cli:one"]).done();
    let listed = home.listed(&[]).join("\n");
    assert!(listed.contains("van") && !listed.contains("Lisbon"), "{listed}");
    let working = home.run(&["working"]).done();
    assert!(working.contains("van") && !working.contains("Lisbon"), "{working}");
}

#[test]
fn a_correction_of_a_dated_memory_reaches_what_was_said() {
    let home = quiet();
    talk(&home, "cli:one", "I moved to Odda last month. We decided to keep the sensor log in DuckDB.");
    let listed = home.json(&["list"]);
    let mut memories = listed["memories"].as_array().unwrap().iter();
    let dated =
        memories.find(|memory| memory["layer"] != "archive" && memory["content"].to_string().contains("last month ("));
    let id = dated.unwrap()["id"].as_str().unwrap().to_owned();
    home.run(&["correct", "--wrong", &id, "I moved to Voss last month"]).done();
    let given = home.json(&["context", "--session", "cli:two", "--message", "Where did I move last month?"]);
    assert!(given.to_string().contains("Voss") && !given["message"].to_string().contains("Odda"), "{given}");
}

#[test]
fn several_are_forgotten_as_one_change_or_none_is() {
    let home = quiet();
    let (tea, bread) = (home.remember(&["I like tea"]), home.remember(&["I like bread"]));
    home.run(&["forget", &tea, "nosuchid", "--yes"]).failed(1, "nosuchid", "");
    assert_eq!(home.listed(&[]).len(), 2);
    assert_eq!(home.json(&["forget", &tea, &bread, "--yes"])["count"], 2);
    assert_eq!(home.listed(&[]), Vec::<String>::new());
    home.run(&["undo"]).done();
    assert_eq!(home.listed(&[]).len(), 2);
}

#[test]
fn without_a_terminal_and_without_yes_no_more_than_one_memory_is_forgotten() {
    let home = quiet();
    let (tea, bread) = (home.remember(&["I like tea"]), home.remember(&["I like bread"]));
    for args in [&[&*tea, &*bread][..], &[&*tea, "--erase"], &[&*tea, "--erase", "--with-sources"]] {
        home.run(&[&["forget"], args].concat()).failed(2, "there is no terminal to ask on", "--yes");
    }
    home.run(&["forget", &tea, &bread, "--erase"]).failed(2, "nothing was erased", "--yes");
    assert_eq!(home.listed(&[]).len(), 2);
    home.run(&["forget", &tea]).done();
    assert_eq!(home.listed(&[]), ["I like bread"]);
    home.run(&["undo"]).done();
    assert_eq!(home.listed(&[]).len(), 2, "a single one is not asked about: `undo` brings it back");
}

#[test]
fn at_a_terminal_the_word_is_typed() {
    let home = quiet();
    let (tea, bread) = (home.remember(&["I like tea"]), home.remember(&["I like bread"]));
    for (args, word) in
        [(&[&*tea, &*bread][..], "forget"), (&[&*tea, "--erase"], "erase"), (&[&*bread, "--erase"], "erase")]
    {
        let asks = format!("Type `{word}` to agree: ");
        let args = [&["forget"], args].concat();
        let mut terminal = Terminal::start(&home, &args);
        terminal.answer(&asks, "y");
        let ended = terminal.end();
        assert!(ended.code == 2 && ended.stdout.contains("I like "), "what would go is shown: {ended:?}");
        let mut terminal = Terminal::start(&home, &args);
        terminal.answer(&asks, word);
        assert_eq!(terminal.end().code, 0);
        assert!(home.listed(&[]).iter().all(|line| !line.contains("tea")));
    }
    assert!(!stands_anywhere(&home, "I like"));
}

#[test]
fn a_conversation_is_erased_with_what_was_made_of_it() {
    let home = quiet();
    talk(&home, "telegram:1", "My therapist is Doctor Quibble. I live in Lisbon.");
    talk(&home, "telegram:2", "I prefer tea over coffee.");
    home.run(&["export", "--out", "export.json"]).done();
    home.run(&["backup"]).done();
    let export = home.root().join("person/export.json");
    let before = home.json(&["forget", "--session", "telegram:1", "--erase"]);
    assert_eq!((&before["dry_run"], &before["preview"]["sessions"]), (&json!(true), &json!(1)), "{before}");
    assert!(stands_anywhere(&home, "Quibble"));
    home.run(&["forget", "--session", "telegram:1"]).failed(2, "required arguments", "--help");
    let told = home.run(&["forget", "--session", "telegram:1", "--erase", "--yes"]).done();
    assert!(told.contains("erased for good: 1 conversation"), "{told}");
    for gone in ["Quibble", "Lisbon"] {
        assert!(!stands_anywhere(&home, gone), "{gone} is left: {told}");
        assert!(!std::fs::read_to_string(&export).unwrap().contains(gone), "{gone} is in the export");
    }
    assert!(stands_anywhere(&home, "tea over coffee"), "the other conversation stays");
    assert!(home.run(&["session", "show", "telegram:1"]).code > 0);
    assert_eq!(home.run(&["doctor"]).code, 0);
    home.run(&["undo"]).failed(2, "erased", "");
}

#[test]
fn a_project_is_erased_and_its_file_named() {
    let home = quiet();
    let dir = home.root().join("person/shop");
    std::fs::create_dir(&dir).unwrap();
    home.run(&["project", "add", "shop", "--dir", dir.to_str().unwrap()]).done();
    home.remember(&["The shop uses Quibble for payments", "--project", "shop"]);
    home.run(&["task", "add", "Replace Quibble", "--project", "shop"]).done();
    home.remember(&["We deploy on Fridays"]);
    let told = home.run(&["forget", "--project", "shop", "--erase", "--yes"]).done();
    assert!(
        told.contains("1 memory") && told.contains("1 task") && told.contains("not reached: the memory file"),
        "{told}"
    );
    assert!(!stands_anywhere(&home, "Quibble"));
    assert_eq!(home.listed(&[]), ["We deploy on Fridays"]);
    assert_eq!(home.json(&["project", "list"])["projects"], json!([]));
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn everything_is_erased_and_the_memory_goes_on_empty() {
    let home = quiet();
    talk(&home, "telegram:1", "My therapist is Doctor Quibble.");
    home.remember(&["Quibble costs 80 an hour"]);
    home.put("user/notes.md", "- ask Quibble about Friday\n");
    home.put("vault/vault.txt", "nothing of ours\n");
    home.run(&["backup"]).done();
    let told = home.run(&["forget", "--everything", "--erase", "--yes"]).done();
    assert!(!stands_anywhere(&home, "Quibble"), "{told}");
    let empty = |value: Value| assert_eq!(value, json!([]));
    empty(home.json(&["list", "--status", "any"])["memories"].clone());
    empty(home.json(&["session", "list"])["sessions"].clone());
    assert_eq!(home.run(&["doctor"]).code, 0);
    home.remember(&["Quibble costs 80 an hour"]);
    assert_eq!(home.found(&["Quibble"]).len(), 1, "it begins anew");
}

#[test]
fn what_was_erased_does_not_come_back_in_other_words() {
    for is_erased in [false, true] {
        let mut home = quiet();
        let id = home.remember(&["I'm living in Porto"]);
        say(&home, "cli:one", "I live in Porto.");
        home.set_now("2026-03-01T12:05:00Z");
        if is_erased {
            home.run(&["forget", &id, "--erase", "--yes"]).done();
        } else {
            home.run(&["edit", &id, "--content", "The office is in Faro"]).done();
        }
        home.run(&["session", "consolidate", "cli:one"]).done();
        let is_back = home.listed(&["--layer", "identity"]).iter().any(|line| line.contains("Porto"));
        assert!(!is_back, "{is_erased}");
        home.set_now("2026-03-01T12:10:00Z");
        say(&home, "cli:one", "I live in Porto.");
        home.run(&["session", "consolidate", "cli:one"]).done();
        let is_back = home.listed(&["--layer", "identity"]).iter().any(|line| line.contains("Porto"));
        assert!(is_back, "the person said it again: {is_erased}");
    }
}
