//! The port of the index over two tables.

use std::cell::RefCell;
use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Statement, params};
use throughline_index::{IndexError, Part, SegmentId, SegmentReader, SegmentStore};
use throughline_stores::words::{Cache, Collection};

use super::as_index;

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
    pub(super) const fn number(self) -> i64 {
        match self {
            Self::Building => 0,
            Self::Served => 1,
            Self::Retired => 2,
        }
    }
}

/// Segments of a collection, in the transaction of a connection.
pub(super) struct Segments<'c> {
    connection: &'c Connection,
    collection: Collection,
    set: Set,
}

impl<'c> Segments<'c> {
    pub(super) fn new(connection: &'c Connection, collection: Collection, set: Set) -> Self {
        Self { connection, collection, set }
    }

    /// Makes all segments of this set part of another.
    pub(super) fn become_part_of(&self, set: Set) -> rusqlite::Result<()> {
        let sql = "UPDATE word_segments SET state = ?3 WHERE collection = ?1 AND state = ?2";
        let values = [self.collection.number(), self.set.number(), set.number()];
        self.connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

fn key(segment: SegmentId, part: Part) -> i64 {
    i64::from(segment.0) << 32 | i64::from(part.0)
}

fn part_reader(connection: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    connection.prepare_cached("SELECT bytes FROM word_parts WHERE key = ?")
}

fn read(reader: &mut Statement<'_>, segment: SegmentId, part: Part) -> rusqlite::Result<Option<Arc<[u8]>>> {
    reader.query_row([key(segment, part)], |row| Ok(Arc::from(row.get_ref(0)?.as_blob()?))).optional()
}

fn list(connection: &Connection, collection: Collection, set: Set) -> rusqlite::Result<Vec<(SegmentId, i64)>> {
    let sql = "SELECT row, mark FROM word_segments WHERE collection = ? AND state = ? ORDER BY row";
    let values = [collection.number(), set.number()];
    connection.prepare_cached(sql)?.query_map(values, |row| Ok((SegmentId(row.get(0)?), row.get(1)?)))?.collect()
}

impl SegmentReader for Segments<'_> {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        let found = list(self.connection, self.collection, self.set).map_err(as_index)?;
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        part_reader(self.connection).and_then(|mut reader| read(&mut reader, segment, part)).map_err(as_index)
    }
}

impl SegmentStore for Segments<'_> {
    fn fresh(&mut self) -> Result<SegmentId, IndexError> {
        let sql = "INSERT INTO word_segments (collection, state) VALUES (?, ?) RETURNING row";
        let values = [self.collection.number(), self.set.number()];
        let insert = || self.connection.prepare_cached(sql)?.query_row(values, |row| row.get(0));
        insert().map(SegmentId).map_err(as_index)
    }

    fn put(&mut self, segment: SegmentId, part: Part, bytes: &[u8]) -> Result<(), IndexError> {
        let sql = "INSERT INTO word_parts (key, bytes) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET bytes = ?2";
        let put = || self.connection.prepare_cached(sql)?.execute(params![key(segment, part), bytes]);
        put().map(drop).map_err(as_index)
    }

    fn delete(&mut self, segment: SegmentId) -> Result<(), IndexError> {
        let (first, last) = (key(segment, Part(0)), key(segment, Part(u32::MAX)));
        let delete = || {
            let sql = "DELETE FROM word_parts WHERE key BETWEEN ? AND ?";
            self.connection.prepare_cached(sql)?.execute([first, last])?;
            self.connection.prepare_cached("DELETE FROM word_segments WHERE row = ?")?.execute([segment.0])
        };
        delete().map(drop).map_err(as_index)
    }
}

/// The served segments of a snapshot, for one search: only read, with what the process keeps.
pub(super) struct Served<'c> {
    /// A search reads hundreds of parts.
    reader: RefCell<CachedStatement<'c>>,
    cache: &'c Cache,
    /// With their marks; a few.
    segments: Vec<(SegmentId, i64)>,
}

impl<'c> Served<'c> {
    pub(super) fn new(connection: &'c Connection, cache: &'c Cache, collection: Collection) -> rusqlite::Result<Self> {
        let reader = RefCell::new(part_reader(connection)?);
        Ok(Self { reader, cache, segments: list(connection, collection, Set::Served)? })
    }

    fn read(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        read(&mut self.reader.borrow_mut(), segment, part).map_err(as_index)
    }
}

impl SegmentReader for Served<'_> {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        Ok(self.segments.iter().map(|(id, _)| *id).collect())
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        let mark = self.segments.iter().find(|(id, _)| *id == segment).map(|(_, mark)| *mark);
        let Some(mark) = mark.filter(|_| part.is_immutable()) else {
            return self.read(segment, part);
        };
        if let Some(bytes) = self.cache.part(mark, part) {
            return Ok(Some(bytes));
        }
        let bytes = self.read(segment, part)?;
        Ok(bytes.inspect(|bytes| self.cache.keep_part(mark, part, Arc::clone(bytes))))
    }
}
