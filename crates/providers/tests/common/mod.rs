//! The three providers before a scripted server, and what they are asked.
#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use throughline_core::model::Role;
use throughline_core::ports::{
    Brief, ExtractBrief, Finish, KnownFact, Message, Model, ModelError, Reply, SummaryBrief, ToolSpec,
};
use throughline_providers::{Anthropic, HttpSettings, Ollama, OpenAi, Secret, Timeouts};
use throughline_testkit::model_server::ModelServer;

/// No prefix that gives it away: only that it is ours says that it is a key.
pub(crate) const KEY: &str = "tulip0123456789abcdefmango";

pub(crate) type Provider = (&'static str, Arc<dyn Model>);

/// Long enough for a machine that is busy with other tests.
pub(crate) fn settings(server: &ModelServer) -> HttpSettings {
    let ample = Duration::from_secs(120);
    HttpSettings {
        base_url: Some(server.url()),
        model: "scripted".to_owned(),
        key: Some(Secret::new(KEY)),
        timeouts: Timeouts { connect: ample, first_byte: ample, between: ample, whole: ample },
    }
}

/// For servers that are silent: nothing is waited for that could come.
pub(crate) fn impatient(server: &ModelServer) -> HttpSettings {
    let soon = Duration::from_millis(120);
    let timeouts = Timeouts { first_byte: soon, between: soon, ..settings(server).timeouts };
    HttpSettings { timeouts, ..settings(server) }
}

/// Each wire, with the same settings.
pub(crate) fn all(settings: &HttpSettings) -> [Provider; 3] {
    let openai = OpenAi::new(settings.clone()).unwrap();
    let anthropic = Anthropic::new(settings.clone()).unwrap();
    let ollama = Ollama::new(settings.clone()).unwrap();
    let shown = format!("{openai:?} {anthropic:?} {ollama:?} {settings:?}");
    assert!(!shown.contains(KEY), "{shown}");
    [("openai", Arc::new(openai)), ("anthropic", Arc::new(anthropic)), ("ollama", Arc::new(ollama))]
}

pub(crate) fn chat() -> Brief {
    let say = |role, content: &str| Message::said(role, content);
    Brief::Chat {
        system: "You are kind.".to_owned(),
        messages: vec![say(Role::User, "Hello"), say(Role::Assistant, "Hi!"), say(Role::User, "How are you?")],
        tools: Vec::new(),
    }
}

/// A tool that takes a text.
pub(crate) fn tool() -> ToolSpec {
    let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    ToolSpec { name: "note", description: "Keeps a note.", parameters }
}

/// A chat of these messages in which the model may call the tool.
pub(crate) fn with_tools(messages: Vec<Message>) -> Brief {
    Brief::Chat { system: "You are kind.".to_owned(), messages, tools: vec![tool()] }
}

pub(crate) fn summary() -> Brief {
    let knowledge = vec!["The person likes tea.".to_owned()];
    Brief::Summarise(SummaryBrief {
        personal: true,
        turns: Vec::new(),
        person: Default::default(),
        previous: None,
        knowledge,
        max_tokens: 300,
    })
}

pub(crate) fn extraction() -> Brief {
    Brief::Extract(ExtractBrief {
        before: Vec::new(),
        turns: Vec::new(),
        known: vec![KnownFact::said("The person likes tea.")],
    })
}

/// Does a brief; gives the result and what the sink was told.
pub(crate) fn run(model: &dyn Model, brief: &Brief) -> (Result<Reply, ModelError>, Vec<String>) {
    let mut pieces = Vec::new();
    let result = model.complete(brief, &mut |piece| {
        if !piece.is_empty() {
            pieces.push(piece.to_owned());
        }
        true
    });
    (result, pieces)
}

/// The kind of a result in a few words. Whatever it is, it says nothing of the key.
pub(crate) fn kind(result: &Result<Reply, ModelError>) -> String {
    let shown = format!("{result:?} {}", result.as_ref().err().map(ToString::to_string).unwrap_or_default());
    assert!(!shown.contains(&KEY[..8]), "{shown}");
    match result {
        Ok(Reply { finish: Finish::Complete, .. }) => "complete".to_owned(),
        Ok(Reply { finish: Finish::CutOff, .. }) => "cut off".to_owned(),
        Ok(Reply { finish: Finish::Filtered, .. }) => "filtered".to_owned(),
        Err(ModelError::Refused { status, .. }) => format!("refused {status}"),
        Err(ModelError::Malformed { .. }) => "malformed".to_owned(),
        Err(ModelError::TimedOut { .. }) => "timed out".to_owned(),
        Err(ModelError::Unreachable { .. }) => "unreachable".to_owned(),
        Err(ModelError::Cancelled) => "cancelled".to_owned(),
        Err(ModelError::Resting { .. }) => "resting".to_owned(),
        Err(other) => panic!("{other:?}"),
    }
}
