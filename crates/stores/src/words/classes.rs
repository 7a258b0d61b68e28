//! Rows as documents of the index. A class says what a filter asks about, times aside; the filter itself is the core's.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use throughline_core::model::{Entry, EntryId, Importance, Kind, Layer, Namespace, Role, SessionId, Source, Status};
use throughline_core::recall::{Filter, Sketch, Traits};
use throughline_index::{Admit, Document, Payload};

use super::Collection;
use super::cache::Cache;

/// An entry or bullet as it is stored. Times are milliseconds.
#[allow(missing_docs, reason = "the fields are those of an entry")]
#[derive(Debug, Clone)]
pub struct EntryRow {
    pub number: i64,
    pub terms: String,
    pub kind: String,
    pub namespace: String,
    pub layer: String,
    pub key: Option<String>,
    pub source: String,
    pub status: String,
    pub importance: f64,
    pub tags: Vec<String>,
    pub session: Option<String>,
    pub task: Option<String>,
    pub project: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    pub expires_at: Option<i64>,
    pub supersedes: Vec<EntryId>,
    pub content: String,
}

impl EntryRow {
    /// The document of the index.
    pub fn document(self) -> serde_json::Result<Document> {
        let class = serde_json::to_vec(&EntryClass(
            self.kind,
            self.namespace,
            self.layer,
            self.source,
            self.status,
            self.importance,
            self.tags,
            self.session,
            self.task,
            self.project,
        ))?;
        let expires = self.expires_at.unwrap_or(i64::MAX);
        let payload = Collection::Entries.entry(&class).map(|(entry, _)| {
            let entry = Entry {
                key: self.key,
                content: self.content,
                created_at: crate::time(self.created_at),
                updated_at: crate::time(self.updated_at),
                supersedes: self.supersedes,
                ..entry
            };
            Sketch::encode(&entry, &self.terms)
        });
        // Nothing is known of what no search may find: its row is read where it stands beside a hit.
        let payload = payload.unwrap_or_default();
        Ok(Document { number: self.number, terms: self.terms, class, time: self.created_at, expires, payload })
    }
}

/// A turn as it is stored, with its session's number, id and project.
#[allow(missing_docs, reason = "the fields are those of a turn")]
#[derive(Debug, Clone)]
pub struct TurnRow {
    pub number: i64,
    pub terms: String,
    pub at: i64,
    pub content: String,
    pub role: String,
    pub session: String,
    pub project: Option<String>,
    pub speaker: Option<String>,
    pub place: Place,
}

impl TurnRow {
    /// The document of the index. What ranking reads is the sketch of the text, and in front of that its place.
    pub fn document(self) -> serde_json::Result<Document> {
        let class = serde_json::to_vec(&TurnClass(self.role, self.session, self.project, self.speaker))?;
        let sketch = derived_sketch(Collection::Turns, &class, self.content, self.at, &self.terms);
        let payload = sketch.map(|sketch| self.place.before(&sketch)).unwrap_or_default();
        Ok(Document { number: self.number, terms: self.terms, class, time: self.at, expires: i64::MAX, payload })
    }
}

/// A passage as it is stored, with the collection of its document, and when that changed.
#[allow(missing_docs, reason = "the fields are those of a passage")]
#[derive(Debug, Clone)]
pub struct ChunkRow {
    pub number: i64,
    pub terms: String,
    pub at: i64,
    pub content: String,
    pub collection: String,
}

impl ChunkRow {
    /// The document of the index.
    pub fn document(self) -> serde_json::Result<Document> {
        let class = serde_json::to_vec(&ChunkClass(self.collection))?;
        let payload = derived_sketch(Collection::Chunks, &class, self.content, self.at, &self.terms);
        let payload = payload.unwrap_or_default();
        Ok(Document { number: self.number, terms: self.terms, class, time: self.at, expires: i64::MAX, payload })
    }
}

fn derived_sketch(collection: Collection, class: &[u8], content: String, at: i64, terms: &str) -> Option<Vec<u8>> {
    let (entry, _) = collection.entry(class)?;
    let at = crate::time(at);
    Some(Sketch::encode(&Entry { content, created_at: at, updated_at: at, ..entry }, terms))
}

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
    /// What a class says, in the shape of an entry, and who spoke.
    fn entry(self, class: &[u8]) -> Option<(Entry, Option<String>)> {
        match self {
            Self::Entries => serde_json::from_slice(class).ok().and_then(entry_of).map(|entry| (entry, None)),
            Self::Turns => serde_json::from_slice(class).ok().and_then(turn_of),
            Self::Chunks => serde_json::from_slice(class).ok().and_then(chunk_of).map(|entry| (entry, None)),
        }
    }
}

/// Where a turn stands: its conversation and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The number of its session.
    pub session: i64,
    /// Its position there.
    pub position: i64,
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
pub(super) fn read_payload(collection: Collection, payload: &Payload) -> Option<(Option<Place>, Sketch)> {
    let place = (collection == Collection::Turns).then(|| Place::read(payload));
    let width = if place.is_some() { Place::WIDTH } else { 0 };
    // A copy, so that the part with many others need not be kept.
    let bytes = payload.get(width..).unwrap_or_default();
    let sketch = Sketch::decode(bytes.into(), 0..bytes.len())?;
    match place {
        None => Some((None, sketch)),
        Some(place) => Some((Some(place?), sketch)),
    }
}

/// What the bytes of a class say.
pub struct Class {
    /// What a filter asks about, in the shape of an entry.
    entry: Entry,
    pub(super) traits: Arc<Traits>,
}

impl Class {
    /// Reads a class; nothing if no search may find it.
    pub(super) fn read(collection: Collection, bytes: &[u8]) -> Option<Self> {
        let (entry, speaker) = collection.entry(bytes)?;
        let traits = Traits {
            kind: entry.kind,
            layer: entry.layer,
            source: entry.source,
            importance: entry.importance,
            session: entry.session.clone(),
            speaker,
        };
        Some(Self { entry, traits: Arc::new(traits) })
    }
}

/// The filter of a search, asked about classes; times are the index's to compare.
pub struct Admitted<'c> {
    cache: &'c Cache,
    collection: Collection,
    filter: Filter,
}

impl<'c> Admitted<'c> {
    /// A filter over classes.
    pub fn new(cache: &'c Cache, collection: Collection, filter: &Filter) -> Self {
        Self { cache, collection, filter: Filter { since: None, until: None, live_at: None, ..filter.clone() } }
    }

    /// A class, and whether the filter admits it; nothing if no search may find it.
    pub(super) fn judge(&self, class: &[u8]) -> Option<(Arc<Class>, bool)> {
        let class = self.cache.class(self.collection, class)?;
        let is_admitted = self.filter.admits(&class.entry);
        Some((class, is_admitted))
    }
}

impl Admit for Admitted<'_> {
    fn admits(&self, class: &[u8]) -> bool {
        self.judge(class).is_some_and(|(_, is_admitted)| is_admitted)
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
pub fn turn_entry(role: Role, session: SessionId, project: Option<String>) -> Entry {
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
pub fn chunk_entry(namespace: Namespace) -> Entry {
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
