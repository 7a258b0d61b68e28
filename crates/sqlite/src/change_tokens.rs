//! Change tokens: ends of indexes.

use std::time::Duration;

use rusqlite::Connection;
use throughline_core::ports::{ChangeToken, ChangeTokens, ChangeWatch, Watched};

use crate::{SqliteStore, Stored};

impl ChangeWatch for SqliteStore {
    fn change_tokens(&self) -> Stored<ChangeTokens> {
        self.read(read, "look for changes")
    }

    /// A file tells nobody; to look at it costs little.
    fn wait_for_change(&self, usual: Duration, _: Duration) -> Stored<()> {
        std::thread::sleep(usual);
        Ok(())
    }
}

/// Each of these is the end of an index, or the one row of a small table: no more than a few pages are read. An erasure
/// takes rows away whose numbers may be given again, so that it counts by itself.
fn read(connection: &Connection) -> rusqlite::Result<ChangeTokens> {
    const SQL: &str = "SELECT (SELECT erasures FROM revisions), \
        (SELECT ifnull(max(row), 0) FROM entry_versions), (SELECT ifnull(max(row), 0) FROM document_versions), \
        (SELECT ifnull(max(row), 0) FROM turns), (SELECT ifnull(max(row), 0) FROM sessions), \
        (SELECT endings FROM revisions), \
        (SELECT ifnull(max(row), 0) FROM task_versions), (SELECT ifnull(max(row), 0) FROM project_versions), \
        (SELECT ifnull(max(row), 0) FROM recalls), (SELECT ifnull(max(row), 0) FROM passes), \
        (SELECT vault FROM revisions), \
        (SELECT ifnull(max(row), 0) FROM job_runs)";
    connection.prepare_cached(SQL)?.query_row([], |row| {
        let erasures: i64 = row.get(0)?;
        let token = |(nth, kind): (usize, Watched)| {
            let end: i64 = row.get(nth + 1)?;
            let counts = matches!(kind, Watched::Memories | Watched::Documents | Watched::Turns | Watched::Recalls);
            let token = if counts { format!("{end}.{erasures}") } else { end.to_string() };
            Ok((kind, ChangeToken::new(token)))
        };
        Watched::ALL.into_iter().enumerate().map(token).collect()
    })
}
