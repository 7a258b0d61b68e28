//! The ledger: what models cost.

use throughline_core::ports::{Ledger, Spent};

use crate::values::values;
use crate::{PostgresStore, Stored};

impl Ledger for PostgresStore {
    fn spend(&self, spent: &Spent) -> Stored<()> {
        let sql = "INSERT INTO spending AS s (space, day, provider, model, purpose, calls, failures, tokens_in, tokens_out) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
                   ON CONFLICT (space, day, provider, model, purpose) DO UPDATE SET calls = s.calls + excluded.calls, \
                     failures = s.failures + excluded.failures, tokens_in = s.tokens_in + excluded.tokens_in, \
                     tokens_out = s.tokens_out + excluded.tokens_out";
        self.write("write the ledger", |transaction| {
            let bound = values![
                &spent.day,
                &spent.provider,
                &spent.model,
                spent.purpose.as_str(),
                spent.calls,
                spent.failures,
                spent.tokens_in,
                spent.tokens_out,
            ];
            transaction.post(sql, &bound)
        })
    }

    fn spending(&self, since: &str) -> Stored<Vec<Spent>> {
        let sql = "SELECT day, provider, model, purpose, calls, failures, tokens_in, tokens_out FROM spending \
                   WHERE space = $1 AND day >= $2 ORDER BY day DESC, provider, model, purpose";
        self.read("read the ledger", |connection| {
            connection.all(sql, &values![since], |row| {
                Ok(Spent {
                    day: row.text(0)?,
                    provider: row.text(1)?,
                    model: row.text(2)?,
                    purpose: row.parsed(3)?,
                    calls: row.number(4)?,
                    failures: row.number(5)?,
                    tokens_in: row.number(6)?,
                    tokens_out: row.number(7)?,
                })
            })
        })
    }
}
