//! Archives as they are mailed, what assistants knew about a person, and past conversations on this machine.

use serde_json::{Value, json};

use super::{added, everything, fixture, put};
use crate::common::{Home, string, until, zipped};

/// A ChatGPT conversation in which the person has custom instructions, and something is saved.
fn with_instructions(about: &str, replies: &str, saved: &str) -> String {
    let context = json!({ "author": { "role": "user" }, "content": { "content_type": "user_editable_context" },
        "metadata": { "user_context_message_data": { "about_user_message": about, "about_model_message": replies } } });
    let bio = json!({ "author": { "role": "assistant" }, "recipient": "bio",
        "content": { "content_type": "text", "parts": [saved] } });
    let said = json!({ "author": { "role": "user" }, "create_time": 1_714_550_401,
        "content": { "content_type": "text", "parts": ["Which strings fit a baroque lute?"] } });
    let node = |message: Value, parent: Value| json!({ "message": message, "parent": parent, "children": [] });
    json!([{ "id": "lute-1", "title": "Strings for the lute", "create_time": 1_714_550_400, "current_node": "c",
        "mapping": { "a": node(context, json!(null)), "b": node(bio, json!("a")), "c": node(said, json!("b")) } }])
    .to_string()
}

#[test]
fn an_archive_gives_what_its_folder_gives() {
    for name in ["chatgpt", "claude"] {
        let (folder, archive) = (Home::new(), Home::new());
        let from_folder = folder.json(&["import", &fixture(name), "--later"]);
        let files: Vec<(String, Vec<u8>)> = std::fs::read_dir(fixture(name))
            .unwrap()
            .map(|file| file.unwrap().path())
            .map(|path| (format!("data/{}", path.file_name().unwrap().to_str().unwrap()), std::fs::read(path).unwrap()))
            .collect();
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        let file = put(&archive, "export.zip", zipped(&files));
        let dry = archive.json(&["import", &file, "--dry-run"]);
        assert_eq!(dry["dry_run"], true);
        let from_archive = archive.json(&["import", &file, "--later"]);
        for part in ["files", "knowledge", "archive", "turns", "sessions", "first_said_at", "last_said_at"] {
            assert_eq!(from_archive[part], from_folder[part], "{name}: {part}");
        }
        let once = everything(&archive);
        assert_eq!(added(&archive.json(&["import", &file, "--later"])), (0, 0), "{name}");
        assert_eq!(everything(&archive), once, "{name}: twice is once");
    }
}

#[test]
fn archives_that_mean_harm_change_nothing() {
    let home = Home::new();
    home.remember(&["here before"]);
    let before = everything(&home);
    let mut lies = zipped(&[("MEMORY.md", &[b' '; 50_000])]);
    let at = lies.windows(4).position(|four| four == b"PK\x01\x02").unwrap() + 24;
    lies[at..at + 4].copy_from_slice(&10_u32.to_le_bytes());
    for (bytes, problem) in [
        (lies, "not as large as the archive says"),
        (zipped(&[("photo.png", b"x"), ("../../MEMORY.md", b"- gone")]), "holds none of the files that are known"),
        (zipped(&[("conversations.json", b"[")]), "conversations.json"),
    ] {
        let file = put(&home, "harm.zip", bytes);
        home.run(&["import", &file]).failed(2, problem, "");
    }
    assert_eq!(everything(&home), before);
}

#[test]
fn instructions_and_saved_memories_fill_the_profile_and_wait_in_review() {
    let home = Home::new();
    let long = format!("I also collect {}.", "very old maps of the coast and ".repeat(40));
    let about = format!("I am a luthier in Porto.\n\n{long}");
    let saved = "Has a dog called Otto\nIs writing a book on lutes";
    let text = with_instructions(&about, "Answer in short sentences.", saved);
    let file = put(&home, "export.zip", zipped(&[("conversations.json", text.as_bytes())]));
    let report = home.json(&["import", &file, "--later"]);
    assert_eq!((&report["profile"]["added"], &report["knowledge"]["added"]), (&json!(3), &json!(2)), "{report}");
    let profile = home.text("user/profile.md");
    for line in ["I am a luthier in Porto.", "Answer in short sentences.", "Has a dog called Otto"] {
        assert!(profile.contains(line), "no `{line}`: {profile}");
    }
    assert!(!profile.contains("old maps"), "what has no room is knowledge: {profile}");
    assert!(!profile.contains("a book on lutes"), "what the person is at is no line of the profile: {profile}");

    let items = home.json(&["review", "--list"])["items"].clone();
    let items = items.as_array().unwrap();
    let learnt = |words: &str| items.iter().find(|item| string(&item["memory"]["content"]).contains(words));
    assert!(learnt("luthier").is_none(), "the person's own words are not new to them: {items:?}");
    for words in ["a book on lutes", "old maps"] {
        let memory = &learnt(words).unwrap_or_else(|| panic!("no {words} in {items:?}"))["memory"];
        assert_eq!(memory["significance"], 4, "{memory}");
    }
    let id = string(&learnt("Otto").unwrap()["memory"]["id"]);
    home.run(&["review", &id, "keep"]).done();
    assert_eq!(home.json(&["review", "--list"])["items"].as_array().unwrap().len(), items.len() - 1);

    let again = home.json(&["import", &file, "--later"]);
    assert_eq!((&again["profile"]["added"], added(&again)), (&json!(0), (0, 0)), "{again}");
    assert_eq!(home.text("user/profile.md"), profile);
    let undone = home.json(&["undo"]);
    assert_ne!(undone["undone"]["verb"], Value::Null);
}

