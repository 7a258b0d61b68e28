//! Everything out, and in again.

use std::collections::{HashMap, HashSet};

use throughline_core::model::{Change, DocumentName, Entry, EntryId, Kind, Memory, Namespace, Session, Status};
use throughline_core::ports::{Adopted, Bundle, ErasureMark, Transfer};

use crate::changes::{ChangeWriter, insert_change, keep_version};
use crate::connection::Connection;
use crate::error::Sql;
use crate::rows::{self, ENTRY_COLUMNS, Inserted, JOIN_USES, USE_COLUMNS};
use crate::transaction::{Counter, Transaction};
use crate::values::values;
use crate::versioned::{self, Versioned};
use crate::{
    PostgresStore, Stored, erase, history, index, mutes, projects, sessions, tasks, threads, turns, withdrawals,
};

impl Transfer for PostgresStore {
    fn bundle(&self) -> Stored<Bundle> {
        self.bookkeeper.flush();
        let sql = format!(
            "SELECT {ENTRY_COLUMNS}, {USE_COLUMNS} FROM entries e {JOIN_USES} WHERE e.space = $1 ORDER BY e.created_at, e.id"
        );
        self.snapshot("read everything", |connection| {
            Ok(Bundle {
                memories: connection.all(&sql, &[], rows::memory)?,
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
        })
    }

    fn adopt(
        &self,
        change: &Change,
        bundle: &Bundle,
        since: &ErasureMark,
        last: &mut dyn FnMut(&Adopted) -> bool,
    ) -> Stored<Adopted> {
        self.write("import", |transaction| {
            erase::check_unerased(transaction, since)?;
            let mut writer = ChangeWriter::begin(transaction, change, &self.machine)?;
            let number = writer.change_number()?;
            let adopted = Adopter { writer, number, outcome: Adopted::default() }.adopt(bundle)?;
            withdrawals::derive(transaction)?;
            transaction.seal()?;
            transaction.finish(&self.pool, || last(&adopted))?;
            Ok(adopted)
        })
    }

    fn note_export(&self, path: &str) -> Stored<()> {
        let sql = "INSERT INTO exports (space, path) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.write("note an export", |transaction| transaction.post(sql, &values![path]))
    }

    fn exports(&self) -> Stored<Vec<String>> {
        let sql = "SELECT path FROM exports WHERE space = $1 ORDER BY path";
        self.read("read where exports are", |connection| connection.all(sql, &[], |row| row.text(0)))
    }
}

fn every_session(connection: &Connection) -> Sql<Vec<Session>> {
    let states = sessions::states(connection, "TRUE ORDER BY created_at, id", &[])?;
    Ok(states.into_iter().map(|state| state.session).collect())
}

/// Takes a bundle in under one change.
struct Adopter<'a> {
    writer: ChangeWriter<'a>,
    number: i64,
    outcome: Adopted,
}

impl<'a> Adopter<'a> {
    fn adopt(mut self, bundle: &Bundle) -> Sql<Adopted> {
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
        bundle.mutes.iter().try_for_each(|mute| mutes::insert(self.transaction(), mute))?;
        Ok(self.outcome)
    }

    fn sessions(&mut self, bundle: &Bundle) -> Sql<()> {
        let sql = "INSERT INTO sessions (space, number, id, title, project, task, person, created_at, updated_at, ended_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
        let mut new_sessions = Vec::new();
        for session in &bundle.sessions {
            let bound = values![
                self.transaction().next(Counter::Row),
                session.id.as_str(),
                session.title.as_ref(),
                session.project.as_ref(),
                session.task.as_ref(),
                session.person.as_ref(),
                session.created_at,
                session.updated_at,
                session.ended_at,
            ];
            if self.transaction().execute(sql, &bound)? == 1 {
                new_sessions.push(session.id.to_string());
            }
        }
        for turn in &bundle.turns {
            self.outcome.turns += u64::from(turns::append(self.transaction(), turn)?);
        }
        // What was consolidated elsewhere came along as memories: it is not to be done again here.
        let done = "UPDATE sessions SET consolidated = last_position WHERE space = $1 AND id = ANY($2)";
        self.transaction().post(done, &values![new_sessions])
    }

    fn transaction(&self) -> &'a Transaction<'a> {
        self.writer.transaction
    }

    /// Says whether the entry was here already.
    fn entry(&mut self, memory: &Memory) -> Sql<bool> {
        let entry = &memory.entry;
        match rows::insert(self.transaction(), entry)? {
            Inserted::New => {}
            Inserted::IdTaken => {
                let is_back = self.bring_back(entry)?;
                *(if is_back { &mut self.outcome.added } else { &mut self.outcome.kept }) += 1;
                return Ok(true);
            }
            Inserted::KeyTaken => {
                let inactive =
                    Entry { status: Status::Inactive, version: entry.version.saturating_add(1), ..entry.clone() };
                rows::insert(self.transaction(), &inactive)?;
                self.writer.keep(&inactive)?;
                self.outcome.inactive.push(entry.id.clone());
            }
        }
        self.outcome.added += 1;
        self.note_adopted("entry", entry.id.as_str())?;
        self.used(memory)?;
        Ok(false)
    }

    /// Brings an entry back to what the bundle says, if it is inactive only because what brought it here was undone.
    /// Says whether it is back.
    fn bring_back(&mut self, entry: &Entry) -> Sql<bool> {
        let sql = "SELECT version FROM entries WHERE space = $1 AND id = $2 AND kind = 'entry' AND status = 'inactive'";
        let gone = self.transaction().maybe(sql, &values![entry.id.as_str()])?;
        let gone = gone.map(|row| row.number::<u32>(0)).transpose()?;
        let Some(version) = gone.filter(|_| entry.status == Status::Active) else { return Ok(false) };
        if !self.was_undone("entry", entry.id.as_str(), version)? {
            return Ok(false);
        }
        let next = Entry { version: version.saturating_add(1), ..entry.clone() };
        if rows::is_key_taken(self.transaction(), &next)? {
            self.outcome.inactive.push(entry.id.clone());
            return Ok(false);
        }
        rows::update(self.transaction(), &next)?;
        self.writer.keep(&next)?;
        Ok(true)
    }

