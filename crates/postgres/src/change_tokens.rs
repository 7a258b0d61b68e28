//! Change tokens: ends of indexes.

use std::time::Duration;

use throughline_core::ports::{ChangeToken, ChangeTokens, ChangeWatch, Watched};

use crate::connection::Connection;
use crate::error::Sql;
use crate::{PostgresStore, Stored};

impl ChangeWatch for PostgresStore {
    fn change_tokens(&self) -> Stored<ChangeTokens> {
        self.read("look for changes", read)
    }

    fn wait_for_change(&self, usual: Duration, longest: Duration) -> Stored<()> {
        self.pool.wait_for_change(usual, longest);
        Ok(())
    }
}

/// Each of these is the end of an index, or a column of the space: one round trip. An erasure takes rows away, so that it
/// counts by itself.
fn read(connection: &Connection) -> Sql<ChangeTokens> {
    let end = |table: &str| format!("(SELECT coalesce(max(number), 0) FROM {table} WHERE space = $1)");
    let sql = format!(
        "SELECT s.erasures, {}, {}, s.last_turn, {}, s.endings, {}, {}, {}, {}, s.vault, {} FROM spaces s WHERE s.space = $1",
        end("entry_versions"),
        end("document_versions"),
        end("sessions"),
        end("task_versions"),
        end("project_versions"),
        end("recalls"),
        end("passes"),
        end("job_runs"),
    );
    let row = connection.one(&sql, &[])?;
    let erasures = row.int(0)?;
    let token = |(nth, kind): (usize, Watched)| {
        let end = row.int(nth + 1)?;
        let counts = matches!(kind, Watched::Memories | Watched::Documents | Watched::Turns | Watched::Recalls);
        let token = if counts { format!("{end}.{erasures}") } else { end.to_string() };
        Ok((kind, ChangeToken::new(token)))
    };
    Watched::ALL.into_iter().enumerate().map(token).collect()
}
