//! A database that is moved, replaced, truncated, deleted or overwritten under an open store: nothing is confirmed that is not
//! in the database at the path, and work goes on as soon as a sound one is back.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "vanishing/beginning.rs"]
mod beginning;
#[path = "vanishing/logs.rs"]
mod logs;
#[path = "vanishing/others.rs"]
mod others;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use throughline_core::model::{Entry, Verb};
use throughline_core::ports::{Backups as _, ChangeWatch as _, Changes as _, Health as _, Loss, Op, StoreError};
use throughline_core::recall::Filter;
use throughline_sqlite::{Durability, SqliteBackups, SqliteStore};
use throughline_testkit::stores;

/// A home with a database and a directory for backups.
struct Home {
    directory: TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(home.path("backups")).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn database(&self) -> PathBuf {
        self.path("memory.db")
    }

    fn open(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(&self.database(), &self.path("backups"), Durability::Process)
    }

    fn backups(&self) -> SqliteBackups {
        SqliteBackups::new(&self.database(), &self.path("backups"))
    }

    /// Runs a line of shell in the home. Other processes touch the files: a plain read here would drop SQLite's locks.
    #[track_caller]
    fn shell(&self, line: &str) {
        let mut shell = std::process::Command::new("sh");
        assert!(shell.args(["-ec", line]).current_dir(self.directory.path()).status().unwrap().success(), "{line}");
    }
}

/// A memory by its number.
fn memory(n: usize) -> Entry {
    stores::entry(&format!("id{n:06}"), &format!("memory number {n} {}", "lorem ipsum ".repeat(n % 20)))
}

fn write(store: &SqliteStore, n: usize) -> Result<Vec<Entry>, StoreError> {
    stores::apply(store, Verb::Remember, &[Op::Insert(memory(n))])
}

#[track_caller]
fn write_all(store: &SqliteStore, numbers: std::ops::Range<usize>) {
    for n in numbers {
        write(store, n).unwrap();
    }
}

/// The numbers of all memories.
fn numbers(store: &SqliteStore) -> Vec<usize> {
    let mut numbers: Vec<usize> =
        stores::listed(store, &Filter::default()).iter().map(|id| id[2..].parse().unwrap()).collect();
    numbers.sort_unstable();
    numbers
}

/// Neither writes nor reads are answered, and the error names the newest backup.
#[track_caller]
fn is_lost(store: &SqliteStore, expected: Loss) {
    for error in
        [write(store, 900_000).unwrap_err(), store.change_tokens().unwrap_err(), write(store, 900_001).unwrap_err()]
    {
        let StoreError::Lost { loss, backup } = &error else { panic!("{error:?}") };
        assert_eq!(*loss, expected, "{error}");
        assert_eq!(backup.as_deref(), Some("newest.db"));
        assert!(error.hint().unwrap().contains("`throughline backup --restore newest.db`"), "{error:?}");
    }
}

/// A store with forty memories, of which twenty are in the newest backup, and most are in the file itself.
fn lived_in(home: &Home) -> SqliteStore {
    let store = home.open().unwrap();
    write_all(&store, 0..10);
    store.backup(&home.path("backups/older.db"), &mut |_, _| true).unwrap();
    write_all(&store, 10..20);
    store.backup(&home.path("backups/newest.db"), &mut |_, _| true).unwrap();
    write_all(&store, 20..30);
    // Closing copies the log into the file.
    drop(store);
    let store = home.open().unwrap();
    write_all(&store, 30..40);
    store
}

/// Restores the newest backup as another process would, and writes on.
#[track_caller]
fn is_back_after_a_restore(home: &Home, store: &SqliteStore) {
    home.backups().restore_copy(&home.path("backups/newest.db"), "now", stores::minute(0)).unwrap();
    write_all(store, 100..110);
    assert_eq!(numbers(store), (0..20).chain(100..110).collect::<Vec<_>>());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    assert_eq!(numbers(&home.open().unwrap()).len(), 30, "it is in the database at the path");
}

