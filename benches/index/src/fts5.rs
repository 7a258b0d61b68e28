//! FTS5 over the same terms.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use crate::corpus::{Corpus, Question};
use crate::{Engine, Failure, HITS};

pub(crate) struct Fts5 {
    path: PathBuf,
    connection: Connection,
    stop_words: bool,
}

impl Fts5 {
    pub(crate) fn build(path: &Path, corpus: &Corpus) -> Result<Self, Failure> {
        let connection = connect(path)?;
        connection.execute_batch("CREATE VIRTUAL TABLE words USING fts5 (terms, content = '', tokenize = 'ascii')")?;
        corpus.each(|documents| {
            connection.execute_batch("BEGIN")?;
            for (number, terms) in documents {
                let sql = "INSERT INTO words (rowid, terms) VALUES (?, ?)";
                connection.prepare_cached(sql)?.execute(params![number, terms])?;
            }
            Ok(connection.execute_batch("COMMIT")?)
        })?;
        Ok(Self { path: path.to_owned(), connection, stop_words: true })
    }

    pub(crate) fn without_stop_words(&self) -> Result<Self, Failure> {
        Ok(Self { path: self.path.clone(), connection: connect(&self.path)?, stop_words: false })
    }

    pub(crate) fn best(&self, terms: &[String]) -> Result<Vec<i64>, Failure> {
        let matching = terms.iter().map(|term| format!("\"{term}\"")).collect::<Vec<_>>().join(" OR ");
        let sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_map(params![matching, HITS as i64], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

/// A connection as the program has it.
pub(crate) fn connect(path: &Path) -> Result<Connection, Failure> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.execute_batch("PRAGMA cache_size = -16384; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 0;")?;
    Ok(connection)
}

impl Engine for Fts5 {
    fn name(&self) -> String {
        if self.stop_words { "FTS5, every word" } else { "FTS5, without stop words" }.to_owned()
    }

    fn search(&self, question: &Question) -> Result<Vec<i64>, Failure> {
        self.best(if self.stop_words { &question.all } else { &question.content })
    }

    fn bytes(&self) -> Result<u64, Failure> {
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        Ok(self.connection.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
    }

    fn is_slow(&self) -> bool {
        self.stop_words
    }
}
