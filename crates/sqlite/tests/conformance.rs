//! The SQLite file behaves as every store does.

use std::cell::Cell;
use std::sync::Arc;

use throughline_core::ports::Store;
use throughline_sqlite::{Durability, SqliteStore};
use throughline_testkit::stores::conformance;

#[test]
fn the_sqlite_file_is_a_store() {
    let home = tempfile::tempdir().unwrap();
    let count = Cell::new(0);
    conformance(&|| {
        count.set(count.get() + 1);
        let path = home.path().join(format!("{}.db", count.get()));
        Arc::new(SqliteStore::open(&path, home.path(), Durability::Process).unwrap()) as Arc<dyn Store>
    });
}