fn everything() -> Vec<usize> {
    (0..40).collect()
}

#[test]
fn moved_away_nothing_is_confirmed_and_moved_back_nothing_is_lost() {
    for (away, back) in [
        ("mv memory.db elsewhere.db", "mv elsewhere.db memory.db"),
        ("mkdir away; mv memory.db* away", "mv away/* ."),
        ("cp -p memory.db copy.db; mv memory.db away.db", "mv away.db memory.db"),
    ] {
        let home = Home::new();
        let store = lived_in(&home);
        home.shell(away);
        is_lost(&store, Loss::Missing);
        assert!(!home.database().exists(), "no new one is made");
        home.shell(back);
        write_all(&store, 40..50);
        assert_eq!(numbers(&store), (0..50).collect::<Vec<_>>());
        drop(store);
        assert_eq!(numbers(&home.open().unwrap()), (0..50).collect::<Vec<_>>());
    }
}

/// The files come back one after the other, while somebody tries again and again.
#[test]
fn moved_back_piece_by_piece_nothing_that_is_confirmed_meanwhile_is_lost() {
    let home = Home::new();
    let store = lived_in(&home);
    // Everything is in the file, which could be taken for the whole, and in the log as well.
    let other = rusqlite::Connection::open(home.database()).unwrap();
    other.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
    drop(other);
    assert!(log_of(&home) > 0);
    home.shell("mkdir away; mv memory.db* away");
    is_lost(&store, Loss::Missing);
    let confirmed: Vec<usize> = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let began = std::time::Instant::now();
            let attempts = (100..).take_while(|_| began.elapsed().as_secs() < 60);
            attempts.filter(|n| write(&store, *n).is_ok()).take(20).collect()
        });
        for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
            home.shell(&format!("mv away/{name} ."));
        }
        writer.join().unwrap()
    });
    assert_eq!(confirmed.len(), 20);
    drop(store);
    let stored = numbers(&home.open().unwrap());
    assert!((0..40).chain(confirmed).all(|n| stored.contains(&n)), "{stored:?}");
}

#[test]
fn a_database_that_was_renamed_over_it_is_not_written_to() {
    let (home, other) = (Home::new(), Home::new());
    let store = lived_in(&home);
    drop(lived_in(&other));
    fs::rename(other.database(), home.path("other.db")).unwrap();
    home.shell("cp other.db other.copy; mv other.db memory.db");
    is_lost(&store, Loss::Replaced);
    home.shell("cmp memory.db other.copy");
    is_back_after_a_restore(&home, &store);
}

#[test]
fn an_older_copy_that_was_renamed_over_it_is_not_written_to() {
    for leave_log in [true, false] {
        let home = Home::new();
        let store = lived_in(&home);
        home.shell("cp backups/older.db old.db; mv old.db memory.db");
        if !leave_log {
            home.shell("rm memory.db-wal memory.db-shm");
        }
        is_lost(&store, Loss::Replaced);
        home.shell("cmp memory.db backups/older.db");
        is_back_after_a_restore(&home, &store);
    }
}

#[test]
fn truncated_nothing_is_confirmed() {
    let home = Home::new();
    let store = lived_in(&home);
    home.shell(": > memory.db");
    is_lost(&store, Loss::Empty);
    is_back_after_a_restore(&home, &store);
}

#[test]
fn cut_short_nothing_is_confirmed() {
    let home = Home::new();
    let store = lived_in(&home);
    home.shell("truncate -s 40960 memory.db");
    is_lost(&store, Loss::Damaged);
    is_back_after_a_restore(&home, &store);
}

#[test]
fn deleted_nothing_is_confirmed_and_no_new_one_is_made() {
    for line in ["rm memory.db", "rm memory.db*"] {
        let home = Home::new();
        let store = lived_in(&home);
        home.shell(line);
        is_lost(&store, Loss::Missing);
        assert!(!home.database().exists());
        is_back_after_a_restore(&home, &store);
    }
}

