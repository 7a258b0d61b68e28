//! Hostile queries, damaged and newer databases, full and read-only disks, many processes at once: an answer or a clear
//! error, and never a loss.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "robust/disk.rs"]
mod disk;
#[path = "robust/locks.rs"]
mod locks;
#[path = "robust/queries.rs"]
mod queries;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Child;

use common::{Home, tree};
use rusqlite::Connection;

/// A home with some forty memories.
fn lived_in() -> Home {
    // Nothing runs in the background here: what is damaged below must be what the next command finds.
    let home =
        Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n\n[embeddings]\nprovider = \"none\"\n");
    home.remember(&["We deploy on Fridays at noon", "--key", "deploy"]);
    let lines: String = (0..40).map(|n| format!("- line number {n} of my notes\n")).collect();
    home.run_with(&["write", "user/notes"], &lines).done();
    home
}

/// Every file of the home but SQLite's shared-memory index, which is no data.
fn data(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_data = |path: &PathBuf, bytes: &Vec<u8>| !path.to_string_lossy().ends_with("-shm") && !bytes.is_empty();
    tree(&home.path("")).into_iter().filter(|(path, bytes)| is_data(path, bytes)).collect()
}

/// No command opens it; each says why and what to do, and not a byte is changed.
#[track_caller]
fn is_refused(home: &Home, error: &str, hint: &str) {
    let before = data(home);
    for args in [
        &[][..],
        &["remember", "x"],
        &["recall", "deploy"],
        &["list"],
        &["show", "deploy"],
        &["forget", "deploy"],
        &["forget", "deploy", "--erase", "--yes"],
        &["undo"],
        &["export"],
        &["stats"],
        &["backup"],
        &["reindex"],
        &["context"],
        &["read", "user/notes"],
    ] {
        home.run(args).failed(2, error, hint);
    }
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 2, "{doctor:?}");
    assert!(doctor.stdout.starts_with("damaged: ") && doctor.stdout.contains(error), "{doctor:?}");
    assert!(data(home) == before, "a refused database is left as it was");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    for bytes in [&b"garbage"[..], &[0xa5; 100_000], &[0; 4096], b"SQLite format 3\0 and then nothing of the kind"] {
        let home = lived_in();
        std::fs::write(home.path("memory.db"), bytes).unwrap();
        is_refused(&home, "memory.db", "nothing was changed");
    }
}

#[test]
fn a_database_that_lost_its_end_is_refused_and_left_alone() {
    for keep in [0.02, 0.5, 0.9] {
        let home = lived_in();
        let whole = std::fs::read(home.path("memory.db")).unwrap();
        let cut = (whole.len() as f64 * keep) as usize / 512 * 512;
        std::fs::write(home.path("memory.db"), &whole[..cut]).unwrap();
        is_refused(&home, "memory.db", "nothing was changed");
    }
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let home = lived_in();
    std::fs::remove_file(home.path("memory.db")).unwrap();
    let other = Connection::open(home.path("memory.db")).unwrap();
    other
        .execute_batch("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('https://example.org');")
        .unwrap();
    drop(other);
    is_refused(&home, "another program", "nothing was changed");
}

#[test]
fn a_newer_database_is_read_and_left_alone() {
    let home = lived_in();
    let connection = Connection::open(home.path("memory.db")).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let before = data(&home);
    for (args, said) in [
        (&["recall", "deploy"][..], "Fridays at noon"),
        (&["list"], "Fridays at noon"),
        (&["show", "deploy"], "Fridays at noon"),
        (&["context", "--message", "when do we deploy?"], "Fridays at noon"),
        (&["read", "user/notes"], "line number 7"),
        (&["export"], "Fridays at noon"),
        (&["doctor"], "note: the memory can only be read: a newer version wrote it (schema 99"),
    ] {
        let ran = home.run(args);
        assert!(ran.code == 0 && ran.stdout.contains(said), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("schema 99"), "{args:?} says that nothing can be written: {ran:?}");
    }
    for args in [
        &["remember", "x"][..],
        &["forget", "deploy"],
        &["forget", "deploy", "--erase", "--yes"],
        &["undo"],
        &["reindex"],
    ] {
        let ran = home.run(args);
        let is_told = ran.stderr.contains("error: ")
            && ran.stderr.contains("hint: nothing was changed; install the newer version");
        assert!(ran.code == 2 && is_told, "{args:?}: {ran:?}");
    }
    assert!(data(&home) == before, "nothing was changed");
}

#[test]
fn the_doctor_finds_noise_in_the_middle_of_a_database() {
    let home = lived_in();
    assert!(home.run(&["doctor"]).done().ends_with("healthy: database, index, history and documents are sound\n"));
    let mut bytes = std::fs::read(home.path("memory.db")).unwrap();
    let middle = bytes.len() / 3 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0x5a);
    std::fs::write(home.path("memory.db"), &bytes).unwrap();
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 2, "{doctor:?}");
    assert!(doctor.stdout.starts_with("damaged: "), "{doctor:?}");
    assert_eq!(home.json(&["config", "check"])["ok"], true, "what needs no database goes on working");
}

#[test]
fn an_index_that_lost_its_rows_is_found_by_the_doctor_and_mended_by_reindex() {
    let home = lived_in();
    let connection = Connection::open(home.path("memory.db")).unwrap();
    connection.execute_batch("DELETE FROM entry_tail; DELETE FROM word_parts; DELETE FROM word_segments").unwrap();
    drop(connection);
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 2, "{doctor:?}");
    assert!(home.run(&["reindex"]).done().starts_with("indexed "));
    assert_eq!(home.run(&["doctor"]).code, 0);
    assert_eq!(home.found(&["deploys"]), ["We deploy on Fridays at noon"]);
}

