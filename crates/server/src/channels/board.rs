//! How each channel is: shown by `GET /api/channels`, and among the remarks of `GET /api/health`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use utoipa::ToSchema;

/// How a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Condition {
    /// It is being set up.
    Starting,
    /// It hears messages.
    Listening,
    /// It cannot be reached at the moment, and is tried again.
    Waiting,
    /// It is not tried again before the daemon is started anew.
    Stopped,
}

/// How a channel is, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ChannelState {
    /// Whether it hears messages.
    pub(crate) state: Condition,
    /// What it is called on its service, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) account: Option<String>,
    /// What is wrong, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

impl ChannelState {
    pub(super) fn starting() -> Self {
        Self { state: Condition::Starting, account: None, problem: None }
    }

    pub(super) fn listening(account: &str) -> Self {
        Self { state: Condition::Listening, account: Some(account.to_owned()), problem: None }
    }

    pub(super) fn waiting(problem: String) -> Self {
        Self { state: Condition::Waiting, account: None, problem: Some(problem) }
    }

    pub(super) fn stopped(problem: String) -> Self {
        Self { state: Condition::Stopped, account: None, problem: Some(problem) }
    }
}

/// Where channels say how they are.
#[derive(Debug, Default)]
pub(crate) struct Board {
    states: Mutex<BTreeMap<String, ChannelState>>,
}

impl Board {
    /// Notes how a channel is; logs a change.
    pub(super) fn say(&self, channel: &str, state: ChannelState) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if states.get(channel) == Some(&state) {
            return;
        }
        match &state.problem {
            Some(problem) => tracing::warn!(channel, problem, "the channel does not hear messages"),
            None => tracing::info!(channel, state = ?state.state, "channel"),
        }
        states.insert(channel.to_owned(), state);
    }

    /// How every channel is.
    pub(crate) fn states(&self) -> BTreeMap<String, ChannelState> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is wrong, one line each.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let wrong = |(name, state): (String, ChannelState)| Some(format!("{name}: {}", state.problem?));
        self.states().into_iter().filter_map(wrong).collect()
    }
}