#[test]
fn an_import_is_undone_with_the_lines_of_the_profile() {
    let home = Home::new();
    home.remember(&["--layer", "identity", "My name is Ada"]);
    let before = home.text("user/profile.md");
    let text = with_instructions("I am a luthier in Porto.", "", "Has a dog called Otto");
    let file = put(&home, "conversations.json", text);
    assert_eq!(home.json(&["import", &file, "--later"])["profile"]["added"], 2);
    home.run(&["undo"]).done();
    assert_eq!(home.text("user/profile.md"), before);
    assert!(!home.listed(&[]).contains(&"Has a dog called Otto".to_owned()));
}

#[test]
fn titles_are_kept() {
    let home = Home::new();
    home.run(&["import", &fixture("chatgpt"), "--later"]).done();
    home.run(&["import", &fixture("claude"), "--later"]).done();
    let sessions = home.json(&["session", "list"])["sessions"].clone();
    let title = |id: &str| sessions.as_array().unwrap().iter().find(|one| one["id"] == id).unwrap()["title"].clone();
    assert_eq!(title("chatgpt:6631c0de-0001"), "Sourdough starter");
    assert_eq!(title("claude:c1a0de00-0000-4000-8000-000000000001"), "Trip to Porto");
}

#[test]
fn memories_are_made_in_the_background_where_that_is_free() {
    let home = Home::new();
    let report = home.json(&["import", &fixture("chatgpt")]);
    let ahead = &report["consolidation"];
    assert_eq!((&ahead["started"], &ahead["conversations"]), (&json!(true), &json!(3)), "{report}");
    assert!(ahead["seconds"].as_u64().is_some_and(|seconds| seconds > 0));
    until(|| {
        let sessions = home.json(&["session", "list"])["sessions"].clone();
        let is_done = |one: &Value| one["consolidated"].as_i64() >= one["imported_to"].as_i64();
        sessions.as_array().unwrap().iter().all(is_done).then_some(())
    });
}

#[test]
fn no_model_is_paid_without_a_word() {
    let home = Home::with_config("config.toml", "[model]\nprovider = \"anthropic\"\nmodel = \"m\"\n");
    let said = home.run(&["import", &fixture("chatgpt")]).done();
    assert!(
        said.contains("`throughline session consolidate --all --imported` makes memories of them with your model"),
        "{said}"
    );
    assert!(said.contains("in about 6 requests"), "{said}");
    let sessions = home.json(&["session", "list"])["sessions"].clone();
    assert!(sessions.as_array().unwrap().iter().all(|one| one["consolidated"] == 0), "{sessions}");
}

