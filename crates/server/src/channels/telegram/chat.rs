//! A chat of Telegram in which a reply is shown.

use std::time::Duration;

use super::api::{Api, ApiError};
use super::ledger::Ledger;
use super::rest;
use crate::channels::stream::{Display, Limits, Unshown};

/// As long as a message may be, by the Bot API.
const MOST: usize = 4096;

/// Telegram asks for at most one message a second in a chat, and twenty a minute in a group.
const EDIT_EVERY: Duration = Duration::from_secs(1);
const EDIT_EVERY_IN_GROUPS: Duration = Duration::from_secs(4);

/// "typing…" is shown for five seconds.
const TYPING_EVERY: Duration = Duration::from_secs(4);

/// The chat of an update.
pub(super) struct TelegramChat<'b> {
    pub(super) api: &'b Api,
    pub(super) ledger: &'b Ledger,
    pub(super) update: i64,
    pub(super) chat: i64,
    pub(super) is_group: bool,
    pub(super) reply_to: Option<i64>,
    /// The messages that show the reply, in order; also those of a process that was killed.
    pub(super) messages: Vec<i64>,
    pub(super) failures: u32,
}

impl Display for TelegramChat<'_> {
    fn limits(&self) -> Limits {
        let edit_every = if self.is_group { EDIT_EVERY_IN_GROUPS } else { EDIT_EVERY };
        Limits { message: MOST, edit_every, typing_every: TYPING_EVERY }
    }

    async fn typing(&mut self) {
        if let Err(error) = self.api.typing(self.chat).await {
            tracing::debug!(%error, "typing is not shown");
        }
    }

    async fn show(&mut self, number: usize, text: &str) -> Result<(), Unshown> {
        let shown = match self.messages.get(number).copied() {
            Some(message) => self.edit(number, message, text).await,
            None => self.send(text).await,
        };
        match shown {
            Ok(()) => {
                self.failures = 0;
                Ok(())
            }
            Err(error) => Err(self.unshown(error)),
        }
    }

    async fn keep_only(&mut self, messages: usize) {
        for message in self.messages.drain(messages.min(self.messages.len())..) {
            if let Err(error) = self.api.delete(self.chat, message).await {
                tracing::debug!(%error, "a message stays behind");
            }
        }
    }
}

impl TelegramChat<'_> {
    /// Sends a message, and notes it before anything else: a process that is killed finds it again.
    async fn send(&mut self, text: &str) -> Result<(), ApiError> {
        let reply_to = self.reply_to.filter(|_| self.messages.is_empty());
        let sent = self.api.send(self.chat, text, reply_to).await?;
        self.messages.push(sent.message_id);
        self.ledger.draft(self.update, self.messages.clone()).await;
        Ok(())
    }

    /// Changes a message; one that the person deleted is sent anew, with those behind it.
    async fn edit(&mut self, number: usize, message: i64, text: &str) -> Result<(), ApiError> {
        match self.api.edit(self.chat, message, text).await {
            Err(error)
                if error.is(400) && (error.says("message to edit not found") || error.says("can't be edited")) =>
            {
                self.messages.truncate(number);
                self.send(text).await
            }
            other => other,
        }
    }

    /// Whether there is a point in trying again: not where the service understood and said no.
    fn unshown(&mut self, error: ApiError) -> Unshown {
        let is_final = matches!(&error, ApiError::Refused { code, .. } if (400..500).contains(code) && *code != 429);
        if is_final {
            return Unshown::Never(error.to_string());
        }
        let wait = rest(&error, self.failures);
        self.failures = self.failures.saturating_add(1);
        Unshown::Wait(wait)
    }
}
