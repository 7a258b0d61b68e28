//! Rows and entries, there and back.

use throughline_core::model::{
    Actor, Change, ChangeId, DocumentName, Entry, EntryId, Memory, Namespace, SessionId, TurnId,
};
use throughline_core::recall::analysis;
use throughline_stores::words::Collection;

use crate::connection::Connection;
use crate::error::{Sql, unreadable};
use crate::transaction::{Counter, Transaction};
use crate::values::{Row, Value, texts, values};

/// The columns of an entry, in the order that [`entry`] reads.
pub(crate) const ENTRY_COLUMNS: &str = "e.id, e.kind, e.namespace, e.layer, e.key, e.source, e.status, e.importance, \
     e.tags, e.session, e.task, e.project, e.created_at, e.updated_at, e.expires_at, e.supersedes, e.provenance, \
     e.version, e.content";

/// How many columns [`entry`] reads.
pub(crate) const ENTRY_WIDTH: usize = 19;

/// [`ENTRY_COLUMNS`] and then the use of it; join [`JOIN_USES`].
pub(crate) const USE_COLUMNS: &str = "coalesce(u.count, 0), u.last_at";

/// The use of `entries e`.
pub(crate) const JOIN_USES: &str = "LEFT JOIN uses u ON u.space = e.space AND u.id = e.id";

pub(crate) fn entry(row: &Row) -> Sql<Entry> {
    Ok(Entry {
        id: EntryId::new(row.text(0)?),
        kind: row.parsed(1)?,
        namespace: row.parsed(2)?,
        layer: row.parsed(3)?,
        key: row.maybe_text(4)?,
        source: row.parsed(5)?,
        status: row.parsed(6)?,
        importance: row.real(7)?.try_into().map_err(unreadable)?,
        tags: row.texts(8)?,
        session: row.maybe_parsed(9)?,
        task: row.maybe_text(10)?,
        project: row.maybe_text(11)?,
        created_at: row.time(12)?,
        updated_at: row.time(13)?,
        expires_at: row.maybe_time(14)?,
        supersedes: row.texts(15)?.into_iter().map(EntryId::new).collect(),
        provenance: row.texts(16)?.into_iter().map(TurnId::new).collect(),
        version: row.number(17)?,
        content: row.text(18)?,
    })
}

/// An entry and its use, from [`ENTRY_COLUMNS`] followed by [`USE_COLUMNS`].
pub(crate) fn memory(row: &Row) -> Sql<Memory> {
    Ok(Memory::new(entry(row)?, row.number(ENTRY_WIDTH)?, row.maybe_time(ENTRY_WIDTH + 1)?))
}

/// The columns of a change, in the order that [`change`] reads.
pub(crate) const CHANGE_COLUMNS: &str = "c.id, c.who, c.via, c.verb, c.at, c.undoes";

/// A change whose columns begin at `at`.
pub(crate) fn change(row: &Row, at: usize) -> Sql<Change> {
    Ok(Change {
        id: ChangeId::new(row.text(at)?),
        actor: Actor { who: row.parsed(at + 1)?, via: row.text(at + 2)? },
        verb: row.parsed(at + 3)?,
        at: row.time(at + 4)?,
        undoes: row.maybe_text(at + 5)?.map(ChangeId::new),
    })
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

/// The columns that are written, in the order of [`bound`].
const WRITTEN: &str = "id, kind, namespace, layer, key, source, status, importance, tags, session, task, project, \
     created_at, updated_at, expires_at, supersedes, provenance, version, content, terms, digest";

/// What is bound to [`WRITTEN`]: `$2` is the id, `$19` the version, `$20` the content, `$22` the digest.
fn bound(entry: &Entry) -> Vec<Value<'_>> {
    values![
        entry.id.as_str(),
        entry.kind.as_str(),
        entry.namespace.to_string(),
        entry.layer.as_str(),
        entry.key.as_ref(),
        entry.source.as_str(),
        entry.status.as_str(),
        entry.importance.value(),
        entry.tags.clone(),
        entry.session.as_ref().map(SessionId::as_str),
        entry.task.as_ref(),
        entry.project.as_ref(),
        entry.created_at,
        entry.updated_at,
        entry.expires_at,
        texts(entry.supersedes.iter().map(EntryId::as_str)),
        texts(entry.provenance.iter().map(TurnId::as_str)),
        entry.version,
        entry.content.as_str(),
        terms(entry),
        entry.text_digest().map(|digest| digest.as_str().to_owned()),
    ]
    .into()
}

