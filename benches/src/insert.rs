//! A durable `Engine::remember`, with its change, its version, its index and its receipt, against one `INSERT` into one
//! table in a transaction of its own.

use std::path::Path;

use clap::Args;
use rusqlite::{Connection, TransactionBehavior, params};
use throughline::synthetic::{self, Dice};
use throughline::world::Durability;
use throughline_core::engine::NewMemory;

use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

const WARM_UP: usize = 50;

#[derive(Args)]
pub(crate) struct Insert {
    /// How many inserts of each
    #[arg(long, default_value_t = 1000)]
    inserts: usize,
    /// How many memories are there before
    #[arg(long, default_value_t = 10_000)]
    size: u64,
}

impl Insert {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let durable = self.measure("FULL", Durability::Full)?;
        let process = self.measure("NORMAL", Durability::Process)?;
        let head = [
            "synchronous",
            "remember p50 ms",
            "mean ms",
            "p99 ms",
            "bare INSERT p50 ms",
            "mean ms",
            "p99 ms",
            "ratio p50",
            "ratio mean",
            "ratio p99",
            "added, mean ms",
        ];
        Ok(markdown(&head, &[durable, process]))
    }

    fn measure(&self, synchronous: &str, durability: Durability) -> Result<Vec<String>, Failure> {
        let home = tempfile::tempdir()?;
        let engine = laboratory::open(home.path(), durability)?;
        laboratory::fill(&engine, self.size)?;
        let mut bare = bare(&home.path().join("bare.db"), synchronous, self.size)?;
        let mut dice = Dice::new(3);
        let (mut ours, mut theirs) = (Times::default(), Times::default());
        for at in 0..self.inserts + WARM_UP {
            if at == WARM_UP {
                (ours, theirs) = (Times::default(), Times::default());
            }
            let text = synthetic::memory(&mut dice);
            let new = NewMemory::fact(text.clone());
            if at % 2 == 0 {
                ours.time(|| engine.memories().remember(&new))?;
                theirs.time(|| bare_insert(&mut bare, &text))?;
            } else {
                theirs.time(|| bare_insert(&mut bare, &text))?;
                ours.time(|| engine.memories().remember(&new))?;
            }
        }
        let mut row = vec![synchronous.to_owned()];
        for times in [&ours, &theirs] {
            row.extend([times.at(0.5), times.mean(), times.at(0.99)].map(ms));
        }
        row.push(ratio(ours.at(0.5), theirs.at(0.5)));
        row.push(ratio(ours.mean(), theirs.mean()));
        row.push(ratio(ours.at(0.99), theirs.at(0.99)));
        row.push(ms(ours.mean() - theirs.mean()));
        Ok(row)
    }
}

/// One table and no index, on the same disk, with the pragmas that matter to a commit as the store sets them.
fn bare(path: &Path, synchronous: &str, size: u64) -> Result<Connection, Failure> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.execute_batch(
        "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;
         PRAGMA journal_size_limit = 67108864;
         CREATE TABLE bare (row INTEGER PRIMARY KEY, content TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;",
    )?;
    laboratory::texts(size, |texts| {
        let transaction = connection.transaction()?;
        texts.iter().try_for_each(|text| add(&transaction, text))?;
        Ok(transaction.commit()?)
    })?;
    Ok(connection)
}

fn bare_insert(connection: &mut Connection, text: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    add(&transaction, text)?;
    transaction.commit()
}

fn add(connection: &Connection, text: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT INTO bare (content, created_at) VALUES (?, ?)")?;
    statement.execute(params![text, 1_780_000_000_000_i64])?;
    Ok(())
}
