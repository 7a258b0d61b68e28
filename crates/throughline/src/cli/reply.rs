//! An answer: text for people, JSON for programs, and the exit code that says which it was.

use std::io::{ErrorKind, IsTerminal as _};
use std::process::ExitCode;

use serde::Serialize;

use super::style::plain;

/// What a command answers.
pub(super) struct Reply {
    human: Human,
    json: serde_json::Value,
    code: u8,
}

/// What people get to see.
enum Human {
    /// Styled; the colours go where no terminal is.
    Styled(String),
    /// Data: every byte of it into a file or pipe, made harmless for a terminal.
    Data(String),
}

impl Reply {
    /// Done, with the same answer for people and for programs.
    pub(super) fn new(json: &impl Serialize, human: impl Into<String>) -> Self {
        let json = serde_json::to_value(json).unwrap_or_else(|error| serde_json::json!({"error": error.to_string()}));
        Self { human: Human::Styled(human.into()), json, code: 0 }
    }

    /// Plain text, which is what programs want too.
    pub(super) fn text(text: String) -> Self {
        Self { json: serde_json::Value::String(text.clone()), human: Human::Data(text), code: 0 }
    }

    /// The same answer, with data for people too.
    pub(super) fn with_data(mut self, text: String) -> Self {
        self.human = Human::Data(text);
        self
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
        let written = match &self.human {
            // Programs have been told before.
            _ if json && self.json.is_null() => Ok(()),
            _ if json => write(&serde_json::to_string_pretty(&self.json).unwrap_or_default(), std::io::stdout().lock()),
            Human::Styled(text) => write(text, anstream::stdout().lock()),
            Human::Data(text) if std::io::stdout().is_terminal() => write(&plain(text), std::io::stdout().lock()),
            Human::Data(text) => write(text, std::io::stdout().lock()),
        };
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                anstream::eprintln!("error: cannot print the answer: {error}");
                anstream::eprintln!("hint: check where the output goes");
                ExitCode::from(2)
            }
            _ => ExitCode::from(self.code),
        }
    }
}

/// Writes a text and the line break that it may lack.
fn write(text: &str, mut out: impl std::io::Write) -> std::io::Result<()> {
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}
