//! Answers that are known before they are asked for: those of a snapshot, which stay the same, and those that a transaction
//! asked for together with its beginning.

use std::collections::HashMap;

use throughline_core::model::EntryId;

use crate::connection::Connection;
use crate::values::{Row, Value};

/// A statement, and what it binds.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value<'static>>,
}

/// How long an answer is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Lasting {
    /// Not at all: whatever is asked is asked of the server.
    #[default]
    No,
    /// Until it was given: what comes after may have changed it.
    Once,
    /// As long as the snapshot.
    Snapshot,
}

/// A statement and its values, in words.
type Key = (String, String);

fn key(sql: &str, values: &[Value<'_>]) -> Key {
    (sql.to_owned(), format!("{values:?}"))
}

/// What is known of the answers that are asked for next.
#[derive(Default)]
pub(crate) struct Answers {
    lasting: Lasting,
    known: HashMap<Key, Vec<Row>>,
    /// What memories say, by their ids.
    texts: HashMap<String, String>,
    /// Questions that nobody knows the answer to, while they are gathered.
    gathered: Option<Vec<Question>>,
}

impl Answers {
    /// From here on everything is asked once, until [`forget`](Self::forget).
    pub(crate) fn last(&mut self) {
        self.lasting = Lasting::Snapshot;
    }

    /// Nothing is known any more.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// What `read` would ask for, each question once; it meets no answers.
    pub(crate) fn gathered_by(connection: &Connection, read: &dyn Fn(&Connection)) -> Vec<Question> {
        connection.answers().gather();
        read(connection);
        connection.answers().gathered()
    }

    /// From here on nobody is asked: questions are gathered, and answered by nothing.
    pub(crate) fn gather(&mut self) {
        self.gathered = Some(Vec::new());
    }

    /// What was gathered, each question once.
    pub(crate) fn gathered(&mut self) -> Vec<Question> {
        let mut gathered = self.gathered.take().unwrap_or_default();
        let mut seen = std::collections::HashSet::new();
        gathered.retain(|question| seen.insert(key(&question.sql, &question.values)));
        gathered
    }

    /// Whether what is known lasts.
    pub(crate) fn is_lasting(&self) -> bool {
        self.lasting == Lasting::Snapshot
    }

    /// Whether an answer is known that lasts.
    pub(crate) fn knows(&self, sql: &str, values: &[Value<'_>]) -> bool {
        self.is_lasting() && self.known.contains_key(&key(sql, values))
    }

    /// What memories say that were read by the way, as long as answers last.
    pub(crate) fn note_text(&mut self, id: String, text: String) {
        if self.is_lasting() {
            self.texts.insert(id, text);
        }
    }

    /// What these memories say, if that is known of each.
    pub(crate) fn texts(&self, ids: &[EntryId]) -> Option<Vec<String>> {
        ids.iter().map(|id| self.texts.get(id.as_str()).cloned()).collect()
    }

    /// Whether questions are gathered.
    pub(crate) fn is_gathering(&self) -> bool {
        self.gathered.is_some()
    }

    /// The answers to these questions.
    pub(crate) fn learn(&mut self, questions: Vec<Question>, found: Vec<Vec<tokio_postgres::Row>>) {
        for (question, rows) in questions.into_iter().zip(found) {
            let rows = rows.into_iter().map(Row::new).collect();
            self.known.insert(key(&question.sql, &question.values), rows);
        }
    }

    /// The same for answers that are given once.
    pub(crate) fn expect_once(&mut self, questions: Vec<Question>, found: Vec<Vec<tokio_postgres::Row>>) {
        self.lasting = Lasting::Once;
        self.learn(questions, found);
    }

    /// The answer to a question, if it is known.
    pub(crate) fn find(&mut self, sql: &str, values: &[Value<'_>]) -> Option<Vec<Row>> {
        let known = match self.lasting {
            Lasting::No => None,
            Lasting::Once if self.known.is_empty() => None,
            Lasting::Once => self.known.remove(&key(sql, values)),
            Lasting::Snapshot => self.known.get(&key(sql, values)).cloned(),
        };
        if known.is_some() {
            return known;
        }
        let gathered = self.gathered.as_mut()?;
        let values = values.iter().map(Value::to_static).collect();
        gathered.push(Question { sql: sql.to_owned(), values });
        Some(Vec::new())
    }

    /// Keeps an answer that the server gave, where it lasts.
    pub(crate) fn note(&mut self, sql: &str, values: &[Value<'_>], rows: &[Row]) {
        if self.lasting == Lasting::Snapshot {
            self.known.insert(key(sql, values), rows.to_vec());
        }
    }
}
