//! The ledger: what models cost.

use rusqlite::{Row, params};
use throughline_core::ports::{Ledger, Spent};

use crate::error::while_doing;
use crate::rows::parsed;
use crate::{SqliteStore, Stored};

impl Ledger for SqliteStore {
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
}
