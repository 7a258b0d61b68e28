//! Identifiers. Opaque text whose beginnings differ, so that six characters are enough to name one.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::namespace::{NameError, check_text};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an identifier that came from the [`Ids`](crate::ports::Ids) port or from the store.
            pub fn new(text: impl Into<String>) -> Self { Self(text.into()) }
            /// The identifier as text.
            pub fn as_str(&self) -> &str { &self.0 }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(&self.0) }
        }
    };
}

id!(/** A memory: an entry, or a bullet of a document. */ EntryId);
id!(/** One change: everything that a single verb altered. */ ChangeId);
id!(/** One recall, as kept in the recall log. */ RecallId);
id!(/** One turn of a conversation. */ TurnId);
id!(/** A task of the person's. */ TaskId);
id!(/** What a conversation left to go on from. */ ThreadId);
id!(/** A document of the vault. */ VaultId);
id!(
    /** A machine that uses the memory. What is true on one machine only, such as where a project is, is kept by it. */
    MachineId
);

/// An id that follows from its parts: the same parts give the same one, whoever asks.
pub(crate) fn derived(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
        digest.update([0]);
    }
    let mut text = data_encoding::BASE32_NOPAD.encode(&digest.finalize()[..10]);
    text.make_ascii_lowercase();
    text
}

impl TurnId {
    /// The id of a turn that its host names: the same for the same name in the same session, and in no other.
    pub fn of_host(session: &SessionId, name: &str) -> Self {
        Self(derived(&[session.as_str(), name]))
    }
}

/// A conversation on a channel, written whole: `telegram:123`, `web:abc`, `cli:main`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, example = "telegram:123")]
pub struct SessionId(String);

impl SessionId {
    /// Reads a session id; a bare one gets `channel` as its prefix.
    pub fn on_channel(channel: &str, text: &str) -> Result<Self, NameError> {
        if text.contains(':') { text.parse() } else { format!("{channel}:{text}").parse() }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where it takes place: `telegram` of `telegram:123`.
    pub fn channel(&self) -> &str {
        self.0.split_once(':').map_or(self.0.as_str(), |(channel, _)| channel)
    }
}

impl std::str::FromStr for SessionId {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        let (channel, rest) = text.split_once(':').ok_or_else(|| NameError::NotASession { given: text.to_owned() })?;
        if channel.is_empty() || rest.is_empty() {
            return Err(NameError::NotASession { given: text.to_owned() });
        }
        check_text(text)?;
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for SessionId {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}
