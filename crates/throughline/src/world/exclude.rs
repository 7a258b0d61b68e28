//! `[memory] exclude`: which directories and channels stay off the record.

use std::path::{Path, PathBuf};

use throughline_core::off_record::Exclude;

use crate::config::Loaded;

/// What the config excludes. A directory is compared as it is on the disk, without links.
pub(super) fn of(loaded: &Loaded) -> Exclude {
    let is_directory = |given: &&String| given.contains(['/', '\\']) || matches!(given.as_str(), "~" | "." | "..");
    let given = loaded.config.memory.exclude.iter().filter(|given| !given.trim().is_empty());
    let (directories, channels): (Vec<&String>, Vec<&String>) = given.partition(is_directory);
    let base = loaded.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    Exclude {
        directories: directories.into_iter().map(|given| directory(given, base)).collect(),
        channels: channels.into_iter().map(|given| given.trim().trim_end_matches(':').to_owned()).collect(),
        everything: false,
    }
}

/// `~` is the person's home, and any other path begins at the config file's own directory.
fn directory(given: &str, base: &Path) -> PathBuf {
    let below_home = given.strip_prefix('~').filter(|below| below.is_empty() || below.starts_with('/'));
    let path = match (below_home, directories::BaseDirs::new()) {
        (Some(below), Some(person)) => person.home_dir().join(below.trim_start_matches('/')),
        _ => base.join(given),
    };
    path.canonicalize().unwrap_or(path)
}
