//! What the server gets: exactly what the client sent, and what memory adds to it.

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};
use throughline_testkit::raw_http::{Connection, Request};

use crate::common::Home;
use crate::place::{Place, WIRES, Wire};

/// Where memory may be added in a body.
const SYSTEM: &str = "«system»";
const MESSAGE: &str = "«message»";

/// Bodies as no two clients write them, with unknown fields, images, tools, breakpoints, big numbers, odd blanks and escapes.
fn templates() -> Vec<(Wire, String)> {
    let chat = r#"{ "zeta":1.50,"model" : "scripted","messages":[{"role":"system","content":"Be \u006bind.«system»"},
        {"role":"user","content":"earlier","x":{"b":1,"a":[ ]}},{"role":"assistant","content":null,"tool_calls":[{"id":"c1",
        "type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]},{"role":"tool","tool_call_id":"c1",
        "content":"done"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},
        «message»{"type":"text","text":"When is the kestrel deploy? \"éß\ud83d\ude00\""}]}],
        "seed":12345678901234567890,"unknown":{"deep":[1e400,-0.0]}}"#;
    let no_system =
        r#"{"messages":[«system»{"role":"user","content":"«message»When is the kestrel deploy?"}],"model":"scripted"}"#;
    let responses = r#"{«system»"model":"scripted","input":[{"type":"message","role":"user","content":[
        «message»{"type":"input_text","text":"When is the kestrel deploy?"},{"type":"input_image","image_url":"data:,"}]},
        {"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1",
        "output":"ok"}],"reasoning":{"effort":"low"}}"#;
    let text_input =
        r#"{"model":"scripted","instructions":"Be kind.«system»","input":"«message»When is the kestrel deploy?"}"#;
    let messages = r#"{"model":"scripted","max_tokens":100,"system":[{"type":"text","text":"Be kind.",
        "cache_control":{"type":"ephemeral"}}«system»],"messages":[{"role":"user","content":"earlier"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"tool_use","id":"t1",
        "name":"f","input":{"z":1,"a":2}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"},
        «message»{"type":"text","text":"When is the kestrel deploy?","cache_control":{"type":"ephemeral"}}]}]}"#;
    let bare = r#"{«system»"max_tokens":100,"model":"scripted","messages":[{"role":"user","content":"«message»When is the kestrel deploy?"}]}"#;
    let ollama = r#"{"model":"scripted","stream":false,"messages":[{"role":"system","content":"«system»"},{"role":"user",
        "content":"«message»When is the kestrel deploy?","images":["AAAA"]}],"options":{"num_ctx":4096},"keep_alive":"5m"}"#;
    [
        (Wire::Chat, chat),
        (Wire::Chat, no_system),
        (Wire::Responses, responses),
        (Wire::Responses, text_input),
        (Wire::Messages, messages),
        (Wire::Messages, bare),
        (Wire::Ollama, ollama),
    ]
    .map(|(wire, body)| (wire, body.to_owned()))
    .into()
}

fn furnish(home: &Home) {
    home.remember(&["--layer", "identity", "The person is called Ada"]);
    home.remember(&["The kestrel deploy is on Friday at noon"]);
}

fn request(place: &Place, wire: Wire, body: &str) -> Request {
    let mut request = place.daemon.request("POST", wire.path()).with("Content-Type", "application/json");
    request.body = body.as_bytes().to_vec();
    request
}

/// What was inserted into a body, mark by mark, in their order.
#[track_caller]
fn inserted(template: &str, sent: &[u8]) -> Vec<String> {
    let sent = std::str::from_utf8(sent).unwrap();
    let marked = template.replace(MESSAGE, SYSTEM);
    let literals: Vec<&str> = marked.split(SYSTEM).collect();
    let mut rest = sent.strip_prefix(literals[0]).unwrap_or_else(|| panic!("{sent}"));
    let mut found = Vec::new();
    for literal in &literals[1..] {
        let at = rest.find(literal).unwrap_or_else(|| panic!("no {literal} in {rest}"));
        found.push(rest[..at].to_owned());
        rest = &rest[at + literal.len()..];
    }
    assert_eq!(rest, "", "nothing is added at the end");
    found
}

