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
        self.transaction.post(sql, &bound)
    }

    fn insert(&self) -> Sql<SegmentId> {
        let number = self.transaction.next(Counter::Segment);
        let sql = "INSERT INTO word_segments (space, number, collection, state, mark) \
                   VALUES ($1, $2, $3, $4, floor(random() * 9007199254740992)::bigint)";
        let bound = values![number, self.read.collection.number(), self.read.set.number()];
        self.transaction.post(sql, &bound)?;
        u32::try_from(number).map(SegmentId).map_err(crate::error::unreadable)
    }

    fn write(&self, segment: SegmentId, part: Part, bytes: &[u8]) -> Sql<()> {
        let sql = "INSERT INTO word_parts (space, segment, part, bytes) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (space, segment, part) DO UPDATE SET bytes = excluded.bytes";
        self.transaction.post(sql, &values![segment.0, part.0, bytes])
    }

    fn remove(&self, segment: SegmentId) -> Sql<()> {
        let sql = "DELETE FROM word_parts WHERE space = $1 AND segment = $2";
        self.transaction.post(sql, &values![segment.0])?;
        let sql = "DELETE FROM word_segments WHERE space = $1 AND number = $2";
        self.transaction.post(sql, &values![segment.0])
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
    buried: HashMap<SegmentId, Arc<[u8]>>,
}

/// A segment with so few parts is read whole by a process that knows none.
const FEW: i64 = 32;

/// With one part of documents, so many that follow are read.
const FOLLOWING: u32 = 15;

impl<'c> Served<'c> {
    pub(super) fn new(connection: &'c Connection, cache: &'c Cache, collection: Collection) -> Sql<Self> {
        let sql = "SELECT s.number, s.mark, p.bytes FROM word_segments s \
                   LEFT JOIN word_parts p ON p.space = $1 AND p.segment = s.number AND p.part = $4 \
                   WHERE s.space = $1 AND s.collection = $2 AND s.state = $3 ORDER BY s.number";
        let bound = values![collection.number(), Set::Served.number(), Part::TOMBSTONES.0];
        let (mut marks, mut ids, mut buried) = (HashMap::new(), Vec::new(), HashMap::new());
        for row in connection.rows(sql, &bound)? {
            let id = SegmentId(row.number(0)?);
            ids.push(id);
            marks.insert(id, row.int(1)?);
            if !row.is_null(2)? {
                buried.insert(id, Arc::from(row.bytes(2)?));
            }
        }
        let is_known = |mark: &i64| cache.part(*mark, Part::HEADER).is_some();
        if !cache.has_parts() || !marks.is_empty() && !marks.values().any(is_known) {
            read_beginnings(connection, cache, collection)?;
        }
        Ok(Self { connection, cache, marks, ids, buried })
    }

    fn known(&self, segment: SegmentId, part: Part) -> Option<Arc<[u8]>> {
        self.cache.part(*self.marks.get(&segment)?, part)
    }

    /// Reads those of these parts that are not known, together.
    fn read_together(&self, parts: &[(SegmentId, Part)]) -> Sql<()> {
        let unknown = parts.iter().filter(|(segment, part)| self.known(*segment, *part).is_none());
        let (segments, parts): (Vec<i64>, Vec<i64>) =
            unknown.map(|(segment, part)| (i64::from(segment.0), i64::from(part.0))).unzip();
        if segments.is_empty() {
            return Ok(());
        }
        let sql = "SELECT p.segment, p.part, p.bytes FROM unnest($2::bigint[], $3::bigint[]) AS asked (segment, part) \
                   JOIN word_parts p ON p.space = $1 AND p.segment = asked.segment AND p.part = asked.part";
        for row in self.connection.rows(sql, &values![segments, parts])? {
            if let Some(mark) = self.marks.get(&SegmentId(row.number(0)?)) {
                self.cache.keep_expected(*mark, Part(row.number(1)?), Arc::from(row.bytes(2)?));
            }
        }
        Ok(())
    }
}

/// Reads the headers of all served segments, and the small ones whole.
fn read_beginnings(connection: &Connection, cache: &Cache, collection: Collection) -> Sql<()> {
    let sql = "WITH served AS (SELECT number, mark FROM word_segments WHERE space = $1 AND collection = $2 AND state = $3) \
               SELECT s.mark, p.part, p.bytes FROM served s \
                 JOIN word_parts p ON p.space = $1 AND p.segment = s.number AND p.part = $4 \
               UNION ALL SELECT s.mark, p.part, p.bytes FROM served s \
                 JOIN LATERAL (SELECT count(*) AS parts FROM (SELECT 1 FROM word_parts q \
                   WHERE q.space = $1 AND q.segment = s.number LIMIT $6::bigint + 1) few) c ON c.parts <= $6::bigint \
                 JOIN word_parts p ON p.space = $1 AND p.segment = s.number AND p.part > $5";
    let bound = values![collection.number(), Set::Served.number(), Part::HEADER.0, Part::TOMBSTONES.0, FEW];
    for row in connection.rows(sql, &bound)? {
        cache.keep_expected(row.int(0)?, Part(row.number(1)?), Arc::from(row.bytes(2)?));
    }
    Ok(())
}

impl SegmentReader for Served<'_> {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        Ok(self.ids.clone())
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        if part == Part::TOMBSTONES {
            return Ok(self.buried.get(&segment).map(Arc::clone));
        }
        if let Some(bytes) = self.known(segment, part) {
            return Ok(Some(bytes));
        }
        // What was said may stand on the next page, too.
        let following = if part.is_of_documents() { FOLLOWING } else { 0 };
        let parts: Vec<_> = part.and_next(following).map(|part| (segment, part)).collect();
        self.read_together(&parts).map_err(as_index)?;
        Ok(self.known(segment, part))
    }

    fn is_far(&self) -> bool {
        true
    }

    fn expect(&self, parts: &[(SegmentId, Part)]) -> Result<(), IndexError> {
        self.read_together(parts).map_err(as_index)
    }
}
