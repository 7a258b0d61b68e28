//! Moves a whole memory from one store to another, table by table.
//!
//! Goes in: a store that is read as it was at one moment, and a store that is empty or holds the first part of the same copy.
//! Comes out: every row that cannot be made again, compared by digests. Never happens: a target that passes for a memory before
//! it is complete.

mod digest;
mod tables;

use throughline_core::ports::StoreError;

pub use digest::TableDigest;
pub use tables::{Column, Kind, TABLES, Table};

/// Rows that are written in one transaction, at most, and how long their texts are together at most.
const BATCH_ROWS: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// A whole number: a count, a row's number, a time in milliseconds.
    Int(i64),
    /// Any other number.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list of texts.
    Texts(Vec<String>),
}

impl Cell {
    /// About how many bytes it takes.
    fn weight(&self) -> usize {
        match self {
            Self::Null | Self::Int(_) | Self::Real(_) | Self::Flag(_) => 8,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Texts(texts) => texts.iter().map(|text| text.len() + 8).sum(),
        }
    }
}

/// A row: a cell for each column of its table.
pub type Row = Vec<Cell>;

/// Tables that can be read.
pub trait Rows {
    /// How many rows a table has.
    fn count(&self, table: &Table) -> Result<u64, StoreError>;
    /// Every row of a table, always in the same order.
    fn each(&self, table: &Table, row: &mut dyn FnMut(Row) -> Result<(), StoreError>) -> Result<(), StoreError>;
}

/// A memory as it is at one moment.
pub trait Snapshot: Rows {
    /// Tells it from other memories, and from itself before and after a change.
    fn mark(&self) -> Result<String, StoreError>;
}

/// A store that a memory can be copied from.
pub trait Source {
    /// Calls `work` once, with what the memory is now.
    fn snapshot(&self, work: &mut dyn FnMut(&dyn Snapshot)) -> Result<(), StoreError>;
}

/// Whether a copy begins or goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// There is nothing in the target.
    New,
    /// The target holds the first part of a copy of the same state of the same memory.
    Resumed,
    /// The target holds something else.
    Refused,
}

/// A store that a memory can be copied to.
pub trait Target: Rows {
    /// Begins the copy of what has this mark. What an unfinished copy of something else left is removed.
    fn begin(&self, mark: &str) -> Result<Begun, StoreError>;
    /// Writes rows: all of them or none.
    fn put(&self, table: &Table, rows: &[Row]) -> Result<(), StoreError>;
    /// Makes what is derived from the rows; from here on it is a memory.
    fn finish(&self) -> Result<(), StoreError>;
}

/// Why a memory could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The target holds a memory already.
    #[error("the target holds a memory already")]
    NotEmpty,
    /// What was written is not what was read.
    #[error("the copy differs from its source in the table `{table}`")]
    Differs {
        /// Which table.
        table: &'static str,
    },
    /// The source could not be read.
    #[error("cannot read the source")]
    Source(#[source] StoreError),
    /// The target could not be written.
    #[error("cannot write the target")]
    Target(#[source] StoreError),
}

impl CopyError {
    /// What to try next.
    pub fn hint(&self) -> String {
        match self {
            Self::NotEmpty => "nothing was changed; copy to another place: a file that does not exist, or another `space`".to_owned(),
            Self::Differs { .. } => {
                "the target is not used until it is complete; stop what else writes to it and run the same command again".to_owned()
            }
            Self::Source(error) | Self::Target(error) => {
                let again = "what was copied stays; run the same command again to go on";
                error.hint().map_or_else(|| again.to_owned(), |hint| format!("{hint}; {again}"))
            }
        }
    }
}

/// What was copied.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Copied {
    /// Rows in all tables.
    pub rows: u64,
    /// Those of them that an earlier run had copied.
    pub resumed: u64,
    /// A digest of all rows, the same in source and target.
    pub digest: String,
    /// The tables that have rows, and how many.
    pub tables: Vec<(&'static str, u64)>,
}

/// Copies a memory and compares what was written with what was read. `progress` is told how many rows are done, of how many;
/// each is counted twice, once for being compared.
pub fn copy(source: &dyn Source, target: &dyn Target, progress: &mut dyn FnMut(u64, u64)) -> Result<Copied, CopyError> {
    let mut outcome = None;
    let read =
        source.snapshot(&mut |snapshot| outcome = Some(Copying { snapshot, target, progress, done: 0, of: 0 }.run()));
    read.map_err(CopyError::Source)?;
    let none = || CopyError::Source(StoreError::Failed { doing: "read the memory", source: "it gave nothing".into() });
    outcome.unwrap_or_else(|| Err(none()))
}

struct Copying<'a> {
    snapshot: &'a dyn Snapshot,
    target: &'a dyn Target,
    progress: &'a mut dyn FnMut(u64, u64),
    done: u64,
    of: u64,
}

