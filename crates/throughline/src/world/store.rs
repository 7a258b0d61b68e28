//! The store that this program uses. Nothing else here knows which one it is.

mod copy;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use throughline_core::model::MachineId;
use throughline_core::ports::{Backups, Clock, Documents, Store, StoreError};
use throughline_postgres::{Address, PostgresStore};
use throughline_sqlite::{SqliteBackups, SqliteStore};

pub(crate) use copy::{CopyFailure, Place};
pub(super) use throughline_postgres::AddressError;
pub(crate) use throughline_postgres::ServerClock;
pub use throughline_sqlite::{Durability, PlainFts5, index_bytes};

use super::{Home, OpenError, private_file};
use crate::config::{self, StoreConfig};
use crate::processes;

/// A store, and what it may have besides.
pub(super) struct Opened {
    pub(super) store: Arc<dyn Store>,
    pub(super) backups: Option<Arc<dyn Backups>>,
    /// The documents that it keeps itself; files where there are none.
    pub(super) documents: Option<Arc<dyn Documents>>,
    /// The server's time, where that decides.
    pub(super) clock: Option<ServerClock>,
}

/// How a server is reached.
pub(super) struct ServerAccess {
    pub(super) password: Option<String>,
    /// How long one that cannot be reached is waited for, where that is less than usual.
    pub(super) patience: Option<Duration>,
    /// The clock of this machine, where the server's time is to decide.
    pub(super) clock: Option<Arc<dyn Clock>>,
}

/// Opens the memory of a home, or begins one where there is none, nor anything left of one.
pub(super) fn open(
    home: &Home,
    config: &StoreConfig,
    server: ServerAccess,
    durability: Durability,
) -> Result<Opened, OpenError> {
    match &config.url {
        Some(url) => open_on_server(url, server),
        None => open_file(home, durability),
    }
}

/// Whether the memory could be opened as far as the config says where it is; nothing is opened.
pub(super) fn check(config: &StoreConfig) -> Result<(), OpenError> {
    config.url.as_deref().map(Address::parse).transpose().map(drop).map_err(OpenError::StoreUrl)
}

/// The memory on a server. It backs itself up, so that it has no backups of ours.
fn open_on_server(url: &str, access: ServerAccess) -> Result<Opened, OpenError> {
    let mut address = Address::parse(url).map_err(OpenError::StoreUrl)?;
    if let Some(password) = access.password {
        address = address.with_password(&password);
    }
    if let Some(patience) = access.patience {
        address = address.with_patience(patience);
    }
    let server = address.to_string();
    let opened = match access.clock {
        Some(machine) => {
            PostgresStore::open_by_server_time(address, machine).map(|(store, clock)| (store, Some(clock)))
        }
        None => PostgresStore::open(address).map(|store| (store, None)),
    };
    let (store, clock) = opened.map_err(|source| OpenError::Server { server, source })?;
    let store = store.on_machine(MachineId::new(processes::host_name()));
    let documents: Arc<dyn Documents> = Arc::new(store.documents());
    Ok(Opened { store: Arc::new(store), backups: None, documents: Some(documents), clock })
}

fn open_file(home: &Home, durability: Durability) -> Result<Opened, OpenError> {
    let database = home.database();
    let failed = |source| OpenError::Store { path: database.clone(), source };
    throughline_sqlite::check_for_remains(&database, &home.backups()).map_err(failed)?;
    if !database.exists() {
        private_file(&database)?;
    }
    let store = Arc::new(
        match durability {
            Durability::Full => SqliteStore::open_or_read(&database, &home.backups(), durability),
            Durability::Process => SqliteStore::open(&database, &home.backups(), durability),
        }
        .map_err(failed)?,
    );
    if let Some(why) = store.read_only() {
        let hint = StoreError::ReadOnly { why }.hint().unwrap_or_default();
        tracing::warn!("the memory can only be read: {why} ({hint})");
    }
    let backups = SqliteBackups::of(Arc::clone(&store), &database, &home.backups());
    Ok(Opened { store, backups: Some(Arc::new(backups)), documents: None, clock: None })
}

/// The backups of a home whose memory is not open: it may be missing or damaged. None where a server keeps it.
pub(crate) fn backups_of(home: &Home) -> Option<Arc<dyn Backups>> {
    if config::load(&home.config).is_ok_and(|loaded| loaded.config.store.url.is_some()) {
        return None;
    }
    Some(Arc::new(SqliteBackups::new(&home.database(), &home.backups())))
}

/// A store in a file of its own, for benchmarks and trials.
pub fn store_at(file: &Path, durability: Durability) -> Result<Arc<dyn Store>, StoreError> {
    let beside = file.parent().unwrap_or(Path::new("."));
    Ok(Arc::new(SqliteStore::open(file, beside, durability)?))
}

/// A store on a server, for benchmarks.
pub struct StoreOnServer {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The documents that it keeps.
    pub documents: Arc<dyn Documents>,
    /// How often it waited for the server so far, besides connecting.
    pub round_trips: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl StoreOnServer {
    /// Opens the memory at an address, or begins one there.
    pub fn open(url: &str) -> Result<Self, OpenError> {
        let address = Address::parse(url).map_err(OpenError::StoreUrl)?;
        let server = address.to_string();
        let store = PostgresStore::open(address).map_err(|source| OpenError::Server { server, source })?;
        let store = Arc::new(store.on_machine(MachineId::new(processes::host_name())));
        let (documents, counting) = (Arc::new(store.documents()), Arc::clone(&store));
        Ok(Self { store, documents, round_trips: Arc::new(move || counting.round_trips()) })
    }
}
