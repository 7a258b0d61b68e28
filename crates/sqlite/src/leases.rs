//! Leases.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};
use throughline_core::ports::{Lease, Leases};

use crate::error::while_doing;
use crate::rows::time;
use crate::{SqliteStore, Stored};

impl Leases for SqliteStore {
    fn acquire(&self, lease: &Lease, now: Timestamp, gone: &dyn Fn(&str) -> bool) -> Stored<bool> {
        let taking = while_doing("take a lease");
        self.write("take a lease", |transaction| {
            let held: Option<(String, i64)> = transaction
                .query_row("SELECT holder, until FROM leases WHERE name = ?", [&lease.name], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()
                .map_err(&taking)?;
            let is_free = held
                .is_none_or(|(holder, until)| holder == lease.holder || until <= now.as_millisecond() || gone(&holder));
            if is_free {
                let sql = "INSERT INTO leases (name, holder, until) VALUES (?1, ?2, ?3) \
                           ON CONFLICT (name) DO UPDATE SET holder = ?2, until = ?3";
                let values = params![lease.name, lease.holder, lease.until.as_millisecond()];
                transaction.execute(sql, values).map_err(&taking)?;
            }
            Ok(is_free)
        })
    }

    fn lease(&self, name: &str) -> Stored<Option<Lease>> {
        let sql = "SELECT name, holder, until FROM leases WHERE name = ?";
        let lease = |row: &Row<'_>| Ok(Lease { name: row.get(0)?, holder: row.get(1)?, until: time(row.get(2)?)? });
        self.read(|connection| connection.prepare_cached(sql)?.query_row([name], lease).optional(), "look at a lease")
    }

    fn release(&self, lease: &Lease) -> Stored<()> {
        self.write("give a lease back", |transaction| {
            let sql = "DELETE FROM leases WHERE name = ? AND holder = ?";
            let released = transaction.execute(sql, params![lease.name, lease.holder]);
            released.map(drop).map_err(while_doing("give a lease back"))
        })
    }
}
