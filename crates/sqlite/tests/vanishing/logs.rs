//! The write-ahead log and its index: as deadly to lose as the database itself, unless what they hold can be saved.

use throughline_core::ports::{Health as _, Loss};

use super::{Home, everything, is_back_after_a_restore, is_lost, lived_in, log_of, numbers, write_all};

/// The log is still open here, and the database is untouched: what the one holds goes into the other.
#[test]
fn a_log_that_was_deleted_is_saved_into_the_database() {
    for line in ["rm memory.db-wal", "rm memory.db-wal memory.db-shm", "rm memory.db-shm"] {
        let home = Home::new();
        let store = lived_in(&home);
        home.shell(line);
        write_all(&store, 40..50);
        assert_eq!(numbers(&store), (0..50).collect::<Vec<_>>(), "{line}");
        assert_eq!(numbers(&home.open().unwrap()), (0..50).collect::<Vec<_>>(), "{line}");
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_log_that_was_truncated_is_noticed() {
    let home = Home::new();
    let store = lived_in(&home);
    assert!(log_of(&home) > 0);
    home.shell(": > memory.db-wal");
    is_lost(&store, Loss::Incomplete);
    is_back_after_a_restore(&home, &store);
}

#[test]
fn a_log_that_was_moved_away_and_back_is_no_loss() {
    let home = Home::new();
    let store = lived_in(&home);
    home.shell("mv memory.db-wal away; mv away memory.db-wal");
    assert_eq!(numbers(&store), everything());
    write_all(&store, 40..50);
    drop(store);
    assert_eq!(numbers(&home.open().unwrap()), (0..50).collect::<Vec<_>>());
}
