//! Line by line: revisions, hostile input, a memory that is off, broken or new.

use serde_json::{Value, json};

use crate::common::{Home, until};
use crate::peer::Peer;
use crate::with_all_tools;

fn names(answer: &Value, of: &str) -> Vec<String> {
    let items = answer["result"][of].as_array().unwrap_or_else(|| panic!("{answer}"));
    items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_revision_is_answered_in_its_own_words() {
    let home = Home::new();
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // It has no handshake: whoever shakes hands nevertheless gets the last revision that does.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut peer = Peer::start(home.throughline(&["mcp"]));
        let answer = peer.initialize(asked);
        assert_eq!(answer["result"]["protocolVersion"], given, "{answer}");
        assert!(answer["result"]["instructions"].as_str().unwrap().contains("memory_recall"), "{answer}");
        assert_eq!(names(&peer.ask("tools/list", json!({})), "tools").len(), 6, "{asked}");
        assert!(peer.end().0.success());
    }
}

#[test]
fn the_revision_without_a_handshake_is_served_request_by_request() {
    let home = Home::new();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "Peer", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut peer = Peer::start(home.throughline(&["mcp"]));
    let found = peer.ask("server/discover", json!({ "_meta": meta }));
    let versions = found["result"]["supportedVersions"].as_array().unwrap_or_else(|| panic!("{found}"));
    assert!(["2025-06-18", "2025-11-25", "2026-07-28"].iter().all(|one| versions.iter().any(|each| each == one)));
    assert!(found["result"]["instructions"].as_str().unwrap().contains("memory_recall"), "{found}");
    let first = peer.ask("tools/list", json!({ "_meta": meta }));
    assert_eq!(
        first["result"],
        peer.ask("tools/list", json!({ "_meta": meta }))["result"],
        "the order is always the same"
    );
    let call = json!({ "name": "memory_recall", "arguments": { "query": "tea" }, "_meta": meta });
    let answer = peer.ask("tools/call", call);
    assert_eq!(answer["result"]["structuredContent"]["hits"], json!([]), "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    let bare = peer.ask("tools/list", json!({}));
    assert!(bare["error"]["message"].as_str().unwrap().contains("_meta"), "{bare}");
}

/// What a failure tells: words alone. Structure would have to keep to the tool's output schema, and Gemini CLI takes even a
/// text that is JSON for structure.
#[track_caller]
fn told(failed: &Value) -> String {
    assert_eq!(failed["isError"], true, "{failed}");
    assert!(failed.get("structuredContent").is_none(), "{failed}");
    let text = failed["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(serde_json::from_str::<Value>(&text).is_err(), "{text}");
    text
}

#[test]
fn a_tool_that_is_not_offered_is_an_error_of_the_protocol() {
    let home = Home::new();
    let mut peer = Peer::greeted(home.throughline(&["mcp"]));
    for name in ["memory_erase_everything", "memory_store", ""] {
        let refused = peer.ask("tools/call", json!({ "name": name, "arguments": {} }));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("there are memory_recall, "), "{refused}");
    }
}

#[test]
fn hostile_input_does_not_end_the_conversation() {
    let mut home = Home::new();
    home.set("THROUGHLINE_LOG", "trace");
    let mut peer = Peer::start(home.throughline(&["mcp"]));
    peer.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    peer.say(&json!({ "jsonrpc": "2.0", "id": 77, "result": {} }));
    peer.say_bytes(b"this is not JSON\n\n\r\n{\n\xff\xfe\xfd\n\x00\n");
    peer.initialize("2025-11-25");
    let huge = vec![b'x'; 5 << 20];
    peer.say_bytes(&huge);
    peer.say_bytes(b"\n");
    peer.say_bytes(format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000)).as_bytes());
    for odd in [
        json!([]),
        json!(42),
        json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": {}, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/invented", "params": [1, 2] }),
        json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": "text" }),
        json!({ "jsonrpc": "2.0", "id": 901, "method": "tools/call", "params": { "name": 7 } }),
    ] {
        peer.say(&odd);
    }
    let unknown = peer.ask("memory/erase_all", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let long = "x".repeat(2 << 20);
    let refused = peer.call("memory_write", json!({ "action": "add", "layer": "L1", "content": long }));
    assert_eq!(refused["isError"], true, "{refused}");
    let refused = peer.call("memory_recall", json!({ "query": 7, "\u{0}": "\u{202e}" }));
    assert!(told(&refused).starts_with("invalid: "), "{refused}");
    assert_eq!(peer.ask("ping", json!({}))["result"], json!({}));
    let (status, _, errors) = peer.end();
    assert!(status.success() && !errors.contains("panicked"), "{status}: {errors}");
    assert!(errors.contains("TRACE"), "the log goes to standard error: {errors}");
}

#[test]
fn nothing_is_printed_for_programs_either() {
    let home = Home::new();
    let mut peer = Peer::greeted(home.throughline(&["mcp", "--json"]));
    peer.call("memory_context", json!({}));
    let (status, rest, _) = peer.end();
    assert!(status.success() && rest.is_empty(), "{rest:?}");
}

