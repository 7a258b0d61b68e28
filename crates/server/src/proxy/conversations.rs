//! What the proxy knows about conversations while the daemon runs: which request belongs to which, what was put in front of
//! which message, and what is recorded. All of it is bounded, and none of it is needed: after a restart, a conversation is
//! recognised by its opening messages, its opening comes from the store, and turns have the ids that they had.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use lru::LruCache;
use sha2::{Digest as _, Sha256};
use throughline_core::context::without_fence;
use throughline_core::engine::{Engine, EngineError};
use throughline_core::model::{EntryId, SessionId};

use super::wires::{Asked, By, Spoken};

/// The channel of conversations that name none.
pub(super) const CHANNEL: &str = "proxy";

/// A message that begins a conversation and was said before: within this time it is asked again, later it begins another.
const ASKED_AGAIN_WITHIN: SignedDuration = SignedDuration::from_mins(10);

/// Conversations that begin with the same words are told apart up to this number.
const MOST_ALIKE: usize = 1000;

/// The longest name that is taken over from a body.
const LONGEST_NAME: usize = 64;

/// Memories that were put in front of a message, and which.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) text: String,
    pub(super) ids: Vec<EntryId>,
}

/// How far a conversation is, as far as it was seen.
#[derive(Debug, Clone, Copy)]
struct Seen {
    messages: usize,
    at: Timestamp,
}

struct Known {
    blocks: LruCache<String, Arc<Block>>,
    openings: LruCache<SessionId, String>,
    exchanges: LruCache<String, SessionId>,
    responses: LruCache<String, SessionId>,
    recorded: LruCache<String, ()>,
    seen: LruCache<SessionId, Seen>,
}

/// What is known about conversations.
pub(crate) struct Conversations(Mutex<Known>);

impl Default for Conversations {
    fn default() -> Self {
        fn room<K: std::hash::Hash + Eq, V>(size: usize) -> LruCache<K, V> {
            LruCache::new(NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN))
        }
        Self(Mutex::new(Known {
            blocks: room(4096),
            openings: room(1024),
            exchanges: room(8192),
            responses: room(8192),
            recorded: room(65_536),
            seen: room(4096),
        }))
    }
}

impl Conversations {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation of a request: as the client calls it, else the one that it goes on from, else by what was said.
    pub(super) fn recognise(&self, engine: &Engine, asked: &Asked) -> Result<SessionId, EngineError> {
        if let Some(session) = asked.names.previous_response.as_ref().and_then(|id| self.of_response(id)) {
            return Ok(session);
        }
        let name = asked.names.conversation.as_ref().or(asked.names.previous_response.as_ref());
        if let Some(name) = name {
            return Ok(format!("{CHANNEL}:{}", plain(name)).parse()?);
        }
        if let Some(session) = self.of_exchange(&asked.said) {
            return Ok(session);
        }
        let has_replies = asked.said.iter().any(|spoken| spoken.by == By::Assistant);
        if has_replies { Self::by_words(asked) } else { self.beginning(engine, &first_words(asked)) }
    }

    /// The conversation that begins with the words of this one.
    pub(super) fn by_words(asked: &Asked) -> Result<SessionId, EngineError> {
        Ok(format!("{CHANNEL}:{}", first_words(asked)).parse()?)
    }

    fn of_response(&self, id: &str) -> Option<SessionId> {
        self.known().responses.get(id).cloned()
    }

    /// The conversation in which the latest of these exchanges took place.
    fn of_exchange(&self, said: &[Spoken]) -> Option<SessionId> {
        let exchanges = said.windows(2).rev().filter(|pair| pair[0].by == By::Person && pair[1].by == By::Assistant);
        let mut known = self.known();
        exchanges.map(|pair| exchange(&pair[0].text, &pair[1].text)).find_map(|key| known.exchanges.get(&key).cloned())
    }

    /// A conversation that begins with these words: one that got no further and is recent is asked again.
    fn beginning(&self, engine: &Engine, name: &str) -> Result<SessionId, EngineError> {
        let now = engine.now();
        let is_recent = |at: Timestamp| now.duration_since(at) < ASKED_AGAIN_WITHIN;
        let mut session: SessionId = format!("{CHANNEL}:{name}").parse()?;
        for number in 2..MOST_ALIKE {
            let seen = self.known().seen.get(&session).copied();
            let is_it = match seen {
                Some(seen) => seen.messages <= 1 && is_recent(seen.at),
                None => engine.sessions().find(&session)?.is_none_or(|state| is_recent(state.session.updated_at)),
            };
            if is_it {
                break;
            }
            session = format!("{CHANNEL}:{name}-{number}").parse()?;
        }
        Ok(session)
    }

