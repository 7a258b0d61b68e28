//! What comes of each format, from the same files that the program's own tests import; and of hostile input.

use crate::model::Source;
use crate::text::steps::check_linear;

use super::*;

const CHATGPT: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/chatgpt/conversations.json");
const CLAUDE: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/claude/conversations.json");
const MEMORIES: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/claude/memories.json");
const PROJECTS: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/claude/projects.json");
const MEM0: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/mem0.json");
const MCP: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/memory.jsonl");
const GRAPH: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/graph.json");
const NOTES: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/CLAUDE.md");
const HERMES: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/hermes/MEMORY.md");
const HERMES_USER: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/hermes/USER.md");
const OPENCLAW: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/openclaw/MEMORY.md");
const DAILY: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/openclaw/memory/2026-02-14.md");
const JSONL: &[u8] = include_bytes!("../../../../throughline/tests/fixtures/import/memories.jsonl");

#[track_caller]
fn found(name: &str, bytes: &[u8], format: Format) -> Found {
    assert_eq!(detect(name, bytes), Ok(format), "{name}");
    let found = read(name, bytes, None).unwrap();
    assert_eq!(found.files, [FoundFile { name: name.to_owned(), format, project: None }]);
    for memory in &found.memories {
        assert!(memory.id.len() == 16 && memory.id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7')));
        assert_eq!(memory.tags[..2], ["imported".to_owned(), format.to_string()]);
    }
    found
}

fn said(found: &Found) -> Vec<(&str, &str, &str, String)> {
    let date = |at: Option<Timestamp>| at.map(|at| at.strftime("%F %T").to_string()).unwrap_or_default();
    let line = |turn: &'_ FoundTurn| date(turn.at);
    found.turns.iter().map(|t| (t.session.as_str(), t.role.as_str(), t.content.as_str(), line(t))).collect()
}

fn contents(found: &Found) -> Vec<&str> {
    found.memories.iter().map(|memory| memory.content.as_str()).collect()
}

fn reasons(found: &Found) -> Vec<(&str, u64)> {
    found.skipped.iter().map(|skipped| (skipped.reason.as_str(), skipped.count)).collect()
}

#[test]
fn chatgpt_gives_the_branch_that_is_shown() {
    let found = found("conversations.json", CHATGPT, Format::ChatGpt);
    let one = "chatgpt:6631c0de-0001";
    let expected = [
        (one, "user", "How often do I feed a rye sourdough starter named Clint?", "2024-05-01 08:00:01"),
        (one, "assistant", "Feed Clint once a day at room temperature.", "2024-05-01 08:00:20"),
        (one, "user", "[image]\n\nDoes it look ready?", "2024-05-01 08:01:40"),
        (one, "assistant", "It does: it floats, so bake tomorrow.", "2024-05-01 08:01:40"),
        ("chatgpt:6631c0de-0002", "user", "A cycle begins", "2024-05-02 08:53:21"),
        ("chatgpt:6631c0de-0002", "assistant", "A cycle ends", "2024-05-02 08:53:22"),
        ("chatgpt:6631c0de-0003", "user", "My bike is a green Brompton", "2024-05-03 09:53:21"),
    ];
    assert_eq!(said(&found), expected.map(|(session, role, text, at)| (session, role, text, at.to_owned())));
    assert_eq!(found.turns[0].name, "u1");
    let expected = [(items::HIDDEN, 3), ("goes in a circle, and is cut there", 1), ("is not a conversation", 1)];
    assert_eq!(reasons(&found), expected);
    assert_eq!(found.skipped[2].places, ["conversation 4"]);
}

#[test]
fn claude_gives_conversations_memories_and_projects() {
    let talks = found("conversations.json", CLAUDE, Format::Claude);
    let session = "claude:c1a0de00-0000-4000-8000-000000000001";
    let expected = [
        (
            session,
            "user",
            "Plan two days in Porto, I hate stairs\n[file: tickets.pdf]",
            "2025-05-02 09:00:01".to_owned(),
        ),
        (session, "assistant", "Take tram 1 along the river.", "2025-05-02 09:01:00".to_owned()),
    ];
    assert_eq!(said(&talks), expected);
    assert_eq!(reasons(&talks), [("has no text", 1), ("is not a conversation, a memory or a project", 1)]);

    let kept = found("memories.json", MEMORIES, Format::Claude);
    assert_eq!(
        contents(&kept),
        [
            "Ada restores harpsichords in a workshop in Lisbon.",
            "She avoids stairs because of an old knee injury.",
            "The Porto guide is written in British English.",
        ]
    );
    assert_eq!(kept.memories[0].tags[2..], ["saved-memory", "work-context"]);
    assert_eq!(kept.memories[2].tags[2..], ["saved-memory", "claude-project"]);

    let projects = found("projects.json", PROJECTS, Format::Claude);
    let expected =
        ["Porto guide: A walking guide without stairs", "Porto guide: Write in British English, two pages at most."];
    assert_eq!(contents(&projects), expected);
    assert_eq!(projects.memories[0].source, Source::User);
    assert_eq!(reasons(&projects), [("has a document, which is not taken over", 1)]);
}

#[test]
fn mem0_gives_memories_with_their_dates_and_categories() {
    let found = found("mem0.json", MEM0, Format::Mem0);
    let expected = ["Loves to play badminton on Thursdays", "Is allergic to walnuts", "alex lives in oakland"];
    assert_eq!(contents(&found), expected);
    let first = &found.memories[0];
    assert_eq!(
        first.created_at,
        Some("2024-07-20T08:30:36.275Z".parse::<Timestamp>().unwrap())
            .map(|at| at + jiff::SignedDuration::from_micros(141))
    );
    assert_eq!(first.tags[2..], ["sports", "hobbies", "hobbies"]);
    assert_eq!(found.memories[1].updated_at, Some("2024-08-01T17:00:00Z".parse().unwrap()));
    assert_eq!(reasons(&found), [("is not a memory", 1)]);
    let list = br#"[{"id": "1", "memory": "Runs at dawn", "user_id": "u"}]"#;
    assert_eq!(contents(&read("x.json", list, None).unwrap()), ["Runs at dawn"]);
}

#[test]
fn the_mcp_graph_gives_sentences() {
    let lines = found("memory.jsonl", MCP, Format::Mcp);
    let expected =
        ["Maria Chen: Leads the payments team", "Maria Chen prefers morning meetings", "Maria Chen maintains Ledger"];
    assert_eq!(contents(&lines), expected);
    assert_eq!(lines.memories[0].tags[2..], ["person"]);
    assert_eq!(reasons(&lines), [("has no observations", 1), ("is not JSON", 1)]);
    assert_eq!(lines.skipped[1].places, ["line 4"]);
    let graph = found("graph.json", GRAPH, Format::Mcp);
    assert_eq!(contents(&graph), ["Otto: Eats at seven", "Otto lives with Maria Chen"]);
}

#[test]
fn our_own_guidance_in_notes_is_no_memory() {
    let [begin, end] = GUIDANCE_MARKS;
    let text =
        format!("- Use tabs here.\n\n{begin}\n# Your memory\n\nCall memory_search first.\n{end}\n\n- Run just test.\n");
    let found = found("AGENTS.md", text.as_bytes(), Format::Markdown);
    assert_eq!(contents(&found), ["Use tabs here.", "Run just test."]);
    assert_eq!(found.memories[1].place, "AGENTS.md, line 9");
}

#[test]
fn notes_give_their_items_and_paragraphs() {
    let found = found("CLAUDE.md", NOTES, Format::Markdown);
    let expected = [
        "Orchard is a Rust service that schedules the irrigation of pear trees.",
        "Run the tests with:\n```sh\ncargo nextest run\n```",
        "Never call `unwrap` outside tests",
        "Errors carry a hint:\n  - lowercase\n  - no full stop",
        "Branch names begin with the ticket number",
    ];
    assert_eq!(contents(&found), expected);
    let second = &found.memories[2];
    assert_eq!((second.tags[2].as_str(), second.source), ("code-style-tests", Source::User));
    assert_eq!(second.importance.map(|weight| weight.significance().value()), Some(5));
    assert_eq!(second.place, "CLAUDE.md, line 21");
    assert_eq!(reasons(&found), [("imports another file", 1)]);
}

#[test]
fn hermes_gives_entries_and_marks_what_is_about_the_person() {
    let memory = found("MEMORY.md", HERMES, Format::Hermes);
    let expected = [
        "The staging server is called heron and runs Debian 12",
        "Deployments need the VPN profile `ops`",
        "Project kestrel uses pnpm,\nnever npm",
    ];
    assert_eq!(contents(&memory), expected);
    assert_eq!(memory.memories[1].importance.map(|weight| weight.significance().value()), Some(4));
    let user = found("USER.md", HERMES_USER, Format::Hermes);
    assert!(user.memories.iter().all(|memory| memory.tags.contains(&"identity".to_owned())));
    assert!(user.memories.iter().all(|memory| memory.layer == Layer::Knowledge));
}

#[test]
fn a_daily_note_is_what_happened_that_day() {
    let daily = found("memory/2026-02-14.md", DAILY, Format::OpenClaw);
    assert_eq!(contents(&daily), ["Chose Hetzner for the new mail server", "Renewed the domain kolibri.example"]);
    let first = &daily.memories[0];
    assert_eq!((first.layer, first.created_at), (Layer::Archive, Some("2026-02-14T12:00:00Z".parse().unwrap())));
    assert_eq!(first.importance.map(Importance::value), Some(1.0));
    assert_eq!(daily.memories[1].importance, None);
    let memory = found("MEMORY.md", OPENCLAW, Format::OpenClaw);
    assert_eq!(contents(&memory), ["Drinks oolong, not coffee", "Wants invoices as PDF"]);
    assert_eq!((memory.memories[0].layer, memory.memories[0].source), (Layer::Knowledge, Source::Agent));
    assert!(memory.memories[0].importance > memory.memories[1].importance);
}

#[test]
fn lines_are_memories_or_turns() {
    let found = found("all.jsonl", JSONL, Format::Jsonl);
    let expected = ["The wifi at the cabin is called Fjellheim", "Deploys happen on Tuesdays", "Uses a split keyboard"];
    assert_eq!(contents(&found), expected);
    let first = &found.memories[0];
    assert_eq!((first.source, first.importance.map(Importance::value)), (Source::User, Some(0.9)));
    assert_eq!(first.tags[2..], ["cabin", "wifi"]);
    assert_eq!(found.memories[1].key.as_deref(), Some("deploy-day"));
    assert_eq!(found.memories[2].created_at, Some("2023-07-22T04:26:40Z".parse().unwrap()));
    let expected = [
        ("jsonl:kitchen", "user", "Remind me what glögg is", "2023-12-01 18:00:00".to_owned()),
        ("jsonl:kitchen", "assistant", "Mulled wine with almonds", "2023-12-01 18:00:05".to_owned()),
    ];
    assert_eq!(said(&found), expected);
    let expected = [("is not JSON", 1), ("is neither a memory nor a turn", 1), ("has a role that is not known", 1)];
    assert_eq!(reasons(&found), expected);
}

#[test]
fn what_is_no_known_file_is_said_to_be_none() {
    for (name, bytes) in [
        ("-", &b""[..]),
        ("-", b"not JSON"),
        ("-", b"[]"),
        ("-", b"{}"),
        ("-", br#"{"version": 1}"#),
        ("-", b"[1, 2, 3]"),
        ("notes.txt", b"Some words"),
        ("x.bin", b"\xff\xfe\x00\x01"),
    ] {
        let error = read(name, bytes, None).unwrap_err();
        assert!(matches!(error, ImportError::Unknown { .. }), "{error}");
        assert!(error.to_string().contains("openclaw, jsonl") && error.hint().contains("--format"));
    }
    assert!(matches!(read("all.zip", b"PK\x03\x04rest", None), Err(ImportError::Zip { .. })));
    assert_eq!(detect("x", br#"{"version": 1, "memories": [{"trunc"#), Ok(Format::Throughline));
}

#[test]
fn a_file_that_breaks_off_gives_what_stands_before() {
    let cut = &CHATGPT[..CHATGPT.len() - 400];
    let found = read("conversations.json", cut, None).unwrap();
    assert!(found.turns.len() >= 4);
    assert!(
        found.skipped.iter().any(|skipped| skipped.reason.starts_with("the file breaks off")),
        "{:?}",
        found.skipped
    );
}

#[test]
fn bytes_that_are_no_text_cost_only_their_own_piece() {
    let mut bytes = br#"{"content": "whole"}
{"content": "br"#
        .to_vec();
    bytes.extend(b"\xff\xfeken\"}\n{\"content\": \"null \\u0000 byte\"}\n");
    let found = read("x.jsonl", &bytes, None).unwrap();
    assert_eq!(contents(&found), ["whole", "null  byte"]);
    assert_eq!(reasons(&found), [("is not UTF-8", 1)]);
}

#[test]
fn depth_and_size_are_no_danger() {
    let deep = "[".repeat(300_000) + &"]".repeat(300_000);
    let line = format!(
        "{{\"content\": \"fine\"}}\n{{\"content\": {deep}}}\n{{\"content\": \"{}\"}}\n",
        "x".repeat(10_000_000)
    );
    let found = read("x.jsonl", line.as_bytes(), None).unwrap();
    assert_eq!(found.memories.len(), 2);
    assert_eq!(reasons(&found), [("is not JSON", 1)]);
    let conversation = format!(r#"[{{"id": "a", "mapping": {{"n": {{"message": {deep}}}}}, "current_node": "n"}}]"#);
    assert!(read("conversations.json", conversation.as_bytes(), None).is_err());
    let quotes = "> ".repeat(200_000) + "text";
    assert_eq!(read("x.md", quotes.as_bytes(), None).unwrap().memories.len(), 1);
    for marks in ["<!--", "`", "[", "§\n", "**", "- "] {
        let _ = read("x.md", marks.repeat(200_000).as_bytes(), None);
    }
}

/// A chain of a hundred thousand messages is followed to its end, in time that grows with it.
#[test]
fn a_long_conversation_is_one_walk() {
    let node = |n: u32| {
        format!(
            r#""n{n}": {{"parent": {}, "children": [], "message": {{"author": {{"role": "user"}}, "content": {{"parts": ["m{n}"]}}}}}}"#,
            n.checked_sub(1).map_or("null".to_owned(), |parent| format!("\"n{parent}\""))
        )
    };
    let nodes: Vec<String> = (0..100_000).map(node).collect();
    let text = format!(r#"[{{"id": "long", "mapping": {{{}}}, "current_node": "n99999"}}]"#, nodes.join(","));
    let found = read("conversations.json", text.as_bytes(), None).unwrap();
    assert_eq!(found.turns.len(), 100_000);
    assert_eq!((found.turns[0].content.as_str(), found.turns[99_999].content.as_str()), ("m0", "m99999"));
}

#[test]
fn a_short_item_takes_its_heading_along() {
    let text = "# Orchard\n\n## Style\n\n- Two spaces\n- style guide: docs\n- Names say what a thing is for\n\nBe brief.\n\
                ## Line length:\n- 100\n- 100\n";
    let expected = [
        "Style: Two spaces",
        "style guide: docs",
        "Names say what a thing is for",
        "Be brief.",
        "Line length: 100",
        "Line length: 100",
    ];
    let found = read("AGENTS.md", text.as_bytes(), None).unwrap();
    assert_eq!(contents(&found), expected);
    assert_eq!(found.memories[4].id, found.memories[5].id);
}

#[test]
fn what_is_not_taken_as_it_stands_is_said() {
    let text = r#"{"content": "a", "significance": 11, "created_at": "last tuesday"}
{"content": "b", "significance": 4, "created_at": "2025-01-31", "source": "user", "layer": "archive"}
{"content": "c", "importance": -3, "source": "the pope", "layer": 9, "updated_at": "soon", "created_at": null}
{"role": "user", "content": "d", "at": "noon"}"#;
    let found = read("all.jsonl", text.as_bytes(), None).unwrap();
    let adjusted: Vec<(&str, &str)> =
        found.adjusted.iter().map(|piece| (piece.places[0].as_str(), piece.reason.as_str())).collect();
    let expected = [
        ("line 1", "has a `significance` that is not from 1 to 5: the usual weight stands instead"),
        ("line 1", "has a `created_at` that is no date: the time of the import stands instead"),
        ("line 3", "has an `importance` that is not from 0 to 1, or from 1 to 10: the usual weight stands instead"),
        ("line 3", "has an `updated_at` that is no date: when it was stored stands instead"),
        ("line 3", "has a `source` that is not known: it counts as the assistant's word"),
        ("line 3", "has a `layer` that is not known: it becomes knowledge"),
        ("line 4", "has an `at` that is no date: that of the turn before it stands instead"),
    ];
    assert_eq!(adjusted, expected);
    assert_eq!((found.skipped.len(), found.memories.len(), found.turns.len()), (0, 3, 1));
}

#[test]
fn the_same_words_in_two_projects_are_two_memories() {
    let of = |project: &str| {
        let mut found = read("CLAUDE.md", NOTES, None).unwrap();
        found.assign(project);
        assert!(found.memories.iter().all(|memory| memory.project.as_deref() == Some(project)));
        found.memories[0].id.clone()
    };
    assert_eq!(of("apollo"), of("apollo"));
    assert_ne!(of("apollo"), of("zeus"));
}

/// What one part of a file says is looked at once, whatever stands beside it.
#[test]
fn reading_exports_is_linear() {
    let mcp = |text: &str| {
        let observations = vec![r#""a""#; text.len() / 4].join(",");
        for (name, kind) in [("x", text), (&text[..text.len().min(900)], "x"), (text, "x")] {
            let line =
                format!(r#"{{"type":"entity","name":"{name}","entityType":"{kind}","observations":[{observations}]}}"#);
            let _ = read("memory.jsonl", line.as_bytes(), None);
        }
    };
    check_linear("x", 128 << 10, 300, mcp);
    // A node of many children leads to one that leads back to it.
    let circle = |text: &str| {
        let leaves: Vec<String> = (0..text.len() / 16).map(|n| format!("\"n{n}\":{{\"parent\":\"a\"}}")).collect();
        let children: Vec<String> = (0..text.len() / 16).map(|n| format!("\"n{n}\"")).collect();
        let nodes = format!(r#""a":{{"children":["b"]}},"b":{{"parent":"a","children":[{},"a"]}}"#, children.join(","));
        let whole = format!(r#"[{{"id":"c","mapping":{{{nodes},{}}}}}]"#, leaves.join(","));
        let _ = read("conversations.json", whole.as_bytes(), None);
    };
    check_linear("x", 256 << 10, 10, circle);
    // A list of memories whose first goes on and on.
    let list = |text: &str| {
        let context = serde_json::json!({ "author": { "role": "assistant" },
            "content": { "content_type": "model_editable_context", "model_set_context": text } });
        let mapping = serde_json::json!({ "n": { "message": context } });
        let whole = serde_json::json!([{ "id": "c", "mapping": mapping, "current_node": "n" }]).to_string();
        let _ = read("conversations.json", whole.as_bytes(), None);
    };
    check_linear("a\n", 1 << 20, 10, list);
}
