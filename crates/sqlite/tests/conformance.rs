//! The SQLite file behaves as every store does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "../../testkit/suites/stores/mod.rs"]
mod stores;

use std::sync::Arc;

use tempfile::TempDir;
use throughline_core::ports::Store;
use throughline_sqlite::{Durability, SqliteStore};
use throughline_testkit::StoreFixture;

/// A directory with a database in it.
struct SqliteFixture(TempDir);

impl StoreFixture for SqliteFixture {
    fn open(&self) -> Arc<dyn Store> {
        let path = self.0.path().join("memory.db");
        Arc::new(SqliteStore::open(&path, self.0.path(), Durability::Process).unwrap())
    }
}

fn fixture() -> SqliteFixture {
    SqliteFixture(tempfile::tempdir().unwrap())
}
