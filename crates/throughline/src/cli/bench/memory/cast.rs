//! Who is who in a corpus: the person whose memory it is, and the others.

use clap::ValueEnum;

use crate::cli::bench::dataset::{Dataset, Doc};

/// How conversations are fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Feed {
    /// Between people: every turn has the role `user` and its speaker's name; the first speaker is the person
    People,
    /// With an assistant: the speaker `user`, or else the first one, has the role `user`, the others `assistant`
    Assistant,
}

impl Feed {
    /// What a data set looks like: the speakers of chats with an assistant are called `user` and `assistant`.
    pub(super) fn of(data: &Dataset) -> Self {
        let is_role = |doc: &Doc| matches!(doc.speaker.as_deref(), Some("user" | "assistant"));
        if data.docs().iter().any(is_role) { Self::Assistant } else { Self::People }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Assistant => "assistant",
        }
    }
}

/// No name: marks what has no speaker.
const NO_NAME: &str = "memory";

/// The speakers of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cast {
    feed: Feed,
    /// Who the memory belongs to.
    person: Option<String>,
}

impl Cast {
    pub(super) fn of(docs: &[&Doc], feed: Feed) -> Self {
        let mut speakers = docs.iter().filter_map(|doc| doc.speaker.as_deref());
        let has_user = docs.iter().any(|doc| doc.speaker.as_deref() == Some("user"));
        let person = if feed == Feed::Assistant && has_user { Some("user") } else { speakers.next() };
        Self { feed, person: person.map(str::to_owned) }
    }

    /// The person's name among the speakers of a chat between people.
    pub(super) fn person(&self) -> Option<&str> {
        self.person.as_deref().filter(|name| self.feed == Feed::People && *name != NO_NAME)
    }

    /// Whether the person said it. What has no speaker is theirs.
    pub(super) fn is_person(&self, doc: &Doc) -> bool {
        doc.speaker.is_none() || doc.speaker == self.person
    }

    pub(super) fn role(&self, doc: &Doc) -> &'static str {
        match self.feed {
            Feed::Assistant if !self.is_person(doc) => "assistant",
            _ => "user",
        }
    }

    /// The name that goes with a turn.
    pub(super) fn speaker<'d>(&self, doc: &'d Doc) -> Option<&'d str> {
        doc.speaker.as_deref().filter(|name| self.feed == Feed::People && *name != NO_NAME)
    }

    /// The turns that arrive together: of an assistant chat a message with its reply, else one.
    pub(super) fn exchanges<'d>(&self, docs: &[&'d Doc]) -> Vec<Vec<&'d Doc>> {
        let mut exchanges: Vec<Vec<&Doc>> = Vec::new();
        for doc in docs {
            match exchanges.last_mut() {
                Some(last) if self.role(doc) == "assistant" => last.push(doc),
                _ => exchanges.push(vec![doc]),
            }
        }
        exchanges
    }
}
