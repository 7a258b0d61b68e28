//! Rows and entries, there and back.

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use serde::de::DeserializeOwned;
use throughline_core::model::{Actor, Change, ChangeId, Entry, EntryId, Memory, Namespace, SessionId};
use throughline_core::recall::analysis;

use crate::error::unreadable;

/// The columns of an entry, in the order that [`entry`] reads.
pub(crate) const ENTRY_COLUMNS: &str = "e.id, e.kind, e.namespace, e.layer, e.key, e.source, e.status, e.importance, \
     e.tags, e.session, e.task, e.project, e.created_at, e.updated_at, e.expires_at, e.supersedes, e.provenance, \
     e.version, e.content";

/// [`ENTRY_COLUMNS`] and then the use of it; join `uses u`.
pub(crate) const USE_COLUMNS: &str = "ifnull(u.count, 0), u.last_at";

/// How many columns [`entry`] reads.
pub(crate) const ENTRY_WIDTH: usize = 19;

pub(crate) fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        id: EntryId::new(row.get::<_, String>(0)?),
        kind: parsed(row, 1)?,
        namespace: parsed(row, 2)?,
        layer: parsed(row, 3)?,
        key: row.get(4)?,
        source: parsed(row, 5)?,
        status: parsed(row, 6)?,
        importance: row.get::<_, f64>(7)?.try_into().map_err(unreadable)?,
        tags: json(row, 8)?,
        session: optional(row, 9)?,
        task: row.get(10)?,
        project: row.get(11)?,
        created_at: time(row.get(12)?)?,
        updated_at: time(row.get(13)?)?,
        expires_at: row.get::<_, Option<i64>>(14)?.map(time).transpose()?,
        supersedes: row.get_ref(15)?.as_str_or_null()?.map(from_json).transpose()?.unwrap_or_default(),
        provenance: json(row, 16)?,
        version: row.get(17)?,
        content: row.get(18)?,
    })
}

/// An entry and its use, from [`ENTRY_COLUMNS`] followed by [`USE_COLUMNS`].
pub(crate) fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let last_at = row.get::<_, Option<i64>>(ENTRY_WIDTH + 1)?.map(time).transpose()?;
    Ok(Memory::new(entry(row)?, row.get(ENTRY_WIDTH)?, last_at))
}

/// The columns of a change, in the order that [`change`] reads.
pub(crate) const CHANGE_COLUMNS: &str = "c.id, c.who, c.via, c.verb, c.at, c.undoes";

/// A change whose columns begin at `at`.
pub(crate) fn change(row: &Row<'_>, at: usize) -> rusqlite::Result<Change> {
    Ok(Change {
        id: ChangeId::new(row.get::<_, String>(at)?),
        actor: Actor { who: parsed(row, at + 1)?, via: row.get(at + 2)? },
        verb: parsed(row, at + 3)?,
        at: time(row.get(at + 4)?)?,
        undoes: row.get::<_, Option<String>>(at + 5)?.map(ChangeId::new),
    })
}

pub(crate) fn parsed<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    row.get_ref(column)?.as_str()?.parse().map_err(unreadable)
}

pub(crate) fn optional<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    row.get_ref(column)?.as_str_or_null()?.map(|text| text.parse().map_err(unreadable)).transpose()
}

pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    from_json(row.get_ref(column)?.as_str()?)
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(unreadable)
}

pub(crate) fn to_json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// A time as it is kept.
pub(crate) fn time(milliseconds: i64) -> rusqlite::Result<Timestamp> {
    Ok(throughline_stores::time(milliseconds))
}

/// The analysed text that an entry is found by: key, content, labels and links.
pub(crate) fn terms(entry: &Entry) -> String {
    let mut text = String::with_capacity(entry.content.len() + 64);
    for part in entry.key.iter().chain([&entry.content]).chain(&entry.tags).chain(&entry.project).chain(&entry.task) {
        text.push_str(part);
        text.push('\n');
    }
    analysis::index_text(&text)
}

/// The list of what an entry replaced; nothing where it replaced nothing.
fn superseded(entry: &Entry) -> rusqlite::Result<Option<String>> {
    (!entry.supersedes.is_empty()).then(|| to_json(&entry.supersedes)).transpose()
}

/// The columns that are written, in the order of [`values`]; the digest is the last.
const WRITTEN: &str = "id, kind, namespace, layer, key, source, status, importance, tags, session, task, project, \
     created_at, updated_at, expires_at, supersedes, provenance, version, content, terms, digest";

/// What is bound to [`WRITTEN`]: `?1` is the id, `?18` the version, `?21` the digest.
fn values(entry: &Entry) -> rusqlite::Result<[Value; 21]> {
    Ok([
        entry.id.to_string().into(),
        entry.kind.as_str().to_owned().into(),
        entry.namespace.to_string().into(),
        entry.layer.as_str().to_owned().into(),
        entry.key.clone().into(),
        entry.source.as_str().to_owned().into(),
        entry.status.as_str().to_owned().into(),
        entry.importance.value().into(),
        to_json(&entry.tags)?.into(),
        entry.session.as_ref().map(SessionId::to_string).into(),
        entry.task.clone().into(),
        entry.project.clone().into(),
        entry.created_at.as_millisecond().into(),
        entry.updated_at.as_millisecond().into(),
        entry.expires_at.map(Timestamp::as_millisecond).into(),
        superseded(entry)?.into(),
        to_json(&entry.provenance)?.into(),
        entry.version.into(),
        entry.content.clone().into(),
        terms(entry).into(),
        entry.text_digest().map(|digest| digest.as_str().to_owned()).into(),
    ])
}

/// `?1` to `?21`.
fn places() -> String {
    (1..=21).map(|nth| format!("?{nth}")).collect::<Vec<_>>().join(", ")
}

/// What makes an entry a twin: its own id, where another one already says the same.
const TWIN: &str = "CASE WHEN EXISTS (SELECT 1 FROM entries o WHERE o.digest = ?21 AND o.twin = '' AND o.id <> ?1) THEN ?1 ELSE '' END";

/// Writes a whole entry, as a twin if need be. With the id of one that is there, this is a constraint violation.
pub(crate) fn insert(connection: &rusqlite::Connection, entry: &Entry) -> rusqlite::Result<()> {
    let sql = format!("INSERT INTO entries ({WRITTEN}, twin) VALUES ({}, {TWIN})", places());
    connection.prepare_cached(&sql)?.execute(params_from_iter(values(entry)?)).map(drop)
}

/// Writes a whole entry, unless another one already says the same; says whether it did.
pub(crate) fn insert_unique(connection: &rusqlite::Connection, entry: &Entry) -> rusqlite::Result<bool> {
    let sql = format!(
        "INSERT INTO entries ({WRITTEN}) VALUES ({}) ON CONFLICT (digest, twin) WHERE digest IS NOT NULL DO NOTHING",
        places()
    );
    Ok(connection.prepare_cached(&sql)?.execute(params_from_iter(values(entry)?))? == 1)
}

/// Replaces the entry that has this id and is still at the version before.
pub(crate) fn update(connection: &rusqlite::Connection, entry: &Entry) -> rusqlite::Result<bool> {
    let sql =
        format!("UPDATE entries SET ({WRITTEN}, twin) = ({}, {TWIN}) WHERE id = ?1 AND version = ?18 - 1", places());
    Ok(connection.prepare_cached(&sql)?.execute(params_from_iter(values(entry)?))? == 1)
}

/// The stored spelling of a document's address.
pub(crate) fn document_address(name: &throughline_core::model::DocumentName) -> String {
    Namespace::Document(name.clone()).to_string()
}
