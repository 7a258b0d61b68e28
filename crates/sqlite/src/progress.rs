//! What consolidation keeps about its own work: injections, failures, leases, the ledger, breakers.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};
use throughline_core::model::{EntryId, SessionId};
use throughline_core::ports::{Breaker, Lease, Progress, Spent};

use crate::error::while_doing;
use crate::rows::{parsed, time};
use crate::{SqliteStore, Stored};

impl Progress for SqliteStore {
    fn injected(&self, session: &SessionId) -> Stored<Vec<EntryId>> {
        let sql = "SELECT memory FROM injected i JOIN sessions s ON s.row = i.session \
                   WHERE s.id = ? AND i.after >= s.kept_from ORDER BY memory";
        let id = |row: &Row<'_>| Ok(EntryId::new(row.get::<_, String>(0)?));
        self.read(
            |connection| connection.prepare_cached(sql)?.query_map([session.as_str()], id)?.collect(),
            "read what was injected",
        )
    }

    fn note_injected(&self, session: &SessionId, memories: &[EntryId]) -> Stored<()> {
        let sql = "INSERT INTO injected (session, memory, after) \
                   SELECT row, ?2, ifnull((SELECT max(row) FROM turns WHERE session = sessions.row), 0) \
                   FROM sessions WHERE id = ?1 \
                   ON CONFLICT (session, memory) DO UPDATE SET after = excluded.after";
        self.write("note what was injected", |transaction| {
            let noted = memories.iter().try_for_each(|memory| {
                transaction.prepare_cached(sql)?.execute([session.as_str(), memory.as_str()]).map(drop)
            });
            noted.map_err(while_doing("note what was injected"))
        })
    }

    fn note_failure(&self, session: &SessionId) -> Stored<u32> {
        let sql = "UPDATE sessions SET failures = failures + 1 WHERE id = ? RETURNING failures";
        self.write("count a failure", |transaction| {
            let counted = transaction.query_row(sql, [session.as_str()], |row| row.get(0));
            counted.map_err(while_doing("count a failure"))
        })
    }

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

    fn spend(&self, spent: &Spent) -> Stored<()> {
        let sql = "INSERT INTO spending (day, provider, model, purpose, calls, failures, tokens_in, tokens_out) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (day, provider, model, purpose) DO UPDATE SET \
                     calls = calls + ?5, failures = failures + ?6, tokens_in = tokens_in + ?7, \
                     tokens_out = tokens_out + ?8";
        self.write("write the ledger", |transaction| {
            let values = params![
                spent.day,
                spent.provider,
                spent.model,
                spent.purpose.as_str(),
                spent.calls,
                spent.failures,
                spent.tokens_in,
                spent.tokens_out
            ];
            transaction.execute(sql, values).map(drop).map_err(while_doing("write the ledger"))
        })
    }

    fn spending(&self, since: &str) -> Stored<Vec<Spent>> {
        let sql = "SELECT day, provider, model, purpose, calls, failures, tokens_in, tokens_out FROM spending \
                   WHERE day >= ? ORDER BY day DESC, provider, model, purpose";
        let spent = |row: &Row<'_>| {
            Ok(Spent {
                day: row.get(0)?,
                provider: row.get(1)?,
                model: row.get(2)?,
                purpose: parsed(row, 3)?,
                calls: row.get(4)?,
                failures: row.get(5)?,
                tokens_in: row.get(6)?,
                tokens_out: row.get(7)?,
            })
        };
        self.read(|connection| connection.prepare_cached(sql)?.query_map([since], spent)?.collect(), "read the ledger")
    }

    fn breaker(&self, provider: &str) -> Stored<Option<Breaker>> {
        let sql = "SELECT failures, open_until FROM breakers WHERE provider = ?";
        let breaker = |row: &Row<'_>| {
            let open_until = row.get::<_, Option<i64>>(1)?.map(time).transpose()?;
            Ok(Breaker { failures: row.get(0)?, open_until })
        };
        self.read(
            |connection| connection.prepare_cached(sql)?.query_row([provider], breaker).optional(),
            "read how a provider fared",
        )
    }

    fn keep_breaker(&self, provider: &str, breaker: &Breaker) -> Stored<()> {
        let sql = "INSERT INTO breakers (provider, failures, open_until) VALUES (?1, ?2, ?3) \
                   ON CONFLICT (provider) DO UPDATE SET failures = ?2, open_until = ?3";
        self.write("keep how a provider fares", |transaction| {
            let open_until = breaker.open_until.map(Timestamp::as_millisecond);
            let kept = transaction.execute(sql, params![provider, breaker.failures, open_until]);
            kept.map(drop).map_err(while_doing("keep how a provider fares"))
        })
    }
}
