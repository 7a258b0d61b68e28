//! Connections and imports: what a browser may do, and what it shows first.

use serde_json::{Value, json};

use super::common::{Home, tree, zipped};
use super::{ENTER, Panel};

const TAB: &str = "\u{e004}";

#[test]
fn a_file_is_imported_by_keyboard_after_its_dry_run() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    let file = home.root().join("notes.md");
    std::fs::write(&file, "# Notes\n\n- The boat is painted blue\n- Gerald sits on the quay\n").unwrap();
    let zip = home.root().join("export.zip");
    std::fs::write(&zip, zipped(&[("MEMORY.md", b"- The lighthouse keeper is called Tove\n")])).unwrap();
    let broken = home.root().join("broken.zip");
    std::fs::write(&broken, b"PK\x03\x04rest").unwrap();
    let panel = Panel::of(home);
    panel.at("import");
    panel.keys_until(TAB, "input[type=file]:focus");
    // What a person chooses in the system's own dialog.
    panel.keys(broken.to_str().unwrap());
    panel.reads(".toast", "is a damaged zip archive");
    let complaints = panel.complaints();
    assert!(matches!(&complaints[..], [refused] if refused.contains("400")), "the refusal alone: {complaints:?}");
    panel.keys(zip.to_str().unwrap());
    panel.reads(".import-report", "The lighthouse keeper is called Tove");
    panel.keys_until(TAB, "input[type=file]:focus");
    panel.keys(file.to_str().unwrap());
    panel.reads(".import-report", "The boat is painted blue");
    panel.keep("import-preview");
    panel.settled();
    assert!(panel.home.listed(&[]).is_empty(), "nothing was taken in yet");
    panel.see(".import-actions button.primary:focus");
    panel.keys(ENTER);
    panel.reads(".import-report", "Imported");
    panel.settled();
    assert_eq!(panel.text(".import-news"), "", "one's own notes are not new to oneself");
    assert!(panel.home.listed(&[]).contains(&"The boat is painted blue".to_owned()));
    panel.press("Undo");
    panel.reads(".toast", "Undone");
    panel.settled();
    assert!(panel.home.listed(&[]).is_empty());
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

/// A conversation as ChatGPT exports it, with one message.
fn talk(nth: usize, said: &str) -> Value {
    let message = json!({
        "author": { "role": "user" }, "create_time": 1_760_000_000 + nth,
        "content": { "content_type": "text", "parts": [said] },
    });
    json!({
        "title": format!("Talk {nth}"), "conversation_id": format!("talk-{nth}"), "create_time": 1_760_000_000 + nth,
        "current_node": "b",
        "mapping": {
            "a": { "id": "a", "message": null, "parent": null, "children": ["b"] },
            "b": { "id": "b", "message": message, "parent": "a", "children": [] },
        },
    })
}

#[test]
fn imported_conversations_become_memories_while_the_page_says_how_far_it_is() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    let talks: Vec<Value> =
        (0..120).map(|nth| talk(nth, &format!("My boat number {nth} is called Tern {nth}"))).collect();
    let file = home.root().join("conversations.json");
    std::fs::write(&file, serde_json::to_string(&talks).unwrap()).unwrap();
    let panel = Panel::of(home);
    panel.at("import");
    panel.keys_until(TAB, "input[type=file]:focus");
    panel.keys(file.to_str().unwrap());
    panel.see(".import-actions button.primary:focus");
    assert_eq!(panel.daemon.get("/api/import")["consolidation"], Value::Null, "a dry run begins nothing");
    // What the page says on its way is gone a moment later: it is noted as it comes.
    let note = "
        window.__ahead = [];
        const place = document.querySelector('.import-ahead');
        new MutationObserver(() => window.__ahead.push(place.innerText)).observe(place, { childList: true, subtree: true })";
    panel.run(note, &[]);
    panel.keys(ENTER);
    panel.reads(".import-report", "conversations");
    panel.reads(".import-ahead", "made of 120 conversations: see them.");
    panel.settled();
    let made = panel.text(".import-ahead");
    let many: usize = made.split(' ').next().and_then(|word| word.replace(',', "").parse().ok()).expect(&made);
    assert!(many >= 120 && made.contains(" memories made of"), "{made}");
    panel.keep("import-done");
    let said: Vec<String> = serde_json::from_value(panel.run("return window.__ahead", &[])).unwrap();
    assert!(said[0].contains("of 120 conversations: 0 done, about ") && said[0].contains(" left"), "{said:?}");
    let sessions = panel.home.json(&["session", "list"])["sessions"].clone();
    let is_done = |one: &Value| one["consolidated"].as_i64() >= one["imported_to"].as_i64();
    assert!(sessions.as_array().unwrap().iter().all(is_done), "{sessions}");
    assert!(panel.home.listed(&[]).iter().any(|text| text.contains("Tern 119")), "{:?}", panel.home.listed(&[]));
    let jobs = panel.daemon.get("/api/jobs")["jobs"].clone();
    let job = jobs.as_array().unwrap().iter().find(|job| job["name"] == "consolidation").unwrap();
    assert!(job["log"].as_array().unwrap().len() > 1, "in several runs, so that others come in between: {job}");
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

