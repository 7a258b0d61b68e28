//! The recall log and the counts: written by a thread of its own, a batch at a time. A recall never waits for them.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use throughline_core::model::{RecallId, SessionId};
use throughline_core::ports::{Recalls, StoreError};
use throughline_core::recall::RecallRecord;

use crate::erase::erasures;
use crate::error::while_doing;
use crate::pool::{Effort, Pool, Sharing};
use crate::rows::{json, optional, parsed, time, to_json};
use crate::{SqliteStore, Stored};

/// How many recalls the log keeps; the counts are kept for ever.
const KEPT: i64 = 10_000;

/// How long notes are collected, and how many at most, before they are written together.
const MOMENT: Duration = Duration::from_millis(100);
const FULL_BATCH: usize = 256;

/// How many notes wait at most while the store is busy: more of them are dropped, since a log is not worth the memory.
const MOST_WAITING: usize = 1024;

/// How long the log waits for a writer elsewhere before it gives a batch up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// A recall that is to be written.
struct Noted {
    recall: RecallRecord,
    /// How many erasures there were when it was noted, if that is known.
    erasures: Option<i64>,
}

enum Message {
    Note(Box<Noted>),
    Flush(Sender<()>),
}

/// The thread that keeps the log; begun with the first recall.
pub(crate) struct Bookkeeper {
    pool: Arc<Pool>,
    desk: Mutex<Option<(SyncSender<Message>, JoinHandle<()>)>>,
}

impl Bookkeeper {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self { pool, desk: Mutex::new(None) }
    }

    fn note(&self, recall: RecallRecord) {
        if self.pool.read_only().is_some() {
            return;
        }
        let erasures = self.pool.read(erasures, "count erasures").ok();
        let noted = Noted { recall, erasures };
        // Nothing comes that it could be written with, and nobody has to wait for a thread.
        if self.pool.is_ending() {
            if let Err(error) = write(&self.pool, &[noted]) {
                tracing::warn!(%error, "a recall could not be noted");
            }
            return;
        }
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let (sender, _) = desk.get_or_insert_with(|| {
            let (sender, receiver) = sync_channel(MOST_WAITING);
            let pool = Arc::clone(&self.pool);
            (sender, std::thread::spawn(move || keep(&pool, &receiver)))
        });
        match sender.try_send(Message::Note(Box::new(noted))) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => tracing::debug!("a recall is not noted: too many wait to be written"),
            Err(TrySendError::Disconnected(_)) => tracing::warn!("a recall could not be noted: its thread has ended"),
        }
    }

    /// Waits until everything noted so far is written.
    pub(crate) fn flush(&self) {
        let sender = match &*self.desk.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((sender, _)) => sender.clone(),
            None => return,
        };
        let (done, wait) = channel();
        if sender.send(Message::Flush(done)).is_ok() {
            let _ = wait.recv();
        }
    }
}

impl Drop for Bookkeeper {
    fn drop(&mut self) {
        let desk = self.desk.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = desk {
            drop(sender);
            let _ = thread.join();
        }
    }
}

