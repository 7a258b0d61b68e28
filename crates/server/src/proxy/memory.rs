//! What memory adds to a request: the opening behind the system prompt, and a block in front of messages of the person. The
//! latest message is searched for; earlier ones get again what they had, so that the beginning of a conversation stays the same
//! byte for byte and the server's prompt cache holds.
//!
//! [`compose`] changes nothing; [`Composed::accept`] notes in memory what was added, once it goes out in time.

use std::sync::Arc;

use throughline_core::context::without_fence;
use throughline_core::engine::{
    ContextRequest, Engine, EngineError, InView, InjectAt, Prepared, SentMessage, Visibility,
};
use throughline_core::model::{EntryId, Role, SessionId, TurnId};

use super::conversations::{Block, Conversations, keys};
use super::edits::Edit;
use super::wires::{Asked, By, Spoken, Wire, summary_message};

/// Why memory has nothing to say to a request.
#[derive(Debug, thiserror::Error)]
pub(super) enum ComposeError {
    /// The memory cannot be read.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The request has not the form of its API; its server says what is wrong with it.
    #[error("the request cannot be read")]
    Unreadable,
    /// The memory cannot be searched.
    #[error("nothing can be recalled: {why}")]
    Recall {
        /// What went wrong.
        why: String,
    },
}

/// What a request says.
pub(super) struct Heard {
    pub(super) session: SessionId,
    /// What was said in it, each with its name.
    pub(super) said: Vec<Spoken>,
    pub(super) keys: Vec<String>,
}

impl Heard {
    /// What a request says to which memory added nothing, because it was late or could not be read; `None` if memory is off.
    pub(super) fn of(
        engine: &Engine,
        conversations: &Conversations,
        session: Option<SessionId>,
        asked: Asked,
    ) -> Result<Option<Self>, EngineError> {
        if !engine.settings().enabled {
            return Ok(None);
        }
        let session = match session.map_or_else(|| conversations.recognise(engine, &asked), Ok) {
            // The store is away: it cannot be asked whether somebody began with the same words before.
            Err(EngineError::Store(_)) => Conversations::by_words(&asked)?,
            recognised => recognised?,
        };
        let (keys, said) = (keys(&asked.said), asked.said);
        conversations.note_seen(&session, &said, engine.now());
        Ok(Some(Self { session, said, keys }))
    }
}

/// A request with what memory adds to it.
pub(super) struct Composed {
    pub(super) heard: Heard,
    pub(super) edits: Vec<Edit>,
    /// The memories that stand in front of messages, those of the latest first.
    pub(super) used: Vec<EntryId>,
    pub(super) prepared: Prepared,
    pub(super) visibility: Visibility,
    opening: String,
    /// What is put in front of the latest message for the first time.
    fresh: Option<(String, Block)>,
}

/// A request of which memory knows what to do with it.
pub(super) struct Request {
    pub(super) wire: Wire,
    pub(super) asked: Asked,
    /// The conversation, where the client named it in a header.
    pub(super) session: Option<SessionId>,
    /// Whether a history that was compacted is sent in its short form.
    pub(super) compacts: bool,
}

/// What memory adds; nothing where it is off, or where the conversation is off the record.
pub(super) fn compose(
    engine: &Engine,
    conversations: &Conversations,
    request: Request,
) -> Result<Option<Composed>, ComposeError> {
    if !engine.settings().enabled {
        return Ok(None);
    }
    let Request { wire, asked, session, compacts } = request;
    let session = session.map_or_else(|| conversations.recognise(engine, &asked), Ok)?;
    let cut = if compacts { cut(engine, &session, &asked)? } else { None };
    let keys = keys(&asked.said);
    let sent_from = cut.as_ref().map_or(0, |cut| cut.at.end);
    let placed = Placed::of(conversations, &session, &asked, &keys, sent_from);
    let context = ContextRequest {
        session: Some(session.clone()),
        message: placed.searched.map(|at| without_fence(&asked.said[at].text).into_owned()),
        // What the server keeps of a conversation is noted in the store; of what the client sends, everything is known here.
        in_view: (!asked.names.is_held).then(|| placed.in_view(&session, &asked, &keys, sent_from)),
        ..ContextRequest::default()
    };
    let prepared = engine.context().prepare(&context)?;
    if let Some(failure) = &prepared.failure {
        return Err(ComposeError::Recall { why: failure.clone() });
    }
    if prepared.is_off_record() {
        return Ok(None);
    }
    let noted = conversations.opening(&session).filter(|_| !prepared.is_open);
    let opening = noted.unwrap_or_else(|| prepared.opening.clone());
    let block = Block { text: prepared.block.clone().unwrap_or_default(), ids: prepared.given_ids() };
    let in_system = engine.settings().inject_at == InjectAt::SystemPrompt;
    let mut edits: Vec<Edit> = cut.into_iter().collect();
    let system = if in_system { joined(&opening, &block.text) } else { opening.clone() };
    if !system.is_empty() && !stands_in(&opening, &asked) {
        edits.push(asked.system.edit(&system));
    }
    let fresh = placed.searched.filter(|_| !in_system).map(|at| (at, block));
    edits.extend(placed.edits(&asked, fresh.as_ref()));
    let used = placed.used(fresh.as_ref().map(|(_, block)| block), &prepared);
    let visibility = if wire == Wire::Responses { Visibility::Stays } else { Visibility::Once };
    let fresh = fresh.map(|(at, block)| (keys[at].clone(), block));
    let heard = Heard { session, said: asked.said, keys };
    Ok(Some(Composed { heard, edits, used, prepared, visibility, opening, fresh }))
}

