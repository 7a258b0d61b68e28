//! What is kept of an exchange, after the reply has passed: what was given, and what was said, raw. A history that is sent again is
//! kept once, because turns have the names of their words.

use throughline_core::context::without_fence;
use throughline_core::engine::{EngineError, Prepared, Said, StartSession, Visibility, chain};
use throughline_core::model::{Role, SessionId};

use super::conversations::{Conversations, reply_key};
use super::memory::Heard;
use super::wires::{By, Reply};
use crate::Host;

/// Turns that are written at once.
const AT_ONCE: usize = 500;

/// As many bytes of a body are taken for a token.
const BYTES_A_TOKEN: usize = 4;

/// The longest name of a speaker that is kept, in bytes.
const LONGEST_SPEAKER: usize = 60;

/// What came of a request.
pub(super) struct Exchange {
    pub(super) heard: Heard,
    /// What memory added to the request, where it was not late.
    pub(super) given: Option<(Prepared, Visibility)>,
    /// The reply, where it came whole.
    pub(super) reply: Option<Reply>,
    /// How much was sent, in bytes, where that may be too much for the model.
    pub(super) compacts: Option<usize>,
}

/// Records an exchange. What cannot be kept is logged: the client sends it again with its next message.
pub(super) fn record(host: &dyn Host, conversations: &Conversations, exchange: &Exchange) {
    if let Some((prepared, visibility)) = &exchange.given
        && let Err(error) = note_given(host, conversations, &exchange.heard.session, prepared, *visibility)
    {
        tracing::warn!(error = chain(&error), "what was given is not noted");
    }
    match keep(host, conversations, exchange) {
        Ok(()) => compact(host, exchange),
        Err(error) => {
            tracing::warn!(error = chain(&error), "an exchange is not recorded; the next one brings it again")
        }
    }
}

fn note_given(
    host: &dyn Host,
    conversations: &Conversations,
    session: &SessionId,
    prepared: &Prepared,
    visibility: Visibility,
) -> Result<(), EngineError> {
    let engine = host.engine();
    engine.context_afterwards().note_given(prepared, visibility)?;
    // From then on, it comes from the store.
    if engine.sessions().find(session)?.is_some_and(|state| state.opening.is_some()) {
        conversations.drop_opening(session);
    }
    Ok(())
}

fn keep(host: &dyn Host, conversations: &Conversations, exchange: &Exchange) -> Result<(), EngineError> {
    let Heard { session, said, keys } = &exchange.heard;
    let latest = said.iter().rfind(|spoken| spoken.by == By::Person).map(|spoken| spoken.text.as_str());
    let mut turns: Vec<Said> = said
        .iter()
        .zip(keys)
        .filter(|(_, key)| !conversations.is_recorded(session, key))
        .map(|(spoken, key)| {
            let role = if spoken.by == By::Person { Role::User } else { Role::Assistant };
            Said { speaker: spoken.speaker.clone().filter(|name| is_name(name)), ..turn(key, role, &spoken.text) }
        })
        .collect();
    if let Some(reply) = &exchange.reply {
        conversations.note_reply(session, latest, &reply.text, reply.id.as_deref());
        turns.push(turn(&reply_key(said, &reply.text), Role::Assistant, &reply.text));
    }
    let cut = turns.iter_mut().map(Said::fit).filter(|is_cut| *is_cut).count();
    if cut > 0 {
        tracing::warn!(%session, turns = cut, "turns were over the limit or held NUL characters, and are kept in part");
    }
    turns.retain(|turn| !without_fence(&turn.content).trim().is_empty());
    for some in turns.chunks(AT_ONCE) {
        host.observe(&StartSession::new(session.clone()), some)?;
        conversations.note_recorded(session, some.iter().filter_map(|turn| turn.id.as_deref()));
    }
    Ok(())
}

fn turn(key: &str, role: Role, text: &str) -> Said {
    Said { id: Some(key.to_owned()), ..Said::now(role, text) }
}

fn is_name(text: &str) -> bool {
    (1..=LONGEST_SPEAKER).contains(&text.trim().len()) && !text.contains(char::is_control)
}

/// Shortens what the next request sends, where this one took too much of the model's window. Asks a model, and takes its time.
pub(super) fn compact(host: &dyn Host, exchange: &Exchange) {
    let policy = &host.engine().settings().policy;
    let limit = policy.trigger_ratio * policy.context_window as f64;
    let is_long = |bytes: usize| limit > 0.0 && (bytes / BYTES_A_TOKEN) as f64 > limit;
    if exchange.compacts.is_some_and(is_long)
        && let Err(problem) = host.compact(&exchange.heard.session, None)
    {
        tracing::warn!(problem = problem.message, "a long conversation is not compacted");
    }
}
