//! The conversation itself, at a terminal.

use serde_json::json;

use super::{machine, person, program, told, until_consolidated};
use crate::common::terminal::Terminal;
use crate::common::tree;

#[test]
fn a_person_is_asked_and_what_they_choose_is_done() {
    let home = machine();
    let mut terminal = Terminal::start(&home, &["setup"]);
    terminal.answer("Connect them? [Y/n, or numbers such as 1 2] ", "5");
    terminal.answer("numbers from 1 to 2", "");
    assert!(!home.path("").exists(), "nothing is changed before the last question");
    terminal.answer("Take it in? [Y/n, or numbers such as 1 2] ", "1 3");
    terminal.answer("What is your name? ", "Ada");
    terminal.answer("in which time zone? ", "I run a bakery, Europe/Lisbon");
    terminal.answer("How should assistants answer you?", "");
    terminal.answer("as a service of yours? [Y/n] ", "n");
    terminal.answer("Do it? [Y/n] ", "y");
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(ended.stdout.contains("learnt:") || ended.stdout.contains("in the background"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("when do we deploy?"), "what is suggested fits what is here: {}", ended.stdout);
    for text in ["That makes", "done:", "Try next:", "My name is Ada"] {
        assert!(ended.stdout.contains(text), "no `{text}`: {}", ended.stdout);
    }
    let profile = home.text("user/profile.md");
    assert!(profile.contains("My name is Ada") && profile.contains("I run a bakery, Europe/Lisbon"), "{profile}");
    assert!(!profile.contains("How to answer me"), "{profile}");
    until_consolidated(&home);
    let sessions = home.json(&["session", "list"])["sessions"].clone();
    assert_eq!(sessions.as_array().unwrap().len(), 4, "those of Claude Code and the export, not those of Codex");
    assert_eq!(told(&home), Vec::<String>::new(), "no service was wanted");
    assert!(std::fs::read_to_string(person(&home, ".codex/config.toml")).unwrap().contains("throughline"));
}

#[test]
fn a_model_that_is_there_is_offered_with_its_cost_and_reads_nothing_unasked() {
    let home = machine();
    program(&home, "claude", "#!/bin/sh\ncat >/dev/null\necho ready\n");
    let mut terminal = Terminal::start(&home, &["setup"]);
    terminal.answer("Connect them?", "n");
    terminal.answer("Take it in?", "");
    for question in ["your name?", "time zone?", "answer you?"] {
        terminal.answer(question, "");
    }
    terminal.answer("Another one?", "1");
    terminal.answer("as a service of yours?", "n");
    terminal.answer("Do it?", "");
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    for text in ["1  claude-code: your Claude subscription or key", "claude-code works"] {
        assert!(ended.stdout.contains(text), "no `{text}`: {}", ended.stdout);
    }
    assert!(home.text("config.toml").contains("command = \"claude-code\""), "{}", home.text("config.toml"));
    let sessions = home.json(&["session", "list"])["sessions"].clone();
    assert_eq!(sessions.as_array().unwrap().len(), 5);
    assert!(sessions.as_array().unwrap().iter().all(|one| one["consolidated"] == 0), "{sessions}");
}

#[test]
fn a_person_who_does_not_agree_changes_nothing() {
    let home = machine();
    let before = tree(&person(&home, ""));
    let mut terminal = Terminal::start(&home, &["setup"]);
    terminal.answer("Connect them?", "");
    terminal.answer("Take it in?", "n");
    for question in ["your name?", "time zone?", "answer you?"] {
        terminal.answer(question, "");
    }
    terminal.answer("as a service of yours?", "y");
    terminal.answer("Do it?", "n");
    let ended = terminal.end();
    assert_eq!(ended.code, 2, "{}", ended.stdout);
    assert!(ended.stdout.contains("not agreed: nothing was changed"), "{}", ended.stdout);
    assert_eq!(tree(&person(&home, "")), before);
    assert!(!home.path("").exists());
    assert_eq!(json!(told(&home)), json!([]));
}