impl Copying<'_> {
    fn run(mut self) -> Result<Copied, CopyError> {
        let mark = self.snapshot.mark().map_err(CopyError::Source)?;
        if self.target.begin(&mark).map_err(CopyError::Target)? == Begun::Refused {
            return Err(CopyError::NotEmpty);
        }
        let counts: Result<Vec<u64>, _> = TABLES.iter().map(|table| self.snapshot.count(table)).collect();
        let counts = counts.map_err(CopyError::Source)?;
        let rows = counts.iter().sum::<u64>();
        self.of = rows * 2;
        let (mut resumed, mut digests) = (0, Vec::new());
        for table in TABLES {
            let known = self.target.count(table).map_err(CopyError::Target)?;
            resumed += known;
            digests.push(self.write(table, known)?);
        }
        for (table, expected) in TABLES.iter().zip(&digests) {
            self.compare(table, expected)?;
        }
        self.target.finish().map_err(CopyError::Target)?;
        let tables = TABLES.iter().map(|table| table.name).zip(counts).filter(|(_, count)| *count > 0).collect();
        Ok(Copied { rows, resumed, digest: TableDigest::of_all(&digests), tables })
    }

    /// Writes the rows of a table after the first `known`, which are there already: batches are written in order, whole.
    fn write(&mut self, table: &Table, known: u64) -> Result<TableDigest, CopyError> {
        let (snapshot, target) = (self.snapshot, self.target);
        let mut digest = TableDigest::new(table);
        let (mut batch, mut weight, mut failed) = (Vec::new(), 0, None);
        let read = snapshot.each(table, &mut |row| {
            digest.add(&row);
            self.step();
            if digest.rows() <= known {
                return Ok(());
            }
            weight += row.iter().map(Cell::weight).sum::<usize>();
            batch.push(row);
            if batch.len() < BATCH_ROWS && weight < BATCH_BYTES {
                return Ok(());
            }
            weight = 0;
            // The error says which side it comes from; the source ends with one that nobody sees.
            target.put(table, &std::mem::take(&mut batch)).map_err(|error| {
                failed = Some(error);
                StoreError::TakenBack
            })
        });
        if let Some(error) = failed {
            return Err(CopyError::Target(error));
        }
        read.map_err(CopyError::Source)?;
        if !batch.is_empty() {
            target.put(table, &batch).map_err(CopyError::Target)?;
        }
        Ok(digest)
    }

    fn compare(&mut self, table: &Table, expected: &TableDigest) -> Result<(), CopyError> {
        let mut found = TableDigest::new(table);
        let target = self.target;
        let read = target.each(table, &mut |row| {
            found.add(&row);
            self.step();
            Ok(())
        });
        read.map_err(CopyError::Target)?;
        if found == *expected { Ok(()) } else { Err(CopyError::Differs { table: table.name }) }
    }

    fn step(&mut self) {
        self.done += 1;
        if self.done.is_multiple_of(100) || self.done == self.of {
            (self.progress)(self.done.min(self.of), self.of);
        }
    }
}

#[cfg(test)]
mod tests;
