//! Circuit-breaker state.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};
use throughline_core::ports::{Breaker, Breakers};

use crate::error::while_doing;
use crate::rows::time;
use crate::{SqliteStore, Stored};

impl Breakers for SqliteStore {
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