#[test]
fn overwritten_by_an_older_home_nothing_is_confirmed() {
    let home = Home::new();
    drop(lived_in(&home));
    home.shell("mkdir old; cp -a memory.db old");
    let store = home.open().unwrap();
    write_all(&store, 40..50);
    drop(store);
    let store = home.open().unwrap();
    write_all(&store, 50..60);
    home.shell("cp -a old/. .");
    is_lost(&store, Loss::Replaced);
    is_back_after_a_restore(&home, &store);
}

/// The same bytes in the same file: nothing is lost, and nothing stands still.
#[test]
fn overwritten_by_the_very_same_nothing_is_lost() {
    let home = Home::new();
    let store = lived_in(&home);
    home.shell("cp memory.db same; cat same > memory.db");
    write_all(&store, 40..50);
    home.shell("touch -d 2001-01-01 memory.db");
    write_all(&store, 50..60);
    assert_eq!(numbers(&store), (0..60).collect::<Vec<_>>());
}

#[test]
fn with_garbage_in_the_middle_nothing_is_confirmed() {
    let home = Home::new();
    let store = lived_in(&home);
    home.shell("dd if=/dev/urandom of=memory.db bs=4096 seek=20 count=30 conv=notrunc 2> /dev/null");
    is_lost(&store, Loss::Damaged);
    is_back_after_a_restore(&home, &store);
}

/// What happens between the first statement of a transaction and its commit is seen before anybody is told.
#[test]
fn what_happens_within_a_transaction_is_noticed_before_it_is_confirmed() {
    for (line, expected) in [
        ("mv memory.db elsewhere.db", Loss::Missing),
        ("rm memory.db*", Loss::Missing),
        (": > memory.db", Loss::Empty),
        ("cp -a backups/older.db old.db; mv old.db memory.db", Loss::Replaced),
        ("cat backups/older.db > memory.db", Loss::Replaced),
        ("dd if=/dev/urandom of=memory.db bs=4096 seek=20 count=30 conv=notrunc 2> /dev/null", Loss::Damaged),
    ] {
        let home = Home::new();
        let store = lived_in(&home);
        let mut meddle = || {
            home.shell(line);
            true
        };
        let outcome = store.apply(&stores::change(Verb::Remember), &[Op::Insert(memory(77))], &mut meddle);
        let Err(StoreError::Lost { loss, .. }) = outcome else { panic!("{line}: {outcome:?}") };
        assert_eq!(loss, expected, "{line}");
        is_lost(&store, expected);
        is_back_after_a_restore(&home, &store);
    }
}

#[test]
fn moved_away_and_back_within_a_transaction_it_is_confirmed_and_there() {
    let home = Home::new();
    let store = lived_in(&home);
    let mut meddle = || {
        home.shell("mv memory.db elsewhere.db; mv elsewhere.db memory.db; touch memory.db");
        true
    };
    store.apply(&stores::change(Verb::Remember), &[Op::Insert(memory(40))], &mut meddle).unwrap();
    assert_eq!(numbers(&home.open().unwrap()), (0..41).collect::<Vec<_>>());
}

/// A store that is closed while its database is gone leaves alone what is at the path.
#[test]
fn closing_copies_no_log_into_a_database_that_it_does_not_belong_to() {
    let home = Home::new();
    let store = lived_in(&home);
    home.shell("cat backups/older.db > memory.db");
    drop(store);
    home.shell("cmp memory.db backups/older.db");
    assert!(matches!(home.open().map(drop), Err(StoreError::Damaged { .. })), "its log is another one's");
}

fn log_of(home: &Home) -> u64 {
    fs::metadata(Path::new(&format!("{}-wal", home.database().display()))).unwrap().len()
}
