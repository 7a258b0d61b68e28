//! Everything out, and in again.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use throughline_core::model::{Change, DocumentName, Entry, EntryId, Kind, Memory, Namespace, Session, Status};
use throughline_core::ports::{Adopted, Bundle, StoreError, Transfer};

use crate::entries::{ChangeWriter, insert_change};
use crate::error::{is_key_taken, while_doing};
use crate::rows::{self, ENTRY_COLUMNS, USE_COLUMNS, to_json};
use crate::{SqliteStore, Stored, conversations, history};

impl Transfer for SqliteStore {
    fn bundle(&self) -> Stored<Bundle> {
        self.bookkeeper.flush();
        let sql = format!(
            "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS} FROM entries e LEFT JOIN uses u ON u.id = e.id \
             ORDER BY e.created_at, e.id"
        );
        self.snapshot(
            |connection| {
                Ok(Bundle {
                    memories: connection
                        .prepare(&sql)?
                        .query_map([], rows::memory)?
                        .collect::<rusqlite::Result<_>>()?,
                    history: history::entry_versions(connection, None)?,
                    document_history: history::document_versions(connection, None)?,
                    sessions: sessions(connection)?,
                    turns: conversations::all_turns(connection)?,
                })
            },
            "read everything",
        )
    }

    fn adopt(&self, change: &Change, bundle: &Bundle, last: &mut dyn FnMut() -> bool) -> Stored<Adopted> {
        self.write("import", |transaction| {
            let adopted = Adopter::new(transaction, change)
                .and_then(|adopter| adopter.adopt(bundle))
                .map_err(while_doing("import"))?;
            if last() { Ok(adopted) } else { Err(StoreError::TakenBack) }
        })
    }

    fn note_export(&self, path: &str) -> Stored<()> {
        self.write("note an export", |transaction| {
            let noted = transaction.execute("INSERT INTO exports (path) VALUES (?) ON CONFLICT DO NOTHING", [path]);
            noted.map(drop).map_err(while_doing("note an export"))
        })
    }

    fn exports(&self) -> Stored<Vec<String>> {
        self.read(
            |connection| {
                connection.prepare("SELECT path FROM exports ORDER BY path")?.query_map([], |row| row.get(0))?.collect()
            },
            "read where exports are",
        )
    }
}

fn sessions(connection: &Connection) -> rusqlite::Result<Vec<Session>> {
    let states = conversations::states(connection, "TRUE ORDER BY created_at, id", [])?;
    Ok(states.into_iter().map(|state| state.session).collect())
}

/// Takes a bundle in under one change.
struct Adopter<'a> {
    writer: ChangeWriter<'a>,
    row: i64,
    outcome: Adopted,
}

impl<'a> Adopter<'a> {
    fn new(transaction: &'a Transaction<'a>, change: &'a Change) -> rusqlite::Result<Self> {
        let mut writer = ChangeWriter { transaction, change, row: None };
        let row = writer.change_row()?;
        Ok(Self { writer, row, outcome: Adopted::default() })
    }

    fn adopt(mut self, bundle: &Bundle) -> rusqlite::Result<Adopted> {
        let documents: HashSet<&DocumentName> = bundle.document_history.iter().map(|version| &version.name).collect();
        let mut added: HashSet<&EntryId> = HashSet::new();
        for memory in &bundle.memories {
            let known = match (memory.entry.kind, &memory.entry.namespace) {
                (Kind::Bullet, Namespace::Document(name)) if documents.contains(name) => self.bullet(memory)?,
                (Kind::Bullet | Kind::Turn, _) => true,
                (Kind::Entry, _) => self.entry(memory)?,
            };
            if !known {
                added.insert(&memory.entry.id);
            }
        }
        self.history(bundle, &added)?;
        self.documents(bundle)?;
        let mut new_sessions = Vec::new();
        for session in &bundle.sessions {
            let added = self.connection().execute(
                "INSERT INTO sessions (id, project, task, created_at, updated_at, ended_at) VALUES (?, ?, ?, ?, ?, ?) \
                 ON CONFLICT DO NOTHING",
                params![
                    session.id.as_str(),
                    session.project,
                    session.task,
                    session.created_at.as_millisecond(),
                    session.updated_at.as_millisecond(),
                    session.ended_at.map(|at| at.as_millisecond())
                ],
            )?;
            if added == 1 {
                new_sessions.push(session.id.as_str());
            }
        }
        for turn in &bundle.turns {
            self.outcome.turns += u64::from(conversations::append(self.connection(), turn)?);
        }
        // What was consolidated elsewhere came along as memories: it is not to be done again here.
        let done = "UPDATE sessions SET consolidated = ifnull((SELECT max(row) FROM turns t WHERE t.session = sessions.row), 0) \
                    WHERE id = ?";
        for id in new_sessions {
            self.connection().execute(done, [id])?;
        }
        Ok(self.outcome)
    }

