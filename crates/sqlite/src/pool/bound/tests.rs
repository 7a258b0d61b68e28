//! A log beside somebody who reads an old state: what is refused at which length, what is not, and that it ends by itself.

use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;
use throughline_core::ports::StoreError;

use super::*;
use crate::open::Durability;
use crate::pool::Sharing;
use crate::watch::log_state;
use crate::{Stored, backup, erase};

const STORED: (Effort, Sharing) = (Effort::Confirmed, Sharing::Shared);
const NOTED: (Effort, Sharing) = (Effort::Log(Duration::ZERO), Sharing::Alone);

/// What one write of these tests takes in the log, at most.
const WRITE: u64 = 96 << 10;

const BOUNDS: Bounds = Bounds { noting: 512 << 10, storing: 1 << 20 };

fn pool() -> (TempDir, Pool) {
    let home = tempfile::tempdir().unwrap();
    let mut pool = Pool::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
    pool.bounds = BOUNDS;
    (home, pool)
}

/// Somebody who reads the state of now, until it is dropped.
fn sleeper(pool: &Pool) -> Connection {
    let reader = Connection::open(&pool.files().main).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
    reader
}

fn write(pool: &Pool, how: (Effort, Sharing)) -> Stored<()> {
    pool.write("write", how, |connection| {
        let sql =
            "INSERT INTO recalls (id, at, query, hits) VALUES (hex(randomblob(16)), 0, hex(zeroblob(32000)), '[]')";
        connection.execute(sql, []).map(drop).map_err(crate::error::while_doing("write"))
    })
}

fn length(pool: &Pool) -> u64 {
    std::fs::metadata(&pool.files().log).map_or(0, |log| log.len())
}

/// Writes until that is refused; gives the error, and how long the log is then.
fn until_refused(pool: &Pool, how: (Effort, Sharing)) -> (StoreError, u64) {
    let refused = (0..1000).find_map(|_| write(pool, how).err());
    (refused.expect("a log without end"), length(pool))
}

#[test]
fn a_log_beside_a_sleeping_reader_is_bounded_first_for_what_is_noted_and_then_for_all() {
    let (_home, pool) = pool();
    write(&pool, STORED).unwrap();
    let reader = sleeper(&pool);
    let (refused, long) = until_refused(&pool, NOTED);
    assert!(matches!(refused, StoreError::LogHeld { .. }), "{refused:?}");
    assert!((BOUNDS.noting..BOUNDS.noting + WRITE).contains(&long), "{long}");
    let said = hindrance::found(&pool).concat();
    assert!(said.contains("are not noted") && !said.contains("nothing is stored"), "{said}");

    let (refused, long) = until_refused(&pool, STORED);
    assert!((BOUNDS.storing..BOUNDS.storing + WRITE).contains(&long), "{long}");
    assert!(refused.is_unwritten() && refused.hint().unwrap().contains("end that process"), "{refused}");
    assert!(refused.to_string().contains("takes 1 MB") && refused.to_string().contains("process"), "{refused}");
    #[cfg(target_os = "linux")]
    assert!(refused.to_string().contains(&std::process::id().to_string()), "{refused}");
    assert!(hindrance::found(&pool).concat().contains("nothing is stored"));
    for how in [STORED, NOTED, (Effort::Brief, Sharing::Shared)] {
        assert!(matches!(write(&pool, how), Err(StoreError::LogHeld { .. })));
    }
    assert_eq!(length(&pool), long, "what is refused makes it no longer");

    drop(reader);
    write(&pool, STORED).unwrap();
    write(&pool, NOTED).unwrap();
    let frames = pool.read(log_state, "look").unwrap().frames;
    assert!(frames < 100, "it began anew: {frames}");
    assert_eq!(hindrance::found(&pool), [""; 0]);
}

#[test]
fn what_removes_something_is_written_whatever_the_log_is() {
    let (_home, pool) = pool();
    write(&pool, STORED).unwrap();
    let _reader = sleeper(&pool);
    until_refused(&pool, STORED);
    removing(true);
    removing(true);
    removing(false);
    let outcome = write(&pool, STORED);
    removing(false);
    outcome.unwrap();
    assert!(matches!(write(&pool, STORED), Err(StoreError::LogHeld { .. })), "only what removes");
}

/// Somebody who removes something began the transaction: whoever waits meanwhile joins it, and is refused there.
#[test]
fn nothing_else_joins_a_transaction_that_removes_something() {
    let (_home, pool) = pool();
    write(&pool, STORED).unwrap();
    let _reader = sleeper(&pool);
    until_refused(&pool, STORED);
    std::thread::scope(|scope| {
        removing(true);
        let first = pool.write("remove", STORED, |_| {
            let other = scope.spawn(|| write(&pool, STORED));
            while pool.writing.waiting() == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(other)
        });
        removing(false);
        assert!(matches!(first.unwrap().join().unwrap(), Err(StoreError::LogHeld { .. })));
    });
}

/// `VACUUM` writes the whole file into the log.
#[test]
fn nothing_is_swept_beside_a_sleeping_reader() {
    let (_home, pool) = pool();
    write(&pool, STORED).unwrap();
    let reader = sleeper(&pool);
    write(&pool, STORED).unwrap();
    let before = length(&pool);
    let sweeper = Connection::open(&pool.files().main).unwrap();
    sweeper.busy_timeout(Duration::ZERO).unwrap();
    assert!(!erase::sweep(&sweeper));
    assert_eq!(length(&pool), before);
    drop(reader);
    assert!(erase::sweep(&sweeper));
}

/// A copy reads one state to its end: one to a disk that is slow, or hangs, would hold up everything else.
#[test]
fn a_copy_of_ours_ends_when_the_log_grows_beside_it() {
    let (home, pool) = pool();
    let large = "INSERT INTO recalls (id, at, query, hits) VALUES ('large', 0, hex(zeroblob(8000000)), '[]')";
    let make_large = |connection: &Connection| {
        connection.execute(large, [])?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    };
    pool.read(make_large, "make it large").unwrap();
    let target = home.path().join("copy.db");
    let mut writes = 0;
    let mut slowly = |_, _| {
        writes += (0..8).filter(|_| write(&pool, STORED).is_ok()).count();
        true
    };
    let copy = |connection: &Connection| Ok(backup::copy_within(connection, &target, 256 << 10, &mut slowly));
    let ended = pool.read(copy, "copy").unwrap();
    assert!(matches!(ended, Err(StoreError::Failed { doing: "back up", .. })), "{ended:?}");
    assert!(!target.exists() && writes > 0);
    let copy = |connection: &Connection| Ok(backup::copy_within(connection, &target, 256 << 10, &mut |_, _| true));
    pool.read(copy, "copy").unwrap().unwrap();
    assert!(target.exists());
}
