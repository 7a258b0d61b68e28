//! Log messages for a client that asked for them with `logging/setLevel`: why the memory could not work on a call. Nothing
//! is sent before that, and memory text is never part of it.
#![expect(deprecated, reason = "revisions with a handshake have log messages; 2026-07-28 drops them")]

use std::sync::{Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ServerCapabilities};
use rmcp::service::Peer;
use serde_json::json;

use crate::problem::Problem;

/// The least severe level that one client wants to hear of.
#[derive(Default)]
pub(super) struct Log(Mutex<Option<LoggingLevel>>);

impl Log {
    pub(super) fn set(&self, level: LoggingLevel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    fn wants(&self, level: LoggingLevel) -> bool {
        let least = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        least.is_some_and(|least| least as u8 <= level as u8)
    }

    /// A call on which the memory could not work. A client that has gone is no failure.
    pub(super) async fn failed(&self, peer: &Peer<RoleServer>, problem: &Problem) {
        if !self.wants(LoggingLevel::Error) {
            return;
        }
        let data = json!({ "code": problem.code.as_str(), "message": problem.message, "hint": problem.hint });
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Error, data).with_logger("throughline");
        if let Err(error) = peer.notify_logging_message(message).await {
            tracing::debug!(%error, "a log message did not reach the client");
        }
    }
}

/// What the server can do.
pub(super) fn capabilities() -> ServerCapabilities {
    ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().enable_logging().build()
}