#[test]
fn a_document_that_is_no_text_is_named_and_the_rest_works() {
    let home = lived_in();
    std::fs::write(home.path("user/picture.md"), [0xff, 0xd8, 0xff, 0xe0, 0]).unwrap();
    let ran = home.run(&["read", "user/picture"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("error: `user/picture` is not readable as text"), "{ran:?}");
    let recalled = home.run(&["recall", "deploy"]);
    assert!(recalled.code == 0 && recalled.stdout.contains("We deploy on Fridays"), "{recalled:?}");
    home.run(&["remember", "entries go on working"]).done();
    assert!(home.run(&["list"]).stdout.contains("We deploy on Fridays"), "one bad file does not hide everything else");
}

#[test]
fn a_time_that_is_none_is_refused() {
    let mut home = Home::new();
    for now in ["yesterday", "2026-13-01T00:00:00Z", "0", "2026-03-01"] {
        home.set_now(now);
        home.run(&["remember", "x"]).failed(2, &format!("`THROUGHLINE_NOW` is `{now}`"), "2026-03-01T12:00:00Z");
    }
    assert!(!home.path("memory.db").exists());
    home.set_now(" ");
    home.run(&["remember", "an empty one is none"]).done();
}

#[test]
fn a_home_that_is_a_file_is_refused() {
    let home = Home::new();
    std::fs::write(home.path(""), "not a directory").unwrap();
    home.run(&["list"]).failed(2, "cannot prepare", "THROUGHLINE_HOME");
    assert_eq!(std::fs::read_to_string(home.path("")).unwrap(), "not a directory");
}

/// Starts all of them before it waits for one; gives how each ended.
fn at_once(children: Vec<Child>) -> Vec<(Option<i32>, String)> {
    let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap());
    outputs.map(|output| (output.status.code(), String::from_utf8(output.stderr).unwrap())).collect()
}

#[test]
fn first_runs_at_once_all_succeed_and_share_one_memory() {
    for round in 0..8 {
        let home = Home::new();
        let start = |n: usize| home.throughline(&["remember", &format!("from process {n}")]).spawn().unwrap();
        for ended in at_once((0..6).map(start).collect()) {
            assert_eq!(ended, (Some(0), String::new()), "round {round}");
        }
        assert_eq!(home.text("config.toml"), throughline::config::FIRST_RUN);
        let memories = home.json(&["list"])["memories"].as_array().unwrap().clone();
        assert_eq!(memories.len(), 6, "round {round}");
        assert!(memories.iter().all(|memory| memory["namespace"] == "user/facts"), "round {round}: {memories:#?}");
    }
}

#[test]
fn many_processes_that_change_the_same_things_lose_nothing() {
    let home = lived_in();
    let mut children = Vec::new();
    for n in 0..6 {
        let text = format!("version {n}");
        children.push(home.throughline(&["remember", &text, "--key", "shared"]).spawn().unwrap());
        let line = format!("fact number {n}");
        children.push(home.throughline(&["remember", "--layer", "identity", &line]).spawn().unwrap());
        children.push(home.throughline(&["recall", "deploy"]).spawn().unwrap());
    }
    for ended in at_once(children) {
        assert_eq!(ended, (Some(0), String::new()));
    }
    assert_eq!(home.json(&["history", "shared"])["versions"].as_array().unwrap().len(), 6);
    assert_eq!(home.text("user/profile.md").lines().count(), 6);
    assert_eq!(home.json(&["show", "deploy"])["recall_count"], 6);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

/// Somebody who may write in a directory could wait there with a file or a link of theirs.
#[cfg(unix)]
#[test]
fn a_copy_is_not_written_into_what_somebody_else_put_there() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = lived_in();
    let shared = home.root().join("person/shared");
    std::fs::create_dir(&shared).unwrap();
    let from = format!("sqlite://{}", home.path("memory.db").display());
    let to = format!("sqlite://{}", shared.join("copy.db").display());
    let (waiting, theirs) = (shared.join("copy.db.copying"), home.root().join("person/theirs"));
    std::fs::write(&theirs, "").unwrap();
    std::fs::write(&waiting, "").unwrap();
    std::fs::set_permissions(&waiting, std::fs::Permissions::from_mode(0o644)).unwrap();
    for is_link in [false, true] {
        if is_link {
            std::fs::remove_file(&waiting).unwrap();
            symlink(&theirs, &waiting).unwrap();
        }
        home.run(&["copy", "--from", &from, "--to", &to]).failed(2, "is not yours alone", "");
        assert!(!shared.join("copy.db").exists() && std::fs::read(&theirs).unwrap().is_empty());
    }
    std::fs::remove_file(&waiting).unwrap();
    home.run(&["copy", "--from", &from, "--to", &to]).done();
    assert_eq!(std::fs::metadata(shared.join("copy.db")).unwrap().permissions().mode() & 0o777, 0o600);
}

/// Opening a pipe would wait for a writer.
#[cfg(unix)]
#[test]
fn what_is_no_plain_file_is_not_restored() {
    let home = lived_in();
    home.run(&["backup", "good.db"]).done();
    let (pipe, link) = (home.root().join("person/pipe.db"), home.root().join("person/link.db"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink(home.root().join("person/good.db"), &link).unwrap();
    for copy in [&pipe, &link] {
        home.run(&["backup", "--restore", copy.to_str().unwrap()]).failed(2, "is not a plain file", "");
    }
    home.run(&["backup", "--restore", "good.db"]).done();
}
