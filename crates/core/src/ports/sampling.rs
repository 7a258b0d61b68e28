//! A connected client whose own model can be asked: `sampling/createMessage` of the Model Context Protocol.

use std::time::Duration;

use super::{Finish, ModelError};

/// The provider's name, as in the config.
pub const SAMPLING: &str = "sampling";

/// What a client's model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingRequest {
    /// The whole prompt, as one message: a client may leave out a system prompt.
    pub prompt: String,
    /// The most tokens that may come back.
    pub max_tokens: usize,
    /// The model that the person prefers. The client decides.
    pub model: Option<String>,
    /// How long the client may take, including the time in which its user is asked.
    pub timeout: Duration,
}

/// What a client's model answered: text and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingReply {
    /// The text, untrusted.
    pub text: String,
    /// How it ended.
    pub finish: Finish,
}

/// A client that offers sampling.
pub trait SamplingClient: Send + Sync {
    /// What the client calls itself, in letters that are safe in a ledger.
    fn name(&self) -> &str;

    /// Whether it can still be asked.
    fn is_connected(&self) -> bool;

    /// Asks once, and waits for the answer. `go_on` is called now and then; its `false` cancels.
    fn sample(&self, request: &SamplingRequest, go_on: &mut dyn FnMut() -> bool) -> Result<SamplingReply, ModelError>;
}
