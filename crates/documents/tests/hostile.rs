//! A directory that somebody prepared: links, pipes, foreign bytes, wrong names, no permission.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use throughline_core::model::{ContentHash, DocumentName, Name};
use throughline_core::ports::{DocumentError, Documents};
use throughline_documents::FileDocuments;

struct Home {
    dir: tempfile::TempDir,
    documents: FileDocuments,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("home/user")).unwrap();
        let documents = FileDocuments::open(&dir.path().join("home")).unwrap();
        Self { dir, documents }
    }

    /// A path below the home.
    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("home").join(path)
    }

    /// A path beside the home, where nothing may ever be changed.
    fn outside(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn listed(&self) -> Vec<String> {
        let user: Name = "user".parse().unwrap();
        self.documents.list(&user).unwrap().iter().map(ToString::to_string).collect()
    }

    /// Every verb refuses the document as not plain, and it is not listed.
    #[track_caller]
    fn refuses(&self, text: &str) {
        let name = name(text);
        let not_plain = |error: DocumentError| assert!(matches!(error, DocumentError::NotPlain { .. }), "{error:?}");
        not_plain(self.documents.read(&name).unwrap_err());
        not_plain(self.documents.stamp(&name).unwrap_err());
        for expected in [ContentHash::missing(), ContentHash::of("secret")] {
            not_plain(self.documents.write(&name, "new", &expected).unwrap_err());
        }
        not_plain(self.documents.remove(&name, &ContentHash::of("secret")).unwrap_err());
        assert!(self.listed().is_empty(), "listed {:?}", self.listed());
    }
}

