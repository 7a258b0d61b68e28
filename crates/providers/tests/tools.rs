//! Tools on each of the three wires: what is offered, what comes back, and what is sent of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use common::{all, chat, kind, run, settings, tool, with_tools};
use serde_json::{Value, json};
use throughline_core::model::Role;
use throughline_core::ports::{Brief, Message, Reply, ToolCall};
use throughline_providers::{Anthropic, Ollama, OpenAi};
use throughline_testkit::model_server::{ModelServer, Step, scripted};

fn said(text: &str) -> Message {
    Message::said(Role::User, text)
}

fn asked() -> Brief {
    with_tools(vec![said("Note tea and milk")])
}

/// The calls of a reply, without their ids.
fn calls(reply: &Reply) -> Vec<(&str, &str)> {
    reply.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
}

#[test]
fn each_wire_offers_tools_in_its_own_way() {
    let server = ModelServer::always(Step::reply("Fine."));
    for (_, model) in all(&settings(&server)) {
        run(&*model, &asked()).0.unwrap();
        run(&*model, &chat()).0.unwrap();
    }
    let (name, description, parameters) = (tool().name, tool().description, tool().parameters);
    let function = json!([{"type": "function", "function":
        {"name": name, "description": description, "parameters": parameters}}]);
    let own = json!([{"name": name, "description": description, "input_schema": parameters}]);
    let sent: Vec<Value> = server.requests().iter().map(|request| request.body["tools"].clone()).collect();
    assert_eq!(sent, [function.clone(), Value::Null, own, Value::Null, function, Value::Null]);
}

