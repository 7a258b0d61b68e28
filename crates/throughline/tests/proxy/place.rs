//! A daemon whose proxies lead to a scripted server.

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Request as Sent, Step};
use throughline_testkit::raw_http::{Request, Response};

use crate::common::daemon::Daemon;
use crate::common::{Home, string, until};

/// The person's own keys, which clients do not have.
pub(crate) const OPENAI_KEY: &str = "sk-person-openai";
pub(crate) const ANTHROPIC_KEY: &str = "sk-person-anthropic";

/// A format, and how a client says something in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Messages,
    Ollama,
}

pub(crate) const WIRES: [Wire; 4] = [Wire::Chat, Wire::Responses, Wire::Messages, Wire::Ollama];

impl Wire {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
            Self::Ollama => "/ollama/api/chat",
        }
    }

    /// The path at the server.
    pub(crate) fn path_there(self) -> &'static str {
        self.path().strip_prefix("/ollama").unwrap_or(self.path())
    }

    /// A request with these messages, the person's first.
    pub(crate) fn body(self, said: &[&str], stream: bool) -> Value {
        let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
        let messages: Vec<Value> =
            said.iter().enumerate().map(|(at, text)| json!({"role": role(at), "content": text})).collect();
        let field = if self == Self::Responses { "input" } else { "messages" };
        let mut body = json!({"model": "scripted", "stream": stream, field: messages});
        if self == Self::Messages {
            body["max_tokens"] = json!(100);
        }
        body
    }
}

/// A person's machine with a daemon, and a server of a vendor.
pub(crate) struct Place {
    pub(crate) home: Home,
    pub(crate) server: ModelServer,
    pub(crate) daemon: Daemon,
}

impl Place {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::with(ModelServer::scripted(steps), "", |_| {})
    }

    /// With a home that is furnished before the daemon starts, and more lines of config.
    pub(crate) fn with(server: ModelServer, config: &str, furnish: impl FnOnce(&mut Home)) -> Self {
        let url = server.url();
        let text = format!(
            "[memory]\nuser_namespace = \"user\"\n[embeddings]\nprovider = \"none\"\n[proxy]\n\
             openai_base_url = \"{url}/v1\"\nanthropic_base_url = \"{url}\"\ndeadline_ms = 60000\n{config}"
        );
        let mut home = Home::with_config("config.toml", &text);
        home.set("OPENAI_API_KEY", OPENAI_KEY);
        home.set("ANTHROPIC_API_KEY", ANTHROPIC_KEY);
        home.set("OLLAMA_HOST", url.strip_prefix("http://").unwrap());
        furnish(&mut home);
        let daemon = Daemon::start(&home);
        Self { home, server, daemon }
    }

    pub(crate) fn request(&self, wire: Wire, body: &Value) -> Request {
        self.daemon.request("POST", wire.path()).json(body)
    }

    /// Says something and gives what the client got.
    #[track_caller]
    pub(crate) fn ask(&self, wire: Wire, body: &Value) -> Response {
        self.daemon.send(&self.request(wire, body))
    }

    /// Says something that must be answered; gives what the server got.
    #[track_caller]
    pub(crate) fn exchange(&self, wire: Wire, body: &Value) -> Sent {
        let response = self.ask(wire, body);
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
        self.server.requests().pop().unwrap()
    }

    /// What is kept of a conversation, once there is so much: who said what.
    #[track_caller]
    pub(crate) fn turns(&self, session: &str, count: usize) -> Vec<(String, String)> {
        until(|| {
            let shown = self.daemon.send(&self.daemon.request("GET", &format!("/api/sessions/{session}?limit=1000")));
            let shown = shown.json();
            let turns = shown["turns"].as_array().cloned().unwrap_or_default();
            let pair = |turn: &Value| (string(&turn["role"]), string(&turn["content"]));
            (turns.len() >= count).then(|| turns.iter().map(pair).collect())
        })
    }
}

/// The conversation that a reply names.
#[track_caller]
pub(crate) fn session(response: &Response) -> String {
    response.header("x-throughline-session").expect("a reply names its conversation").to_owned()
}
