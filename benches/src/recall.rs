//! `Engine::recall`, all of it, against what one SQL statement on a plain FTS5 table takes.

use clap::Args;
use rusqlite::Connection;
use throughline::synthetic::{self, Dice};
use throughline::world::Durability;
use throughline_core::engine::Engine;
use throughline_core::recall::{Filter, RecallRequest};

use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

const LIMIT: usize = 10;
/// Questions that only warm up.
const WARM_UP: usize = 50;

#[derive(Args)]
pub(crate) struct Recall {
    /// How many memories, one table row each
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000])]
    sizes: Vec<u64>,
    /// How many questions at each size
    #[arg(long, default_value_t = 1000)]
    questions: usize,
}

impl Recall {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let rows = self.sizes.iter().map(|&size| self.measure(size)).collect::<Result<Vec<_>, _>>()?;
        let head =
            ["memories", "recall p50 ms", "p99 ms", "raw FTS5 p50 ms", "p99 ms", "ratio p50", "ratio p99", "hits"];
        Ok(markdown(&head, &rows))
    }

    fn measure(&self, size: u64) -> Result<Vec<String>, Failure> {
        let home = tempfile::tempdir()?;
        let engine = laboratory::open(home.path(), Durability::Process)?;
        laboratory::fill(&engine, size)?;
        let raw = raw(&home.path().join("raw.db"), size)?;
        let mut dice = Dice::new(2);
        let (mut ours, mut theirs, mut hits) = (Times::default(), Times::default(), (0, 0));
        for at in 0..self.questions + WARM_UP {
            if at == WARM_UP {
                (ours, theirs, hits) = (Times::default(), Times::default(), (0, 0));
            }
            let question = synthetic::question(&mut dice);
            // Who goes first changes, so that neither always finds the processor's cache as the other left it.
            if at % 2 == 0 {
                hits.0 += ours.time(|| recall(&engine, &question))?;
                hits.1 += theirs.time(|| raw_recall(&raw, &question))?;
            } else {
                hits.1 += theirs.time(|| raw_recall(&raw, &question))?;
                hits.0 += ours.time(|| recall(&engine, &question))?;
            }
        }
        let mut row = vec![size.to_string()];
        row.extend([ours.at(0.5), ours.at(0.99), theirs.at(0.5), theirs.at(0.99)].map(ms));
        row.extend([0.5, 0.99].map(|share| ratio(ours.at(share), theirs.at(share))));
        row.push(format!("{} / {}", hits.0, hits.1));
        Ok(row)
    }
}

fn recall(engine: &Engine, question: &str) -> Result<usize, Failure> {
    let filter = Filter::recallable(engine.now());
    Ok(engine.recall().recall(&RecallRequest { query: question.to_owned(), limit: LIMIT, filter })?.hits.len())
}

/// What one would write first: the text itself, in a table of FTS5's own.
fn raw(path: &std::path::Path, size: u64) -> Result<Connection, Failure> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.execute_batch("PRAGMA cache_size = -16384; CREATE VIRTUAL TABLE raw USING fts5 (content)")?;
    laboratory::texts(size, |texts| {
        connection.execute_batch("BEGIN")?;
        for text in texts {
            connection.prepare_cached("INSERT INTO raw (content) VALUES (?)")?.execute([text])?;
        }
        Ok(connection.execute_batch("COMMIT")?)
    })?;
    Ok(connection)
}

fn raw_recall(connection: &Connection, question: &str) -> Result<usize, Failure> {
    let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let matching = words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
    let mut statement =
        connection.prepare_cached("SELECT rowid, content, rank FROM raw WHERE raw MATCH ? ORDER BY rank LIMIT 10")?;
    let found = statement
        .query_map([matching], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, f64>(2)?)))?;
    Ok(found.collect::<Result<Vec<_>, _>>()?.len())
}
