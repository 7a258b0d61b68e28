//! What is done to the database, and how it comes back.

use std::str::FromStr;

/// What is done to the database, by another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Moved away, and later back.
    Moved,
    /// Another memory's database is renamed over it.
    Replaced,
    /// Cut to nothing, in place.
    Truncated,
    /// Deleted, with its log.
    Deleted,
    /// An older state of the home, of a time when no daemon ran, is copied over it, in place.
    Overwritten,
    /// The same with an older state that was copied while the daemon ran, with its log.
    Overlaid,
    /// Noise is written into the middle of it, in place.
    Garbled,
}

impl Way {
    /// Every one there is.
    pub const ALL: [Self; 7] =
        [Self::Moved, Self::Replaced, Self::Truncated, Self::Deleted, Self::Overwritten, Self::Overlaid, Self::Garbled];

    fn as_str(self) -> &'static str {
        match self {
            Self::Moved => "moved",
            Self::Replaced => "replaced",
            Self::Truncated => "truncated",
            Self::Deleted => "deleted",
            Self::Overwritten => "overwritten",
            Self::Overlaid => "overlaid",
            Self::Garbled => "garbled",
        }
    }

    /// As a line of shell in the home. `$OLD` and `$LIVE` are older states of it, `$OTHER` is the database of another memory.
    pub(super) fn event(self) -> &'static str {
        match self {
            Self::Moved => "mv memory.db elsewhere.db",
            Self::Replaced => "cp \"$OTHER\" new.db; mv new.db memory.db",
            Self::Truncated => ": > memory.db",
            Self::Deleted => "rm memory.db*",
            Self::Overwritten => "cp -a \"$OLD\"/. .",
            Self::Overlaid => "cp -a \"$LIVE\"/. .",
            Self::Garbled => "dd if=/dev/urandom of=memory.db bs=4096 seek=20 count=40 conv=notrunc 2> /dev/null",
        }
    }

    /// What brings the database back, as a line of shell in the home; nothing where a backup has to be restored.
    pub(super) fn undone(self) -> Option<&'static str> {
        (self == Self::Moved).then_some("mv elsewhere.db memory.db")
    }
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Way {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|way| way.as_str() == text);
        found.ok_or_else(|| format!("there is no way `{text}`"))
    }
}