fn name(text: &str) -> DocumentName {
    text.parse().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

#[track_caller]
fn not_text(outcome: Result<impl std::fmt::Debug, DocumentError>, reason: &str) {
    match outcome {
        Err(DocumentError::NotText { why, .. }) => assert_eq!(why, reason),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn refuses_a_link_to_a_file_outside() {
    let home = Home::new();
    fs::write(home.outside("secret"), "secret").unwrap();
    symlink(home.outside("secret"), home.at("user/profile.md")).unwrap();
    home.refuses("user/profile");
    assert_eq!(fs::read_to_string(home.outside("secret")).unwrap(), "secret");
}

#[test]
fn refuses_a_link_to_the_password_file() {
    let home = Home::new();
    symlink("/etc/passwd", home.at("user/profile.md")).unwrap();
    home.refuses("user/profile");
}

#[test]
fn refuses_a_link_to_another_document() {
    let home = Home::new();
    fs::create_dir(home.at("other")).unwrap();
    fs::write(home.at("other/profile.md"), "secret").unwrap();
    symlink("../other/profile.md", home.at("user/profile.md")).unwrap();
    home.refuses("user/profile");
    assert_eq!(fs::read_to_string(home.at("other/profile.md")).unwrap(), "secret");
}

#[test]
fn refuses_a_dangling_link_and_creates_nothing_behind_it() {
    let home = Home::new();
    symlink(home.outside("created"), home.at("user/profile.md")).unwrap();
    home.refuses("user/profile");
    assert!(!home.outside("created").exists());
}

#[test]
fn refuses_a_link_in_place_of_a_folder() {
    let home = Home::new();
    fs::create_dir(home.outside("elsewhere")).unwrap();
    fs::write(home.outside("elsewhere/travel.md"), "secret").unwrap();
    symlink(home.outside("elsewhere"), home.at("user/notes")).unwrap();
    home.refuses("user/notes/travel");
    home.refuses("user/notes/new");
    assert_eq!(fs::read_dir(home.outside("elsewhere")).unwrap().count(), 1);
}

#[test]
fn refuses_a_namespace_that_is_a_link() {
    let home = Home::new();
    fs::create_dir(home.outside("elsewhere")).unwrap();
    fs::write(home.outside("elsewhere/profile.md"), "secret").unwrap();
    fs::remove_dir(home.at("user")).unwrap();
    symlink(home.outside("elsewhere"), home.at("user")).unwrap();
    home.refuses("user/profile");
}

#[test]
fn refuses_a_folder_in_place_of_a_file_and_a_file_in_place_of_a_folder() {
    let home = Home::new();
    fs::create_dir(home.at("user/profile.md")).unwrap();
    home.refuses("user/profile");
    fs::write(home.at("user/notes"), "secret").unwrap();
    home.refuses("user/notes/travel");
}

#[test]
fn refuses_a_pipe_without_waiting_for_its_other_end() {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let home = Home::new();
        let made = std::process::Command::new("mkfifo").arg(home.at("user/profile.md")).status().unwrap();
        assert!(made.success());
        home.refuses("user/profile");
        sender.send(()).unwrap();
    });
    receiver.recv_timeout(Duration::from_secs(120)).expect("a pipe was refused, and at once");
}

#[test]
fn refuses_a_socket() {
    let home = Home::new();
    let _socket = std::os::unix::net::UnixListener::bind(home.at("user/profile.md")).unwrap();
    home.refuses("user/profile");
}

#[test]
fn the_lock_is_never_a_link_or_a_pipe() {
    let home = Home::new();
    symlink(home.outside("created"), home.at(".documents.lock")).unwrap();
    let refused = home.documents.write(&name("user/profile"), "text", &ContentHash::missing()).unwrap_err();
    assert!(matches!(refused, DocumentError::Io { doing: "lock", .. }), "{refused:?}");
    assert!(!home.outside("created").exists());
}

#[test]
fn the_root_may_be_a_link() {
    let home = Home::new();
    symlink(home.at(""), home.outside("link")).unwrap();
    let documents = FileDocuments::open(&home.outside("link")).unwrap();
    documents.write(&name("user/profile"), "text", &ContentHash::missing()).unwrap();
    assert_eq!(home.documents.read(&name("user/profile")).unwrap().unwrap().text, "text");
}

#[test]
fn a_root_that_is_a_file_is_named_in_the_error() {
    let home = Home::new();
    fs::write(home.outside("file"), "").unwrap();
    let refused = FileDocuments::open(&home.outside("file")).unwrap_err();
    assert!(refused.to_string().ends_with("/file`"), "{refused}");
    assert!(std::error::Error::source(&refused).is_some());
}

#[test]
fn bytes_that_are_not_text_are_left_alone() {
    let home = Home::new();
    fs::write(home.at("user/profile.md"), b"caf\xe9").unwrap();
    not_text(home.documents.read(&name("user/profile")), "it is not UTF-8");
    not_text(home.documents.write(&name("user/profile"), "new", &ContentHash::of("old")), "it is not UTF-8");
    not_text(home.documents.remove(&name("user/profile"), &ContentHash::of("old")), "it is not UTF-8");
    assert_eq!(fs::read(home.at("user/profile.md")).unwrap(), b"caf\xe9");
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let home = Home::new();
    let file = fs::File::create(home.at("user/profile.md")).unwrap();
    file.set_len(1024 * 1024).unwrap();
    assert_eq!(home.documents.read(&name("user/profile")).unwrap().unwrap().text.len(), 1024 * 1024);
    file.set_len(1 << 40).unwrap();
    not_text(home.documents.read(&name("user/profile")), "it is larger than 1 MiB");
}

#[test]
fn an_unwritable_folder_fails_and_leaves_nothing_behind() {
    let home = Home::new();
    home.documents.write(&name("user/profile"), "old", &ContentHash::missing()).unwrap();
    fs::set_permissions(home.at("user"), fs::Permissions::from_mode(0o500)).unwrap();
    // The superuser writes anywhere: then the write must have happened, whole.
    let writable = fs::write(home.at("user/probe"), "").is_ok();
    let outcome = home.documents.write(&name("user/profile"), "new", &ContentHash::of("old"));
    fs::set_permissions(home.at("user"), fs::Permissions::from_mode(0o700)).unwrap();
    let _ = fs::remove_file(home.at("user/probe"));
    let expected = match outcome {
        Ok(()) if writable => "new",
        Err(DocumentError::Io { doing: "write", .. }) if !writable => "old",
        other => panic!("writable: {writable}, but {other:?}"),
    };
    assert_eq!(fs::read_to_string(home.at("user/profile.md")).unwrap(), expected);
    assert_eq!(fs::read_dir(home.at("user")).unwrap().count(), 1, "a temporary file was left");
}

#[test]
fn only_the_owner_may_look() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a/home");
    let documents = FileDocuments::open(&root).unwrap();
    let name = name("user/notes/travel");
    documents.write(&name, "one", &ContentHash::missing()).unwrap();
    let file = root.join("user/notes/travel.md");
    assert_eq!(mode(&file), 0o600, "a new file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    documents.write(&name, "two", &ContentHash::of("one")).unwrap();
    assert_eq!(mode(&file), 0o600, "a replaced file");
    assert_eq!(mode(&root.join(".documents.lock")), 0o600);
    for folder in [dir.path().join("a"), root.clone(), root.join("user"), root.join("user/notes")] {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
}

#[test]
fn a_file_of_another_spelling_is_found_by_no_name_but_clashes() {
    let home = Home::new();
    let composed = name("user/josé");
    for spelling in ["JOSÉ.md", "jose\u{301}.md", "josé.MD"] {
        fs::write(home.at("user").join(spelling), "theirs").unwrap();
        if fs::symlink_metadata(home.at("user/josé.md")).is_ok() {
            continue; // this file system takes the two for one
        }
        assert_eq!(home.documents.read(&composed).unwrap(), None, "{spelling}");
        let refused = home.documents.write(&composed, "ours", &ContentHash::missing()).unwrap_err();
        assert!(matches!(refused, DocumentError::Clash { .. }), "{spelling}: {refused:?}");
        for listed in home.listed() {
            assert!(home.documents.read(&name(&listed)).unwrap().is_some(), "`{listed}` is listed but not found");
        }
        fs::remove_file(home.at("user").join(spelling)).unwrap();
    }
    home.documents.write(&composed, "ours", &ContentHash::missing()).unwrap();
}

#[test]
fn both_spellings_are_found_where_a_person_made_both() {
    let home = Home::new();
    fs::write(home.at("user/plans.md"), "small").unwrap();
    fs::write(home.at("user/Plans.md"), "large").unwrap();
    if fs::read_to_string(home.at("user/plans.md")).unwrap() == "large" {
        return; // this file system takes the two for one
    }
    home.documents.write(&name("user/plans"), "new", &ContentHash::of("small")).unwrap();
    assert_eq!(home.documents.read(&name("user/plans")).unwrap().unwrap().text, "new");
    assert_eq!(home.documents.read(&name("user/Plans")).unwrap().unwrap().text, "large");
}

#[test]
fn lists_safe_names_only_and_not_too_deep() {
    let home = Home::new();
    let deep = "a/b/c/d/e/f/g";
    fs::create_dir_all(home.at("user").join(deep).join("h")).unwrap();
    fs::create_dir_all(home.at("user/.git")).unwrap();
    let files =
        ["ok.md", ".hidden.md", "CON.md", "facts.md", "x~1.md", "note.txt", "ok.md.md", "noext", ".git/x.md", ".md"];
    files.iter().for_each(|file| fs::write(home.at("user").join(file), "").unwrap());
    fs::write(home.at("user").join(deep).join("eight.md"), "").unwrap();
    fs::write(home.at("user").join(deep).join("h/nine.md"), "").unwrap();
    let eight = format!("user/{deep}/eight");
    assert_eq!(home.listed(), [eight.as_str(), "user/facts.md", "user/note.txt", "user/ok"]);
    let refused = home.documents.write(&name(&format!("user/{deep}/h/new")), "", &ContentHash::missing());
    assert!(matches!(refused, Err(DocumentError::Io { .. })), "what is not listed is not written: {refused:?}");
}

#[test]
fn a_persons_edit_changes_the_stamp_and_makes_the_writer_stale() {
    let home = Home::new();
    let name = name("user/profile");
    home.documents.write(&name, "ours", &ContentHash::missing()).unwrap();
    let stamp = home.documents.stamp(&name).unwrap();
    fs::write(home.at("user/profile.md"), "their edit").unwrap();
    assert_ne!(home.documents.stamp(&name).unwrap(), stamp);
    let refused = home.documents.write(&name, "ours again", &ContentHash::of("ours"));
    assert!(matches!(refused, Err(DocumentError::Conflict { .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(home.at("user/profile.md")).unwrap(), "their edit");
}
