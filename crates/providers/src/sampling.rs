//! The model of a connected MCP client: the prompt is one message, the reply is text.
//!
//! The client decides which model answers, and may ask its user first. Never happens: a chat, a second try, or a reply longer
//! than other providers' replies may be.

use std::sync::Arc;
use std::time::Duration;

use throughline_core::ports::{
    Brief, Cost, Model, ModelError, Purpose, Reply, SAMPLING, SamplingClient, SamplingRequest, SummaryOf,
};
use throughline_core::text::tokens;

use crate::Policy;
use crate::ask::Ask;
use crate::wire::{MAX_REPLY, count};

/// How long a client may take where nobody says otherwise: its user may be asked first.
pub const SAMPLING_TIMEOUT: Duration = Duration::from_secs(180);

/// One try, because a person may be asked each time; and a long rest after two failures in a row.
pub const SAMPLING_POLICY: Policy = Policy {
    tries: 1,
    first_pause: Duration::ZERO,
    longest_pause: Duration::ZERO,
    failures: 2,
    rest: Duration::from_secs(60 * 60),
};

/// The longest reply where the brief sets no limit: the protocol demands one.
const MAX_TOKENS: usize = 4096;

/// A connected client as the model.
pub struct SamplingModel {
    client: Arc<dyn SamplingClient>,
    model: Option<String>,
    timeout: Duration,
}

impl SamplingModel {
    /// `model` is the one that the person prefers.
    pub fn new(client: Arc<dyn SamplingClient>, model: Option<String>, timeout: Duration) -> Self {
        Self { client, model, timeout }
    }
}

impl Model for SamplingModel {
    fn provider(&self) -> &'static str {
        SAMPLING
    }

    /// The client: which model answers is known only afterwards.
    fn name(&self) -> &str {
        self.client.name()
    }

    /// A client does not say what it spent: tokens are estimated.
    fn cost(&self) -> Cost {
        Cost::Tokens
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        false
    }

    fn context_window(&self) -> Option<usize> {
        None
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        if brief.purpose() == Purpose::Chat {
            return Err(ModelError::CannotChat);
        }
        let ask = Ask::of(brief, false);
        let (prompt, max_tokens) = (ask.as_text(), ask.max_tokens.unwrap_or(MAX_TOKENS));
        let request = SamplingRequest { prompt, max_tokens, model: self.model.clone(), timeout: self.timeout };
        let reply = self.client.sample(&request, &mut || sink(""))?;
        let malformed = |why: String| Err(ModelError::Malformed { provider: SAMPLING, why });
        if reply.text.len() > MAX_REPLY {
            return malformed(format!("the reply is longer than {} KB", MAX_REPLY >> 10));
        }
        if reply.text.trim().is_empty() {
            return malformed("the reply is empty".to_owned());
        }
        if !sink(&reply.text) {
            return Err(ModelError::Cancelled);
        }
        let (tokens_in, tokens_out) = (tokens::estimate(&request.prompt), tokens::estimate(&reply.text));
        let (tokens_in, tokens_out) = (count(tokens_in), count(tokens_out));
        Ok(Reply { text: reply.text, calls: Vec::new(), finish: reply.finish, tokens_in, tokens_out })
    }
}
