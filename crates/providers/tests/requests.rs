//! What is sent, and what comes back when all goes well.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::process::Command;

use common::{KEY, all, chat, extraction, kind, run, settings, summary};
use serde_json::{Value, json};
use throughline_core::model::Role;
use throughline_core::ports::{Brief, Message, Reply};
use throughline_providers::{HttpSettings, Ollama, OpenAi, Secret, ollama_models};
use throughline_testkit::model_server::{ModelServer, Step};

/// The fields of a request's body, without the messages.
fn fields(body: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().retain(|name, _| !["messages", "system"].contains(&name.as_str()));
    body
}

#[test]
fn each_wire_asks_in_its_own_way() {
    let expected = [
        ("/chat/completions", json!({"model": "scripted", "stream": true, "stream_options": {"include_usage": true}})),
        ("/v1/messages", json!({"model": "scripted", "stream": true, "max_tokens": 4096})),
        ("/api/chat", json!({"model": "scripted", "stream": true})),
    ];
    let server = ModelServer::always(Step::reply("Fine."));
    for (name, model) in all(&settings(&server)) {
        assert_eq!((model.provider(), model.name(), model.can_chat()), (name, "scripted", true));
        run(&*model, &chat()).0.unwrap();
    }
    let said = json!([
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi!"},
        {"role": "user", "content": "How are you?"},
    ]);
    for (request, (path, body)) in server.requests().iter().zip(expected) {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", path));
        assert_eq!(fields(&request.body), body);
        let mut messages = request.body["messages"].as_array().unwrap().clone();
        let system = match path {
            "/v1/messages" => request.body["system"][0]["text"].clone(),
            _ => messages.remove(0)["content"].clone(),
        };
        assert_eq!((system, Value::from(messages)), (json!("You are kind."), said.clone()));
    }
}

/// The environment belongs to a process: the test runs once more in one that has proxies.
#[test]
fn no_proxy_is_asked_for_this_machine() {
    let nobody = "http://127.0.0.1:1";
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"];
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "each_wire_asks_in_its_own_way"])
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .envs(names.map(|name| (name, nobody)))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && printed.contains("1 passed"), "{printed}");
}

#[test]
fn tasks_are_limited_and_ask_for_json_as_each_wire_can() {
    let server = ModelServer::always(Step::reply("{\"facts\": []}"));
    for (_, model) in all(&settings(&server)) {
        run(&*model, &summary()).0.unwrap();
        run(&*model, &extraction()).0.unwrap();
    }
    let bodies: Vec<Value> = server.requests().iter().map(|request| request.body.clone()).collect();
    let limits =
        [&bodies[0]["max_tokens"], &bodies[2]["max_tokens"], &bodies[4]["options"]["num_predict"]].map(Value::as_u64);
    assert_eq!(limits, [Some(600); 3]);
    assert_eq!(bodies[1]["response_format"], json!({"type": "json_object"}));
    assert_eq!(bodies[5]["format"], "json");
    for body in [&bodies[0], &bodies[4]] {
        assert_eq!((&body["response_format"], &body["format"]), (&Value::Null, &Value::Null));
    }
    assert!(bodies[0]["messages"][1]["content"].as_str().unwrap().contains("The person likes tea."));
}

#[test]
fn the_reply_is_whole_and_its_pieces_arrive_in_order() {
    let text = "All is well. 一切都好。🙂\n- \"quoted\"\\";
    let server = ModelServer::always(Step::reply(text));
    for (name, model) in all(&settings(&server)) {
        for brief in [chat(), summary(), extraction()] {
            let (result, pieces) = run(&*model, &brief);
            let expected = Reply { tokens_in: 25, tokens_out: 7, ..Reply::said(text) };
            assert_eq!(result.unwrap(), expected, "{name}");
            assert!(pieces.len() > 3, "{name} streams");
            assert_eq!(pieces.concat(), text, "{name}");
        }
    }
}

#[test]
fn tokens_are_estimated_where_the_server_does_not_count() {
    let stream = b"data: {\"choices\":[{\"delta\":{\"content\":\"All is well.\"},\"finish_reason\":\"stop\"}]}\r\n\r\n";
    let server = ModelServer::always(Step::Malformed(stream.to_vec()));
    let reply = run(&OpenAi::new(settings(&server)).unwrap(), &chat()).0.unwrap();
    assert_eq!((reply.text.as_str(), reply.tokens_in, reply.tokens_out), ("All is well.", 4 + 2 + 1 + 3, 3));
}

#[test]
fn a_reader_is_spared_the_thoughts_and_the_engine_is_not() {
    let server = ModelServer::always(Step::ReasoningTags("All is well.".into()));
    for (name, model) in all(&settings(&server)) {
        let (result, pieces) = run(&*model, &chat());
        assert_eq!((result.unwrap().text, pieces.concat()), ("All is well.".into(), "All is well.".into()), "{name}");
        assert!(run(&*model, &summary()).0.unwrap().text.starts_with("<think>"), "{name}");
    }
}