impl Composed {
    /// Notes what was added, so that it is added again.
    pub(super) fn accept(&self, engine: &Engine, conversations: &Conversations) {
        let Heard { session, said, .. } = &self.heard;
        conversations.note_seen(session, said, engine.now());
        if !self.prepared.is_open {
            conversations.keep_opening(session, &self.opening);
        }
        if let Some((key, block)) = &self.fresh {
            conversations.keep_block(session, key, block.clone());
        }
    }
}

/// Which messages have a block, and which one is searched for.
struct Placed {
    /// Places among what was said, with what they had before.
    known: Vec<(usize, Arc<Block>)>,
    searched: Option<usize>,
}

impl Placed {
    fn of(conversations: &Conversations, session: &SessionId, asked: &Asked, keys: &[String], from: usize) -> Self {
        let is_sent = |at: &usize| asked.said[*at].by == By::Person && asked.said[*at].starts_at >= from;
        let known: Vec<_> = (0..asked.said.len())
            .filter(is_sent)
            .filter_map(|at| Some((at, conversations.block(session, &keys[at])?)))
            .collect();
        // A message that came with memories already, by a hook of the client, is not searched for again.
        let is_own = |at: &usize| {
            let text = &asked.said[*at].text;
            without_fence(text).len() == text.len() && asked.said[*at].place.is_some()
        };
        let latest = asked.latest().filter(is_own);
        let searched = latest.filter(|latest| known.iter().all(|(at, _)| at != latest));
        Self { known, searched }
    }

    /// What the model sees: what was said and is sent, and the memories in front of it.
    fn in_view(&self, session: &SessionId, asked: &Asked, keys: &[String], from: usize) -> InView {
        let sent = || asked.said.iter().zip(keys).enumerate().filter(|(_, (spoken, _))| spoken.starts_at >= from);
        let turns = sent().map(|(_, (_, key))| EntryId::new(TurnId::of_host(session, key).as_str()));
        let ids = turns.chain(self.known.iter().flat_map(|(_, block)| block.ids.iter().cloned())).collect();
        // What the message itself says is compared with memories elsewhere.
        let others = sent().filter(|(at, _)| Some(*at) != self.searched).map(|(_, (spoken, _))| spoken.text.clone());
        let blocks = self.known.iter().map(|(_, block)| block.text.clone());
        let texts = blocks.chain(others).chain([asked.system_text.clone()]).collect();
        InView { ids, texts }
    }

    fn edits(&self, asked: &Asked, fresh: Option<&(usize, Block)>) -> Vec<Edit> {
        let known = self.known.iter().map(|(at, block)| (*at, &**block));
        let all = known.chain(fresh.map(|(at, block)| (*at, block)));
        let full = all.filter(|(_, block)| !block.text.is_empty());
        full.filter_map(|(at, block)| Some(asked.said[at].place?.edit(&block.text))).collect()
    }

    fn used(&self, fresh: Option<&Block>, prepared: &Prepared) -> Vec<EntryId> {
        let mut used = fresh.map_or_else(|| prepared.given_ids(), |block| block.ids.clone());
        used.extend(self.known.iter().rev().flat_map(|(_, block)| block.ids.iter().cloned()));
        used
    }
}

fn joined(opening: &str, block: &str) -> String {
    [opening, block].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Whether the client sends the opening already, because a hook of its gave it.
fn stands_in(opening: &str, asked: &Asked) -> bool {
    !opening.is_empty()
        && (asked.system_text.contains(opening) || asked.said.iter().any(|spoken| spoken.text.contains(opening)))
}

/// The summary in place of what a compaction trimmed, where the client still sends it. It ends in front of a message of the
/// person that answers no tool, so that no call loses its result.
fn cut(engine: &Engine, session: &SessionId, asked: &Asked) -> Result<Option<Edit>, EngineError> {
    let Some(from) = asked.history.filter(|_| !asked.names.is_held) else { return Ok(None) };
    let (turns, _) = engine.sessions().window(session, usize::MAX)?;
    let Some((summary, kept)) = turns.split_first().filter(|(first, _)| first.role == Role::Summary) else {
        return Ok(None);
    };
    let Some(first) = kept.iter().find(|turn| turn.role == Role::User) else { return Ok(None) };
    let keys = keys(&asked.said);
    let is_first = |(spoken, key): &(&Spoken, &String)| {
        spoken.by == By::Person && !spoken.answers_tool && TurnId::of_host(session, key) == first.id
    };
    let kept = asked.said.iter().zip(&keys).find(is_first).map(|(spoken, _)| spoken.starts_at);
    let with = summary_message(&SentMessage::of(summary).content);
    // It never makes the history longer.
    Ok(kept.filter(|kept| *kept > from + with.len()).map(|kept| Edit { at: from..kept, with }))
}