    fn connection(&self) -> &'a Connection {
        self.writer.transaction
    }

    /// Says whether the entry was here already.
    fn entry(&mut self, memory: &Memory) -> rusqlite::Result<bool> {
        let entry = &memory.entry;
        if self.exists(&entry.id)? {
            self.outcome.kept += 1;
            return Ok(true);
        }
        match rows::insert(self.connection(), entry) {
            Err(error) if is_key_taken(&error) => {
                let inactive =
                    Entry { status: Status::Inactive, version: entry.version.saturating_add(1), ..entry.clone() };
                rows::insert(self.connection(), &inactive)?;
                self.writer.keep(&inactive)?;
                self.outcome.inactive.push(entry.id.clone());
            }
            outcome => outcome?,
        }
        self.outcome.added += 1;
        self.note_adopted("entry", entry.id.as_str())?;
        self.used(memory)?;
        Ok(false)
    }

    fn bullet(&mut self, memory: &Memory) -> rusqlite::Result<bool> {
        if !self.exists(&memory.entry.id)? {
            rows::insert(self.connection(), &memory.entry)?;
            self.used(memory)?;
        }
        Ok(true)
    }

    fn exists(&self, id: &EntryId) -> rusqlite::Result<bool> {
        self.connection().prepare_cached("SELECT 1 FROM entries WHERE id = ?")?.exists([id.as_str()])
    }

    fn used(&self, memory: &Memory) -> rusqlite::Result<()> {
        if memory.recall_count == 0 {
            return Ok(());
        }
        let last_at = memory.last_recalled_at.map(|at| at.as_millisecond());
        let sql = "INSERT INTO uses (id, count, last_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
        self.connection().prepare_cached(sql)?.execute(params![
            memory.entry.id.as_str(),
            memory.recall_count,
            last_at
        ])?;
        Ok(())
    }

    fn note_adopted(&self, what: &str, id: &str) -> rusqlite::Result<()> {
        let sql = "INSERT INTO adopted (change, what, id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
        self.connection().prepare_cached(sql)?.execute(params![self.row, what, id])?;
        Ok(())
    }

    /// The earlier versions, with the changes that made them; a memory that brings none gets its first here.
    fn history(&mut self, bundle: &Bundle, added: &HashSet<&EntryId>) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO entry_versions (entry, version, change, state) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
        for version in bundle.history.iter().filter(|version| added.contains(&version.entry.id)) {
            let change = self.earlier_change(&version.change)?;
            let (id, number) = (version.entry.id.as_str(), version.entry.version);
            self.connection().prepare_cached(sql)?.execute(params![id, number, change, to_json(&version.entry)?])?;
        }
        for memory in bundle.memories.iter().filter(|memory| added.contains(&memory.entry.id)) {
            let state = to_json(&memory.entry)?;
            let values = params![memory.entry.id.as_str(), memory.entry.version, self.row, state];
            self.connection().prepare_cached(sql)?.execute(values)?;
        }
        Ok(())
    }

    fn documents(&mut self, bundle: &Bundle) -> rusqlite::Result<()> {
        for version in &bundle.document_history {
            let change = self.earlier_change(&version.change)?;
            let address = rows::document_address(&version.name);
            let values = params![address, version.version, change, version.hash.as_str(), version.text];
            let kept = "INSERT INTO document_versions (name, version, change, hash, text) VALUES (?, ?, ?, ?, ?) \
                        ON CONFLICT DO NOTHING";
            if self.connection().execute(kept, values)? == 0 {
                continue;
            }
            let latest = "INSERT INTO documents (name, version, hash) VALUES (?1, ?2, ?3) \
                          ON CONFLICT (name) DO UPDATE SET version = ?2, hash = ?3, stamp = NULL WHERE version < ?2";
            self.connection().execute(latest, params![address, version.version, version.hash.as_str()])?;
            self.note_adopted("document", &address)?;
        }
        Ok(())
    }

    /// The row of a change that was made elsewhere, or here before.
    fn earlier_change(&self, change: &Change) -> rusqlite::Result<i64> {
        let known = self
            .connection()
            .prepare_cached("SELECT row FROM changes WHERE id = ?")?
            .query_row([change.id.as_str()], |row| row.get(0))
            .optional()?;
        known.map_or_else(|| insert_change(self.connection(), change, Some(self.writer.change)), Ok)
    }
}
