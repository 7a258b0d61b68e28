//! What other processes rightly do to the same files is not taken for damage.

use throughline_core::model::EntryId;
use throughline_core::ports::{Backups as _, ChangeWatch as _, Eraser as _, Erasure, Health as _};
use throughline_testkit::stores;

use super::{Home, lived_in, numbers, write, write_all};

/// Each copies its log into the file whenever that is long enough, while the others read and write.
#[test]
fn stores_that_share_a_file_see_no_loss_in_each_others_work() {
    let home = Home::new();
    drop(home.open().unwrap());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let home = &home;
            scope.spawn(move || {
                let store = home.open().unwrap();
                for n in 0..300 {
                    write(&store, thread * 1000 + n).unwrap();
                    store.change_tokens().unwrap();
                }
            });
        }
    });
    let store = home.open().unwrap();
    assert_eq!(numbers(&store).len(), 1200);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn erasing_elsewhere_rewrites_the_file_and_is_no_loss() {
    let home = Home::new();
    let (store, other) = (lived_in(&home), home.open().unwrap());
    for n in 0..3 {
        let erasure = Erasure { memories: vec![EntryId::new(format!("id{n:06}"))], ..Erasure::default() };
        other.erase(&erasure).unwrap();
        write_all(&store, 40 + n..41 + n);
    }
    assert_eq!(numbers(&store), (3..43).collect::<Vec<_>>());
}

/// A copy that is restored in the place of a database that is in use: everybody goes on with the copy.
#[test]
fn a_restore_while_the_store_is_open_is_followed() {
    let home = Home::new();
    let store = lived_in(&home);
    for nth in 0..3 {
        for (copy, expected) in [("backups/older.db", 10), ("backups/newest.db", 20)] {
            let kept = home.backups().restore_copy(&home.path(copy), "now", stores::minute(nth)).unwrap();
            assert!(kept.is_some_and(|kept| kept.exists()));
            assert_eq!(numbers(&store), (0..expected).collect::<Vec<_>>());
            write_all(&store, 100..101);
            assert_eq!(numbers(&home.open().unwrap()).len(), expected + 1);
        }
    }
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}
