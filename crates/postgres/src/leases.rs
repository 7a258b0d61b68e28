//! Leases. The lock of the space makes one of several callers the first, and the server's clock says when a lease ends: callers say
//! how long it lasts. In a store that goes by its callers' time, theirs decides.

use jiff::Timestamp;
use throughline_core::ports::{Holder, Lease, Leases};

use crate::connection::Connection;
use crate::error::Sql;
use crate::values::values;
use crate::{PostgresStore, Stored};

impl Leases for PostgresStore {
    fn acquire(&self, lease: &Lease, now: Timestamp, gone: &dyn Fn(&Holder) -> bool) -> Stored<bool> {
        let sql = "INSERT INTO leases (space, name, host, process, started, worker, until) VALUES ($1, $2, $3, $4, $5, $6, $7) \
                   ON CONFLICT (space, name) DO UPDATE SET host = excluded.host, process = excluded.process, \
                     started = excluded.started, worker = excluded.worker, until = excluded.until";
        self.write("take a lease", |transaction| {
            let goes_by_server = transaction.reach().clock().is_some();
            let (time, lasting) =
                (if goes_by_server { transaction.began_at() } else { now }, lease.until.duration_since(now));
            let until = time.checked_add(lasting).unwrap_or(lease.until);
            let is_free = read(transaction, &lease.name)?.is_none_or(|held| {
                let is_here = held.holder.host == lease.holder.host && !held.holder.host.is_empty();
                held.holder == lease.holder || held.until <= time || (is_here && gone(&held.holder))
            });
            if is_free {
                let Holder { host, process, started, worker } = &lease.holder;
                let bound = values![&lease.name, host, *process, started, *worker, until];
                transaction.post(sql, &bound)?;
            }
            Ok(is_free)
        })
    }

    fn lease(&self, name: &str) -> Stored<Option<Lease>> {
        self.read("look at a lease", |connection| read(connection, name))
    }

    fn release(&self, lease: &Lease) -> Stored<()> {
        let sql = "DELETE FROM leases WHERE space = $1 AND name = $2 AND host = $3 AND process = $4 AND started = $5 \
                   AND worker = $6";
        self.write("give a lease back", |transaction| {
            let Holder { host, process, started, worker } = &lease.holder;
            transaction.post(sql, &values![&lease.name, host, *process, started, *worker])
        })
    }
}

fn read(connection: &Connection, name: &str) -> Sql<Option<Lease>> {
    let sql = "SELECT name, host, process, started, worker, until FROM leases WHERE space = $1 AND name = $2";
    let Some(row) = connection.maybe(sql, &values![name])? else { return Ok(None) };
    let holder = Holder { host: row.text(1)?, process: row.number(2)?, started: row.text(3)?, worker: row.number(4)? };
    Ok(Some(Lease { name: row.text(0)?, holder, until: row.time(5)? }))
}
