//! A missing or empty database is a new memory only where there is nothing left of another one.

use std::fs;

use throughline_core::ports::{Loss, StoreError};

use super::{Home, everything, lived_in, log_of, numbers, write_all};

#[track_caller]
fn refused(home: &Home, expected: Loss) {
    match home.open().map(drop) {
        Err(error @ StoreError::Lost { .. }) => {
            assert!(matches!(&error, StoreError::Lost { loss, .. } if *loss == expected), "{error:?}");
            assert!(error.hint().unwrap().contains("to begin a new memory"), "{error:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_or_empty_database_beside_backups_is_not_made_anew() {
    let home = Home::new();
    drop(lived_in(&home));
    fs::remove_file(home.database()).unwrap();
    refused(&home, Loss::Missing);
    assert!(!home.database().exists());
    fs::write(home.database(), "").unwrap();
    refused(&home, Loss::Empty);
    home.shell("rm -r backups; mkdir backups");
    assert_eq!(numbers(&home.open().unwrap()), [0; 0], "without backups it is a new memory");
}

#[test]
fn a_log_without_its_database_is_not_overwritten_by_a_new_memory() {
    let home = Home::new();
    let store = home.open().unwrap();
    write_all(&store, 0..40);
    home.shell("mv memory.db elsewhere.db");
    assert!(log_of(&home) > 0);
    refused(&home, Loss::Missing);
    home.shell("mv elsewhere.db memory.db");
    drop(store);
    assert_eq!(numbers(&home.open().unwrap()), everything());
}

/// Beside a log that belongs to a newer state, an older file is not opened: together they are neither.
#[test]
fn a_file_and_a_log_that_do_not_belong_together_are_refused() {
    let home = Home::new();
    let store = lived_in(&home);
    home.shell("mkdir apart; cp backups/older.db apart/memory.db; cp memory.db-wal apart");
    drop(store);
    let apart = super::SqliteStore::open(&home.path("apart/memory.db"), &home.path("b"), super::Durability::Process);
    let Err(error @ StoreError::Damaged { .. }) = apart.map(drop) else { panic!("it should be refused") };
    assert!(throughline_core::engine::chain(&error).contains("do not belong together"), "{error:?}");
}