fn keep(pool: &Pool, receiver: &Receiver<Message>) {
    while let Ok(first) = receiver.recv() {
        let (batch, waiting) = collect(first, receiver);
        if let Err(error) = write(pool, &batch) {
            tracing::warn!(%error, lost = batch.len(), "recalls could not be noted");
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

/// What is noted within a moment; less where somebody waits for it, or nothing more can come.
fn collect(first: Message, receiver: &Receiver<Message>) -> (Vec<Noted>, Vec<Sender<()>>) {
    let (mut batch, mut waiting) = (Vec::new(), Vec::new());
    let mut next = Ok(first);
    while let Ok(message) = next {
        match message {
            Message::Note(noted) => batch.push(*noted),
            Message::Flush(done) => waiting.push(done),
        }
        if batch.len() == FULL_BATCH {
            break;
        }
        let patience = if waiting.is_empty() { MOMENT } else { Duration::ZERO };
        next = receiver.recv_timeout(patience);
    }
    (batch, waiting)
}

fn write(pool: &Pool, batch: &[Noted]) -> Stored<()> {
    if batch.is_empty() {
        return Ok(());
    }
    // A log is not worth a long wait at the end of a process.
    pool.write("note recalls", (Effort::Log(PATIENCE), Sharing::Alone), |transaction| {
        let write = |noted: &Noted| {
            if is_outdated(transaction, noted)? { Ok(()) } else { note(transaction, &noted.recall) }
        };
        batch.iter().try_for_each(write).map_err(while_doing("note recalls"))
    })
}

/// Whether a memory, turn or passage is gone.
fn is_gone(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM entries WHERE id = ?1) AND NOT EXISTS (SELECT 1 FROM turns WHERE id = ?1) \
               AND NOT EXISTS (SELECT 1 FROM vault_chunks WHERE id = ?1)";
    connection.prepare_cached(sql)?.query_row([id], |row| row.get(0))
}

/// Whether something was erased, by any process, between a recall and its note: then it is not written.
fn is_outdated(connection: &Connection, noted: &Noted) -> rusqlite::Result<bool> {
    let now = erasures(connection)?;
    if noted.erasures.is_some_and(|then| then != now) {
        return Ok(true);
    }
    // It may have been erased after it was found and before it was noted.
    let mut hits = noted.recall.hits.iter().take(if now > 0 { usize::MAX } else { 0 });
    hits.try_fold(false, |is_any, hit| Ok(is_any || is_gone(connection, hit.id.as_str())?))
}

fn note(connection: &Connection, recall: &RecallRecord) -> rusqlite::Result<()> {
    let at = recall.at.as_millisecond();
    let row = connection
        .prepare_cached("INSERT INTO recalls (id, at, session, asked_by, query, hits) VALUES (?, ?, ?, ?, ?, ?)")?
        .insert(params![
            recall.recall_id.as_str(),
            at,
            recall.session.as_ref().map(SessionId::as_str),
            recall.by.as_str(),
            recall.query,
            to_json(&recall.hits)?
        ])?;
    connection.prepare_cached("DELETE FROM recalls WHERE row <= ?")?.execute([row - KEPT])?;
    let mut count = connection.prepare_cached(
        "INSERT INTO uses (id, count, last_at) VALUES (?1, 1, ?2) \
         ON CONFLICT (id) DO UPDATE SET count = count + 1, last_at = max(ifnull(last_at, ?2), ?2)",
    )?;
    recall.hits.iter().try_for_each(|hit| count.execute(params![hit.id.as_str(), at]).map(drop))
}

impl Recalls for SqliteStore {
    fn note(&self, recall: RecallRecord) {
        self.bookkeeper.note(recall);
    }

    fn recalls(&self, session: Option<&SessionId>, limit: usize) -> Result<Vec<RecallRecord>, StoreError> {
        self.bookkeeper.flush();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let only = if session.is_some() { "WHERE session = ?2" } else { "" };
        let sql = format!("SELECT {COLUMNS} FROM recalls {only} ORDER BY row DESC LIMIT ?1");
        let values = [Value::Integer(limit)].into_iter().chain(session.map(|id| Value::Text(id.to_string())));
        self.read(
            |connection| connection.prepare_cached(&sql)?.query_map(params_from_iter(values), record)?.collect(),
            "read the recall log",
        )
    }

    fn recall_record(&self, id: &RecallId) -> Stored<Option<RecallRecord>> {
        self.bookkeeper.flush();
        let sql = format!("SELECT {COLUMNS} FROM recalls WHERE id = ?");
        self.read(
            |connection| connection.prepare_cached(&sql)?.query_row([id.as_str()], record).optional(),
            "read a recall",
        )
    }
}

/// What [`record`] reads.
const COLUMNS: &str = "id, at, session, asked_by, query, hits";

fn record(row: &Row<'_>) -> rusqlite::Result<RecallRecord> {
    Ok(RecallRecord {
        recall_id: RecallId::new(row.get::<_, String>(0)?),
        at: time(row.get(1)?)?,
        session: optional(row, 2)?,
        by: parsed(row, 3)?,
        query: row.get(4)?,
        hits: json(row, 5)?,
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use throughline_core::ports::Recalls as _;
    use throughline_core::recall::AskedBy;

    use super::*;
    use crate::Durability;

    fn recall(number: usize) -> RecallRecord {
        let (recall_id, query) = (RecallId::new(format!("r{number}")), "tea".to_owned());
        RecallRecord { recall_id, at: Timestamp::UNIX_EPOCH, session: None, by: AskedBy::Tool, query, hits: Vec::new() }
    }

    #[test]
    fn notes_that_wait_for_a_busy_store_are_bounded() {
        let home = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
        let noted = MOST_WAITING + 3 * FULL_BATCH;
        store
            .write("stay busy", |_| {
                (0..noted).for_each(|number| store.note(recall(number)));
                Ok(())
            })
            .unwrap();
        store.bookkeeper.flush();
        let kept = store.recalls(None, noted).unwrap().len();
        assert!(kept <= MOST_WAITING + FULL_BATCH, "{kept} of {noted} waited");
        store.note(recall(noted));
        store.bookkeeper.flush();
        let newest = store.recalls(None, 1).unwrap();
        assert_eq!(newest.first().map(|newest| newest.recall_id.clone()), Some(recall(noted).recall_id));
    }
}
