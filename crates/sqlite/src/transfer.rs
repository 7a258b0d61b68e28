//! Everything out, and in again.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, params};
use throughline_core::model::{Change, DocumentName, Entry, EntryId, Kind, Memory, Namespace, Session, Status};
use throughline_core::ports::{Adopted, Bundle, ErasureMark, StoreError, Transfer};

use crate::changes::{ChangeWriter, insert_change};
use crate::error::{is_key_taken, while_doing};
use crate::rows::{self, ENTRY_COLUMNS, USE_COLUMNS, to_json};
use crate::versioned::{self, Versioned};
use crate::{SqliteStore, Stored, erase, history, mutes, projects, sessions, tasks, threads, turns, withdrawals};

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
                    sessions: every_session(connection)?,
                    turns: turns::all(connection)?,
                    tasks: versioned::all(connection, &self.machine, "created_at, id")?,
                    task_history: tasks::versions(connection, &self.machine, None)?,
                    threads: versioned::all(connection, &self.machine, "created_at, id")?,
                    thread_history: threads::versions(connection, &self.machine)?,
                    projects: versioned::all(connection, &self.machine, "name")?,
                    project_history: projects::versions(connection, &self.machine)?,
                    mutes: mutes::all(connection)?,
                })
            },
            "read everything",
        )
    }

    fn adopt(
        &self,
        change: &Change,
        bundle: &Bundle,
        since: &ErasureMark,
        last: &mut dyn FnMut(&Adopted) -> bool,
    ) -> Stored<Adopted> {
        self.write_alone("import", |transaction| {
            erase::check_unerased(transaction, since)?;
            let mut writer = ChangeWriter::begin(transaction, change, &self.machine)?;
            let adopted = writer
                .change_row()
                .and_then(|row| Adopter { writer, row, outcome: Adopted::default() }.adopt(bundle))
                .map_err(while_doing("import"))?;
            withdrawals::derive(transaction).map_err(while_doing("import"))?;
            if last(&adopted) { Ok(adopted) } else { Err(StoreError::TakenBack) }
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

fn every_session(connection: &Connection) -> rusqlite::Result<Vec<Session>> {
    let states = sessions::states(connection, "TRUE ORDER BY created_at, id", [])?;
    Ok(states.into_iter().map(|state| state.session).collect())
}

/// Takes a bundle in under one change.
struct Adopter<'a> {
    writer: ChangeWriter<'a>,
    row: i64,
    outcome: Adopted,
}

impl<'a> Adopter<'a> {
    fn adopt(mut self, bundle: &Bundle) -> rusqlite::Result<Adopted> {
        let documents: HashSet<&DocumentName> = bundle.document_history.iter().map(|version| &version.name).collect();
        let mut added: HashSet<&EntryId> = HashSet::new();
        for memory in &bundle.memories {
            let known = match (memory.entry.kind, &memory.entry.namespace) {
                (Kind::Bullet, Namespace::Document(name)) if documents.contains(name) => self.bullet(memory)?,
                (Kind::Bullet | Kind::Turn | Kind::Chunk, _) => true,
                (Kind::Entry, _) => self.entry(memory)?,
            };
            if !known {
                added.insert(&memory.entry.id);
            }
        }
        self.history(bundle, &added)?;
        self.documents(bundle)?;
        let task_history = bundle.task_history.iter().map(|version| (&version.task, &version.change));
        self.outcome.tasks = self.versioned(&bundle.tasks, task_history)?;
        let thread_history = bundle.thread_history.iter().map(|version| (&version.thread, &version.change));
        self.outcome.threads = self.versioned(&bundle.threads, thread_history)?;
        let project_history = bundle.project_history.iter().map(|version| (&version.project, &version.change));
        self.outcome.projects = self.versioned(&bundle.projects, project_history)?;
        self.sessions(bundle)?;
        bundle.mutes.iter().try_for_each(|mute| mutes::insert(self.connection(), mute))?;
        Ok(self.outcome)
    }

    fn sessions(&mut self, bundle: &Bundle) -> rusqlite::Result<()> {
        let mut new_sessions = Vec::new();
        for session in &bundle.sessions {
            let added = self.connection().execute(
                "INSERT INTO sessions (id, title, project, task, person, created_at, updated_at, ended_at) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                params![
                    session.id.as_str(),
                    session.title,
                    session.project,
                    session.task,
                    session.person,
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
            self.outcome.turns += u64::from(turns::append(self.connection(), turn)?);
        }
        // What was consolidated elsewhere came along as memories: it is not to be done again here.
        let done = "UPDATE sessions SET consolidated = last_position WHERE id = ?";
        for id in new_sessions {
            self.connection().execute(done, [id])?;
        }
        Ok(())
    }

    fn connection(&self) -> &'a Connection {
        self.writer.transaction
    }

    /// Says whether the entry was here already.
    fn entry(&mut self, memory: &Memory) -> rusqlite::Result<bool> {
        let entry = &memory.entry;
        if self.exists(&entry.id)? {
            let is_back = self.bring_back(entry)?;
            *(if is_back { &mut self.outcome.added } else { &mut self.outcome.kept }) += 1;
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

    /// Brings an entry back to what the bundle says, if it is inactive only because what brought it here was undone.
    /// Says whether it is back.
    fn bring_back(&mut self, entry: &Entry) -> rusqlite::Result<bool> {
        let sql = "SELECT version FROM entries WHERE id = ? AND kind = 'entry' AND status = 'inactive'";
        let gone: Option<u32> =
            self.connection().prepare_cached(sql)?.query_row([entry.id.as_str()], |row| row.get(0)).optional()?;
        let Some(version) = gone.filter(|_| entry.status == Status::Active) else { return Ok(false) };
        if !self.was_undone("entry", entry.id.as_str(), version)? {
            return Ok(false);
        }
        let next = Entry { version: version.saturating_add(1), ..entry.clone() };
        match rows::update(self.connection(), &next) {
            Err(error) if is_key_taken(&error) => {
                self.outcome.inactive.push(entry.id.clone());
                return Ok(false);
            }
            outcome => outcome?,
        };
        self.writer.keep(&next)?;
        Ok(true)
    }

    /// Whether this version was made by undoing the change that brought something here: an import, or its first one.
    /// An undone import that left no trace here was one elsewhere.
    fn was_undone(&self, what: &str, id: &str, version: u32) -> rusqlite::Result<bool> {
        let sql = format!(
            "SELECT 1 FROM {what}_versions v JOIN changes u ON u.row = v.change LEFT JOIN changes c ON c.id = u.undoes \
             WHERE v.{what} = ?1 AND v.version = ?2 AND u.verb = 'undo' AND (ifnull(c.verb, 'import') = 'import' \
               OR EXISTS (SELECT 1 FROM {what}_versions f WHERE f.{what} = ?1 AND f.version = 1 AND f.change = c.row))"
        );
        self.connection().prepare_cached(&sql)?.exists(params![id, version])
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
                          ON CONFLICT (name) DO UPDATE SET version = ?2, hash = ?3 WHERE version < ?2";
            if self.connection().execute(latest, params![address, version.version, version.hash.as_str()])? == 1 {
                crate::index::forget_stamps(self.connection(), &address)?;
            }
            // A project's memory file is not the import's: undoing that must not reach it.
            if version.name.as_project().is_none() {
                self.note_adopted("document", &address)?;
            }
        }
        Ok(())
    }

    /// Tasks, threads or projects that are new here, with their earlier versions; one that brings none gets its first here.
    /// Gives how many are new, or back.
    fn versioned<'b, T: Versioned + 'b>(
        &self,
        things: &'b [T],
        history: impl Iterator<Item = (&'b T, &'b Change)>,
    ) -> rusqlite::Result<u64> {
        let mut added: HashMap<&str, u32> = HashMap::new();
        let mut back = 0;
        for thing in things {
            if versioned::insert(self.connection(), self.writer.machine, thing)? {
                self.note_adopted(T::WHAT, thing.key())?;
                added.insert(thing.key(), thing.version());
            } else {
                back += u64::from(self.bring_versioned_back(thing)?);
            }
        }
        for (version, change) in history {
            // Whatever claims to come after the newest would stand in the way of what really does.
            if added.get(version.key()).is_some_and(|newest| version.version() <= *newest) {
                versioned::keep_version(self.connection(), self.writer.machine, version, self.earlier_change(change)?)?;
            }
        }
        for thing in things.iter().filter(|thing| added.contains_key(thing.key())) {
            versioned::keep_version(self.connection(), self.writer.machine, thing, self.row)?;
        }
        Ok(added.len() as u64 + back)
    }

    /// As [`bring_back`](Self::bring_back), for a task, thread or project.
    fn bring_versioned_back<T: Versioned>(&self, thing: &T) -> rusqlite::Result<bool> {
        let here: Option<T> = versioned::one(self.connection(), self.writer.machine, thing.key())?;
        let Some(here) = here.filter(|here| here.is_gone() && !thing.is_gone()) else { return Ok(false) };
        if !self.was_undone(T::WHAT, here.key(), here.version())? {
            return Ok(false);
        }
        let next = thing.at_version(here.version().saturating_add(1));
        let machine = self.writer.machine;
        Ok(versioned::update(self.connection(), machine, &next)?
            && versioned::keep_version(self.connection(), machine, &next, self.row)?)
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
