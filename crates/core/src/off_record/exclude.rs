//! Directories and channels in which nothing is observed and nothing is given.

use std::path::{Path, PathBuf};

use crate::model::SessionId;

/// What `[memory] exclude` names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exclude {
    /// Directories, with all that is below them.
    pub directories: Vec<PathBuf>,
    /// Channels, such as `telegram`.
    pub channels: Vec<String>,
    /// Everything: this process works in an excluded directory.
    pub everything: bool,
}

impl Exclude {
    /// Whether a directory is excluded, or lies below one that is.
    pub fn covers_directory(&self, directory: &Path) -> bool {
        self.directories.iter().any(|excluded| directory.starts_with(excluded))
    }

    /// Whether a session takes place on an excluded channel.
    pub fn covers_channel(&self, session: &SessionId) -> bool {
        self.channels.iter().any(|channel| channel == session.channel())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_excluded_with_what_is_below_it_and_nothing_beside() {
        let exclude = Exclude {
            directories: vec!["/srv/secret".into()],
            channels: vec!["telegram".to_owned()],
            ..Exclude::default()
        };
        for (directory, expected) in
            [("/srv/secret", true), ("/srv/secret/a/b", true), ("/srv/secrets", false), ("/srv", false)]
        {
            assert_eq!(exclude.covers_directory(Path::new(directory)), expected, "{directory}");
        }
        for (session, expected) in [("telegram:1", true), ("telegrams:1", false), ("web:telegram", false)] {
            assert_eq!(exclude.covers_channel(&session.parse().unwrap()), expected, "{session}");
        }
    }
}
