//! The words of the domain. Plain data with strict constructors; nothing here does I/O.

mod change;
mod digest;
mod document;
mod entry;
mod ids;
mod memory;
mod mute;
mod namespace;
mod pause;
mod person;
mod project;
mod section;
mod session;
mod task;
mod thread;
mod turn;
mod weight;
mod withdrawn;

pub use change::{Actor, Change, DocumentVersion, EntryVersion, Verb};
pub use digest::TextDigest;
pub use document::{Bullet, ContentHash, Document, clash, copied_from, copy_name};
pub(crate) use entry::{ACCEPTED_TAG, UNCONFIRMED_TAG};
pub use entry::{Entry, Kind, Layer, Source, Status};
pub(crate) use ids::derived;
pub use ids::{ChangeId, EntryId, MachineId, RecallId, SessionId, TaskId, ThreadId, TurnId, VaultId};
pub use memory::Memory;
pub use mute::Mute;
pub use namespace::{DocumentName, Name, NameError, Namespace, fold_name};
pub use pause::Pause;
pub use person::{Person, shown_speaker};
pub use project::{Project, ProjectVersion};
pub use section::MemorySection;
pub use session::{Position, Session, SessionState};
pub use task::{Task, TaskStatus, TaskVersion};
pub use thread::{Thread, ThreadStatus, ThreadVersion};
pub use turn::{Role, Turn};
pub use weight::{Importance, Significance, WeightError};
pub use withdrawn::{StatementDigest, Withdrawal, Withdrawn};

/// An entry for unit tests.
#[cfg(test)]
pub(crate) fn sample_entry(id: &str, content: &str) -> Entry {
    Entry {
        id: EntryId::new(id),
        kind: Kind::Entry,
        namespace: Namespace::Global,
        layer: Layer::Knowledge,
        key: None,
        content: content.to_owned(),
        source: Source::User,
        status: Status::Active,
        importance: Importance::default(),
        tags: Vec::new(),
        session: None,
        task: None,
        project: None,
        created_at: jiff::Timestamp::UNIX_EPOCH,
        updated_at: jiff::Timestamp::UNIX_EPOCH,
        expires_at: None,
        supersedes: Vec::new(),
        provenance: Vec::new(),
        version: 1,
    }
}

/// A stored spelling that no variant owns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{given}`: expected one of {expected}")]
pub struct UnknownSpelling {
    /// What was being read, as a person would call it.
    pub what: &'static str,
    /// The text that was given.
    pub given: String,
    /// The spellings that are known, comma-separated.
    pub expected: &'static str,
}

/// Gives an enum its one stored spelling: `as_str`, `Display`, `FromStr`, serde and the schema by that spelling.
/// Extra spellings after `|` are accepted when reading and never written.
macro_rules! spelled {
    ($name:ident, $what:literal, $expected:literal, { $($variant:ident => $text:literal $(| $alias:literal)*),+ $(,)? }) => {
        impl $name {
            /// The one spelling that is stored and shown.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
        impl std::str::FromStr for $name {
            type Err = $crate::model::UnknownSpelling;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text $(| $alias)* => Ok(Self::$variant),)+
                    other => Err($crate::model::UnknownSpelling {
                        what: $what, given: other.to_owned(), expected: $expected,
                    }),
                }
            }
        }
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
        impl utoipa::ToSchema for $name {}
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let kind = utoipa::openapi::schema::Type::String;
                utoipa::openapi::ObjectBuilder::new().schema_type(kind).enum_values(Some([$($text),+])).into()
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use spelled;
