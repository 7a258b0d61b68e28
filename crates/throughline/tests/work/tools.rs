//! The tools as a person can see and try them.

use super::*;

#[track_caller]
fn call(home: &Home, name: &str, arguments: &Value) -> Value {
    home.json(&["tool", "call", name, &arguments.to_string()])
}

#[test]
fn a_person_sees_and_tries_what_assistants_are_offered() {
    let home = quiet();
    let offered = home.json(&["tool", "list"]);
    let names: Vec<String> = offered["tools"].as_array().unwrap().iter().map(|tool| string(&tool["name"])).collect();
    let usual = ["memory_recall", "memory_write", "memory_forget", "record_fact", "memory_context", "memory_explain"];
    assert_eq!(names, usual);
    assert_eq!(offered["tools"][0]["parameters"]["required"], json!(["query"]));
    let guidance = home.json(&["tool", "guidance"]);
    assert!(guidance["tokens"].as_u64().unwrap() > 0 && string(&guidance["text"]).contains("memory_write"));
    let stored = call(&home, "memory_write", &json!({ "action": "add", "layer": "L1", "content": "likes tea" }));
    assert_eq!((&stored["outcome"], &stored["recallable"]), (&json!("created"), &json!(true)));
    let shown = home.json(&["show", &string(&stored["id"])]);
    assert_eq!((&shown["source"], &shown["session"]), (&json!("agent"), &json!("cli:tools")));
    assert_eq!(call(&home, "memory_recall", &json!({ "query": "tea" }))["hits"][0]["content"], json!("likes tea"));
}

#[test]
fn what_was_said_is_found_with_its_speaker_and_what_stands_beside_it() {
    let home = quiet();
    let turn = |speaker: &str, text: &str| json!({ "role": "user", "speaker": speaker, "content": text }).to_string();
    let said = [turn("Ada", "Which colour do you want for the kitchen walls?"), turn("Ben", "Sage green, please.")];
    home.run_with(&["session", "observe", "--session", "web:a"], &said.join("\n")).done();
    let answer = call(&home, "memory_recall", &json!({ "query": "was it sage green that Ben wanted?" }));
    let hit = answer["hits"].as_array().unwrap().iter().find(|hit| hit["speaker"] == "Ben").unwrap();
    assert_eq!((&hit["kind"], &hit["content"]), (&json!("turn"), &json!("Sage green, please.")));
    let beside = &hit["beside"];
    assert!(string(&beside["content"]).contains("kitchen walls") && beside["speaker"] == "Ada", "{hit}");
}

#[test]
fn a_call_that_is_refused_ends_with_2_and_the_same_body_and_changes_nothing() {
    let home = quiet();
    home.remember(&["--layer", "identity", "is called Ada"]);
    let big = json!({ "action": "add", "layer": "L0", "content": "x".repeat(1000) }).to_string();
    home.json(&["tool", "call", "memory_recall", r#"{"query": "x"}"#]);
    let before = everything(&home);
    for (name, arguments, code, says) in [
        ("memory_recall", "garbage", "invalid", "query"),
        ("memory_recall", "{}", "invalid", "query"),
        ("memory_recall", r#"{"query": "x", "limit": 1000}"#, "invalid", "limit"),
        ("memory_store", r#"{"key": "a", "content": "b", "category": "knowledge"}"#, "invalid", "not offered"),
        ("memory_write", r#"{"action": "add", "layer": "L2", "content": "b"}"#, "invalid", "archive"),
        ("memory_write", r#"{"action": "remove", "layer": "L1", "target_id": "nobody"}"#, "not_found", "nobody"),
        ("memory_write", big.as_str(), "identity_full", "1,000 chars]"),
    ] {
        let ran = home.run(&["--json", "tool", "call", name, arguments]);
        assert_eq!(ran.code, 2, "{ran:?}");
        let body: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(body["error"]["code"], code, "{body}");
        assert!(string(&body["error"]["message"]).contains(says) && body["error"]["hint"].is_string(), "{body}");
    }
    assert_eq!(everything(&home), before);
}

#[test]
fn the_config_says_which_tools_there_are() {
    let home = Home::with_config("config.toml", &format!("{QUIET}tools = [\"memory_recall\", \"memory_store\"]\n"));
    let stored = call(&home, "memory_store", &json!({ "key": "a", "content": "b", "category": "knowledge" }));
    assert_eq!(stored["outcome"], "created");
    let ran = home.run(&["tool", "call", "memory_write", r#"{"action": "add", "layer": "L1", "content": "x"}"#]);
    ran.failed(2, "memory_recall, memory_store", "try again");
    let off = Home::with_config("config.toml", "[memory]\nenabled = false\nuser_namespace = \"user\"\n");
    let listed = off.run(&["tool", "list"]);
    assert!(listed.code == 1 && listed.stdout.contains("no tools"), "{listed:?}");
    assert_eq!(off.run(&["tool", "guidance"]).code, 1);
    off.run(&["tool", "call", "memory_recall", r#"{"query": "x"}"#]).failed(2, "memory is off", "try again");
    off.remember(&["a person's own commands still work"]);
}

#[test]
fn what_a_message_was_given_can_be_looked_up_in_another_process() {
    let home = quiet();
    let id = home.remember(&["We deploy on Fridays"]);
    home.run(&["session", "explain", "one"]).failed(1, "no session `cli:one`", "session list");
    home.run(&["session", "observe", "--session", "one", "hello"]).done();
    let nothing = home.run(&["session", "explain", "one"]);
    assert!(nothing.code == 1 && nothing.stdout.contains("no memory"), "{nothing:?}");
    let arguments = json!({ "query": "deploy" }).to_string();
    home.json(&["tool", "call", "memory_recall", &arguments, "--session", "one"]);
    let told = home.json(&["session", "explain", "one"]);
    assert_eq!((&told["query"], &told["memories"][0]["id"]), (&json!("deploy"), &json!(id)));
    let first = &told["memories"][0]["why"]["features"][0];
    assert!(first["name"].is_string() && first["points"].as_f64().is_some(), "{told}");
    let text = home.run(&["session", "explain", "one"]).done();
    assert!(text.contains("for: deploy") && text.contains("We deploy on Fridays") && text.contains("fits "), "{text}");
}

#[test]
fn what_a_person_made_too_long_is_flagged_and_an_assistant_may_only_shorten_it() {
    let home = quiet();
    home.put("user/profile.md", &format!("# Me\n\n- likes tea\n- {}\n", "x".repeat(1500)));
    let shown = home.run(&["profile"]).done();
    assert!(shown.contains("chars] over the limit"), "{shown}");
    assert_eq!(home.json(&["profile"])["usage"], json!({ "chars": 1520, "limit": 1000 }));
    let more = json!({ "action": "add", "layer": "L0", "content": "is called Ada" }).to_string();
    let ran = home.run(&["--json", "tool", "call", "memory_write", &more]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let refusal: Value = serde_json::from_str(&ran.stdout).unwrap();
    let tea = &refusal["identity"]["lines"][0];
    assert_eq!(tea["content"], "likes tea");
    call(&home, "memory_write", &json!({ "action": "remove", "layer": "L0", "target_id": tea["id"] }));
    assert_eq!(home.text("user/profile.md"), format!("# Me\n\n- {}\n", "x".repeat(1500)));
}
