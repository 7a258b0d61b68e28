//! One message and what follows it: the model answers, or calls tools and is asked again with their results.

use throughline_core::engine::{EngineError, Observed, Said};
use throughline_core::model::Role;
use throughline_core::ports::{Brief, Message, ModelError, Reply, ToolCall, ToolSpec};

use super::{Conversation, Ended, Happening, Tell};

/// Rounds of calls after which a model is not asked again.
const MAX_ROUNDS: usize = 8;

/// As much of a call and its answer as the transcript keeps, in characters.
const MAX_KEPT: usize = 200;

/// What the model is asked: the same on every round, but for the messages.
pub(super) struct Asked {
    pub(super) system: String,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<ToolSpec>,
}

impl Conversation<'_> {
    /// Asks until there is an answer without calls. What was called is done and kept, whatever comes after.
    pub(super) fn rounds(&self, mut asked: Asked, tell: Tell<'_>) -> Result<Ended, EngineError> {
        for _ in 0..MAX_ROUNDS {
            let Asked { system, messages, tools } = &asked;
            let brief = Brief::Chat { system: system.clone(), messages: messages.clone(), tools: tools.clone() };
            let reply = match self.stream(&brief, tell) {
                Ok(reply) if reply.calls.is_empty() => return Ok(Ended::Said(reply.text)),
                Ok(reply) => reply,
                Err(error) => return Ok(Ended::Failed(error)),
            };
            match self.run_calls(reply, tell)? {
                Some(answered) => asked.messages.extend(answered),
                None => return Ok(Ended::Failed(ModelError::Cancelled)),
            }
        }
        Ok(Ended::TooManyRounds)
    }

    /// Asks, and passes the reply on as it comes.
    fn stream(&self, brief: &Brief, tell: Tell<'_>) -> Result<Reply, ModelError> {
        let mut has_spoken = false;
        let reply = self.engine.models().ask(&*self.model, brief, &mut |piece: &str| {
            has_spoken |= !piece.is_empty();
            tell(Happening::Piece(piece))
        });
        let only_calls = !has_spoken && reply.as_ref().is_ok_and(|reply| !reply.calls.is_empty());
        if !only_calls {
            tell(Happening::Paused);
        }
        reply
    }

    /// Does what a reply asks for, one after the other. Gives the messages that tell the model; none if stopped.
    fn run_calls(&self, reply: Reply, tell: Tell<'_>) -> Result<Option<Vec<Message>>, EngineError> {
        if !reply.text.trim().is_empty() {
            self.observe(Role::Assistant, reply.text.clone())?;
        }
        let mut results = Vec::new();
        for call in &reply.calls {
            if !tell(Happening::Piece("")) {
                return Ok(None);
            }
            results.push(self.run_call(call, tell)?);
        }
        let calling = Message { calls: reply.calls, ..Message::said(Role::Assistant, reply.text) };
        Ok(tell(Happening::Piece("")).then(|| [vec![calling], results].concat()))
    }

    fn run_call(&self, call: &ToolCall, tell: Tell<'_>) -> Result<Message, EngineError> {
        let answer = self.engine.tools().call(&self.session, call);
        tell(Happening::Tool { name: &call.name, summary: &answer.summary });
        let text = answer.text();
        // Ids and outcome: what was stored is in the memory itself, where it can be erased.
        self.observe(Role::Tool, kept(&call.name, &answer.summary))?;
        Ok(Message { answers: Some(call.id.clone()), ..Message::said(Role::Tool, text) })
    }

    pub(super) fn observe(&self, role: Role, content: String) -> Result<Observed, EngineError> {
        self.keep(Said::now(role, content))
    }

    pub(super) fn keep(&self, mut said: Said) -> Result<Observed, EngineError> {
        if said.fit() {
            tracing::warn!(session = %self.session, "a turn was over the limit or held NUL characters, and is kept in part");
        }
        let observed = self.engine.sessions().observe(&self.session, std::slice::from_ref(&said))?;
        // Calls and their results are for the transcript alone.
        if observed.off_record > 0 && said.role != Role::Tool {
            self.hold(said.role, said.content)?;
        }
        Ok(observed)
    }
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
    fn what_is_kept_of_a_call_is_bounded() {
        assert_eq!(kept("note", "stored abc\nand more"), "note: stored abc");
        assert_eq!(kept("note", &"茶".repeat(9000)).chars().count(), 6 + MAX_KEPT);
    }
}
