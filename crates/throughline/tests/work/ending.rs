//! The end of a conversation with the offline model, which needs nothing and nobody.

use super::*;

#[track_caller]
fn say(home: &Home, text: &str) {
    home.json(&["session", "observe", "--session", "one", text]);
}

fn summaries(home: &Home) -> Vec<String> {
    home.listed(&["--layer", "archive", "--tag", "session"])
}

#[test]
fn a_correction_that_was_only_said_is_known_afterwards_and_once() {
    let home = quiet();
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
    let mut after = everything(&home);
    // When it ended last is all that may differ.
    after.0["sessions"] = before.0["sessions"].clone();
    assert_eq!(after, before);
}

#[test]
fn what_the_agent_stored_is_not_stored_again() {
    let home = quiet();
    say(&home, "I prefer short answers in the morning.");
    let arguments = json!({ "action": "add", "layer": "L1", "content": "Prefers short answers in the morning" });
    home.json(&["tool", "call", "memory_write", &arguments.to_string(), "--session", "one"]);
    assert_eq!(home.json(&["session", "end", "one"])["consolidation"]["facts"], json!([]));
    assert_eq!(home.listed(&["--layer", "knowledge"]), ["Prefers short answers in the morning"]);
}

#[test]
fn the_summary_and_the_task_go_on_with_the_conversation() {
    let mut home = quiet();
    let id = add(&home, &["Fix the parser"]);
    home.json(&["session", "observe", "--session", "one", "--task", &id, "I decided to rewrite the lexer in Rust."]);
    let ended = home.json(&["session", "end", "one"]);
    assert_eq!(ended["consolidation"]["task"], json!(id));
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