#[test]
fn a_paid_model_is_not_asked_without_a_word() {
    let home = Home::with_config("config.toml", "[model]\nprovider = \"anthropic\"\nmodel = \"m\"\n");
    let file = home.root().join("conversations.json");
    std::fs::write(&file, json!([talk(0, "My boat is called Tern"), talk(1, "I live in Bergen")]).to_string()).unwrap();
    let panel = Panel::of(home);
    panel.at("import");
    panel.keys_until(TAB, "input[type=file]:focus");
    panel.keys(file.to_str().unwrap());
    panel.see(".import-actions button.primary:focus");
    panel.keys(ENTER);
    panel.reads(".import-ahead", "throughline session consolidate --all --imported");
    panel.reads(".import-ahead", "about 4 requests to your model");
    assert_eq!(panel.daemon.get("/api/import")["consolidation"]["started"], false);
}

#[test]
fn a_client_is_connected_and_disconnected_by_its_name_after_a_look() {
    let home = Home::new();
    // Its own settings, with a secret of its own, beside the memory's home.
    let person = home.root().join("person");
    std::fs::create_dir_all(person.join(".gemini")).unwrap();
    let settings =
        "{\n  \"apiKey\": \"sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\n  \"theme\": \"dark\"\n}\n";
    std::fs::write(person.join(".gemini/settings.json"), settings).unwrap();
    let before = tree(&person);
    let panel = Panel::of(home);
    panel.at("connections");
    panel.reads(".connection[data-client=gemini]", "not connected");
    panel.keep("connections-open");
    panel.click(".connection[data-client=gemini] button");
    panel.reads("dialog", "settings.json");
    panel.reads("dialog .diff-lines", "throughline");
    assert!(!panel.text("dialog").contains("sk-ant"), "what is not ours is not shown");
    panel.keep("connections-preview");
    assert_eq!(tree(&person), before, "nothing was written yet");
    panel.click("dialog button.primary");
    panel.see(".connection[data-client=gemini][data-state=on]");
    assert_ne!(tree(&person), before);
    panel.press("Disconnect Gemini CLI");
    panel.click("dialog button.primary");
    panel.see(".connection[data-client=gemini][data-state=off]");
    panel.settled();
    assert_eq!(std::fs::read_to_string(person.join(".gemini/settings.json")).unwrap(), settings);
    let unknown = panel.daemon.request("POST", "/api/connections/..%2F..%2Fetc").json(&json!({}));
    assert_eq!(panel.daemon.send(&unknown).status, 404);
    assert_eq!(panel.complaints(), Vec::<String>::new());
}

#[test]
fn a_number_is_changed_in_the_file_and_taken_back() {
    const FILE: &str = "# mine\n[memory]\nuser_namespace = \"user\"\n";
    let panel = Panel::of(Home::with_config("config.toml", FILE));
    panel.at("settings");
    panel.fill("input[aria-label='memory.recall_limit']", &format!("7{TAB}"));
    panel.reads(".config-next", "7 from the next start on");
    let text = panel.home.text("config.toml");
    assert!(text.starts_with(FILE) && text.contains("recall_limit = 7"), "{text}");
    panel.keep("settings-changed");
    panel.press("Undo");
    panel.gone(".config-next");
    assert_eq!(panel.home.text("config.toml"), FILE);
    // Nothing that is listened on, run, opened or sent to, and no text.
    for (key, value) in
        [("server.port", json!(1)), ("memory.user_namespace", json!(1)), ("memory.recall_limit", json!(true))]
    {
        let request = panel.daemon.request("PUT", &format!("/api/settings/{key}")).json(&json!({ "value": value }));
        assert_eq!(panel.daemon.send(&request).status, 403, "{key}");
    }
    assert_eq!(panel.home.text("config.toml"), FILE);
    assert_eq!(panel.complaints(), Vec::<String>::new());
}
