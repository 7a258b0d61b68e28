//! What the program learnt by itself, until somebody has seen it.

use jiff::Timestamp;
use throughline_core::model::{ChangeId, EntryId};
use throughline_core::ports::{Page, Reviews, Undoable, Unseen, UnseenPage};
use throughline_stores::words::Collection;

use crate::entries::parse_cursor;
use crate::rows::{self, ENTRY_COLUMNS, ENTRY_WIDTH, JOIN_USES, USE_COLUMNS};
use crate::values::values;
use crate::{PostgresStore, Stored, undo};

const UNSEEN: &str = include_str!("unseen.sql");

impl Reviews for PostgresStore {
    fn unseen(&self, page: &Page) -> Stored<UnseenPage> {
        let before = page.cursor.as_deref().map(parse_cursor).transpose()?;
        let limit = page.limit.min(i64::MAX as usize - 1);
        let sql = format!(
            "{UNSEEN} SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, i.change, i.at, i.number FROM unseen i \
             JOIN entries e ON e.space = $1 AND e.number = i.number {JOIN_USES} \
             WHERE $2::bigint IS NULL OR (i.at, i.number) < ($2, $3::bigint) ORDER BY i.at DESC, i.number DESC LIMIT $4"
        );
        let bound = values![before.map(|(at, _)| at), before.map(|(_, number)| number), limit + 1];
        let mut found: Vec<(Unseen, (i64, i64))> = self.read("read what was not seen yet", |connection| {
            connection.all(&sql, &bound, |row| {
                let change = row.maybe_text(ENTRY_WIDTH + 2)?.map(ChangeId::new);
                let place = (row.int(ENTRY_WIDTH + 3)?, row.int(ENTRY_WIDTH + 4)?);
                Ok((Unseen { memory: rows::memory(row)?, change }, place))
            })
        })?;
        let more = found.len() > limit;
        found.truncate(limit);
        let cursor = found.last().filter(|_| more).map(|(_, (at, number))| format!("{at}.{number}"));
        Ok(UnseenPage { unseen: found.into_iter().map(|(unseen, _)| unseen).collect(), cursor })
    }

    fn note_seen(&self, memory: &EntryId, at: Timestamp) -> Stored<()> {
        let seen = "INSERT INTO reviewed (space, memory, version, at) \
                    SELECT $1, id, version, $3 FROM entries WHERE space = $1 AND id = $2 \
                    ON CONFLICT (space, memory) DO UPDATE SET version = excluded.version, at = excluded.at";
        let theirs = "UPDATE entries SET source = 'user' WHERE space = $1 AND id = $2 AND kind = 'bullet' \
                      AND source <> 'user' RETURNING number";
        self.write("note what was seen", |transaction| {
            transaction.post(seen, &values![memory.as_str(), at])?;
            for row in transaction.rows(theirs, &values![memory.as_str()])? {
                transaction.changed(Collection::Entries, row.int(0)?);
            }
            Ok(())
        })
    }

    fn note_unseen(&self, memory: &EntryId) -> Stored<()> {
        let seen = "DELETE FROM reviewed WHERE space = $1 AND memory = $2 RETURNING memory";
        let ours = "UPDATE entries SET source = 'system' WHERE space = $1 AND id = $2 AND kind = 'bullet' \
                    AND source <> 'system' RETURNING number";
        self.write("note what is new again", |transaction| {
            // A line that was never seen keeps its source: only what a review made the person's word is taken back.
            if transaction.rows(seen, &values![memory.as_str()])?.is_empty() {
                return Ok(());
            }
            for row in transaction.rows(ours, &values![memory.as_str()])? {
                transaction.changed(Collection::Entries, row.int(0)?);
            }
            Ok(())
        })
    }

    fn touched(&self, change: &ChangeId) -> Stored<Option<Undoable>> {
        let sql = "SELECT number FROM changes WHERE space = $1 AND id = $2 AND undone_by IS NULL";
        self.snapshot("read what a change touched", |connection| {
            let found = connection.maybe(sql, &values![change.as_str()])?;
            found.map(|row| undo::touched(connection, &self.machine, row.int(0)?)).transpose()
        })
    }
}
