//! A model that uses its memory by itself, on each of the three wires.

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Request, Step, scripted};

use super::{PROVIDERS, chat, turns, with_model};

const FACT: &str = "The person deploys on Fridays at noon.";

fn write() -> String {
    json!({"action": "add", "layer": "L1", "content": FACT}).to_string()
}

fn recall(query: &str) -> String {
    json!({"query": query}).to_string()
}

/// The results that a request sends back, whichever wire it is.
fn results(provider: &str, request: &Request) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap();
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    let found: Vec<Value> = match provider {
        "anthropic" => messages.iter().flat_map(blocks).filter(|block| block["type"] == "tool_result").collect(),
        _ => messages.iter().filter(|message| message["role"] == "tool").cloned().collect(),
    };
    found.iter().map(|result| result["content"].as_str().unwrap().to_owned()).collect()
}

/// Whether the last request pairs its results with its calls as the wire wants it.
fn is_paired(provider: &str, request: &Request) -> bool {
    let messages = request.body["messages"].as_array().unwrap();
    let [.., calling, result] = messages.as_slice() else { return false };
    match provider {
        "openai" => {
            let call = &calling["tool_calls"][0];
            call["type"] == "function" && result["role"] == "tool" && result["tool_call_id"] == call["id"]
        }
        "anthropic" => {
            let (call, answer) = (&calling["content"][0], &result["content"][0]);
            let of_the_right_kind = call["type"] == "tool_use" && answer["type"] == "tool_result";
            of_the_right_kind && result["role"] == "user" && answer["tool_use_id"] == call["id"]
        }
        _ => {
            let call = &calling["tool_calls"][0]["function"];
            call["arguments"].is_object() && result["role"] == "tool" && result["tool_name"] == call["name"]
        }
    }
}

#[test]
fn a_model_writes_to_memory_and_reads_from_it() {
    for provider in PROVIDERS {
        let steps = [
            Step::call("memory_write", write()),
            Step::reply("Noted."),
            Step::calls(
                "Let me look.",
                &[("memory_recall", &recall("deploys Fridays")), ("memory_recall", &recall("zebra"))],
            ),
            Step::reply("On Fridays."),
        ];
        let server = ModelServer::scripted(steps);
        let home = with_model(provider, &server);
        let shown = chat(&home, "main", "I deploy on Fridays at noon\n\nWhen was that?\n");
        assert!(shown.contains("· memory_write: ") && shown.contains("· memory_recall: "), "{provider}: {shown}");
        assert!(shown.contains("Noted.") && shown.contains("Let me look.") && shown.contains("On Fridays."), "{shown}");
        assert_eq!(home.found(&["deploys", "noon"])[0], FACT, "{provider}");
        let requests = server.requests();
        assert_eq!(requests.len(), 4, "{provider}");
        assert!(!requests[0].body["tools"].as_array().unwrap().is_empty(), "{provider}");
        assert!(is_paired(provider, &requests[1]), "{provider}: {}", requests[1].body["messages"]);
        let found = results(provider, &requests[3]);
        assert!(found.len() == 2 && found[0].contains(FACT) && !found[1].contains(FACT), "{provider}: {found:?}");
        // What was called in the first exchange is not sent in the second.
        assert_eq!(results(provider, &requests[2]), [""; 0], "{provider}");
        let sent = requests[2].body["messages"].to_string();
        assert!(!sent.contains("memory_write("), "{provider}: {sent}");
        let kept = turns(&home, "main");
        let roles: Vec<&str> = kept.iter().map(|(role, _)| role.as_str()).collect();
        let expected = ["user", "tool", "assistant", "user", "assistant", "tool", "tool", "assistant"];
        assert_eq!(roles, expected, "{provider}");
        assert!(kept[1].1.starts_with("memory_write: created "), "{provider}: {:?}", kept[1]);
    }
}

#[test]
fn what_a_model_calls_wrongly_is_answered_and_the_conversation_goes_on() {
    for provider in PROVIDERS {
        let steps = [
            Step::calls("", &[("memory_write", "{\"action\": add"), ("no_such_tool", "{}")]),
            Step::reply("I was wrong."),
        ];
        let server = ModelServer::scripted(steps);
        let home = with_model(provider, &server);
        let shown = chat(&home, "main", "Go on\n");
        assert!(shown.contains("memory_write could not") && shown.contains("I was wrong."), "{provider}: {shown}");
        let answers = results(provider, &server.requests()[1]);
        assert_eq!(answers.len(), 2, "{provider}");
        assert!(answers.iter().all(|answer| answer.contains("\"error\"")), "{provider}: {answers:?}");
    }
}

