//! Circuit-breaker state.

use throughline_core::ports::{Breaker, Breakers};

use crate::values::values;
use crate::{PostgresStore, Stored};

impl Breakers for PostgresStore {
    fn breaker(&self, provider: &str) -> Stored<Option<Breaker>> {
        let sql = "SELECT failures, open_until FROM breakers WHERE space = $1 AND provider = $2";
        self.read("read how a provider fared", |connection| {
            let found = connection.maybe(sql, &values![provider])?;
            found.map(|row| Ok(Breaker { failures: row.number(0)?, open_until: row.maybe_time(1)? })).transpose()
        })
    }

    fn keep_breaker(&self, provider: &str, breaker: &Breaker) -> Stored<()> {
        let sql = "INSERT INTO breakers (space, provider, failures, open_until) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (space, provider) DO UPDATE SET failures = excluded.failures, open_until = excluded.open_until";
        self.write("keep how a provider fares", |transaction| {
            transaction.post(sql, &values![provider, breaker.failures, breaker.open_until])
        })
    }
}
