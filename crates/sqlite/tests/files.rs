//! The database file itself: damaged, foreign or newer ones are refused untouched, and erasing leaves no byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "files/erasing.rs"]
mod erasing;
#[path = "files/far_dates.rs"]
mod far_dates;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use throughline_core::ports::{Backups as _, Candidates as _, Changes as _, Health as _, StoreError, Transfer as _};
use throughline_core::recall::Filter;
use throughline_sqlite::{Durability, SqliteBackups, SqliteStore};
use throughline_testkit::stores;

fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, &path.with_file_name("backups"), Durability::Process)
}

fn home() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("memory.db");
    (home, path)
}

/// The bytes of a real memory with a few hundred entries.
fn real_database() -> Vec<u8> {
    let (_home, path) = home();
    let store = open(&path).unwrap();
    for n in 0..300 {
        stores::insert(&store, stores::keyed(&format!("id{n}"), &format!("key {n}"), &format!("memory number {n}")));
    }
    drop(store);
    fs::read(path).unwrap()
}

fn noise(length: usize) -> Vec<u8> {
    let next = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    std::iter::successors(Some(42), next).map(|state| (state >> 56) as u8).take(length).collect()
}

/// Every file of a directory but the shared-memory index, which is no data.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let data = entries.filter(|path| path.is_file() && !path.to_string_lossy().ends_with("-shm"));
    data.map(|path| (path.clone(), fs::read(&path).unwrap())).filter(|(_, bytes)| !bytes.is_empty()).collect()
}

/// Opens what stands in `home`, which must fail and change nothing.
fn refused(home: &Path) -> StoreError {
    let before = files(home);
    let error = match open(&home.join("memory.db")) {
        Ok(_) => panic!("it should be refused"),
        Err(error) => error,
    };
    assert!(files(home) == before, "a refused file is left as it was");
    error
}

fn is_damaged(bytes: &[u8]) {
    let (home, path) = home();
    fs::write(&path, bytes).unwrap();
    let error = refused(home.path());
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("nothing was changed"));
}

#[test]
fn anything_but_a_database_is_refused() {
    is_damaged(b"# Notes\n\nThis is a text file.\n");
    is_damaged(&noise(3));
    is_damaged(&noise(1000));
    is_damaged(&noise(64 * 1024));
    is_damaged(&[0; 4096]);
}

#[test]
fn a_header_with_garbage_behind_it_is_refused() {
    let mut bytes = real_database();
    let rest = noise(bytes.len() - 100);
    bytes[100..].copy_from_slice(&rest);
    is_damaged(&bytes);
}

#[test]
fn a_database_that_was_cut_off_is_refused() {
    let bytes = real_database();
    for length in [50, 100, 512, 4096, 4097, bytes.len() / 2, bytes.len() - 4096] {
        is_damaged(&bytes[..length]);
    }
}

/// Where the database is belongs to whoever opened it: no path crosses the port.
#[test]
fn the_refusal_names_no_file() {
    let whole = real_database();
    let mut garbage = whole.clone();
    garbage[100..4096].copy_from_slice(&noise(3996));
    for bytes in [noise(5000), whole[..8192].to_vec(), garbage] {
        let (home, path) = home();
        fs::write(&path, bytes).unwrap();
        let error = throughline_core::engine::chain(&refused(home.path()));
        assert!(!error.contains("memory.db") && error.contains("not a memory database"), "{error}");
    }
}

/// Wherever the damage is: what can be opened says what is wrong, and what cannot be opened is refused as damaged.
#[test]
fn damage_inside_is_found_and_said() {
    let sound = real_database();
    let mut opened = 0;
    for tenth in 1..10 {
        let mut bytes = sound.clone();
        let (from, to) = (bytes.len() * tenth / 10, bytes.len() * (tenth + 1) / 10);
        bytes[from..to].copy_from_slice(&noise(to - from));
        let (_home, path) = home();
        fs::write(&path, bytes).unwrap();
        match open(&path) {
            Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{tenth}: {error:?}"),
            Ok(store) => {
                opened += 1;
                assert!(store.check().map_or(true, |problems| !problems.is_empty()), "{tenth}");
                let _ = store.changes(1000);
                let _ = store.contains(&["memory".to_owned()], &Filter::default(), 1000);
            }
        }
    }
    assert!(opened > 0, "some damage leaves the rest readable");
}

fn foreign(path: &Path, version: i64) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.execute_batch("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x');").unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
    connection
}

#[test]
fn the_database_of_another_program_is_refused() {
    for version in [0, 1] {
        let (home, path) = home();
        drop(foreign(&path, version));
        let error = refused(home.path());
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    }
    let (home, path) = home();
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 1").unwrap();
    assert!(matches!(refused(home.path()), StoreError::Damaged { .. }), "a version without our mark");
}