#[test]
fn the_key_is_sent_as_each_wire_wants_it_and_not_at_all_without_one() {
    let server = ModelServer::always(Step::reply("Fine."));
    for (_, model) in all(&settings(&server)) {
        run(&*model, &chat()).0.unwrap();
    }
    for key in [None, Some(Secret::new(" "))] {
        for (_, model) in all(&HttpSettings { key, ..settings(&server) }) {
            run(&*model, &chat()).0.unwrap();
        }
    }
    let requests = server.requests();
    let bearer = format!("Bearer {KEY}");
    let sent: Vec<_> = requests.iter().map(|r| (r.header("authorization"), r.header("x-api-key"))).collect();
    let with_key = [(Some(bearer.as_str()), None), (None, Some(KEY)), (Some(bearer.as_str()), None)];
    assert_eq!(sent, [&with_key[..], &[(None, None); 6]].concat());
    assert_eq!(requests[1].header("anthropic-version"), Some("2023-06-01"));
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = ModelServer::always(Step::reply("Fine."));
    for status in [301, 302, 307, 308] {
        let headers = vec![("Location".to_owned(), format!("{}/chat/completions", elsewhere.url()))];
        let server = ModelServer::always(Step::Fail { status, body: String::new(), headers });
        for (name, model) in all(&settings(&server)) {
            assert_eq!(kind(&run(&*model, &chat()).0), format!("refused {status}"), "{name}");
        }
    }
    assert_eq!(elsewhere.requests(), []);
}

#[test]
fn extraction_falls_back_once_without_json_and_remembers_it() {
    let facts = "{\"facts\": []}";
    for (place, field, expected) in [(0, "response_format", 2), (1, "", 1), (2, "format", 2)] {
        let server = ModelServer::scripted([Step::fail(400, "no JSON mode here"), Step::reply(facts)]);
        let (name, model) = all(&settings(&server))[place].clone();
        let (result, _) = run(&*model, &extraction());
        assert_eq!(server.requests().len(), expected, "{name}");
        if expected == 1 {
            assert_eq!(kind(&result), "refused 400", "{name} has nothing to leave out");
            continue;
        }
        assert_eq!(result.unwrap().text, facts);
        server.then(Step::reply(facts));
        run(&*model, &extraction()).0.unwrap();
        let asked: Vec<bool> = server.requests().iter().map(|request| !request.body[field].is_null()).collect();
        assert_eq!(asked, [true, false, false], "{name}");
    }
}

#[test]
fn a_bad_request_that_stays_bad_is_not_repeated_for_ever() {
    for (place, expected) in [(0, 3), (1, 1), (2, 2)] {
        let server = ModelServer::always(Step::fail(400, "max_tokens, stream_options: all wrong"));
        let (name, model) = all(&settings(&server))[place].clone();
        assert_eq!(kind(&run(&*model, &extraction()).0), "refused 400");
        assert_eq!(server.requests().len(), expected, "{name}");
    }
}

#[test]
fn the_limit_has_two_names() {
    let unsupported = r#"{"error":{"message":"Unsupported parameter.","param":"max_tokens"}}"#;
    let fail = Step::Fail { status: 400, body: unsupported.to_owned(), headers: Vec::new() };
    let server = ModelServer::scripted([fail, Step::reply("## Topics"), Step::reply("## Topics")]);
    let model = OpenAi::new(settings(&server)).unwrap();
    run(&model, &summary()).0.unwrap();
    run(&model, &summary()).0.unwrap();
    let requests = server.requests();
    let sent = requests.iter().map(|request| &request.body);
    let sent: Vec<_> = sent.map(|body| (body["max_tokens"].as_u64(), body["max_completion_tokens"].as_u64())).collect();
    assert_eq!(sent, [(Some(600), None), (None, Some(600 + 4096)), (None, Some(600 + 4096))]);
}

#[test]
fn a_running_ollama_says_what_it_can_talk_with() {
    let server = ModelServer::scripted([]);
    assert_eq!(ollama_models(Some(&server.url())), ["scripted"]);
    let host = server.url().replace("http://", "");
    assert_eq!(ollama_models(Some(&host)), ["scripted"], "as in OLLAMA_HOST");
    drop(server);
    assert_eq!(ollama_models(Some(&host)), [""; 0]);
    assert_eq!(ollama_models(Some("not a host")), [""; 0]);
}

#[test]
fn a_long_prompt_asks_ollama_for_a_larger_context() {
    let server = ModelServer::always(Step::reply("Fine."));
    let model = Ollama::new(settings(&server)).unwrap();
    for words in [10, 8_000, 1_000_000] {
        let system = "tea ".repeat(words);
        let messages = vec![Message::said(Role::User, "Hello")];
        run(&model, &Brief::Chat { system, messages, tools: Vec::new() }).0.unwrap();
    }
    let asked: Vec<_> = server.requests().iter().map(|request| request.body["options"]["num_ctx"].as_u64()).collect();
    assert_eq!(asked, [None, Some(16_384), Some(32_768)]);
}
