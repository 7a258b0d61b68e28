//! Change tokens: whether anything changed, whichever process changed it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Stored;

/// Tells whether anything changed.
pub trait ChangeWatch {
    /// A token for each kind of thing: cheap enough to be asked for twice a second.
    fn change_tokens(&self) -> Stored<ChangeTokens>;
    /// Waits until something may have changed, for one who looks again and again. A store that is told of changes waits for
    /// the next one, and for `longest` at most; any other one waits for `usual`.
    fn wait_for_change(&self, usual: Duration, longest: Duration) -> Stored<()>;
}

/// A kind of thing that can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watched {
    /// Entries.
    Memories,
    /// Documents, as far as their changes were noticed.
    Documents,
    /// Turns.
    Turns,
    /// Sessions that began.
    SessionsBegun,
    /// Sessions that ended.
    SessionsEnded,
    /// Tasks.
    Tasks,
    /// Projects.
    Projects,
    /// The recall log.
    Recalls,
    /// Passes of reflection.
    Reflections,
    /// Documents of the vault.
    Vault,
    /// Runs of jobs.
    Jobs,
}

impl Watched {
    /// Every one there is.
    pub const ALL: [Self; 11] = [
        Self::Memories,
        Self::Documents,
        Self::Turns,
        Self::SessionsBegun,
        Self::SessionsEnded,
        Self::Tasks,
        Self::Projects,
        Self::Recalls,
        Self::Reflections,
        Self::Vault,
        Self::Jobs,
    ];

    /// What the API calls it: all that concerns sessions has one name there.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Documents => "documents",
            Self::Turns | Self::SessionsBegun | Self::SessionsEnded => "sessions",
            Self::Tasks => "tasks",
            Self::Projects => "projects",
            Self::Recalls => "recalls",
            Self::Reflections => "reflections",
            Self::Vault => "vault",
            Self::Jobs => "jobs",
        }
    }

    /// The names of these, each once.
    pub fn names(kinds: impl IntoIterator<Item = Self>) -> Vec<&'static str> {
        let mut names: Vec<&str> = kinds.into_iter().map(Self::name).collect();
        names.dedup();
        names
    }
}

/// Stands for the state of all things of one kind. It says nothing but whether it equals another: two tokens differ if
/// anything of that kind changed in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeToken(String);

impl ChangeToken {
    /// A store's own spelling.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// A token for each kind of thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeTokens(BTreeMap<Watched, ChangeToken>);

impl ChangeTokens {
    /// Whether anything of a kind changed since these tokens were taken.
    pub fn differ(&self, earlier: &Self, kind: Watched) -> bool {
        self.0.get(&kind) != earlier.0.get(&kind)
    }

    /// What changed since these tokens were taken, in the words of the API.
    pub fn since(&self, earlier: &Self) -> Vec<&'static str> {
        Watched::names(Watched::ALL.into_iter().filter(|kind| self.differ(earlier, *kind)))
    }
}

impl FromIterator<(Watched, ChangeToken)> for ChangeTokens {
    fn from_iter<T: IntoIterator<Item = (Watched, ChangeToken)>>(tokens: T) -> Self {
        Self(tokens.into_iter().collect())
    }
}
