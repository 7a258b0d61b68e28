//! The conversation itself, at a terminal.

use serde_json::json;

use super::{machine, person, told, until_consolidated};
use crate::common::terminal::Terminal;
use crate::common::tree;

#[test]
fn a_person_is_asked_and_what_they_choose_is_done() {
    let home = machine();
    let Some(mut terminal) = Terminal::start(&home, &["setup"]) else { return };
    terminal.answer("Connect them? [Y/n, or numbers such as 1 3] ", "5");
    terminal.answer("numbers from 1 to 2", "");
    assert!(!home.path("").exists(), "nothing is changed before the last question");
    terminal.answer("Take it in? [Y/n, or numbers such as 1 3] ", "1 3");
    terminal.answer("What is your name? ", "Ada");
    terminal.answer("in which time zone? ", "I run a bakery, Europe/Lisbon");
    terminal.answer("How should assistants answer you?", "");
    terminal.answer("as a service of yours? [Y/n] ", "n");
    terminal.answer("Do it? [Y/n] ", "y");
    let ended = terminal.end();
    assert_eq!(ended.code, 0, "{}", ended.stdout);
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
fn a_person_who_does_not_agree_changes_nothing() {
    let home = machine();
    let before = tree(&person(&home, ""));
    let Some(mut terminal) = Terminal::start(&home, &["setup"]) else { return };
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
