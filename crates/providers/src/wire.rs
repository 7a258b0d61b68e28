//! What the wires differ in, and what a reply is gathered in. No wire knows about HTTP.

mod calls;
mod thoughts;

use serde_json::Value;
use throughline_core::ports::{Finish, ModelError, Reply, ToolCall};
use throughline_core::text::tokens;

use crate::ask::Ask;
pub(crate) use calls::{Calls, object};
use thoughts::Thoughts;

/// The longest reply.
pub(crate) const MAX_REPLY: usize = 1 << 20;

/// How a reply is cut into events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Sse,
    /// A JSON object on each line.
    Lines,
    /// One JSON object, from a server that does not stream.
    Whole,
}

/// How the token limit is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    MaxTokens,
    MaxCompletionTokens,
}

/// Which of the things that not every server understands are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) json: bool,
    pub(crate) usage: bool,
    pub(crate) tools: bool,
    pub(crate) limit: Limit,
}

impl Default for Form {
    fn default() -> Self {
        Self { json: true, usage: true, tools: true, limit: Limit::MaxTokens }
    }
}

/// Why an event is no part of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The server says so, in the middle of its reply.
    Refused { status: u16, why: String },
    /// It is not in the wire's format.
    Malformed(String),
}

/// One way to speak with a model.
pub(crate) trait Wire {
    /// Where to ask, below the base URL.
    fn path(&self) -> &'static str;
    /// How replies come.
    fn framing(&self) -> Framing;
    /// The request.
    fn body(&self, model: &str, ask: &Ask, form: Form) -> Value;
    /// What to leave out after a "bad request" that says `why`; nothing if that would not help.
    fn simpler(&self, ask: &Ask, form: Form, why: &str) -> Option<Form>;
    /// Takes an event in.
    fn read(&self, event: &Value, answer: &mut Answer) -> Result<(), Trouble>;
}

/// A reply while it arrives.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    text: String,
    /// What the sink was not given yet.
    fresh: String,
    thoughts: Option<Thoughts>,
    /// What the model wants called.
    pub(crate) calls: Calls,
    /// How it ended, as soon as that is known.
    pub(crate) finish: Option<Finish>,
    /// Nothing more will come.
    pub(crate) is_over: bool,
    pub(crate) tokens_in: Option<u64>,
    pub(crate) tokens_out: Option<u64>,
}

impl Answer {
    /// A person who reads along is spared a model's thoughts; whoever gets the whole text takes them out there.
    pub(crate) fn to(ask: &Ask) -> Self {
        Self { thoughts: ask.is_chat.then(Thoughts::default), ..Self::default() }
    }

    /// Text that arrived.
    pub(crate) fn say(&mut self, piece: &str) {
        match &mut self.thoughts {
            Some(thoughts) => thoughts.leave_out(piece, &mut self.fresh),
            None => self.fresh.push_str(piece),
        }
    }

    /// What arrived since the last time.
    pub(crate) fn take_fresh(&mut self) -> String {
        let fresh = std::mem::take(&mut self.fresh);
        self.text.push_str(&fresh);
        fresh
    }

    pub(crate) fn is_too_long(&self) -> bool {
        self.text.len() + self.fresh.len() > MAX_REPLY
    }

    /// Nothing more comes: what was held back is text after all.
    pub(crate) fn end(&mut self) {
        if let Some(thoughts) = &mut self.thoughts {
            thoughts.end(&mut self.fresh);
        }
    }

    /// The reply, if it is one.
    pub(crate) fn finished(self, provider: &'static str, ask: &Ask) -> Result<Reply, ModelError> {
        let malformed = |why: &str| ModelError::Malformed { provider, why: why.to_owned() };
        let finish = match self.finish {
            Some(finish) => finish,
            None if self.is_over && self.calls.are_whole() => Finish::Complete,
            None => return Err(malformed("the reply breaks off")),
        };
        // A reply that was stopped may have been stopped in the middle of a call, and nobody offered what nobody asks.
        let counts = finish == Finish::Complete && !ask.tools.is_empty();
        let calls = if counts { self.calls.finished(ask.calls()) } else { Vec::new() };
        if finish == Finish::Complete && self.text.trim().is_empty() && calls.is_empty() {
            return Err(malformed("the reply is empty"));
        }
        let written = || tokens::estimate(&self.text) + calls.iter().map(arguments).sum::<usize>();
        let tokens_in = self.tokens_in.unwrap_or_else(|| count(ask.tokens()));
        let tokens_out = self.tokens_out.unwrap_or_else(|| count(written()));
        Ok(Reply { text: self.text, calls, finish, tokens_in, tokens_out })
    }
}

fn arguments(call: &ToolCall) -> usize {
    tokens::estimate(&call.arguments)
}

/// Tokens, as the ledger counts them.
pub(crate) fn count(tokens: usize) -> u64 {
    u64::try_from(tokens).unwrap_or(u64::MAX)
}
