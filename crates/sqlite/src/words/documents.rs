//! Rows as documents of the index. A class says what a filter asks about, times aside; the filter itself is the core's.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use throughline_core::model::{Entry, EntryId, Importance, Kind, Layer, Namespace, Role, SessionId, Source, Status};
use throughline_core::recall::Filter;
use throughline_index::{Admit, Document};

use super::Collection;
use crate::error::unreadable;
use crate::rows;

/// What a filter asks about an entry or bullet, as it is stored.
#[derive(Serialize, Deserialize)]
struct EntryClass(
    String,
    String,
    String,
    String,
    String,
    f64,
    Vec<String>,
    Option<String>,
    Option<String>,
    Option<String>,
);

/// About a turn: its role, its session and the session's project.
#[derive(Serialize, Deserialize)]
struct TurnClass(String, String, Option<String>);

/// About a passage: its collection of the vault.
#[derive(Serialize, Deserialize)]
struct ChunkClass(String);

impl Collection {
    /// Number, terms, time, expiry, and what makes the class.
    const fn select(self) -> &'static str {
        match self {
            Self::Entries => {
                "SELECT d.row, d.terms, d.created_at, d.expires_at, d.kind, d.namespace, d.layer, d.source, d.status, \
                 d.importance, d.tags, d.session, d.task, d.project FROM entries d"
            }
            Self::Turns => {
                "SELECT d.row, d.terms, d.at, NULL, d.role, s.id, s.project FROM turns d \
                 JOIN sessions s ON s.row = d.session"
            }
            Self::Chunks => {
                "SELECT d.row, d.terms, v.updated_at, NULL, v.collection FROM vault_chunks d \
                 JOIN vault_documents v ON v.row = d.document"
            }
        }
    }

    fn document(self, row: &Row<'_>) -> rusqlite::Result<Document> {
        let class = match self {
            Self::Entries => to_bytes(&EntryClass(
                row.get(4)?,
                row.get(5)?,
                row.get(6)?,
                row.get(7)?,
                row.get(8)?,
                row.get(9)?,
                rows::json(row, 10)?,
                row.get(11)?,
                row.get(12)?,
                row.get(13)?,
            )),
            Self::Turns => to_bytes(&TurnClass(row.get(4)?, row.get(5)?, row.get(6)?)),
            Self::Chunks => to_bytes(&ChunkClass(row.get(4)?)),
        }?;
        let expires = row.get::<_, Option<i64>>(3)?.unwrap_or(i64::MAX);
        Ok(Document { number: row.get(0)?, terms: row.get(1)?, class, time: row.get(2)?, expires })
    }
}

fn to_bytes(class: &impl Serialize) -> rusqlite::Result<Vec<u8>> {
    serde_json::to_vec(class).map_err(unreadable)
}

/// A row as it is now, if it is still there.
pub(super) fn read(connection: &Connection, collection: Collection, item: i64) -> rusqlite::Result<Option<Document>> {
    let sql = format!("{} WHERE d.row = ?", collection.select());
    connection.prepare_cached(&sql)?.query_row([item], |row| collection.document(row)).optional()
}

/// The rows after one and up to another, in order.
pub(super) fn after(
    connection: &Connection,
    collection: Collection,
    (after, until): (i64, i64),
    limit: i64,
) -> rusqlite::Result<Vec<Document>> {
    let sql = format!("{} WHERE d.row > ? AND d.row <= ? ORDER BY d.row LIMIT ?", collection.select());
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params![after, until, limit], |row| collection.document(row))?.collect()
}

/// The filter of a search, asked about classes; times are the index's to compare.
pub(super) struct Admitted {
    collection: Collection,
    filter: Filter,
}

impl Admitted {
    pub(super) fn new(collection: Collection, filter: &Filter) -> Self {
        Self { collection, filter: Filter { since: None, until: None, live_at: None, ..filter.clone() } }
    }
}

impl Admit for Admitted {
    fn admits(&self, class: &[u8]) -> bool {
        let entry = match self.collection {
            Collection::Entries => serde_json::from_slice(class).ok().and_then(entry_of),
            Collection::Turns => serde_json::from_slice(class).ok().and_then(turn_of),
            Collection::Chunks => serde_json::from_slice(class).ok().and_then(chunk_of),
        };
        entry.is_some_and(|entry| self.filter.admits(&entry))
    }
}

fn entry_of(class: EntryClass) -> Option<Entry> {
    let EntryClass(kind, namespace, layer, source, status, importance, tags, session, task, project) = class;
    Some(Entry {
        kind: kind.parse().ok()?,
        layer: layer.parse().ok()?,
        source: source.parse().ok()?,
        status: status.parse().ok()?,
        importance: importance.try_into().ok()?,
        tags,
        session: session.map(|session| session.parse()).transpose().ok()?,
        task,
        ..derived_entry(namespace.parse().ok()?, project)
    })
}

/// A summary repeats what others said; the evidence is what they said.
fn turn_of(TurnClass(role, session, project): TurnClass) -> Option<Entry> {
    let role = role.parse().ok().filter(|role| *role != Role::Summary)?;
    Some(turn_entry(role, session.parse().ok()?, project))
}

fn chunk_of(ChunkClass(collection): ChunkClass) -> Option<Entry> {
    Some(chunk_entry(Namespace::Vault(collection.parse().ok()?)))
}

/// A turn in the shape of an entry: part of the archive, in the words of whoever said it.
pub(crate) fn turn_entry(role: Role, session: SessionId, project: Option<String>) -> Entry {
    let source = match role {
        Role::User => Source::User,
        Role::Assistant => Source::Agent,
        Role::Tool | Role::System | Role::Summary => Source::System,
    };
    Entry {
        kind: Kind::Turn,
        layer: Layer::Archive,
        source,
        session: Some(session.clone()),
        ..derived_entry(Namespace::Session(session), project)
    }
}

/// A passage in the shape of an entry: knowledge that a file holds.
pub(crate) fn chunk_entry(namespace: Namespace) -> Entry {
    Entry { kind: Kind::Chunk, layer: Layer::Knowledge, source: Source::System, ..derived_entry(namespace, None) }
}

/// What rows that are no entries have in common, without text and times.
fn derived_entry(namespace: Namespace, project: Option<String>) -> Entry {
    Entry {
        id: EntryId::new(""),
        kind: Kind::Entry,
        namespace,
        layer: Layer::Knowledge,
        key: None,
        content: String::new(),
        source: Source::User,
        status: Status::Active,
        importance: Importance::default(),
        tags: Vec::new(),
        session: None,
        task: None,
        project,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        expires_at: None,
        supersedes: Vec::new(),
        provenance: Vec::new(),
        version: 1,
    }
}
