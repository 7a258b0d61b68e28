//! One message and what follows it: the model answers, or calls tools and is asked again with their results.

use std::sync::atomic::Ordering;

use throughline_core::engine::{Observed, Said};
use throughline_core::model::Role;
use throughline_core::ports::{Brief, Message, ModelError, Reply, ToolCall, ToolSpec};

use super::Talk;
use crate::cli::failure::Failure;
use crate::cli::style;

/// Rounds of calls after which a model is not asked again.
const MAX_ROUNDS: usize = 8;

/// As much of a call and its answer as the transcript keeps, in bytes.
const MAX_KEPT: usize = 200;

/// As much of an answer as is shown, in characters.
const MAX_SHOWN: usize = 100;

/// How the rounds ended.
pub(super) enum Ended {
    /// With words; nothing, where the model had none.
    Said(String),
    /// The model called and called.
    TooManyRounds,
    /// Without an answer.
    Failed(ModelError),
}

/// What the model is asked: the same on every round, but for the messages.
pub(super) struct Asked {
    pub(super) system: String,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<ToolSpec>,
}

impl Talk<'_> {
    /// Asks until there is an answer without calls. What was called is done and kept, whatever comes after.
    pub(super) fn rounds(&self, mut asked: Asked) -> Result<Ended, Failure> {
        self.stopped.store(false, Ordering::SeqCst);
        for _ in 0..MAX_ROUNDS {
            let Asked { system, messages, tools } = &asked;
            let brief = Brief::Chat { system: system.clone(), messages: messages.clone(), tools: tools.clone() };
            let reply = match self.stream(&brief) {
                Ok(reply) if reply.calls.is_empty() => return Ok(Ended::Said(reply.text)),
                Ok(reply) => reply,
                Err(error) => return Ok(Ended::Failed(error)),
            };
            match self.run_calls(reply)? {
                Some(answered) => asked.messages.extend(answered),
                None => return Ok(Ended::Failed(ModelError::Cancelled)),
            }
        }
        Ok(Ended::TooManyRounds)
    }

    /// Asks, and shows the reply as it comes.
    fn stream(&self, brief: &Brief) -> Result<Reply, ModelError> {
        let mut has_spoken = false;
        let mut sink = |piece: &str| {
            has_spoken |= !piece.is_empty();
            self.screen.piece(piece);
            !self.is_stopped()
        };
        let reply = self.engine.ask(&*self.model, brief, &mut sink);
        let only_calls = !has_spoken && reply.as_ref().is_ok_and(|reply| !reply.calls.is_empty());
        if !only_calls {
            self.screen.line("");
        }
        reply
    }

    /// Does what a reply asks for, one after the other. Gives the messages that tell the model; none if stopped.
    fn run_calls(&self, reply: Reply) -> Result<Option<Vec<Message>>, Failure> {
        if !reply.text.trim().is_empty() {
            self.observe(Role::Assistant, reply.text.clone())?;
        }
        let mut results = Vec::new();
        for call in &reply.calls {
            if self.is_stopped() {
                return Ok(None);
            }
            results.push(self.run_call(call)?);
        }
        let calling = Message { calls: reply.calls, ..Message::said(Role::Assistant, reply.text) };
        Ok((!self.is_stopped()).then(|| [vec![calling], results].concat()))
    }

    fn run_call(&self, call: &ToolCall) -> Result<Message, Failure> {
        let answer = self.engine.call(&self.session, call);
        self.screen.aside(&shown(&call.name, &answer.summary));
        let text = answer.text();
        // Ids and outcome: what was stored is in the memory itself, where it can be erased.
        self.observe(Role::Tool, kept(&call.name, &answer.summary))?;
        Ok(Message { answers: Some(call.id.clone()), ..Message::said(Role::Tool, text) })
    }

    pub(super) fn observe(&self, role: Role, content: String) -> Result<Observed, Failure> {
        Ok(self.engine.observe(&self.session, &[Said::now(role, content)])?)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// `· memory_write: stored abc123`
fn shown(name: &str, summary: &str) -> String {
    let first = style::plain(summary.lines().next().unwrap_or_default());
    let short: String = first.chars().take(MAX_SHOWN).collect();
    let name = style::plain(name);
    if short.starts_with(&name) { format!("· {short}") } else { format!("· {name}: {short}") }
}

/// What the transcript keeps, for whoever wants to know later what was done.
fn kept(name: &str, summary: &str) -> String {
    let first: String = summary.lines().next().unwrap_or_default().chars().take(MAX_KEPT).collect();
    format!("{name}: {first}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_shown_in_a_line() {
        assert_eq!(shown("memory_write", "stored abc\nand more"), "· memory_write: stored abc");
        assert_eq!(shown("memory_write", "memory_write could not: x"), "· memory_write could not: x");
        assert_eq!(shown("x", &"y".repeat(500)).chars().count(), 5 + MAX_SHOWN);
    }

    #[test]
    fn what_is_kept_of_a_call_is_bounded() {
        assert_eq!(kept("note", "stored abc\nand more"), "note: stored abc");
        assert_eq!(kept("note", &"茶".repeat(9000)).chars().count(), 6 + MAX_KEPT);
    }
}