    /// A conversation goes on, with so many messages of the person.
    pub(super) fn note_seen(&self, session: &SessionId, said: &[Spoken], at: Timestamp) {
        let messages = said.iter().filter(|spoken| spoken.by == By::Person).count();
        let mut known = self.known();
        let before = known.seen.get(session).map_or(0, |seen| seen.messages);
        known.seen.put(session.clone(), Seen { messages: messages.max(before), at });
    }

    /// A message was answered.
    pub(super) fn note_reply(&self, session: &SessionId, message: Option<&str>, reply: &str, id: Option<&str>) {
        let mut known = self.known();
        if let Some(message) = message {
            known.exchanges.put(exchange(message, reply), session.clone());
        }
        if let Some(id) = id {
            known.responses.put(id.to_owned(), session.clone());
        }
    }

    /// What was put in front of a message.
    pub(super) fn block(&self, session: &SessionId, key: &str) -> Option<Arc<Block>> {
        self.known().blocks.get(&place(session, key)).cloned()
    }

    /// Keeps what was put in front of a message, unless another request was first.
    pub(super) fn keep_block(&self, session: &SessionId, key: &str, block: Block) {
        self.known().blocks.get_or_insert(place(session, key), || Arc::new(block));
    }

    /// What a conversation was begun with and is not in the store yet.
    pub(super) fn opening(&self, session: &SessionId) -> Option<String> {
        self.known().openings.get(session).cloned()
    }

    pub(super) fn keep_opening(&self, session: &SessionId, opening: &str) {
        self.known().openings.get_or_insert(session.clone(), || opening.to_owned());
    }

    /// The store has it now.
    pub(super) fn drop_opening(&self, session: &SessionId) {
        self.known().openings.pop(session);
    }

    /// Whether a turn was recorded while the daemon runs.
    pub(super) fn is_recorded(&self, session: &SessionId, key: &str) -> bool {
        self.known().recorded.get(&place(session, key)).is_some()
    }

    pub(super) fn note_recorded<'a>(&self, session: &SessionId, keys: impl IntoIterator<Item = &'a str>) {
        let mut known = self.known();
        for key in keys {
            known.recorded.put(place(session, key), ());
        }
    }
}

fn place(session: &SessionId, key: &str) -> String {
    format!("{session}\n{key}")
}

fn exchange(message: &str, reply: &str) -> String {
    digest(&["exchange", &own(message), &own(reply)])
}

/// A name that can be a part of a session's; any other is replaced by its digest.
fn plain(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    let name = name.trim();
    if (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_plain) {
        return name.to_owned();
    }
    digest(&["name", name])[..16].to_owned()
}

/// A name of what a conversation begins with.
fn first_words(asked: &Asked) -> String {
    let first = asked.said.iter().find(|spoken| spoken.by == By::Person);
    digest(&["first", &first.map(|spoken| own(&spoken.text)).unwrap_or_default()])[..16].to_owned()
}

/// The words themselves: without what memory had put in front, and with single blanks.
fn own(text: &str) -> String {
    without_fence(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Names for what was said, the same whenever it is sent again: by who says it, the words, and which time it is that the words
/// are said. What a client changes elsewhere in its history changes no other name.
pub(super) fn keys(said: &[Spoken]) -> Vec<String> {
    let mut times = std::collections::HashMap::new();
    said.iter()
        .map(|spoken| {
            let words = (spoken.by == By::Person, own(&spoken.text));
            let time: &mut usize = times.entry(words.clone()).or_default();
            *time += 1;
            key(spoken.by, &words.1, *time)
        })
        .collect()
}

/// The name of a reply to what was said.
pub(super) fn reply_key(said: &[Spoken], reply: &str) -> String {
    let words = own(reply);
    let is_same = |spoken: &&Spoken| spoken.by == By::Assistant && own(&spoken.text) == words;
    key(By::Assistant, &words, said.iter().filter(is_same).count() + 1)
}

fn key(by: By, words: &str, time: usize) -> String {
    let by = if by == By::Person { "user" } else { "assistant" };
    digest(&[by, words, &time.to_string()])
}

fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    data_encoding::HEXLOWER.encode(&hash.finalize()[..16])
}
