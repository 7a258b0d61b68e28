//! The store that this program uses. Nothing else here knows which one it is.

use std::path::Path;
use std::sync::Arc;

use throughline_core::ports::{Backups, Store, StoreError};
use throughline_sqlite::{SqliteBackups, SqliteStore};

pub use throughline_sqlite::Durability;

use super::{Home, OpenError, private_file};

/// A store, and its backups if it can have any.
pub(super) type Opened = (Arc<dyn Store>, Option<Arc<dyn Backups>>);

/// Opens the memory of a home, or begins one where there is none, nor anything left of one.
pub(super) fn open(home: &Home, durability: Durability) -> Result<Opened, OpenError> {
    let database = home.database();
    let failed = |source| OpenError::Store { path: database.clone(), source };
    throughline_sqlite::check_for_remains(&database, &home.backups()).map_err(failed)?;
    private_file(&database)?;
    let store = Arc::new(SqliteStore::open(&database, &home.backups(), durability).map_err(failed)?);
    let backups = SqliteBackups::of(Arc::clone(&store), &database, &home.backups());
    Ok((store, Some(Arc::new(backups))))
}

/// The backups of a home whose memory is not open: it may be missing or damaged.
pub(crate) fn backups_of(home: &Home) -> Option<Arc<dyn Backups>> {
    Some(Arc::new(SqliteBackups::new(&home.database(), &home.backups())))
}

/// A store in a file of its own, for benchmarks and trials.
pub fn store_at(file: &Path, durability: Durability) -> Result<Arc<dyn Store>, StoreError> {
    let beside = file.parent().unwrap_or(Path::new("."));
    Ok(Arc::new(SqliteStore::open(file, beside, durability)?))
}