#[test]
fn the_server_gets_the_clients_bytes_and_the_memory() {
    let place = Place::with(ModelServer::always(Step::reply("On Friday.")), "", |home| furnish(home));
    for (wire, template) in templates() {
        let plain = template.replace(SYSTEM, "").replace(MESSAGE, "");
        let answer = place.daemon.send(&request(&place, wire, &plain));
        assert_eq!((answer.status, answer.header("x-throughline-memory")), (200, Some("on")), "{wire:?}");
        let sent = place.server.requests().pop().unwrap();
        let added = inserted(&template, &sent.bytes);
        let opening = added.iter().find(|text| text.contains("Who you're talking to")).expect("the opening");
        assert!(opening.contains("The person is called Ada"), "{opening}");
        let block = added.iter().find(|text| text.contains("<memory-context>")).expect("the block");
        assert_eq!(block.matches("The kestrel deploy is on Friday at noon").count(), 1, "{block}");
        if plain.contains("1e400") {
            assert!(serde_json::from_slice::<Value>(&sent.bytes).is_err(), "numbers are nobody's to read");
        } else {
            serde_json::from_slice::<Value>(&sent.bytes).unwrap();
        }
        assert_eq!(sent.path, wire.path_there());
        let ids = answer.header("x-throughline-memories").unwrap();
        assert!(!ids.is_empty() && block.contains(&ids[..8]), "{ids} name what {block} shows");
    }
}

