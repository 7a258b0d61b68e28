//! The model of a connected client, with a stand-in for the client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{chat, extraction, run, summary};
use throughline_core::ports::{
    Clock, Cost, Finish, Model, ModelError, SAMPLING, SamplingClient, SamplingReply, SamplingRequest,
};
use throughline_providers::{Careful, SAMPLING_POLICY, SAMPLING_TIMEOUT, SamplingModel, ThreadPause};
use throughline_testkit::FixedClock;

/// Answers as it is told, and remembers what it was asked.
struct Client {
    answer: Result<SamplingReply, ModelError>,
    asked: Mutex<Vec<SamplingRequest>>,
}

impl SamplingClient for Client {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn is_connected(&self) -> bool {
        true
    }

    fn sample(&self, request: &SamplingRequest, _: &mut dyn FnMut() -> bool) -> Result<SamplingReply, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        self.answer.clone()
    }
}

fn saying(text: &str) -> Result<SamplingReply, ModelError> {
    Ok(SamplingReply { text: text.to_owned(), finish: Finish::Complete })
}

fn client(answer: Result<SamplingReply, ModelError>) -> Arc<Client> {
    Arc::new(Client { answer, asked: Mutex::default() })
}

fn model(client: &Arc<Client>) -> SamplingModel {
    SamplingModel::new(Arc::clone(client) as Arc<dyn SamplingClient>, Some("small".to_owned()), SAMPLING_TIMEOUT)
}

#[test]
fn the_prompt_is_one_message_and_tokens_are_estimated() {
    let client = client(saying("## Working on\n- The launch"));
    let model = model(&client);
    assert_eq!((model.provider(), model.name(), model.cost()), (SAMPLING, "stand-in", Cost::Tokens));
    let reply = run(&model, &summary()).0.unwrap();
    assert_eq!(reply.text, "## Working on\n- The launch");
    assert!(reply.tokens_in > 50 && reply.tokens_out > 3, "{reply:?}");
    run(&model, &extraction()).0.unwrap();
    let asked = client.asked.lock().unwrap();
    for (request, task) in asked.iter().zip(["Task: summary", "Task: extraction"]) {
        assert!(request.prompt.starts_with(task), "{}", request.prompt);
        assert_eq!((request.model.as_deref(), request.timeout), (Some("small"), SAMPLING_TIMEOUT));
        assert!(request.max_tokens > 100, "{request:?}");
    }
}

#[test]
fn what_is_too_long_or_empty_is_no_reply() {
    for (text, why) in [("x".repeat((1 << 20) + 1), "longer than 1024 KB"), (" \n".to_owned(), "empty")] {
        let error = run(&model(&client(saying(&text))), &summary()).0.unwrap_err();
        assert!(matches!(&error, ModelError::Malformed { .. }) && error.to_string().contains(why), "{error}");
    }
}

#[test]
fn a_chat_is_not_sent() {
    let client = client(saying("Hello"));
    assert_eq!(run(&model(&client), &chat()).0, Err(ModelError::CannotChat));
    assert!(!model(&client).can_chat() && client.asked.lock().unwrap().is_empty());
}

#[test]
fn a_client_that_declines_is_asked_once_each_time_and_rests_after_two() {
    let client = client(Err(ModelError::Declined { provider: SAMPLING, why: "no".to_owned() }));
    let clock = Arc::new(FixedClock::at("2026-03-01T12:00:00Z".parse().unwrap()));
    let pause = Arc::new(ThreadPause::seeded(1));
    let careful = Careful::with_policy(model(&client), Arc::clone(&clock) as Arc<dyn Clock>, pause, SAMPLING_POLICY);
    for asked in [1, 2, 2] {
        assert!(run(&careful, &summary()).0.is_err());
        assert_eq!(client.asked.lock().unwrap().len(), asked);
    }
    clock.advance(Duration::from_secs(3601).try_into().unwrap());
    assert!(run(&careful, &summary()).0.is_err());
    assert_eq!(client.asked.lock().unwrap().len(), 3, "an hour later it is asked again");
}
