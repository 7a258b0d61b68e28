//! The ways to ask.

use serde_json::{Value, json};

use super::common::daemon::Daemon;
use super::common::{Home, string};
use super::hook;
use super::peer::Peer;

/// What an assistant was given: at the start of the conversation, and with the message.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) opening: String,
    pub(crate) block: String,
}

impl Given {
    pub(crate) fn all(&self) -> String {
        format!("{}\n{}", self.opening, self.block)
    }
}

/// By Claude Code's hooks, as they run with every message.
pub(crate) fn by_hook(home: &Home, at: usize, message: &str) -> Given {
    let event = |more: Value| {
        // A client that keeps a transcript: one question is no memory for the next.
        let transcript = home.root().join(format!("later-{at}.jsonl"));
        let mut event =
            json!({ "session_id": format!("later-{at}"), "cwd": home.root(), "transcript_path": transcript });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let opening = hook(home, "session-start", &event(json!({ "source": "startup" })));
    Given { opening, block: hook(home, "prompt", &event(json!({ "prompt": message }))) }
}

/// By HTTP, as a chat program does.
pub(crate) fn by_http(daemon: &Daemon, at: usize, message: &str) -> Given {
    let session = format!("web:later-{at}");
    let opening =
        daemon.post("/api/sessions", &json!({ "channel": "web", "session": session }))["system_prompt"].clone();
    let context = daemon.post(&format!("/api/sessions/{session}/context"), &json!({ "message": message }));
    let block = string(&context["message"]);
    Given { opening: string(&opening), block: block.strip_suffix(message).unwrap().to_owned() }
}

/// By the tool that gives what fits a message.
pub(crate) fn by_context_tool(home: &Home, message: &str) -> Given {
    let mut peer = Peer::greeted(home.throughline(&["mcp"]));
    let answer = peer.call("memory_context", json!({ "message": message }))["structuredContent"].clone();
    let block = string(&answer["message"]);
    Given { opening: string(&answer["context"]), block: block.strip_suffix(message).unwrap().to_owned() }
}

/// By the tool that finds.
pub(crate) fn by_recall_tool(home: &Home, question: &str) -> String {
    let mut peer = Peer::greeted(home.throughline(&["mcp"]));
    peer.call("memory_recall", json!({ "query": question }))["structuredContent"]["hits"].to_string()
}
