//! Asks a question in a new session, as a channel does, and collects what an assistant is given.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::given::Given;
use super::trial::Trial;
use crate::cli::bench::elapsed_ms;
use crate::cli::failure::Failure;
use crate::world;

/// A hook answers within this, in milliseconds: what is measured is what it gives, and how long it takes is counted.
const HOOK_PATIENCE_MS: &str = "60000";

/// By which way questions are asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Via {
    /// The daemon's own routes, in this process
    #[default]
    Http,
    /// The hooks of Claude Code: one process for the start of the session and one for the message
    Hook,
}

impl Via {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Hook => "hook",
        }
    }

    /// What is given for a message in a session that nobody used before.
    pub(super) fn ask(self, trial: &Trial<'_>, nth: usize, message: &str, at: Timestamp) -> Result<Given, Failure> {
        match self {
            Self::Http => by_http(trial, nth, message, at),
            Self::Hook => by_hook(trial, nth, message, at),
        }
    }
}

fn by_http(trial: &Trial<'_>, nth: usize, message: &str, at: Timestamp) -> Result<Given, Failure> {
    trial.set_time(at);
    let session = format!("ask:{nth}");
    let started = trial.post("/api/sessions", &json!({ "channel": "ask", "session": session }))?;
    let path = format!("/api/sessions/{session}/context");
    let start = Instant::now();
    let context = trial.post(&path, &json!({ "message": message }))?;
    let ms = elapsed_ms(start);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (opening, said) = (text(&started["context"]), text(&context["message"]));
    let prompt = text(&context["system_prompt"]);
    // The settings decide whether memories stand in front of the message or behind the system prompt.
    let before = said.strip_suffix(message).unwrap_or(&said);
    let behind = prompt.strip_prefix(&text(&started["system_prompt"])).unwrap_or_default();
    let block = [behind.trim(), before.trim()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    Ok(Given { opening, block: block.join("\n\n"), ms })
}

fn by_hook(trial: &Trial<'_>, nth: usize, message: &str, at: Timestamp) -> Result<Given, Failure> {
    let input = |event: &str, more: Value| {
        // A transcript that does not exist yet: the first message of a session is not in it when the hook runs.
        let transcript = trial.elsewhere().join(format!("{nth}.jsonl"));
        let mut input = json!({ "session_id": format!("ask-{nth}"), "transcript_path": transcript,
            "cwd": trial.elsewhere(), "hook_event_name": event });
        if let (Some(input), Value::Object(more)) = (input.as_object_mut(), more) {
            input.extend(more);
        }
        input
    };
    let opening = hook(trial, "session-start", &input("SessionStart", json!({ "source": "startup" })), at)?;
    let start = Instant::now();
    let block = hook(trial, "prompt", &input("UserPromptSubmit", json!({ "prompt": message })), at)?;
    Ok(Given { opening, block, ms: elapsed_ms(start) })
}

/// What a hook adds to the conversation.
fn hook(trial: &Trial<'_>, event: &str, input: &Value, at: Timestamp) -> Result<String, Failure> {
    let failed = |error: &std::io::Error| Failure::io("run this program as a hook", error);
    let mut process = Command::new(world::program().map_err(|error| failed(&error))?)
        .args(["hook", event, "--client", "claude-code", "--deadline-ms", HOOK_PATIENCE_MS])
        .env("THROUGHLINE_HOME", trial.home())
        .env("THROUGHLINE_NOW", at.to_string())
        .current_dir(trial.elsewhere())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(&error))?;
    let written = process.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input.to_string().as_bytes()));
    let output = process.wait_with_output().and_then(|output| written.map(|()| output));
    let output = output.map_err(|error| failed(&error))?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        Failure::new(format!("the hook {event} answers no JSON: {error}"), "`THROUGHLINE_LOG=warn` says more")
    })?;
    let added = answer.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str);
    Ok(added.unwrap_or_default().to_owned())
}
