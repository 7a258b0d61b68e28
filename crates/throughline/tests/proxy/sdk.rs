//! Clients that we did not write: the official SDKs of OpenAI and Anthropic, for Python and TypeScript, unchanged but for the base
//! URL. What they get through the proxy is compared with what the same program gets from the same server without it.

use std::path::PathBuf;

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

use crate::common::{Home, installed};
use crate::place::Place;

/// The versions that the tests were written with.
const PYTHON_SDKS: [&str; 2] = ["openai==3.51.0", "anthropic==2.9.0"];
const NODE_SDKS: [&str; 2] = ["openai@7.55.0", "@anthropic-ai/sdk@1.9.0"];

/// A directory with the SDKs for Node.js, and the program beside them.
fn node_program() -> PathBuf {
    let program = installed::node("proxy-node", &NODE_SDKS).join("clients.mjs");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proxy/clients.mjs"), &program).unwrap();
    program
}

#[derive(Debug, Clone, Copy)]
enum Language {
    Python,
    TypeScript,
}

impl Language {
    /// What a program with this SDK gets at an address.
    #[track_caller]
    fn run(self, home: &Home, sdk: &str, base_url: &str, key: &str) -> Value {
        let mut command = match self {
            Self::Python => {
                let mut command = home.command(installed::python("proxy-python", &PYTHON_SDKS));
                command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proxy/clients.py"));
                command
            }
            Self::TypeScript => {
                let mut command = home.command("node");
                command.arg(node_program());
                command
            }
        };
        let how = json!({"sdk": sdk, "base_url": base_url, "key": key});
        let output =
            command.env_remove("OPENAI_API_KEY").env_remove("ANTHROPIC_API_KEY").arg(how.to_string()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{self:?}, {sdk}: {errors}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
    }
}

/// What the server does for a program of one SDK.
fn server(sdk: &str) -> ModelServer {
    let pieces = || ["One ", "two ", "three."].map(str::to_owned).to_vec();
    let call = || Step::call("lookup", r#"{"q": "kestrel"}"#);
    let mut steps =
        vec![Step::reply("Hello, Ada."), Step::ReplyIn(pieces()), call(), Step::reply("It is on Friday."), call()];
    if sdk == "openai" {
        steps.extend([Step::reply("Hello again."), Step::ReplyIn(pieces()), call()]);
    }
    steps.extend([
        Step::fail(400, "that makes no sense"),
        Step::fail(401, "who are you"),
        Step::busy("1"),
        Step::fail(503, "not now"),
        Step::ErrorInStream(pieces()),
        Step::HangAfter(pieces()),
    ]);
    let server = ModelServer::scripted(steps);
    let model = json!({"id": "scripted", "object": "model", "created": 1, "owned_by": "us", "type": "model",
        "display_name": "Scripted", "created_at": "2026-01-01T00:00:00Z"});
    server.knows("/models", json!({"object": "list", "data": [model], "has_more": false}));
    server.knows(
        "/embeddings",
        json!({"object": "list", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1},
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}]}),
    );
    server.knows("/count_tokens", json!({"input_tokens": 12}));
    server
}

fn is_models(path: &str) -> bool {
    path.contains("/models")
}

#[track_caller]
fn check(language: Language, sdk: &str) {
    let root = if sdk == "openai" { "/v1" } else { "" };
    let straight = server(sdk);
    let place = Place::with(server(sdk), "", |home| {
        home.remember(&["--layer", "identity", "The person is called Ada"]);
    });
    let expected = language.run(&place.home, sdk, &format!("{}{root}", straight.url()), "sk-client");
    assert!(straight.wait_for_hung_up(1));
    assert_eq!(
        (&expected["chat"], &expected["answer"]),
        (&json!("Hello, Ada."), &json!("It is on Friday.")),
        "{expected}"
    );

    let base_url = format!("http://{}{root}", place.daemon.host());
    let got = language.run(&place.home, sdk, &base_url, &place.daemon.token);
    assert_eq!(got, expected, "{language:?}, {sdk}");
    assert!(place.server.wait_for_hung_up(1), "a cancelled reply ends at the server, too");
    assert_eq!((straight.steps_left(), place.server.steps_left()), (0, 0));

    // The requests are the client's, and memory's addition.
    let (theirs, ours) = (straight.requests(), place.server.requests());
    assert_eq!(theirs.len(), ours.len());
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert_eq!(ours.path, theirs.path);
        assert!(is_models(&ours.path) || String::from_utf8_lossy(&ours.bytes).contains("The person is called Ada"));
        assert_eq!(without_memory(&ours.body), theirs.body);
    }
    // A program that has a key of its own, and the token in the path.
    let other = Place::with(server(sdk), "", |_| {});
    let base_url = format!("http://{}/t/{}{root}", other.daemon.host(), other.daemon.token);
    assert_eq!(language.run(&other.home, sdk, &base_url, "sk-client"), expected);
    for sent in other.server.requests() {
        let key = sent.header("x-api-key").or(sent.header("authorization")).unwrap();
        assert!(key.ends_with("sk-client"), "{key}");
    }
}

/// A body without what memory adds to it: the opening, and blocks in front of messages.
fn without_memory(body: &Value) -> Value {
    let mut body = without_blocks(body);
    for field in ["system", "instructions"] {
        if body[field].as_str().is_some_and(|text| text.starts_with("--- Who you're talking to ---")) {
            body.as_object_mut().unwrap().remove(field);
        }
    }
    if let Some(messages) = body.get_mut("messages").and_then(Value::as_array_mut) {
        messages.retain(|message| message["role"] != "system");
    }
    body
}

fn without_blocks(value: &Value) -> Value {
    match value {
        Value::String(text) if text.starts_with("<memory-context>") => {
            json!(text.split_once("</memory-context>\n\n").unwrap().1)
        }
        Value::Array(items) => items.iter().map(without_blocks).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), without_blocks(value))).collect())
        }
        other => other.clone(),
    }
}

#[test]
fn openai_for_python() {
    check(Language::Python, "openai");
}

#[test]
fn anthropic_for_python() {
    check(Language::Python, "anthropic");
}

#[test]
fn openai_for_typescript() {
    check(Language::TypeScript, "openai");
}

#[test]
fn anthropic_for_typescript() {
    check(Language::TypeScript, "anthropic");
}
