//! Hooks: what an assistant says on standard input when something happens, and the answer in its own shape.
//!
//! Goes in: any bytes. Comes out: what could be understood of them, and at most one line of JSON. Never happens: an error. What is
//! missing is missing, what is unknown is ignored, and an answer without memory changes nothing.

mod answer;
mod input;

pub use answer::answer;
pub(crate) use input::time;
pub use input::{HookInput, Start, session_id};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A conversation began, went on, or begins anew behind a summary.
    SessionStart,
    /// The person sent a message.
    Prompt,
    /// The assistant is about to summarise the conversation.
    PreCompact,
    /// The assistant finished its reply.
    Stop,
    /// The conversation ended.
    SessionEnd,
}

impl Event {
    /// All of them, in the order in which a conversation meets them.
    pub const ALL: [Self; 5] = [Self::SessionStart, Self::Prompt, Self::PreCompact, Self::Stop, Self::SessionEnd];

    /// How it is typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::Prompt => "prompt",
            Self::PreCompact => "pre-compact",
            Self::Stop => "stop",
            Self::SessionEnd => "session-end",
        }
    }

    /// The event of this name, if it is one.
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == text)
    }
}
