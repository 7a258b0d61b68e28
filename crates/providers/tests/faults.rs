//! Everything that a server can do wrong, on each of the three wires: what it is called, and that it is asked once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::time::Duration;

use common::{KEY, all, chat, extraction, impatient, kind, run, settings, summary};
use throughline_core::ports::ModelError;
use throughline_providers::{HttpSettings, OpenAi, Timeouts};
use throughline_testkit::model_server::{ModelServer, Step};

fn pieces(text: &[&str]) -> Vec<String> {
    text.iter().map(|piece| (*piece).to_owned()).collect()
}

/// Does each task on each wire; `expected` stands for OpenAI, Anthropic and Ollama.
fn check_with(make: fn(&ModelServer) -> HttpSettings, step: &Step, expected: [&str; 3]) {
    for (place, expected) in expected.into_iter().enumerate() {
        for task in [summary(), extraction(), chat()] {
            let server = ModelServer::scripted([step.clone()]);
            let (name, model) = all(&make(&server))[place].clone();
            let (result, _) = run(&*model, &task);
            assert_eq!(kind(&result), expected, "{name}, {:?}, {step:?}: {result:?}", task.purpose());
            let hangs = matches!(step, Step::Hang | Step::HangAfter(_) | Step::HangAtEnd(_));
            assert!(!hangs || server.wait_for_hung_up(1), "{name} closes the connection");
            assert_eq!(server.requests().len(), 1, "{name}, {step:?}");
        }
    }
}

fn check(step: &Step, expected: &str) {
    check_with(settings, step, [expected; 3]);
}

#[test]
fn good_replies_are_complete() {
    check(&Step::reply("All is well. 一切都好。🙂"), "complete");
    check(&Step::ReplyIn(pieces(&["a", "", "b"])), "complete");
    check(&Step::ReasoningTags("All is well.".into()), "complete");
}

#[test]
fn a_reply_that_ran_out_of_room_says_so() {
    check(&Step::CutOff("All is".into()), "cut off");
}

#[test]
fn a_refusal_is_no_reply_where_the_wire_can_say_it() {
    check_with(settings, &Step::Refusal, ["filtered", "filtered", "complete"]);
}

#[test]
fn errors_keep_their_status() {
    for status in [401, 403, 404, 413, 429, 500, 502, 503, 529] {
        check(&Step::fail(status, &format!("not with {KEY}")), &format!("refused {status}"));
    }
    let body = format!("{}{KEY}", "x".repeat(2048 - 10));
    check(&Step::Fail { status: 500, body, headers: Vec::new() }, "refused 500");
    let page = format!("<html>{}", "<p>Bad gateway".repeat(100_000));
    check(&Step::Fail { status: 502, body: page, headers: Vec::new() }, "refused 502");
}

#[test]
fn errors_in_the_middle_of_a_stream_are_errors() {
    let step = Step::ErrorInStream(pieces(&["All", " is"]));
    check_with(settings, &step, ["refused 502", "refused 529", "refused 500"]);
}

#[test]
fn what_is_not_a_reply_is_malformed() {
    check(&Step::Empty, "malformed");
    check(&Step::Html, "malformed");
    check(&Step::WrongContentType("All is well.".into()), "malformed");
    for bytes in
        [&b""[..], b"\n\n", b"data: {\n\n{\n", b"data: [1]\n\n[1]\n", b"\xff\xfe\x00\n", b"data: null\n\nnull\n"]
    {
        check(&Step::Malformed(bytes.to_vec()), "malformed");
    }
}

#[test]
fn a_reply_that_breaks_off_is_malformed() {
    check(&Step::ResetAfter(pieces(&["All", " is"])), "malformed");
    check(&Step::ResetAfter(Vec::new()), "malformed");
    for stream in [
        r#"data: {"choices":[{"delta":{"content":"All is"}}]}"#,
        r#"data: {"type":"content_block_delta","delta":{"text":"All is"}}"#,
        r#"{"message":{"content":"All is"},"done":false}"#,
    ] {
        check(&Step::Malformed(format!("{stream}\n\n").into_bytes()), "malformed");
    }
}

