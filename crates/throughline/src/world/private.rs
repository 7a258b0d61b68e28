//! Directories and files that are their owner's alone.

use std::path::Path;

use super::OpenError;

/// Makes a directory that only its owner can enter.
pub fn private_directory(path: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::Directory { path: path.to_owned(), source };
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(failed)
}

/// Makes sure that a file which is about to be made is its owner's alone; one that is there is not touched.
pub(crate) fn private_file(path: &Path) -> Result<(), OpenError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(source) if source.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(OpenError::Directory { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Whether anybody but its owner may read or write a file.
pub(crate) fn is_open_to_others(about: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(about) & 0o077 != 0;
    #[cfg(not(unix))]
    return {
        let _ = about;
        false
    };
}

/// Whether a file belongs to the user who runs this program.
pub(crate) fn is_own(about: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::uid(about) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    return {
        let _ = about;
        true
    };
}
