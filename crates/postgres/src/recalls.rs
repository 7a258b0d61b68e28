//! The recall log and the counts: written by a thread of its own, a batch at a time. A recall never waits for them.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use throughline_core::model::{RecallId, SessionId};
use throughline_core::ports::Recalls;
use throughline_core::recall::RecallRecord;

use crate::connection::Connection;
use crate::erase::erasures;
use crate::error::Sql;
use crate::pool::{Between, Effort, Pool};
use crate::transaction::{Counter, Transaction};
use crate::values::{Row, texts, to_json, values};
use crate::{PostgresStore, Stored};

/// How many recalls the log keeps; the counts are kept for ever.
const KEPT: i64 = 10_000;

/// How long notes are collected, and how many at most, before they are written together.
const MOMENT: Duration = Duration::from_millis(100);
const FULL_BATCH: usize = 256;

/// How many notes wait at most while the store is busy: more of them are dropped, since a log is not worth the memory.
const MOST_WAITING: usize = 1024;

enum Message {
    Note(Box<RecallRecord>),
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
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let (sender, _) = desk.get_or_insert_with(|| {
            let (sender, receiver) = sync_channel(MOST_WAITING);
            let pool = Arc::clone(&self.pool);
            (sender, std::thread::spawn(move || keep(&pool, &receiver)))
        });
        match sender.try_send(Message::Note(Box::new(recall))) {
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
        // What was recalled before an erasure may name what it erased. Asked here, so that no recall waits for it.
        let erasures = pool.read("count erasures", erasures).ok();
        let (batch, waiting) = collect(first, receiver);
        if let Err(error) = write(pool, &batch, erasures) {
            tracing::warn!(%error, lost = batch.len(), "recalls could not be noted");
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

/// What is noted within a moment; less where somebody waits for it, or nothing more can come.
fn collect(first: Message, receiver: &Receiver<Message>) -> (Vec<RecallRecord>, Vec<Sender<()>>) {
    let (mut batch, mut waiting) = (Vec::new(), Vec::new());
    let mut next = Ok(first);
    while let Ok(message) = next {
        match message {
            Message::Note(recall) => batch.push(*recall),
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

fn write(pool: &Pool, batch: &[RecallRecord], before: Option<i64>) -> Stored<()> {
    if batch.is_empty() {
        return Ok(());
    }
    let first = |connection: &Connection| drop(erasures(connection));
    let between = Between { first: &first, ..Between::default() };
    let written = pool.write_between("note recalls", Effort::Log, &between, |transaction| {
        let now = erasures(transaction)?;
        if before.is_some_and(|before| before != now) {
            return Ok(());
        }
        for recall in batch {
            // It may have been erased after it was found and before it was noted.
            if now == 0 || !names_something_gone(transaction, recall)? {
                note(transaction, recall)?;
            }
        }
        Ok(())
    });
    written.map(drop)
}

/// Whether a memory, turn or passage that was found is gone.
fn names_something_gone(connection: &Connection, recall: &RecallRecord) -> Sql<bool> {
    let sql = "SELECT 1 FROM unnest($2::text[]) AS hit (id) \
               WHERE NOT EXISTS (SELECT 1 FROM entries WHERE space = $1 AND id = hit.id) \
                 AND NOT EXISTS (SELECT 1 FROM turns WHERE space = $1 AND id = hit.id) \
                 AND NOT EXISTS (SELECT 1 FROM vault_chunks WHERE space = $1 AND id = hit.id) LIMIT 1";
    connection.exists(sql, &values![hit_ids(recall)])
}

fn hit_ids(recall: &RecallRecord) -> Vec<String> {
    texts(recall.hits.iter().map(|hit| hit.id.as_str()))
}

fn note(transaction: &Transaction<'_>, recall: &RecallRecord) -> Sql<()> {
    let number = transaction.next(Counter::Row);
    let sql = "INSERT INTO recalls (space, number, id, at, session, asked_by, query, hits, hit_ids) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let bound = values![
        number,
        recall.recall_id.as_str(),
        recall.at,
        recall.session.as_ref().map(SessionId::as_str),
        recall.by.as_str(),
        &recall.query,
        to_json(&recall.hits)?,
        hit_ids(recall),
    ];
    transaction.post(sql, &bound)?;
    let old = "DELETE FROM recalls WHERE space = $1 AND number <= \
               (SELECT number FROM recalls WHERE space = $1 ORDER BY number DESC OFFSET $2 LIMIT 1)";
    transaction.post(old, &values![KEPT])?;
    let count = "INSERT INTO uses AS u (space, id, count, last_at) SELECT $1, hit.id, count(*), $3 \
                 FROM unnest($2::text[]) AS hit (id) GROUP BY hit.id \
                 ON CONFLICT (space, id) DO UPDATE SET count = u.count + excluded.count, \
                   last_at = greatest(coalesce(u.last_at, excluded.last_at), excluded.last_at)";
    transaction.post(count, &values![hit_ids(recall), recall.at])
}

impl Recalls for PostgresStore {
    fn note(&self, recall: RecallRecord) {
        self.bookkeeper.note(recall);
    }

    fn recalls(&self, session: Option<&SessionId>, limit: usize) -> Stored<Vec<RecallRecord>> {
        self.bookkeeper.flush();
        let sql = format!(
            "SELECT {COLUMNS} FROM recalls WHERE space = $1 AND ($2::text IS NULL OR session = $2) \
             ORDER BY number DESC LIMIT $3"
        );
        let bound = values![session.map(SessionId::as_str), limit];
        self.read("read the recall log", |connection| connection.all(&sql, &bound, record))
    }

    fn recall_record(&self, id: &RecallId) -> Stored<Option<RecallRecord>> {
        self.bookkeeper.flush();
        let sql = format!("SELECT {COLUMNS} FROM recalls WHERE space = $1 AND id = $2");
        self.read("read a recall", |connection| {
            connection.maybe(&sql, &values![id.as_str()])?.as_ref().map(record).transpose()
        })
    }
}

/// What [`record`] reads.
const COLUMNS: &str = "id, at, session, asked_by, query, hits";

fn record(row: &Row) -> Sql<RecallRecord> {
    Ok(RecallRecord {
        recall_id: RecallId::new(row.text(0)?),
        at: row.time(1)?,
        session: row.maybe_parsed(2)?,
        by: row.parsed(3)?,
        query: row.text(4)?,
        hits: row.json(5)?,
    })
}
