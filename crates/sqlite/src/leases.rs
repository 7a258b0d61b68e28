//! Leases.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use throughline_core::ports::{Holder, Lease, Leases};

use crate::error::while_doing;
use crate::rows::time;
use crate::{SqliteStore, Stored};

impl Leases for SqliteStore {
    fn acquire(&self, lease: &Lease, now: Timestamp, gone: &dyn Fn(&Holder) -> bool) -> Stored<bool> {
        let taking = while_doing("take a lease");
        self.write("take a lease", |transaction| {
            let held = read(transaction, &lease.name).map_err(&taking)?;
            let is_free = held.is_none_or(|held| {
                let is_here = held.holder.host == lease.holder.host && !held.holder.host.is_empty();
                held.holder == lease.holder || held.until <= now || (is_here && gone(&held.holder))
            });
            if is_free {
                keep(transaction, lease).map_err(&taking)?;
            }
            Ok(is_free)
        })
    }

    fn lease(&self, name: &str) -> Stored<Option<Lease>> {
        self.read(|connection| read(connection, name), "look at a lease")
    }

    fn release(&self, lease: &Lease) -> Stored<()> {
        self.write("give a lease back", |transaction| {
            let sql = "DELETE FROM leases WHERE name = ? AND host = ? AND process = ? AND started = ? AND worker = ?";
            let Holder { host, process, started, worker } = &lease.holder;
            let released = transaction.execute(sql, params![lease.name, host, process, started, worker]);
            released.map(drop).map_err(while_doing("give a lease back"))
        })
    }
}

fn read(connection: &Connection, name: &str) -> rusqlite::Result<Option<Lease>> {
    let sql = "SELECT name, host, process, started, worker, until FROM leases WHERE name = ?";
    let lease = |row: &Row<'_>| {
        let holder = Holder { host: row.get(1)?, process: row.get(2)?, started: row.get(3)?, worker: row.get(4)? };
        Ok(Lease { name: row.get(0)?, holder, until: time(row.get(5)?)? })
    };
    connection.prepare_cached(sql)?.query_row([name], lease).optional()
}

fn keep(connection: &Connection, lease: &Lease) -> rusqlite::Result<()> {
    let sql = "INSERT INTO leases (name, host, process, started, worker, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
               ON CONFLICT (name) DO UPDATE SET host = ?2, process = ?3, started = ?4, worker = ?5, until = ?6";
    let Holder { host, process, started, worker } = &lease.holder;
    let values = params![lease.name, host, process, started, worker, lease.until.as_millisecond()];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}
