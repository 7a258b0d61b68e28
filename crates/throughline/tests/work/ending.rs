//! The end of a conversation with the offline model, which needs nothing and nobody.

use super::*;

#[track_caller]
fn say(home: &Home, text: &str) {
    home.json(&["session", "observe", "--session", "one", text]);
}

fn without_extraction() -> Home {
    Home::with_config("config.toml", &format!("{QUIET}auto_extract = false\n"))
}

fn summaries(home: &Home) -> Vec<String> {
    home.listed(&["--layer", "archive", "--tag", "session"])
}

#[test]
fn a_correction_that_was_only_said_is_known_afterwards_and_once() {
    for home in [quiet(), without_extraction()] {
        home.remember(&["The deploy runs on Friday"]);
        say(&home, "Actually, the deploy runs on Thursday, not on Friday.");
        let ended = home.json(&["session", "end", "one"]);
        assert_eq!(ended["session"], "cli:one");
        let known = home.listed(&["--layer", "knowledge"]);
        assert_eq!(known.iter().filter(|text| text.contains("Thursday")).count(), 1, "{known:?}");
        assert_eq!(home.listed(&["--status", "inactive"]), ["The deploy runs on Friday"]);
        let before = everything(&home);
        let again = home.json(&["session", "end", "one"]);
        assert_eq!(again["consolidation"], json!({ "outcome": "nothing" }));
        assert_eq!(again["filled"], json!({ "facts": [], "superseded": [], "summary": null, "task": null }));
        let mut after = everything(&home);
        // When it ended last is all that may differ.
        after.0["sessions"] = before.0["sessions"].clone();
        assert_eq!(after, before);
    }
}

#[test]
fn what_the_agent_stored_is_not_stored_again() {
    let home = without_extraction();
    say(&home, "I prefer short answers in the morning.");
    let arguments = json!({ "action": "add", "layer": "L1", "content": "Prefers short answers in the morning" });
    home.json(&["tool", "call", "memory_write", &arguments.to_string(), "--session", "one"]);
    assert_eq!(home.json(&["session", "end", "one"])["filled"]["facts"], json!([]));
    assert_eq!(home.listed(&["--layer", "knowledge"]), ["Prefers short answers in the morning"]);
}

#[test]
fn a_fill_keeps_what_was_stated_and_leaves_decisions_and_the_conversation_alone() {
    let home = without_extraction();
    say(&home, "I prefer tea over coffee. We decided to ship on Monday.");
    let filled = home.json(&["session", "fill", "one"]);
    assert_eq!(filled["facts"].as_array().unwrap().len(), 1, "{filled}");
    let known = home.listed(&["--layer", "knowledge"]);
    assert!(known.len() == 1 && known[0].contains("tea"), "{known:?}");
    assert!(home.run(&["session", "list"]).done().contains("open"));
    assert_eq!(home.json(&["session", "fill", "one"])["facts"], json!([]));
}

#[test]
fn the_summary_and_the_task_go_on_with_the_conversation() {
    let mut home = without_extraction();
    let id = add(&home, &["Fix the parser"]);
    home.json(&["session", "observe", "--session", "one", "--task", &id, "I decided to rewrite the lexer in Rust."]);
    let ended = home.json(&["session", "end", "one"]);
    assert_eq!(ended["filled"]["task"], json!(id));
    assert_eq!(summaries(&home).len(), 1);
    assert!(home.run(&["session", "list"]).done().contains("ended"));
    let state = || string(&home.json(&["task", "show", &id])["state"]);
    assert!(state().contains("## From cli:one, 2026-03-01") && state().contains("lexer"), "{}", state());
    home.set_now("2026-03-02T12:00:00Z");
    say(&home, "I decided to drop the old grammar.");
    home.run(&["session", "end", "one"]).done();
    let kept = summaries(&home);
    assert!(kept.len() == 1 && kept[0].contains("lexer") && kept[0].contains("grammar"), "{kept:?}");
    let state = string(&home.json(&["task", "show", &id])["state"]);
    assert_eq!(state.matches("## From cli:one").count(), 1, "{state}");
    // The next conversation about the task begins with it.
    home.json(&["session", "observe", "--session", "two", "--task", &id, "hello"]);
    let prompt = string(&home.json(&["context", "--session", "two", "--message", "hello"])["system_prompt"]);
    assert!(prompt.contains("--- Current task ---\nFix the parser") && prompt.contains("grammar"), "{prompt}");
}
