//! The port of the index over two tables.

use std::collections::HashMap;
use std::sync::Arc;

use throughline_index::{IndexError, Part, SegmentId, SegmentReader, SegmentStore};
use throughline_stores::words::{Cache, Collection};

use crate::connection::Connection;
use crate::error::{Sql, as_index};
use crate::transaction::{Counter, Transaction};
use crate::values::values;

/// What segments are there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// To take the place of others.
    Building,
    /// To be searched.
    Served,
    /// To be removed, one at a time.
    Retired,
}

impl Set {
    const fn number(self) -> i64 {
        match self {
            Self::Building => 0,
            Self::Served => 1,
            Self::Retired => 2,
        }
    }
}

/// Segments of a collection, in a snapshot: only read.
pub(super) struct Segments<'c> {
    connection: &'c Connection,
    collection: Collection,
    set: Set,
}

impl<'c> Segments<'c> {
    pub(super) fn new(connection: &'c Connection, collection: Collection, set: Set) -> Self {
        Self { connection, collection, set }
    }
}

/// Segments of a collection, in a transaction that writes.
pub(super) struct WrittenSegments<'c> {
    transaction: &'c Transaction<'c>,
    read: Segments<'c>,
}

impl<'c> WrittenSegments<'c> {
    pub(super) fn new(transaction: &'c Transaction<'c>, collection: Collection, set: Set) -> Self {
        Self { transaction, read: Segments::new(transaction, collection, set) }
    }

    /// Makes all segments of this set part of another.
    pub(super) fn become_part_of(&self, set: Set) -> Sql<()> {
        let sql = "UPDATE word_segments SET state = $4 WHERE space = $1 AND collection = $2 AND state = $3";
        let bound = values![self.read.collection.number(), self.read.set.number(), set.number()];
        self.transaction.execute(sql, &bound).map(drop)
    }

    fn insert(&self) -> Sql<SegmentId> {
        let number = self.transaction.next(Counter::Segment);
        let sql = "INSERT INTO word_segments (space, number, collection, state, mark) \
                   VALUES ($1, $2, $3, $4, floor(random() * 9007199254740992)::bigint)";
        let bound = values![number, self.read.collection.number(), self.read.set.number()];
        self.transaction.execute(sql, &bound)?;
        u32::try_from(number).map(SegmentId).map_err(crate::error::unreadable)
    }

    fn write(&self, segment: SegmentId, part: Part, bytes: &[u8]) -> Sql<()> {
        let sql = "INSERT INTO word_parts (space, segment, part, bytes) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (space, segment, part) DO UPDATE SET bytes = excluded.bytes";
        self.transaction.execute(sql, &values![segment.0, part.0, bytes]).map(drop)
    }

    fn remove(&self, segment: SegmentId) -> Sql<()> {
        let sql = "DELETE FROM word_parts WHERE space = $1 AND segment = $2";
        self.transaction.execute(sql, &values![segment.0])?;
        let sql = "DELETE FROM word_segments WHERE space = $1 AND number = $2";
        self.transaction.execute(sql, &values![segment.0]).map(drop)
    }
}

fn read(connection: &Connection, segment: SegmentId, part: Part) -> Sql<Option<Arc<[u8]>>> {
    let sql = "SELECT bytes FROM word_parts WHERE space = $1 AND segment = $2 AND part = $3";
    connection.maybe(sql, &values![segment.0, part.0])?.map(|row| Ok(Arc::from(row.bytes(0)?))).transpose()
}

fn list(connection: &Connection, collection: Collection, set: Set) -> Sql<Vec<(SegmentId, i64)>> {
    let sql =
        "SELECT number, mark FROM word_segments WHERE space = $1 AND collection = $2 AND state = $3 ORDER BY number";
    connection.all(sql, &values![collection.number(), set.number()], |row| Ok((SegmentId(row.number(0)?), row.int(1)?)))
}

impl SegmentReader for Segments<'_> {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        let found = list(self.connection, self.collection, self.set).map_err(as_index)?;
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        read(self.connection, segment, part).map_err(as_index)
    }
}

impl SegmentReader for WrittenSegments<'_> {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        self.read.list()
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        self.read.get(segment, part)
    }
}

impl SegmentStore for WrittenSegments<'_> {
    fn fresh(&mut self) -> Result<SegmentId, IndexError> {
        self.insert().map_err(as_index)
    }

    fn put(&mut self, segment: SegmentId, part: Part, bytes: &[u8]) -> Result<(), IndexError> {
        self.write(segment, part, bytes).map_err(as_index)
    }

    fn delete(&mut self, segment: SegmentId) -> Result<(), IndexError> {
        self.remove(segment).map_err(as_index)
    }
}

/// The served segments of a snapshot, for one search: only read, with what the process keeps.
pub(super) struct Served<'c> {
    connection: &'c Connection,
    cache: &'c Cache,
    marks: HashMap<SegmentId, i64>,
    ids: Vec<SegmentId>,
}

impl<'c> Served<'c> {
    pub(super) fn new(connection: &'c Connection, cache: &'c Cache, collection: Collection) -> Sql<Self> {
        let found = list(connection, collection, Set::Served)?;
        let ids = found.iter().map(|(id, _)| *id).collect();
        Ok(Self { connection, cache, marks: found.into_iter().collect(), ids })
    }
}

impl SegmentReader for Served<'_> {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        Ok(self.ids.clone())
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        let mark = self.marks.get(&segment).copied();
        let Some(mark) = mark.filter(|_| part.is_immutable()) else {
            return read(self.connection, segment, part).map_err(as_index);
        };
        if let Some(bytes) = self.cache.part(mark, part) {
            return Ok(Some(bytes));
        }
        let bytes = read(self.connection, segment, part).map_err(as_index)?;
        Ok(bytes.inspect(|bytes| self.cache.keep_part(mark, part, Arc::clone(bytes))))
    }
}