    /// Whether this version was made by undoing the change that brought something here: an import, or its first one.
    /// An undone import that left no trace here was one elsewhere.
    fn was_undone(&self, what: &str, id: &str, version: u32) -> Sql<bool> {
        let sql = format!(
            "SELECT 1 FROM {what}_versions v JOIN changes u ON u.space = $1 AND u.number = v.change \
             LEFT JOIN changes c ON c.space = $1 AND c.id = u.undoes \
             WHERE v.space = $1 AND v.{what} = $2 AND v.version = $3 AND u.verb = 'undo' \
               AND (coalesce(c.verb, 'import') = 'import' \
                 OR EXISTS (SELECT 1 FROM {what}_versions f \
                            WHERE f.space = $1 AND f.{what} = $2 AND f.version = 1 AND f.change = c.number))"
        );
        self.transaction().exists(&sql, &values![id, version])
    }

    fn bullet(&mut self, memory: &Memory) -> Sql<bool> {
        if rows::insert(self.transaction(), &memory.entry)? == Inserted::New {
            self.used(memory)?;
        }
        Ok(true)
    }

    fn used(&self, memory: &Memory) -> Sql<()> {
        if memory.recall_count == 0 {
            return Ok(());
        }
        let sql = "INSERT INTO uses (space, id, count, last_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
        let bound = values![memory.entry.id.as_str(), memory.recall_count, memory.last_recalled_at];
        self.transaction().post(sql, &bound)
    }

    fn note_adopted(&self, what: &str, id: &str) -> Sql<()> {
        let sql = "INSERT INTO adopted (space, change, what, id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
        self.transaction().post(sql, &values![self.number, what, id])
    }

    /// The earlier versions, with the changes that made them; a memory that brings none gets its first here.
    fn history(&mut self, bundle: &Bundle, added: &HashSet<&EntryId>) -> Sql<()> {
        for version in bundle.history.iter().filter(|version| added.contains(&version.entry.id)) {
            let change = self.earlier_change(&version.change)?;
            keep_version(self.transaction(), &version.entry, change)?;
        }
        for memory in bundle.memories.iter().filter(|memory| added.contains(&memory.entry.id)) {
            keep_version(self.transaction(), &memory.entry, self.number)?;
        }
        Ok(())
    }

    fn documents(&mut self, bundle: &Bundle) -> Sql<()> {
        let kept = "INSERT INTO document_versions (space, number, name, version, change, hash, text) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
        let latest = "INSERT INTO documents AS d (space, name, version, hash) VALUES ($1, $2, $3, $4) \
                      ON CONFLICT (space, name) DO UPDATE SET version = excluded.version, hash = excluded.hash \
                      WHERE d.version < excluded.version";
        for version in &bundle.document_history {
            let change = self.earlier_change(&version.change)?;
            let address = rows::document_address(&version.name);
            let number = self.transaction().next(Counter::Row);
            let (hash, text) = (version.hash.as_str(), version.text.as_ref());
            if self.transaction().execute(kept, &values![number, &address, version.version, change, hash, text])? == 0 {
                continue;
            }
            if self.transaction().execute(latest, &values![&address, version.version, hash])? == 1 {
                index::forget_stamps(self.transaction(), &address)?;
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
    ) -> Sql<u64> {
        let (transaction, machine) = (self.transaction(), self.writer.machine);
        let mut added: HashMap<&str, u32> = HashMap::new();
        let mut back = 0;
        for thing in things {
            if versioned::insert(transaction, machine, thing)? {
                self.note_adopted(T::WHAT, thing.key())?;
                added.insert(thing.key(), thing.version());
            } else {
                back += u64::from(self.bring_versioned_back(thing)?);
            }
        }
        for (version, change) in history {
            // Whatever claims to come after the newest would stand in the way of what really does.
            if added.get(version.key()).is_some_and(|newest| version.version() <= *newest) {
                versioned::keep_version(transaction, machine, version, self.earlier_change(change)?)?;
            }
        }
        for thing in things.iter().filter(|thing| added.contains_key(thing.key())) {
            versioned::keep_version(transaction, machine, thing, self.number)?;
        }
        Ok(added.len() as u64 + back)
    }

    /// As [`bring_back`](Self::bring_back), for a task, thread or project.
    fn bring_versioned_back<T: Versioned>(&self, thing: &T) -> Sql<bool> {
        let (transaction, machine) = (self.transaction(), self.writer.machine);
        let here: Option<T> = versioned::one(transaction, machine, thing.key())?;
        let Some(here) = here.filter(|here| here.is_gone() && !thing.is_gone()) else { return Ok(false) };
        if !self.was_undone(T::WHAT, here.key(), here.version())? {
            return Ok(false);
        }
        let next = thing.at_version(here.version().saturating_add(1));
        Ok(versioned::update(transaction, machine, &next)?
            && versioned::keep_version(transaction, machine, &next, self.number)?)
    }

    /// The number of a change that was made elsewhere, or here before.
    fn earlier_change(&self, change: &Change) -> Sql<i64> {
        let sql = "SELECT number FROM changes WHERE space = $1 AND id = $2";
        match self.transaction().maybe(sql, &values![change.id.as_str()])? {
            Some(row) => row.int(0),
            None => insert_change(self.transaction(), change, Some(self.writer.change)),
        }
    }
}