#[test]
fn calls_are_gathered_from_their_fragments_with_the_text_before_them() {
    let (tea, milk) = (r#"{"text":"tea, 茶, \"hot\""}"#, r#"{"text":"milk"}"#);
    for text in ["", "I will note both."] {
        let server = ModelServer::always(Step::calls(text, &[("note", tea), ("note", milk)]));
        for (name, model) in all(&settings(&server)) {
            let (result, pieces) = run(&*model, &asked());
            let reply = result.unwrap();
            assert_eq!((reply.text.as_str(), pieces.concat().as_str()), (text, text), "{name}");
            assert_eq!(calls(&reply), [("note", tea), ("note", milk)], "{name}");
            assert!(reply.calls[0].id != reply.calls[1].id && !reply.calls[0].id.is_empty(), "{name}: {reply:?}");
        }
    }
}

#[test]
fn what_a_model_writes_wrongly_is_passed_on_as_it_is() {
    let server = ModelServer::always(Step::calls("", &[("note", "{\"text\": tea"), ("no_such_tool", "")]));
    for (name, model) in all(&settings(&server)) {
        let reply = run(&*model, &asked()).0.unwrap();
        assert_eq!(calls(&reply)[0], ("note", "{\"text\": tea"), "{name}");
        assert_eq!(calls(&reply)[1].0, "no_such_tool", "{name}");
    }
}

/// A conversation with a round of calls, the second of which was written wrongly.
fn round(reply: &Reply) -> Brief {
    let mut messages = vec![said("Note tea and milk")];
    messages.push(Message { calls: reply.calls.clone(), ..Message::said(Role::Assistant, reply.text.clone()) });
    for (call, result) in reply.calls.iter().zip(["stored", "cannot be read"]) {
        messages.push(Message { answers: Some(call.id.clone()), ..Message::said(Role::Tool, result) });
    }
    messages.push(said("And?"));
    with_tools(messages)
}

#[test]
fn results_go_back_in_the_form_of_each_wire() {
    let first = Step::calls("Well.", &[("note", r#"{"text":"tea"}"#), ("note", "{\"text\": milk")]);
    let server = ModelServer::scripted([]);
    for (_, model) in all(&settings(&server)) {
        server.then(first.clone());
        server.then(Step::reply("Done."));
        let reply = run(&*model, &asked()).0.unwrap();
        assert_eq!(run(&*model, &round(&reply)).0.unwrap().text, "Done.");
    }
    let messages: Vec<Value> =
        server.requests().iter().skip(1).step_by(2).map(|request| request.body["messages"].clone()).collect();
    let call = |id: &str, arguments: &str| {
        json!({"id": id, "type": "function", "function":
        {"name": "note", "arguments": arguments}})
    };
    let openai = json!([
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "Note tea and milk"},
        {"role": "assistant", "content": "Well.", "tool_calls": [call("call_1_0", r#"{"text":"tea"}"#), call("call_1_1", "{}")]},
        {"role": "tool", "tool_call_id": "call_1_0", "content": "stored"},
        {"role": "tool", "tool_call_id": "call_1_1", "content": "cannot be read"},
        {"role": "user", "content": "And?"},
    ]);
    let anthropic = json!([
        {"role": "user", "content": "Note tea and milk"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "Well."},
            {"type": "tool_use", "id": "toolu_3_0", "name": "note", "input": {"text": "tea"}},
            {"type": "tool_use", "id": "toolu_3_1", "name": "note", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_3_0", "content": "stored"},
            {"type": "tool_result", "tool_use_id": "toolu_3_1", "content": "cannot be read"},
            {"type": "text", "text": "And?"},
        ]},
    ]);
    let ollama = json!([
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "Note tea and milk"},
        {"role": "assistant", "content": "Well.", "tool_calls": [
            {"function": {"name": "note", "arguments": {"text": "tea"}}},
            {"function": {"name": "note", "arguments": {}}},
        ]},
        {"role": "tool", "tool_name": "note", "content": "stored"},
        {"role": "tool", "tool_name": "note", "content": "cannot be read"},
        {"role": "user", "content": "And?"},
    ]);
    assert_eq!(messages, [openai, anthropic, ollama]);
}

#[test]
fn a_call_without_a_result_is_never_sent() {
    let server = ModelServer::always(Step::reply("Fine."));
    let call = ToolCall { id: "lost".to_owned(), name: "note".to_owned(), arguments: "{}".to_owned() };
    let result = Message { answers: Some("found".to_owned()), ..Message::said(Role::Tool, "stored") };
    let calling = Message { calls: vec![call], ..Message::said(Role::Assistant, "") };
    for (name, model) in all(&settings(&server)) {
        run(&*model, &with_tools(vec![said("Hello"), calling.clone(), result.clone(), said("So?")])).0.unwrap();
        let sent = server.requests().last().unwrap().body["messages"].to_string();
        assert!(!sent.contains("lost") && !sent.contains("found") && !sent.contains("stored"), "{name}: {sent}");
        assert!(sent.contains("Hello\\n\\nSo?"), "{name}: {sent}");
    }
}

#[test]
fn half_a_call_is_no_call() {
    let half = scripted(&[("note", r#"{"text":"tea"}"#), ("note", r#"{"text":"milk"}"#)]);
    let server = ModelServer::scripted([]);
    for (name, model) in all(&settings(&server)) {
        server.then(Step::ResetInCall(half.clone()));
        assert_eq!(kind(&run(&*model, &asked()).0), "malformed", "{name}");
        server.then(Step::CutOffInCall(half.clone()));
        let (result, _) = run(&*model, &asked());
        assert_eq!(kind(&result), "cut off", "{name}");
        assert_eq!(result.unwrap().calls, [], "{name}");
    }
    // A goodbye without a reason, in the middle of the arguments.
    let stream = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":\
        {\"name\":\"note\",\"arguments\":\"{\\\"te\"}}]}}]}\n\ndata: [DONE]\n\n";
    server.then(Step::Malformed(stream.as_bytes().to_vec()));
    let model = OpenAi::new(settings(&server)).unwrap();
    assert_eq!(kind(&run(&model, &asked()).0), "malformed");
}

#[test]
fn calls_are_bounded() {
    let many: Vec<(&str, &str)> = vec![("note", "{}"); 17];
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(70_000));
    for step in [Step::calls("", &many), Step::call("note", &long)] {
        let server = ModelServer::always(step);
        for (name, model) in all(&settings(&server)) {
            assert_eq!(kind(&run(&*model, &asked()).0), "malformed", "{name}");
        }
    }
}

#[test]
fn nobody_is_asked_to_call_what_was_not_offered() {
    let server = ModelServer::always(Step::call("note", "{}"));
    for (name, model) in all(&settings(&server)) {
        assert_eq!(kind(&run(&*model, &chat()).0), "malformed", "{name}: no words and no calls");
    }
}

#[test]
fn a_server_without_tools_is_asked_without_them_once_and_for_good() {
    let refusals = [
        (400, "registry.ollama.ai/library/tiny:1b does not support tools"),
        (404, "No endpoints found that support tool use."),
        (400, "\"auto\" tool choice requires --enable-auto-tool-choice"),
        (500, "tools param requires --jinja flag"),
    ];
    for (status, why) in refusals {
        for place in 0..3 {
            let steps = [Step::fail(status, why), Step::reply("Fine."), Step::reply("Fine.")];
            let server = ModelServer::scripted(steps);
            let (name, model) = all(&settings(&server))[place].clone();
            assert_eq!(run(&*model, &asked()).0.unwrap().text, "Fine.", "{name}, {why}");
            run(&*model, &asked()).0.unwrap();
            let offered: Vec<bool> = server.requests().iter().map(|r| !r.body["tools"].is_null()).collect();
            assert_eq!(offered, [true, false, false], "{name}, {why}");
        }
    }
    for (status, why) in [(404, "no such model"), (400, "too long"), (500, "a tool broke")] {
        let server = ModelServer::always(Step::fail(status, why));
        for (name, model) in all(&settings(&server)) {
            assert_eq!(kind(&run(&*model, &asked()).0), format!("refused {status}"), "{name}");
        }
        assert_eq!(server.requests().len(), 3, "{why}: nothing to leave out");
    }
}

#[test]
fn whole_replies_and_odd_servers_are_understood() {
    let function = |text: &str| json!({"function": {"name": "note", "arguments": text}});
    let whole = json!({"choices": [{"message": {"content": null, "tool_calls": [function("{}"), function("")]},
        "finish_reason": "tool_calls"}]});
    let server = ModelServer::scripted([Step::Fail { status: 200, body: whole.to_string(), headers: Vec::new() }]);
    let reply = run(&OpenAi::new(settings(&server)).unwrap(), &asked()).0.unwrap();
    assert_eq!(calls(&reply), [("note", "{}"), ("note", "{}")]);
    assert_eq!([&reply.calls[0].id, &reply.calls[1].id], ["call_1", "call_2"], "made up, each time the same");
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "note", "input": {"text": "tea"}});
    let whole =
        json!({"type": "message", "content": [{"type": "text", "text": "Well."}, block], "stop_reason": "tool_use"});
    server.then(Step::Fail { status: 200, body: whole.to_string(), headers: Vec::new() });
    let reply = run(&Anthropic::new(settings(&server)).unwrap(), &asked()).0.unwrap();
    assert_eq!((reply.text.as_str(), calls(&reply)), ("Well.", vec![("note", r#"{"text":"tea"}"#)]));
}

#[test]
fn a_window_is_found_where_the_server_tells_it_and_asked_for_once() {
    let list = json!({"data": [{"id": "other", "context_length": 1}, {"id": "scripted", "max_model_len": 16_384}]});
    let shown = json!({"model_info": {"llama.context_length": 8192}, "parameters": "num_ctx 6000"});
    let answers = [
        ("/models", list, Some(16_384)),
        ("/v1/models/scripted", json!({"id": "scripted", "max_input_tokens": 200_000}), Some(200_000)),
        ("/api/show", shown, Some(6000)),
    ];
    for (place, (path, answer, expected)) in answers.into_iter().enumerate() {
        let server = ModelServer::scripted([]);
        let model = all(&settings(&server))[place].1.clone();
        assert_eq!((model.context_window(), model.context_window()), (None, None), "{path}: nothing is known");
        server.knows(path, answer);
        assert_eq!(model.context_window(), None, "{path}: asked once");
        assert_eq!(all(&settings(&server))[place].1.context_window(), expected, "{path}");
        let looked_up: Vec<String> = server.looked_up().into_iter().map(|request| request.path).collect();
        assert_eq!((looked_up, server.requests().len()), (vec![path.to_owned(); 2], 0));
    }
}

#[test]
fn ollama_is_asked_for_no_more_context_than_there_is() {
    let asked = |shown: Value| {
        let server = ModelServer::always(Step::reply("Fine."));
        server.knows("/api/show", shown);
        let model = Ollama::new(settings(&server)).unwrap();
        for words in [10, 8_000, 100_000] {
            let messages = vec![said(&"tea ".repeat(words))];
            run(&model, &Brief::Chat { system: String::new(), messages, tools: Vec::new() }).0.unwrap();
        }
        assert_eq!(server.looked_up().len(), 1);
        let requests = server.requests();
        requests.iter().map(|request| request.body["options"]["num_ctx"].as_u64()).collect::<Vec<_>>()
    };
    let trained = |length: u32| json!({"model_info": {"llama.context_length": length}});
    assert_eq!(asked(trained(131_072)), [None, Some(16_384), Some(32_768)]);
    assert_eq!(asked(trained(8192)), [None, Some(8192), Some(8192)]);
    assert_eq!(asked(trained(2048)), [None, None, None]);
    assert_eq!(asked(json!({"parameters": "num_ctx 65536"})), [None, None, None], "the person's own choice");
}