#[test]
fn without_memory_the_server_gets_the_same_bytes() {
    let place = Place::with(ModelServer::always(Step::reply("On Friday.")), "", |home| furnish(home));
    let unreadable = [
        (Wire::Chat, r#"{"messages": "none"}"#),
        (Wire::Messages, "not JSON"),
        (Wire::Responses, r#"{"input": 5}"#),
        (Wire::Chat, "[]"),
        (Wire::Chat, ""),
    ];
    let unreadable = unreadable.map(|(wire, body)| (wire, body.to_owned(), "on"));
    let off = templates().into_iter().map(|(wire, body)| (wire, body.replace(SYSTEM, "").replace(MESSAGE, ""), "off"));
    for (wire, body, memory) in off.chain(unreadable) {
        let answer = place.daemon.send(&request(&place, wire, &body).with("x-throughline-memory", memory));
        assert_eq!(answer.status, 200);
        assert_eq!(place.server.requests().pop().unwrap().bytes, body.as_bytes());
        assert!(answer.header("x-throughline-session").is_none());
    }
    assert_eq!(place.home.json(&["session", "list"])["sessions"], json!([]), "nothing is kept");
}

/// How memory comes to add nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Without {
    Database,
    Consent,
    Switch,
}

impl Without {
    fn place(self) -> Place {
        let place = Place::with(ModelServer::always(Step::reply("On Friday.")), "", |home| {
            furnish(home);
            let text = home.text("config.toml");
            if self == Self::Switch {
                home.put("config.toml", &text.replace("[memory]\n", "[memory]\nenabled = false\n"));
            }
        });
        match self {
            Self::Database => std::fs::rename(place.home.path("memory.db"), place.home.path("gone.db")).unwrap(),
            Self::Consent => drop(place.home.run(&["pause"]).done()),
            Self::Switch => {}
        }
        place
    }
}

#[test]
fn a_broken_or_switched_off_memory_changes_no_byte() {
    for (without, word) in [(Without::Database, "failed"), (Without::Consent, "off"), (Without::Switch, "off")] {
        let place = without.place();
        for (wire, template) in templates() {
            let body = template.replace(SYSTEM, "").replace(MESSAGE, "");
            let answer = place.daemon.send(&request(&place, wire, &body));
            assert_eq!(
                (answer.status, answer.header("x-throughline-memory")),
                (200, Some(word)),
                "{without:?}, {wire:?}"
            );
            assert_eq!(place.server.requests().pop().unwrap().bytes, body.as_bytes());
        }
    }
}

#[test]
fn replies_pass_through_piece_by_piece_and_a_client_that_leaves_ends_the_call() {
    use std::io::{BufRead as _, Read as _};
    for wire in WIRES {
        let place = Place::new([Step::HangAfter(vec!["first".to_owned(), "second".to_owned()])]);
        let body = wire.body(&["Tell me."], true);
        let (status, mut stream) =
            Connection::open(place.daemon.port).unwrap().stream(&place.request(wire, &body)).unwrap();
        assert_eq!(status, 200);
        // The server says nothing more: what comes has not waited for the end.
        let (mut seen, mut line) = (String::new(), String::new());
        while !seen.contains("second") {
            line.clear();
            assert!(stream.read_line(&mut line).unwrap() > 0, "{seen}");
            seen.push_str(&line);
        }
        drop(stream);
        assert!(place.server.wait_for_hung_up(1), "{wire:?}: the server is left, too");
    }
    // The same before the first byte of a reply.
    let place = Place::new([Step::Hang]);
    let request = place.request(Wire::Chat, &Wire::Chat.body(&["Tell me."], true));
    let mut waiting = Connection::open(place.daemon.port).unwrap().send(&request).unwrap();
    crate::common::until(|| (!place.server.requests().is_empty()).then_some(()));
    waiting.set_nonblocking(true).unwrap();
    assert!(waiting.read(&mut [0]).is_err(), "nothing came yet");
    drop(waiting);
    assert!(place.server.wait_for_hung_up(1));
}

#[test]
fn what_has_no_memory_to_it_passes_through() {
    let place = Place::new([]);
    place.server.knows("/v1/models", json!({"object": "list", "data": [{"id": "scripted"}]}));
    place.server.knows("/v1/embeddings", json!({"data": [{"embedding": [0.5]}]}));
    place.server.knows("/v1/messages/count_tokens", json!({"input_tokens": 5}));
    assert_eq!(place.daemon.get("/v1/models")["data"][0]["id"], "scripted");
    let embedded = place.daemon.post("/v1/embeddings", &json!({"input": "x", "model": "m"}));
    assert_eq!(embedded["data"][0]["embedding"], json!([0.5]));
    let of_anthropic = place.daemon.request("GET", "/v1/models").with("anthropic-version", "2023-06-01");
    assert_eq!(place.daemon.send(&of_anthropic).status, 200);
    let keys: Vec<_> = place.server.looked_up().iter().map(|sent| sent.header("x-api-key").is_some()).collect();
    assert_eq!(keys, [false, false, true], "each server gets its own key");
    place.home.remember(&["--layer", "identity", "The person is called Ada"]);
    let body = Wire::Messages.body(&["How long is this?"], false);
    assert_eq!(place.daemon.post("/v1/messages/count_tokens", &body)["input_tokens"], 5);
    let counted = place.server.looked_up().pop().unwrap();
    assert!(counted.body["system"].as_str().unwrap().contains("Ada"), "what is counted is what would be sent");
    assert_eq!(place.home.json(&["session", "list"])["sessions"], json!([]), "counting says nothing");
    assert_eq!(place.daemon.get("/ollama/api/tags")["models"][1]["name"], "scripted");
}

/// What the `ollama` command sends, with `OLLAMA_HOST=http://…/t/TOKEN/ollama`: it looks for a server, asks what it has,
/// loads the model, and talks.
#[test]
fn the_ollama_command_finds_its_server_by_an_address_with_the_token() {
    let place = Place::with(ModelServer::always(Step::reply("On Friday.")), "", |home| furnish(home));
    for known in ["/", "/api/version", "/api/ps", "/api/generate", "/api/delete"] {
        place.server.knows(known, json!({ "is": known }));
    }
    let bare = |method: &str, path: &str| {
        let target = format!("/t/{}/ollama{path}", place.daemon.token);
        Request::new(method, &target).with("Host", &place.daemon.host()).with("Content-Type", "application/json")
    };
    for path in ["", "/"] {
        assert_eq!(place.daemon.send(&bare("HEAD", path)).status, 200, "HEAD {path}");
        assert_eq!(place.server.looked_up().pop().unwrap().path, "/", "what it looks for is the root of its server");
    }
    for (method, path) in [("GET", "/api/version"), ("GET", "/api/ps"), ("DELETE", "/api/delete")] {
        assert_eq!(place.daemon.send(&bare(method, path)).json()["is"], path);
    }
    assert_eq!(place.daemon.send(&bare("GET", "/api/tags")).json()["models"][1]["name"], "scripted");
    let loaded = bare("POST", "/api/generate").json(&json!({ "model": "scripted", "prompt": "" }));
    assert_eq!(place.daemon.send(&loaded).json()["is"], "/api/generate");
    let asked = bare("POST", "/api/chat").json(&Wire::Ollama.body(&["When is the kestrel deploy?"], false));
    assert_eq!(place.daemon.send(&asked).header("x-throughline-memory"), Some("on"));
    let sent = String::from_utf8(place.server.requests().pop().unwrap().bytes).unwrap();
    assert!(sent.contains("The kestrel deploy is on Friday at noon"), "{sent}");
    let without = Request::new("HEAD", "/ollama/").with("Host", &place.daemon.host());
    assert_eq!(place.daemon.send(&without).status, 401, "an address without the token is refused");
}