/// Files as the clients write them.
fn past(home: &Home) {
    let claude = |kind: &str, id: &str, text: &str| {
        let content = if kind == "user" { json!(text) } else { json!([{ "type": "text", "text": text }]) };
        json!({ "type": kind, "uuid": id, "sessionId": "7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01", "cwd": "/nowhere",
            "timestamp": "2026-02-01T10:00:00Z", "message": { "role": kind, "content": content } })
        .to_string()
    };
    let rows = [claude("user", "u1", "Where is the linter configured?"), claude("assistant", "a1", "In biome.json.")];
    put(home, ".claude/projects/-nowhere/7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01.jsonl", rows.join("\n") + "\n");
    put(home, ".claude/projects/-nowhere/agent-1.jsonl", claude("user", "x", "a sub-agent's task"));
    let codex = [
        json!({ "timestamp": "2026-02-02T10:00:00Z", "type": "session_meta",
            "payload": { "id": "0199c0de-5a5a-7c3d-8f10-3b1f2a6d7e02", "cwd": "/nowhere" } }),
        json!({ "timestamp": "2026-02-02T10:00:01Z", "type": "response_item", "payload": { "type": "message", "role": "user",
            "content": [{ "type": "input_text", "text": "Rename the flag to --verbose" }] } }),
    ];
    let codex: Vec<String> = codex.iter().map(Value::to_string).collect();
    let path = ".codex/sessions/2026/02/02/rollout-2026-02-02T10-00-00-0199c0de-5a5a-7c3d-8f10-3b1f2a6d7e02.jsonl";
    put(home, path, codex.join("\n") + "\n");
    let gemini = json!({ "sessionId": "6d0c9a3e-1111-4222-8333-444455556666", "messages": [
        { "id": "g1", "timestamp": "2026-02-03T10:00:00Z", "type": "user", "content": "Draft the release notes" },
        { "id": "g2", "timestamp": "2026-02-03T10:00:05Z", "type": "gemini", "content": "Here they are." }] });
    put(home, ".gemini/tmp/abc/chats/session-2026-02-03T10-00-6d0c9a3e.json", gemini.to_string());
    let storage = ".local/share/opencode/storage";
    let session = json!({ "id": "ses_1", "title": "Faster tests", "directory": "/nowhere" });
    put(home, &format!("{storage}/session/p/ses_1.json"), session.to_string());
    let message = json!({ "id": "msg_1", "role": "user", "time": { "created": 1_770_200_000_000_i64 } });
    put(home, &format!("{storage}/message/ses_1/msg_1.json"), message.to_string());
    let part = json!({ "id": "prt_1", "type": "text", "text": "Make the tests run in parallel" });
    put(home, &format!("{storage}/part/msg_1/prt_1.json"), part.to_string());
}

#[test]
fn past_conversations_come_once_under_the_names_that_hooks_give_them() {
    let home = Home::new();
    past(&home);
    for (client, session, turns, words, day) in [
        ("claude-code", "claude-code:7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01", 2, "linter configured", "2026-02-01"),
        ("codex", "codex:0199c0de-5a5a-7c3d-8f10-3b1f2a6d7e02", 1, "flag --verbose", "2026-02-02"),
        ("gemini", "gemini:6d0c9a3e-1111-4222-8333-444455556666", 2, "release notes", "2026-02-03"),
        ("opencode", "opencode:ses_1", 1, "tests run in parallel", "2026-02-04"),
    ] {
        let said = home.run(&["import", "--from", client, "--dry-run"]).done();
        assert!(said.contains(&format!("sessions   1 new, {day} to {day}\n")), "{client}: {said}");
        assert!(said.ends_with("nothing was changed\n"), "{said}");
        let report = home.json(&["import", "--from", client, "--later"]);
        assert_eq!((added(&report), &report["sessions"]), ((0, turns), &json!(1)), "{client}: {report}");
        assert!(!home.found(&["--kind", "turn", words]).is_empty(), "{client}");
        let shown = home.json(&["session", "show", session]);
        assert_eq!(shown["turns"].as_array().unwrap().len() as u64, turns, "{client}");
        let again = home.json(&["import", "--from", client, "--later"]);
        assert_eq!((added(&again), &again["turns"]["here"]), ((0, 0), &json!(turns)), "{client}");
    }
    let sessions = home.json(&["session", "list"])["sessions"].clone();
    assert!(sessions.as_array().unwrap().iter().any(|one| one["title"] == "Faster tests"), "{sessions}");
    // What the hook sees later is the same conversation: nothing is kept twice.
    let transcript = home.root().join("person/.claude/projects/-nowhere/7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01.jsonl");
    let event = json!({ "session_id": "7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01", "transcript_path": transcript });
    home.run_with(&["hook", "session-end", "--client", "claude-code"], &event.to_string());
    let shown = home.json(&["session", "show", "claude-code:7b1f3a52-0c4e-4c1d-9a77-2f6f0a1d9e01"]);
    assert_eq!(shown["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] != "summary").count(), 2);
}

#[test]
fn an_assistant_without_past_conversations_is_named() {
    let home = Home::new();
    home.run(&["import", "--from", "codex"]).failed(2, "codex has no past conversations", "docs/importing.md");
    let ran = home.run(&["import"]);
    assert!(ran.code == 2 && ran.stderr.contains("hint:"), "{ran:?}");
}