#[test]
fn a_reply_has_at_most_a_mebibyte() {
    check(&Step::Huge(900_000), "complete");
    check(&Step::Huge(3_000_000), "malformed");
}

#[test]
fn silence_is_timed_out() {
    check_with(impatient, &Step::Hang, ["timed out"; 3]);
    check_with(impatient, &Step::HangAfter(pieces(&["All", " is"])), ["timed out"; 3]);
}

#[test]
fn a_reply_that_is_all_there_needs_no_goodbye() {
    check_with(settings, &Step::HangAtEnd("All is well.".into()), ["complete"; 3]);
}

#[test]
fn the_whole_has_a_limit_of_its_own() {
    fn hurried(server: &ModelServer) -> HttpSettings {
        let timeouts = Timeouts { whole: Duration::from_millis(120), ..settings(server).timeouts };
        HttpSettings { timeouts, ..settings(server) }
    }
    check_with(hurried, &Step::HangAfter(pieces(&["All", " is"])), ["timed out"; 3]);
}

#[test]
fn a_server_without_tls_is_not_spoken_to_in_plain_text() {
    let server = ModelServer::always(Step::reply("Fine."));
    let base_url = Some(server.url().replace("http://", "https://"));
    for (name, model) in all(&HttpSettings { base_url, ..settings(&server) }) {
        assert_eq!(kind(&run(&*model, &chat()).0), "unreachable", "{name}");
    }
    assert_eq!(server.requests(), []);
}

#[test]
fn a_server_that_hangs_up_or_is_not_there_is_unreachable() {
    check(&Step::Drop, "unreachable");
    let server = ModelServer::scripted([]);
    let settings = settings(&server);
    drop(server);
    for (name, model) in all(&settings) {
        let (result, _) = run(&*model, &chat());
        assert_eq!(kind(&result), "unreachable", "{name}");
        let url = settings.base_url.as_deref().unwrap();
        assert!(matches!(result, Err(ModelError::Unreachable { why, .. }) if why.contains(url)), "it says where");
    }
}

#[test]
fn retry_after_is_kept() {
    let date = ("Date".to_owned(), "Sun, 01 Mar 2026 12:00:00 GMT".to_owned());
    let until = ("Retry-After".to_owned(), "Sun, 01 Mar 2026 12:00:20 GMT".to_owned());
    let dated = Step::Fail { status: 503, body: String::new(), headers: vec![date, until] };
    for (step, expected) in [(Step::busy("7"), Some(7)), (dated, Some(20)), (Step::fail(429, "slow down"), None)] {
        let server = ModelServer::always(step);
        for (name, model) in all(&settings(&server)) {
            match run(&*model, &chat()).0 {
                Err(ModelError::Refused { retry_after, .. }) => {
                    assert_eq!(retry_after.map(|wait| wait.as_secs()), expected, "{name}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn a_server_that_does_not_stream_is_understood() {
    let whole = r#"{"choices":[{"message":{"content":"All is well."},"finish_reason":"stop"}]}"#;
    let step = Step::Fail { status: 200, body: whole.to_owned(), headers: Vec::new() };
    let server = ModelServer::scripted([step]);
    let model = OpenAi::new(settings(&server)).unwrap();
    assert_eq!(run(&model, &chat()).0.unwrap().text, "All is well.");
}

#[test]
fn settings_that_cannot_work_are_refused_without_showing_them() {
    let server = ModelServer::scripted([]);
    let bad_key = HttpSettings { key: Some(throughline_providers::Secret::new("a\nb")), ..settings(&server) };
    let error = OpenAi::new(bad_key).unwrap_err();
    assert_eq!(error.to_string(), "the key of openai has characters that no key has");
    let bad_url = HttpSettings { base_url: Some(format!("ftp://me:{KEY}@x")), ..settings(&server) };
    let error = OpenAi::new(bad_url).unwrap_err();
    assert!(!format!("{error} {error:?} {}", error.hint()).contains(KEY));
}
