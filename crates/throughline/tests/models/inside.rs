//! Inside a program that is run as a model: hooks and MCP servers of ours leave memory alone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Home, tree};

/// A machine with a memory that has something to say, as a model's program sees it.
fn inside() -> Home {
    let mut home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    home.remember(&["The person likes tea"]);
    home.set("THROUGHLINE_MODEL_RUN", "1");
    home
}

#[test]
fn hooks_answer_nothing_and_store_nothing() {
    let home = inside();
    let before = tree(&home.path(""));
    for (client, prompt) in [("claude-code", json!({})), ("codex", json!({})), ("cursor", json!({"continue": true}))] {
        for event in ["session-start", "prompt", "pre-compact", "stop", "session-end"] {
            let input = json!({"session_id": "s1", "cwd": home.root(), "prompt": "Which tea do I like?"}).to_string();
            let args = ["hook", event, "--client", client, "--deadline-ms", "60000"];
            let said = home.run_with(&args, &input).done();
            if (client, event) == ("claude-code", "pre-compact") {
                assert_eq!(said, "", "it would be taken for instructions");
                continue;
            }
            let said: Value = serde_json::from_str(&said).unwrap();
            assert_eq!(said, if event == "prompt" { prompt.clone() } else { json!({}) }, "{client}, {event}");
        }
    }
    assert_eq!(before, tree(&home.path("")), "no file was touched");
}

#[test]
fn an_mcp_server_offers_nothing_and_stores_nothing() {
    let home = inside();
    let before = tree(&home.path(""));
    let mut command = home.throughline(&["mcp"]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut ask = |id: u32, method: &str, params: Value| -> Value {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    let client = json!({"name": "Peer", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    assert_eq!(ask(1, "initialize", hello)["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(ask(2, "tools/list", json!({}))["result"]["tools"], json!([]));
    let arguments = json!({"entries": [{"content": "The person likes coffee"}]});
    let written = ask(3, "tools/call", json!({"name": "memory_write", "arguments": arguments}));
    assert_eq!(written["error"]["code"], -32602, "{written}");
    let read = ask(4, "resources/read", json!({"uri": "memory://profile"}));
    assert!(read["error"]["message"].as_str().unwrap().contains("run as a model"), "{read}");
    drop(input);
    assert!(server.wait().unwrap().success());
    assert_eq!(before, tree(&home.path("")), "no file was touched");
}

#[test]
fn a_program_is_not_run_inside_itself() {
    let mut home = super::with_model("provider = \"command\"\ncommand = \"claude-code\"\n");
    super::only_programs(&mut home, &[("claude", "echo x >>\"$HOME/ran\"; echo ready")]);
    home.set("THROUGHLINE_MODEL_RUN", "1");
    let ran = home.run(&["--json", "session", "consolidate", "telegram:1"]);
    assert!(ran.stderr.contains("going on offline"), "{ran:?}");
    assert!(!home.root().join("person/ran").exists());
}
