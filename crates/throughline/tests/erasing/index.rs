//! The word index of a memory and of its backups, decoded: which terms its segments have, and whether every document in them, with its
//! sketch, and every item of the tails is still a row. Read from a copy, while no process has the memory open.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use throughline_index::{IndexError, Part, SegmentId, SegmentReader, info, numbers, terms};

use crate::common::{Home, tree};

/// What is indexed, its number, and where changes to it are noted.
const COLLECTIONS: [(&str, i64, &str); 3] =
    [("entries", 1, "entry_tail"), ("turns", 2, "turn_tail"), ("vault_chunks", 3, "chunk_tail")];

/// Every segment of a collection: searched, being built, and to be removed.
struct Segments<'c> {
    connection: &'c Connection,
    collection: i64,
}

impl SegmentReader for Segments<'_> {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        let found = rows(self.connection, "SELECT row FROM word_segments WHERE collection = ?", Some(self.collection));
        Ok(found.into_iter().map(|row| SegmentId(u32::try_from(row).unwrap())).collect())
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        let key = i64::from(segment.0) << 32 | i64::from(part.0);
        let sql = "SELECT bytes FROM word_parts WHERE key = ?";
        let bytes: Option<Vec<u8>> = self.connection.query_row(sql, [key], |row| row.get(0)).optional().unwrap();
        Ok(bytes.map(Arc::from))
    }
}

fn rows(connection: &Connection, sql: &str, value: Option<i64>) -> BTreeSet<i64> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map(rusqlite::params_from_iter(value), |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// What the index of one database has.
pub(crate) struct Index {
    /// Where it is, below the root.
    pub(crate) file: String,
    /// Every term of every segment.
    pub(crate) terms: BTreeSet<String>,
    /// What stands in it although its row is gone, or is only marked as gone.
    pub(crate) ghosts: Vec<String>,
}

/// The index of the memory and of every backup.
pub(crate) fn of(home: &Home) -> Vec<Index> {
    let files = tree(home.root()).into_iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "db"));
    let copies = tempfile::tempdir().unwrap();
    let read = |(nth, (path, bytes)): (usize, (std::path::PathBuf, Vec<u8>))| {
        let copy = copies.path().join(format!("{nth}.db"));
        std::fs::write(&copy, bytes).unwrap();
        if let Ok(log) = std::fs::read(path.with_extension("db-wal")) {
            std::fs::write(copy.with_extension("db-wal"), log).unwrap();
        }
        let file = path.strip_prefix(home.root()).unwrap().display().to_string();
        decoded(file, &copy)
    };
    files.enumerate().map(read).collect()
}

fn decoded(file: String, copy: &Path) -> Index {
    let connection = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let (mut found, mut ghosts) = (BTreeSet::new(), Vec::new());
    for (table, collection, tail) in COLLECTIONS {
        let there = rows(&connection, &format!("SELECT row FROM {table}"), None);
        let segments = Segments { connection: &connection, collection };
        for id in segments.list().unwrap() {
            let words = terms(&segments, id).unwrap();
            found.extend(words.into_iter().map(|term| String::from_utf8_lossy(&term).into_owned()));
            let buried = info(&segments, id).unwrap().buried;
            if buried > 0 {
                ghosts.push(format!("{buried} documents of {table} in segment {id} that are only marked as gone"));
            }
            let gone = numbers(&segments, id).unwrap().into_iter().filter(|number| !there.contains(number));
            ghosts.extend(gone.map(|number| format!("document {number} of {table} in segment {id}")));
        }
        let items = rows(&connection, &format!("SELECT item FROM {tail}"), None);
        ghosts.extend(items.difference(&there).map(|item| format!("item {item} of {tail}")));
    }
    Index { file, terms: found, ghosts }
}