/// `$2` to `$22`.
fn places() -> String {
    (2..=22).map(|nth| format!("${nth}")).collect::<Vec<_>>().join(", ")
}

/// What makes an entry a twin: its own id, where another one already says the same.
const TWIN: &str = "CASE WHEN EXISTS (SELECT 1 FROM entries o WHERE o.space = $1 AND o.digest = $22 AND o.twin = '' AND o.id <> $2) \
     THEN $2 ELSE '' END";

/// Whether an entry may be written: whether another one has its id, or its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inserted {
    /// It is written.
    New,
    /// Another one has its id.
    IdTaken,
    /// Another active one has its key.
    KeyTaken,
}

/// Writes a whole entry, as a twin if need be.
pub(crate) fn insert(transaction: &Transaction<'_>, entry: &Entry) -> Sql<Inserted> {
    if is_id_taken(transaction, entry)? {
        return Ok(Inserted::IdTaken);
    }
    if is_key_taken(transaction, entry)? {
        return Ok(Inserted::KeyTaken);
    }
    let number = transaction.next(Counter::Entry);
    let sql = format!("INSERT INTO entries (space, number, {WRITTEN}, twin) VALUES ($1, $23, {}, {TWIN})", places());
    let mut bound = bound(entry);
    bound.push(number.into());
    transaction.post(&sql, &bound)?;
    transaction.added(Collection::Entries, number, true);
    Ok(Inserted::New)
}

/// Whether there is an entry of this id.
pub(crate) fn is_id_taken(connection: &Connection, entry: &Entry) -> Sql<bool> {
    connection.exists("SELECT 1 FROM entries WHERE space = $1 AND id = $2", &values![entry.id.as_str()])
}

/// Whether another active entry has the key of this one, which is active too.
pub(crate) fn is_key_taken(connection: &Connection, entry: &Entry) -> Sql<bool> {
    let Some(key) = entry.key.as_ref().filter(|_| entry.status == throughline_core::model::Status::Active) else {
        return Ok(false);
    };
    let sql = "SELECT 1 FROM entries WHERE space = $1 AND namespace = $2 AND coalesce(project, '') = $3 AND key = $4 \
               AND status = 'active' AND id <> $5";
    let project = entry.project.as_deref().unwrap_or_default();
    connection.exists(sql, &values![entry.namespace.to_string(), project, key, entry.id.as_str()])
}

/// Replaces the entry that has this id and is still at the version before; its key must be free. Says whether there is one.
pub(crate) fn update(transaction: &Transaction<'_>, entry: &Entry) -> Sql<bool> {
    let sql = format!(
        "UPDATE entries e SET ({WRITTEN}, twin) = ({}, {TWIN}) FROM entries o \
         WHERE e.space = $1 AND e.id = $2 AND e.version = $19::bigint - 1 AND o.space = $1 AND o.id = $2 \
         RETURNING e.number, o.content <> $20",
        places()
    );
    let Some(row) = transaction.maybe(&sql, &bound(entry))? else { return Ok(false) };
    let number = row.int(0)?;
    if row.flag(1)? {
        transaction.rewritten(Collection::Entries, number);
    } else {
        transaction.changed(Collection::Entries, number);
    }
    Ok(true)
}

/// The stored spelling of a document's address.
pub(crate) fn document_address(name: &DocumentName) -> String {
    Namespace::Document(name.clone()).to_string()
}
