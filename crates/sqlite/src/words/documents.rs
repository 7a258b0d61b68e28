//! Rows as documents of the index. A class says what a filter asks about, times aside; the filter itself is the core's.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use throughline_core::model::{Entry, EntryId, Importance, Kind, Layer, Namespace, Role, SessionId, Source, Status};
use throughline_core::recall::{Filter, Sketch};
use throughline_index::{Admit, Document, Payload};

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

/// About a turn: its role, its session, the session's project, and who spoke.
#[derive(Serialize, Deserialize)]
struct TurnClass(String, String, Option<String>, #[serde(default)] Option<String>);

/// About a passage: its collection of the vault.
#[derive(Serialize, Deserialize)]
struct ChunkClass(String);

impl Collection {
    /// Number, terms, time, expiry, content, what makes the class, and what makes the payload.
    const fn select(self) -> &'static str {
        match self {
            Self::Entries => {
                "SELECT d.row, d.terms, d.created_at, d.expires_at, d.content, d.kind, d.namespace, d.layer, d.source, \
                 d.status, d.importance, d.tags, d.session, d.task, d.project, d.key, d.updated_at, d.supersedes \
                 FROM entries d"
            }
            Self::Turns => {
                "SELECT d.row, d.terms, d.at, NULL, d.content, d.role, s.id, s.project, d.speaker, d.session, d.position \
                 FROM turns d JOIN sessions s ON s.row = d.session"
            }
            Self::Chunks => {
                "SELECT d.row, d.terms, v.updated_at, NULL, d.content, v.collection FROM vault_chunks d \
                 JOIN vault_documents v ON v.row = d.document"
            }
        }
    }

    fn document(self, row: &Row<'_>) -> rusqlite::Result<Document> {
        let class = self.class(row)?;
        let terms: String = row.get(1)?;
        let payload = self.payload(row, &class, &terms)?;
        let expires = row.get::<_, Option<i64>>(3)?.unwrap_or(i64::MAX);
        Ok(Document { number: row.get(0)?, terms, class, time: row.get(2)?, expires, payload })
    }

    fn class(self, row: &Row<'_>) -> rusqlite::Result<Vec<u8>> {
        match self {
            Self::Entries => to_bytes(&EntryClass(
                row.get(5)?,
                row.get(6)?,
                row.get(7)?,
                row.get(8)?,
                row.get(9)?,
                row.get(10)?,
                rows::json(row, 11)?,
                row.get(12)?,
                row.get(13)?,
                row.get(14)?,
            )),
            Self::Turns => to_bytes(&TurnClass(row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?)),
            Self::Chunks => to_bytes(&ChunkClass(row.get(5)?)),
        }
    }

    /// What ranking reads: the sketch of the text; in front of that of a turn, its place.
    fn payload(self, row: &Row<'_>, class: &[u8], terms: &str) -> rusqlite::Result<Vec<u8>> {
        // Nothing is known of what no search may find: its row is read where it stands beside a hit.
        let Some((entry, _)) = self.entry(class) else { return Ok(Vec::new()) };
        let created_at = rows::time(row.get(2)?)?;
        let entry = Entry { content: row.get(4)?, created_at, updated_at: created_at, ..entry };
        match self {
            Self::Entries => {
                let supersedes = row.get_ref(17)?.as_str_or_null()?.map(rows::from_json).transpose()?;
                let entry = Entry {
                    key: row.get(15)?,
                    updated_at: rows::time(row.get(16)?)?,
                    supersedes: supersedes.unwrap_or_default(),
                    ..entry
                };
                Ok(Sketch::encode(&entry, terms))
            }
            Self::Turns => {
                let place = Place { session: row.get(9)?, position: row.get(10)? };
                Ok(place.before(&Sketch::encode(&entry, terms)))
            }
            Self::Chunks => Ok(Sketch::encode(&entry, terms)),
        }
    }

    /// What a class says, in the shape of an entry, and who spoke.
    pub(super) fn entry(self, class: &[u8]) -> Option<(Entry, Option<String>)> {
        match self {
            Self::Entries => serde_json::from_slice(class).ok().and_then(entry_of).map(|entry| (entry, None)),
            Self::Turns => serde_json::from_slice(class).ok().and_then(turn_of),
            Self::Chunks => serde_json::from_slice(class).ok().and_then(chunk_of).map(|entry| (entry, None)),
        }
    }
}

/// Where a turn stands: its conversation and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) session: i64,
    pub(crate) position: i64,
}

impl Place {
    const WIDTH: usize = 8;

    /// The bytes of a payload: this, then the rest; empty where a number is too large for that.
    fn before(self, rest: &[u8]) -> Vec<u8> {
        match (u32::try_from(self.session), u32::try_from(self.position)) {
            (Ok(session), Ok(position)) => [&session.to_le_bytes()[..], &position.to_le_bytes(), rest].concat(),
            _ => Vec::new(),
        }
    }

    /// Reads what stands in front of a payload.
    fn read(payload: &[u8]) -> Option<Self> {
        let (session, rest) = payload.split_first_chunk()?;
        let (position, _) = rest.split_first_chunk()?;
        let number = |bytes: &[u8; 4]| i64::from(u32::from_le_bytes(*bytes));
        Some(Self { session: number(session), position: number(position) })
    }
}

/// Where a turn stands, if it is one, and the sketch of a text.
pub(super) fn read_payload(collection: Collection, payload: Payload) -> Option<(Option<Place>, Sketch)> {
    let place = (collection == Collection::Turns).then(|| Place::read(&payload));
    let width = if place.is_some() { Place::WIDTH } else { 0 };
    let (bytes, range) = payload.into_parts();
    let sketch = Sketch::decode(bytes, (range.start + width).min(range.end)..range.end)?;
    match place {
        None => Some((None, sketch)),
        Some(place) => Some((Some(place?), sketch)),
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

impl Admitted {
    /// What a class says, in the shape of an entry.
    pub(super) fn admits_entry(&self, entry: &Entry) -> bool {
        self.filter.admits(entry)
    }
}

impl Admit for Admitted {
    fn admits(&self, class: &[u8]) -> bool {
        self.collection.entry(class).is_some_and(|(entry, _)| self.admits_entry(&entry))
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
fn turn_of(TurnClass(role, session, project, speaker): TurnClass) -> Option<(Entry, Option<String>)> {
    let role = role.parse().ok().filter(|role| *role != Role::Summary)?;
    Some((turn_entry(role, session.parse().ok()?, project), speaker))
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
