//! The directory of a project, as a person or a program names it.

use std::path::Path;

/// Why a directory cannot be a project's.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {dir}: {why}")]
pub(crate) struct DirectoryError {
    dir: String,
    why: String,
}

impl DirectoryError {
    /// What to try next.
    pub(crate) fn hint(&self) -> &'static str {
        "give a directory that exists, or register the project without one"
    }
}

/// The absolute path of a directory that is there.
pub(crate) fn of_project(dir: &Path) -> Result<String, DirectoryError> {
    let refused = |why: &str| DirectoryError { dir: dir.display().to_string(), why: why.to_owned() };
    let absolute = dir.canonicalize().map_err(|error| refused(&error.to_string()))?;
    if !absolute.is_dir() {
        return Err(refused("it is not a directory"));
    }
    absolute.to_str().map(str::to_owned).ok_or_else(|| refused("its name is not UTF-8"))
}
