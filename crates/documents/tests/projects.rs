//! The memory file of a project, in the project's own directory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

use std::fs;
use std::path::PathBuf;

use throughline_core::model::{ContentHash, DocumentName};
use throughline_core::ports::{DocumentError, Documents};
use throughline_documents::FileDocuments;

fn apollo() -> DocumentName {
    "projects/apollo".parse().unwrap()
}

/// Documents whose project `apollo` is in a directory, if in any, that does not exist yet.
fn documents(has_directory: bool) -> (tempfile::TempDir, PathBuf, FileDocuments) {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("apollo");
    let place = dir.clone();
    let documents = FileDocuments::open(&home.path().join("home")).unwrap();
    let documents = documents.with_projects(move |_| has_directory.then(|| place.clone()));
    (home, dir, documents)
}

#[track_caller]
fn unreachable<T: std::fmt::Debug>(outcome: Result<T, DocumentError>) {
    assert!(matches!(outcome, Err(DocumentError::Unreachable { .. })), "{outcome:?}");
}

#[test]
fn a_directory_that_is_not_there_is_no_missing_file() {
    let (_home, dir, documents) = documents(true);
    let refused = || {
        unreachable(documents.read(&apollo()));
        unreachable(documents.stamp(&apollo()));
        unreachable(documents.write(&apollo(), "new", &ContentHash::missing()));
        unreachable(documents.remove(&apollo(), &ContentHash::of("old")));
    };
    refused();
    fs::write(&dir, "a file where the directory was").unwrap();
    refused();
    fs::remove_file(&dir).unwrap();
    fs::create_dir(&dir).unwrap();
    assert_eq!(documents.read(&apollo()).unwrap(), None, "here it is missing");
    documents.write(&apollo(), "new", &ContentHash::missing()).unwrap();
    assert_eq!(fs::read_to_string(dir.join("memory.md")).unwrap(), "new");
}

#[test]
fn a_project_without_a_directory_has_no_document() {
    let (_home, _, documents) = documents(false);
    assert_eq!((documents.read(&apollo()).unwrap(), documents.stamp(&apollo()).unwrap()), (None, None));
    unreachable(documents.write(&apollo(), "new", &ContentHash::missing()));
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_not_registered_is_read_as_carefully() {
    let (home, dir, documents) = documents(false);
    let read = || documents.read_in(&apollo(), dir.to_str().unwrap());
    unreachable(read());
    fs::create_dir(&dir).unwrap();
    assert_eq!(read().unwrap(), None);
    fs::write(home.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(home.path().join("secret"), dir.join("memory.md")).unwrap();
    assert!(matches!(read(), Err(DocumentError::NotPlain { .. })));
    fs::remove_file(dir.join("memory.md")).unwrap();
    fs::write(dir.join("memory.md"), "- ours\n").unwrap();
    assert_eq!(read().unwrap().unwrap().text, "- ours\n");
}
