//! What a client asks of memory, in headers of ours.

use axum::http::HeaderMap;
use throughline_core::model::SessionId;

use super::conversations::CHANNEL;
use crate::{Code, Problem};

const MEMORY: &str = "x-throughline-memory";
const SESSION: &str = "x-throughline-session";

/// What memory does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Nothing is given and nothing is kept.
    Off,
    /// Memories are given, and nothing is kept.
    Read,
    /// Both.
    On,
}

/// What a client asks of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) mode: Mode,
    /// The conversation, where the client names it.
    pub(super) session: Option<SessionId>,
}

impl Wish {
    /// Reads the headers; without them, memory is on and the conversation is recognised.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?").trim());
        let mode = match text(MEMORY) {
            None | Some("on") => Mode::On,
            Some("read") => Mode::Read,
            Some("off") => Mode::Off,
            Some(_) => {
                let message = format!("`{MEMORY}` is none of `off`, `read` and `on`");
                return Err(Problem::new(Code::Invalid, message, "leave it out for `on`"));
            }
        };
        let session = text(SESSION).map(|name| SessionId::on_channel(CHANNEL, name)).transpose()?;
        Ok(Self { mode, session })
    }
}