#[test]
fn a_model_that_calls_for_ever_is_stopped() {
    for provider in PROVIDERS {
        let server = ModelServer::always(Step::call("memory_recall", recall("tea")));
        let home = with_model(provider, &server);
        let shown = chat(&home, "main", "Go on\n/quit\n");
        assert!(shown.contains("does not come to an end"), "{provider}: {shown}");
        assert_eq!(server.requests().len(), 8, "{provider}");
        assert_eq!(results(provider, &server.requests()[7]).len(), 7, "{provider}");
    }
}

#[test]
fn half_a_call_is_never_run() {
    for provider in PROVIDERS {
        let half = scripted(&[("memory_write", &write())]);
        let steps = [Step::CutOffInCall(half.clone()), Step::ResetInCall(half), Step::reply("Here I am.")];
        let server = ModelServer::scripted(steps);
        let home = with_model(provider, &server);
        let shown = chat(&home, "main", "one\ntwo\n");
        assert!(shown.contains("Here I am."), "{provider}: {shown}");
        assert!(turns(&home, "main").iter().all(|(role, _)| role != "tool"), "{provider}");
    }
}

#[test]
fn a_model_without_tools_is_talked_to_without_them() {
    for provider in PROVIDERS {
        let refused = Step::fail(400, "tiny:1b does not support tools");
        let server = ModelServer::scripted([refused, Step::reply("Hello."), Step::reply("Bye.")]);
        let home = with_model(provider, &server);
        let shown = chat(&home, "main", "hello\nbye\n");
        assert!(shown.contains("Hello.") && shown.contains("Bye."), "{provider}: {shown}");
        let offered: Vec<bool> = server.requests().iter().map(|r| !r.body["tools"].is_null()).collect();
        assert_eq!(offered, [true, false, false], "{provider}");
    }
}

#[test]
fn a_memory_that_is_off_offers_nothing() {
    let server = ModelServer::scripted([Step::reply("Hello.")]);
    let home = with_model("openai", &server);
    home.put("config.toml", &home.text("config.toml").replace("[memory]\n", "[memory]\nenabled = false\n"));
    home.run_with(&["chat", "--session", "main"], "hello\n");
    assert_eq!(server.requests()[0].body["tools"], Value::Null);
}

#[test]
fn programs_get_json_and_nothing_else() {
    let server = ModelServer::scripted([Step::call("memory_write", write()), Step::reply("Noted.")]);
    let home = with_model("openai", &server);
    let ran = home.run_with(&["chat", "--json", "--session", "main"], "I deploy on Fridays\n/help\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap(), json!({"session": "cli:main"}));
    for shown in ["openai · scripted", "· memory_write: ", "Noted.", "/memory WORDS"] {
        assert!(ran.stderr.contains(shown), "no {shown:?} in {ran:?}");
    }
    super::until_quiet(&home);
}

#[test]
fn the_window_is_what_the_model_says() {
    let server = ModelServer::always(Step::reply("Yes."));
    server.knows("/models", json!({"data": [{"id": "scripted", "context_length": 8192}]}));
    let home = with_model("openai", &server);
    let long = "the tea is hot ".repeat(600);
    let shown = chat(&home, "main", &format!("{long}\n{long}\n{long}\n"));
    assert!(shown.contains("did not fit and stay in memory"), "{shown}");
    assert_eq!(server.looked_up().len(), 1);
}

#[test]
fn a_model_that_fails_is_left_alone_by_the_next_process_too() {
    let server = ModelServer::always(Step::fail(500, "oh"));
    let home = with_model("openai", &server);
    chat(&home, "main", "one\ntwo\n");
    let tried = server.requests().len();
    assert_eq!(tried, 5);
    let shown = chat(&home, "main", "three\n");
    assert!(shown.contains("left alone for now"), "{shown}");
    assert_eq!(server.requests().len(), tried);
}