#[test]
fn the_database_of_another_program_is_not_a_newer_one_of_ours() {
    let (home, path) = home();
    drop(foreign(&path, 75));
    let error = refused(home.path());
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

/// Copies a database with the log that a crash would leave, while its writer still has it open.
fn crash(from: &Path, to: &Path) {
    for suffix in ["", "-wal"] {
        fs::copy(format!("{}{suffix}", from.display()), format!("{}{suffix}", to.display())).unwrap();
    }
    assert!(fs::metadata(format!("{}-wal", to.display())).unwrap().len() > 0);
}

#[test]
fn a_foreign_log_is_not_folded_in() {
    let (_writing, from) = home();
    let (home, to) = home();
    let connection = foreign(&from, 1);
    crash(&from, &to);
    drop(connection);
    assert!(matches!(refused(home.path()), StoreError::Damaged { .. }));
    let rows: i64 =
        Connection::open(&to).unwrap().query_row("SELECT count(*) FROM bookmarks", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1, "its own program still finds everything");
}

/// The newest schema that this program knows.
fn schema() -> i64 {
    let (_home, path) = home();
    drop(open(&path).unwrap());
    let version = Connection::open(&path).unwrap();
    version.query_row("SELECT user_version FROM pragma_user_version", [], |row| row.get(0)).unwrap()
}

fn is_too_new(home: &Path) {
    let error = refused(home);
    let StoreError::TooNew { found: 99, known } = &error else { panic!("{error:?}") };
    assert_eq!(*known, schema());
    assert!(error.hint().unwrap().contains("newer version"));
}

#[test]
fn a_newer_schema_is_refused() {
    let (home, path) = home();
    drop(open(&path).unwrap());
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    is_too_new(home.path());
    assert!(!home.path().join("backups").exists(), "and nothing is put beside it");
}

#[test]
fn a_newer_schema_is_refused_even_while_it_is_only_in_the_log() {
    let (_writing, from) = home();
    let (home, to) = home();
    let store = open(&from).unwrap();
    stores::insert(&store, stores::entry("a", "tea"));
    drop(store);
    let newer = Connection::open(&from).unwrap();
    newer.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 99").unwrap();
    newer.execute_batch("CREATE TABLE later (x TEXT); INSERT INTO later VALUES ('y')").unwrap();
    crash(&from, &to);
    drop(newer);
    is_too_new(home.path());
}

#[test]
fn a_log_that_a_crash_left_is_read() {
    let (_writing, from) = home();
    let (_home, to) = home();
    let store = open(&from).unwrap();
    stores::insert(&store, stores::entry("a", "tea"));
    crash(&from, &to);
    drop(store);
    let store = open(&to).unwrap();
    assert_eq!(stores::stored(&store, "a").map(|entry| entry.content), Some("tea".to_owned()));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

/// Another process was copying the log into the file, and had not synced it yet, when this one wrote and the power went: all of it
/// is still in the log.
#[test]
fn a_file_that_lost_what_was_not_synced_is_read_with_its_log() {
    let (_writing, from) = home();
    let (_copying, copying) = home();
    let (_home, to) = home();
    let store = open(&from).unwrap();
    stores::insert(&store, stores::entry("a", "tea"));
    let synced = fs::read(&from).unwrap();
    stores::insert(&store, stores::entry("b", "coffee"));
    crash(&from, &copying);
    let copier = Connection::open(&copying).unwrap();
    copier.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&from).unwrap();
    file.write_all(&fs::read(&copying).unwrap()).unwrap();
    stores::insert(&store, stores::entry("c", "milk"));
    crash(&from, &to);
    fs::write(&to, synced).unwrap();
    let store = open(&to).unwrap();
    for (id, content) in [("a", "tea"), ("b", "coffee"), ("c", "milk")] {
        assert_eq!(stores::stored(&store, id).map(|entry| entry.content).as_deref(), Some(content));
    }
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let (home, path) = home();
    let elsewhere = home.path().join("elsewhere.db");
    drop(open(&elsewhere).unwrap());
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert!(open(&path).is_err());
}

/// A sound copy of a memory, with something done to it.
fn tampered(sql: &str) -> (TempDir, PathBuf) {
    let (home, path) = home();
    let store = open(&path).unwrap();
    stores::insert(&store, stores::keyed("id", "key", "a memory"));
    let copy = home.path().join("copy.db");
    store.backup(&copy, &mut |_, _| true).unwrap();
    Connection::open(&copy).unwrap().execute_batch(sql).unwrap();
    (home, copy)
}

#[test]
fn a_copy_with_a_schema_that_is_not_ours_is_not_sound() {
    let (_home, sound) = tampered("");
    let problems = |copy: &Path| SqliteBackups::new(copy, copy).check_copy(copy).unwrap().problems;
    assert_eq!(problems(&sound), Vec::<String>::new());
    for (sql, named) in [
        ("CREATE TRIGGER evil AFTER INSERT ON entries BEGIN DELETE FROM turns; END", "the trigger `evil` is not ours"),
        ("CREATE TRIGGER evil AFTER DELETE ON exports BEGIN DELETE FROM entries; END", "the trigger `evil`"),
        ("CREATE VIEW mine AS SELECT 1", "the view `mine` is not ours"),
        ("DROP TABLE exports; CREATE TABLE exports (path TEXT)", "our table `exports` is missing or changed"),
    ] {
        let (_home, copy) = tampered(sql);
        let problems = problems(&copy).join("; ");
        assert!(problems.contains(named), "{problems}");
    }
}

#[test]
fn restoring_keeps_the_notes_of_exports_that_were_here_and_not_those_of_the_copy() {
    let (_elsewhere, copy) = tampered("INSERT INTO exports VALUES ('/etc/passwd')");
    let (home, path) = home();
    open(&path).unwrap().note_export("/mine.json").unwrap();
    let backups = SqliteBackups::new(&path, home.path());
    let kept = backups.restore_copy(&copy, "now", stores::minute(0)).unwrap().unwrap();
    assert_eq!(kept, home.path().join("before-restore-now.db"));
    let store = open(&path).unwrap();
    assert_eq!(store.exports().unwrap(), ["/mine.json"]);
    assert_eq!(stores::listed(&store, &Filter::default()).len(), 1);
}