#[test]
fn memory_that_is_off_offers_nothing_and_says_so() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\nenabled = false\n");
    home.remember(&["The person likes tea"]);
    let mut peer = Peer::start(home.throughline(&["mcp"]));
    let answer = peer.initialize("2025-11-25");
    assert!(answer["result"]["instructions"].as_str().unwrap().contains("switched this memory off"), "{answer}");
    for (method, of) in [
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        assert_eq!(names(&peer.ask(method, json!({})), of), [""; 0], "{method}");
    }
    let refused = peer.ask("tools/call", json!({ "name": "memory_recall", "arguments": { "query": "tea" } }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("memory is off"), "{refused}");
    for (method, params) in
        [("resources/read", json!({ "uri": "memory://profile" })), ("prompts/get", json!({ "name": "review_memory" }))]
    {
        let refused = peer.ask(method, params);
        assert!(refused["error"]["message"].as_str().unwrap().contains("off"), "{refused}");
    }
}

#[test]
fn a_broken_database_is_an_answer_until_it_is_mended() {
    if crate::common::is_on_postgres() {
        // There is no file to break.
        return;
    }
    let home = with_all_tools();
    home.put("memory.db", &"this is no database ".repeat(1000));
    let mut peer = Peer::greeted(home.throughline(&["mcp"]));
    assert_eq!(names(&peer.ask("tools/list", json!({})), "tools").len(), 11);
    let failed = peer.call("memory_recall", json!({ "query": "tea" }));
    assert_eq!(failed["isError"], true, "{failed}");
    assert!(told(&failed).contains("\nhint: "), "{failed}");
    let refused = peer.ask("resources/read", json!({ "uri": "memory://profile" }));
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    std::fs::remove_file(home.path("memory.db")).unwrap();
    let stored = peer.call("memory_write", json!({ "action": "add", "layer": "L1", "content": "Ada likes tea" }));
    assert_eq!(stored["structuredContent"]["recallable"], true, "{stored}");
}

#[test]
fn a_broken_config_is_said_to_the_assistant() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespaec = \"user\"\n");
    let mut peer = Peer::start(home.throughline(&["mcp"]));
    let answer = peer.initialize("2025-11-25");
    assert!(answer["result"]["instructions"].as_str().unwrap().contains("user_namespace"), "{answer}");
    let failed = peer.call("memory_recall", json!({ "query": "tea" }));
    assert_eq!(failed["isError"], true, "{failed}");
}

#[test]
fn a_call_belongs_to_the_connection_and_to_the_project_of_its_directory() {
    let home = with_all_tools();
    let shop = home.root().join("shop/src");
    std::fs::create_dir_all(&shop).unwrap();
    let dir = shop.parent().unwrap().to_str().unwrap().to_owned();
    home.run(&["project", "add", "shop", "--dir", &dir]).done();
    let mut command = home.throughline(&["mcp"]);
    command.current_dir(&shop);
    let mut peer = Peer::greeted(command);
    let recorded = peer.call("record_fact", json!({ "fact": "Prices are kept in cents", "significance": 4 }));
    assert_eq!(recorded["structuredContent"]["project"], "shop", "{recorded}");
    peer.call("memory_write", json!({ "action": "add", "layer": "L1", "content": "The shop opens at nine" }));
    assert!(std::fs::read_to_string(shop.parent().unwrap().join("memory.md")).unwrap().contains("[sig:4] Prices"));
    let read = peer.ask("resources/read", json!({ "uri": "memory://project" }));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("Prices are kept in cents"), "{read}");
    assert!(peer.end().0.success());
    let sessions = home.json(&["session", "list"]);
    let session = &sessions["sessions"][0];
    assert!(session["id"].as_str().unwrap().starts_with("mcp:peer-"), "{sessions}");
    assert_eq!(session["project"], "shop", "{sessions}");
    let memory = &home.json(&["list", "--project", "shop", "--layer", "knowledge"])["memories"];
    let written = memory.as_array().unwrap().iter().find(|one| one["content"] == "The shop opens at nine").unwrap();
    assert_eq!((&written["source"], &written["session"]), (&json!("agent"), &session["id"]), "{written}");
    let history = home.json(&["history"]).to_string();
    assert!(history.contains("\"mcp\""), "{history}");
}

#[test]
fn a_client_that_says_its_roots_late_has_its_project_from_then_on() {
    let home = with_all_tools();
    let shop = home.root().join("shop");
    std::fs::create_dir(&shop).unwrap();
    home.run(&["project", "add", "shop", "--dir", shop.to_str().unwrap()]).done();
    // One project alone would be meant without being named.
    std::fs::create_dir(home.root().join("other")).unwrap();
    home.run(&["project", "add", "other", "--dir", home.root().join("other").to_str().unwrap()]).done();
    let mut peer = Peer::start(home.throughline(&["mcp"]));
    let client = json!({ "name": "Slow", "version": "1" });
    let able = json!({ "roots": { "listChanged": true } });
    peer.ask("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": able, "clientInfo": client }));
    peer.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    peer.say(&json!({ "jsonrpc": "2.0", "id": "first", "method": "resources/list", "params": {} }));
    let asked = peer.message();
    assert_eq!(asked["method"], "roots/list", "{asked}");
    // It answers only after the server went on without.
    let first = peer.message();
    assert_eq!(first["id"], "first", "{first}");
    assert!(!first.to_string().contains("memory://project"), "{first}");
    let roots = json!({ "roots": [{ "uri": format!("file://{}", shop.display()) }] });
    peer.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots }));
    until(|| peer.ask("resources/list", json!({})).to_string().contains("\"memory://project\"").then_some(()));
    assert!(peer.end().0.success());
}
