//! An answer: text for people, JSON for programs, and the exit code that says which it was.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use serde::Serialize;

/// What a command answers.
pub(super) struct Reply {
    human: String,
    json: serde_json::Value,
    code: u8,
}

impl Reply {
    /// Done, with the same answer for people and for programs.
    pub(super) fn new(json: &impl Serialize, human: impl Into<String>) -> Self {
        let json = serde_json::to_value(json).unwrap_or_else(|error| serde_json::json!({"error": error.to_string()}));
        Self { human: human.into(), json, code: 0 }
    }

    /// Plain text, which is what programs want too.
    pub(super) fn text(text: String) -> Self {
        Self { json: serde_json::Value::String(text.clone()), human: text, code: 0 }
    }

    /// The same answer, with the code for "nothing found" where `nothing` holds.
    pub(super) fn or_nothing(mut self, nothing: bool) -> Self {
        self.code = u8::from(nothing);
        self
    }

    /// The same answer, with the code for failure where `failed` holds.
    pub(super) fn or_failed(mut self, failed: bool) -> Self {
        self.code = if failed { 2 } else { self.code };
        self
    }

    /// Prints it; a reader that goes away early is no failure.
    pub(super) fn print(&self, json: bool) -> ExitCode {
        let mut out = anstream::stdout().lock();
        let text = if json { serde_json::to_string_pretty(&self.json).unwrap_or_default() } else { self.human.clone() };
        let written = if text.is_empty() || text.ends_with('\n') {
            out.write_all(text.as_bytes())
        } else {
            writeln!(out, "{text}")
        };
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                anstream::eprintln!("error: cannot print the answer: {error}");
                ExitCode::from(2)
            }
            _ => ExitCode::from(self.code),
        }
    }
}
