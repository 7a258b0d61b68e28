//! What the program learnt by itself, until somebody has seen it.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};
use throughline_core::model::{ChangeId, EntryId};
use throughline_core::ports::{Page, Reviews, Undoable, Unseen, UnseenPage};

use crate::entries::parse_cursor;
use crate::error::while_doing;
use crate::rows::{self, ENTRY_COLUMNS, ENTRY_WIDTH, USE_COLUMNS};
use crate::{SqliteStore, Stored, undo};

const UNSEEN: &str = include_str!("unseen.sql");

impl Reviews for SqliteStore {
    fn unseen(&self, page: &Page) -> Stored<UnseenPage> {
        let before = page.cursor.as_deref().map(parse_cursor).transpose()?;
        let limit = page.limit.min(i64::MAX as usize - 1);
        let sql = format!(
            "{UNSEEN} SELECT {ENTRY_COLUMNS}, {USE_COLUMNS}, i.change, i.at, i.row FROM unseen i JOIN entries e ON e.row = i.row \
             LEFT JOIN uses u ON u.id = e.id WHERE ?1 IS NULL OR (i.at, i.row) < (?1, ?2) \
             ORDER BY i.at DESC, i.row DESC LIMIT ?3"
        );
        let values = params![before.map(|(at, _)| at), before.map(|(_, row)| row), limit as i64 + 1];
        let unseen = |row: &Row<'_>| {
            let change = row.get::<_, Option<String>>(ENTRY_WIDTH + 2)?.map(ChangeId::new);
            let place: (i64, i64) = (row.get(ENTRY_WIDTH + 3)?, row.get(ENTRY_WIDTH + 4)?);
            Ok((Unseen { memory: rows::memory(row)?, change }, place))
        };
        let mut found: Vec<(Unseen, (i64, i64))> = self.read(
            |connection| connection.prepare_cached(&sql)?.query_map(values, unseen)?.collect(),
            "read what was not seen yet",
        )?;
        let more = found.len() > limit;
        found.truncate(limit);
        let cursor = found.last().filter(|_| more).map(|(_, (at, row))| format!("{at}.{row}"));
        Ok(UnseenPage { unseen: found.into_iter().map(|(unseen, _)| unseen).collect(), cursor })
    }

    fn note_seen(&self, memory: &EntryId, at: Timestamp) -> Stored<()> {
        self.write("note what was seen", |transaction| {
            let seen = "INSERT INTO reviewed (memory, version, at) SELECT id, version, ?2 FROM entries WHERE id = ?1 \
                        ON CONFLICT (memory) DO UPDATE SET version = excluded.version, at = excluded.at";
            let theirs = "UPDATE entries SET source = 'user' WHERE id = ? AND kind = 'bullet'";
            transaction
                .execute(seen, params![memory.as_str(), at.as_millisecond()])
                .and_then(|_| transaction.execute(theirs, [memory.as_str()]))
                .map(drop)
                .map_err(while_doing("note what was seen"))
        })
    }

    fn note_unseen(&self, memory: &EntryId) -> Stored<()> {
        self.write("note what is new again", |transaction| {
            let seen = "DELETE FROM reviewed WHERE memory = ?";
            let ours = "UPDATE entries SET source = 'system' WHERE id = ? AND kind = 'bullet'";
            // A line that was never seen keeps its source: only what a review made the person's word is taken back.
            let removed =
                transaction.execute(seen, [memory.as_str()]).map_err(while_doing("note what is new again"))?;
            if removed > 0 {
                transaction.execute(ours, [memory.as_str()]).map_err(while_doing("note what is new again"))?;
            }
            Ok(())
        })
    }

    fn touched(&self, change: &ChangeId) -> Stored<Option<Undoable>> {
        let sql = "SELECT row FROM changes WHERE id = ? AND undone_by IS NULL";
        self.snapshot(
            |connection| {
                let row = connection.prepare_cached(sql)?.query_row([change.as_str()], |row| row.get(0)).optional()?;
                row.map(|row| undo::touched(connection, &self.machine, row)).transpose()
            },
            "read what a change touched",
        )
    }
}
