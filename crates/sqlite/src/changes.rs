//! Changes: applied in one transaction, and logged.

use rusqlite::{Connection, OptionalExtension as _, params};
use throughline_core::model::{
    Change, ContentHash, DocumentName, Entry, EntryId, MachineId, Position, SessionId, Turn,
};
use throughline_core::ports::{Changes, ErasureMark, Op, StoreError, Undoable};
use throughline_stores::Balance;

use crate::error::{is_key_taken, while_doing};
use crate::pool::Sharing;
use crate::rows::{self, CHANGE_COLUMNS, ENTRY_COLUMNS, to_json};
use crate::{SqliteStore, Stored, erase, index, line_sources, mutes, turns, undo, withdrawals};

/// A change of more operations has a transaction of its own.
const MOST_SHARED: usize = 32;

impl Changes for SqliteStore {
    fn apply(&self, change: &Change, ops: &[Op], last: &mut dyn FnMut() -> bool) -> Stored<Vec<Entry>> {
        // A file that changes with the transaction is exchanged right before the commit; many operations take long.
        let is_short = ops.len() <= MOST_SHARED && !ops.iter().any(|op| matches!(op, Op::Document { .. }));
        let sharing = if is_short { Sharing::Shared } else { Sharing::Alone };
        self.write_with(sharing, "apply the change", |transaction| {
            let mut writer = ChangeWriter::begin(transaction, change, &self.machine)?;
            let mut entries = Vec::new();
            for op in ops {
                entries.extend(writer.apply(op)?);
            }
            writer.settle()?;
            writer.mark_undone()?;
            if !last() {
                return Err(StoreError::TakenBack);
            }
            Ok(entries)
        })
    }

    fn changes(&self, limit: usize) -> Stored<Vec<Change>> {
        let sql = format!("SELECT {CHANGE_COLUMNS} FROM changes c ORDER BY c.row DESC LIMIT ?");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(
            |connection| connection.prepare_cached(&sql)?.query_map([limit], |row| rows::change(row, 0))?.collect(),
            "read the changes",
        )
    }

    fn undoable(&self) -> Stored<Option<Undoable>> {
        self.snapshot(|connection| undo::undoable(connection, &self.machine), "look for what to undo")
    }

    fn erasure_mark(&self) -> Stored<ErasureMark> {
        self.read(erase::erasures, "count erasures").map(ErasureMark::of_count)
    }
}

/// Applies the operations of one change; writes the change itself when the first of them has an effect.
pub(crate) struct ChangeWriter<'a> {
    pub(crate) transaction: &'a Connection,
    pub(crate) change: &'a Change,
    pub(crate) machine: &'a MachineId,
    pub(crate) row: Option<i64>,
    balance: Balance,
}

impl<'a> ChangeWriter<'a> {
    /// Begins a change, or goes on with one that is there already. One that was undone in between is over, and one that
    /// an import brought along is another's: what it wrote here could not be undone.
    pub(crate) fn begin(transaction: &'a Connection, change: &'a Change, machine: &'a MachineId) -> Stored<Self> {
        let known: Option<(i64, bool)> = transaction
            .prepare_cached("SELECT row, undone_by IS NOT NULL OR adopted_by IS NOT NULL FROM changes WHERE id = ?")
            .and_then(|mut found| {
                found.query_row([change.id.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(while_doing("go on with a change"))?;
        match known {
            Some((_, true)) => Err(StoreError::Conflict { what: change.id.to_string() }),
            known => {
                let row = known.map(|(row, _)| row);
                Ok(Self { transaction, change, machine, row, balance: Balance::default() })
            }
        }
    }

    fn apply(&mut self, op: &Op) -> Stored<Option<Entry>> {
        match op {
            Op::Insert(entry) => self.insert(entry).map(Some),
            Op::Update(entry) => self.update(entry).map(Some),
            Op::Document { name, text, hash, bullets } => {
                let kept = self.document_with_lines(name, text.as_deref(), hash, bullets.as_deref());
                kept.map(|()| None).map_err(while_doing("keep a version of a document"))
            }
            Op::Consolidated { session, from, to, kept_from, summary } => {
                moved(session, self.consolidated(session, [*from, *to, *kept_from], summary.as_ref()))
            }
            Op::Person { session, name } => {
                let sql = "UPDATE sessions SET person = ifnull(person, ?2) WHERE id = ?1";
                let kept = self.transaction.execute(sql, params![session.as_str(), name]);
                kept.map(|_| None).map_err(while_doing("note who the person is"))
            }
            Op::LineSources { line, turns } => {
                let kept = line_sources::add(self.transaction, line, turns);
                kept.map(|()| None).map_err(while_doing("keep where a line came from"))
            }
            Op::Reflected(pass) => {
                crate::reflections::insert(self.transaction, pass).map(|()| None).map_err(while_doing("keep a pass"))
            }
            Op::Erased => self.change_row().map(|_| None).map_err(while_doing("note an erasure")),
            Op::Unerased(since) => erase::check_unerased(self.transaction, since).map(|()| None),
            Op::Task(task) => self.versioned(task).map(|()| None),
            Op::Thread(thread) => self.versioned(thread).map(|()| None),
            Op::Project(project) => self.versioned(project).map(|()| None),
        }
    }

    fn insert(&mut self, entry: &Entry) -> Stored<Entry> {
        let storing = while_doing("store a memory");
        if let Some(same) = same(self.transaction, entry).map_err(&storing)? {
            return Ok(same);
        }
        let entry = Entry { version: 1, ..entry.clone() };
        if !rows::insert_unique(self.transaction, &entry).map_err(|error| conflict(error, &entry))? {
            return Err(StoreError::Conflict { what: entry.id.to_string() });
        }
        self.keep(&entry).map_err(&storing)?;
        self.balance.added(&entry);
        Ok(entry)
    }

    fn update(&mut self, entry: &Entry) -> Stored<Entry> {
        let next = Entry { version: entry.version.saturating_add(1), ..entry.clone() };
        let before = stored(self.transaction, &entry.id).map_err(while_doing("read a memory"))?;
        if !rows::update(self.transaction, &next).map_err(|error| conflict(error, &next))? {
            return Err(StoreError::Conflict { what: entry.id.to_string() });
        }
        self.keep(&next).map_err(while_doing("keep a version of a memory"))?;
        if let Some(before) = before {
            self.balance.changed(&before, &next);
        }
        Ok(next)
    }

    pub(crate) fn keep(&mut self, entry: &Entry) -> rusqlite::Result<()> {
        let change = self.change_row()?;
        let sql = "INSERT INTO entry_versions (entry, version, change, state) VALUES (?, ?, ?, ?)";
        let values = params![entry.id.as_str(), entry.version, change, to_json(entry)?];
        self.transaction.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// A new version of a document, and its lines where they are known.
    fn document_with_lines(
        &mut self,
        name: &DocumentName,
        text: Option<&str>,
        hash: &ContentHash,
        bullets: Option<&[Entry]>,
    ) -> rusqlite::Result<()> {
        let before = index::lines(self.transaction, name)?;
        self.document(name, text, hash)?;
        let after = match (bullets, text) {
            (Some(bullets), _) => {
                index::replace_bullets(self.transaction, name, (hash, None), bullets)?;
                bullets
            }
            (None, None) => &[],
            // Which lines it has shows at the next look at the file.
            (None, Some(_)) => return Ok(()),
        };
        after
            .iter()
            .filter(|line| before.iter().all(|old| old.id != line.id))
            .for_each(|line| self.balance.added(line));
        let is_gone = |old: &Entry| after.iter().all(|line| line.id != old.id);
        before.into_iter().filter(is_gone).for_each(|old| self.balance.removed(old));
        Ok(())
    }

    /// Writes down what the change takes back, and what it says again.
    fn settle(&self) -> Stored<()> {
        let Some(row) = self.row else { return Ok(()) };
        mutes::carry(self.transaction, &self.balance, self.change.verb).map_err(while_doing("keep a mute"))?;
        withdrawals::settle(self.transaction, &self.balance, self.change, row)
            .map_err(while_doing("note what was taken back"))
    }

    fn document(&mut self, name: &DocumentName, text: Option<&str>, hash: &ContentHash) -> rusqlite::Result<()> {
        let address = rows::document_address(name);
        let latest: Option<(u32, String)> = self
            .transaction
            .prepare_cached("SELECT version, hash FROM documents WHERE name = ?")?
            .query_row([&address], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if latest.as_ref().is_some_and(|(_, known)| known == hash.as_str()) {
            return Ok(());
        }
        let version = latest.map_or(1, |(version, _)| version + 1);
        let change = self.change_row()?;
        self.transaction.execute(
            "INSERT INTO document_versions (name, version, change, hash, text) VALUES (?, ?, ?, ?, ?)",
            params![address, version, change, hash.as_str(), text],
        )?;
        self.transaction.execute(
            "INSERT INTO documents (name, version, hash) VALUES (?1, ?2, ?3) \
             ON CONFLICT (name) DO UPDATE SET version = ?2, hash = ?3",
            params![address, version, hash.as_str()],
        )?;
        index::forget_stamps(self.transaction, &address)?;
        if text.is_none() {
            let sql = "DELETE FROM entries WHERE namespace = ? AND kind = 'bullet'";
            self.transaction.execute(sql, [&address])?;
        }
        Ok(())
    }

    /// Moves the pointer of a conversation from where it must stand; says whether it stood there.
    fn consolidated(
        &mut self,
        session: &SessionId,
        [from, to, kept_from]: [Position; 3],
        summary: Option<&Turn>,
    ) -> rusqlite::Result<bool> {
        let moved = self.transaction.execute(
            "UPDATE sessions SET consolidated = ?3, kept_from = ?4, failures = 0 WHERE id = ?1 AND consolidated = ?2",
            params![session.as_str(), from.number(), to.number(), kept_from.number()],
        )?;
        if let (1, Some(summary)) = (moved, summary) {
            turns::append(self.transaction, summary)?;
        }
        Ok(moved == 1)
    }

    /// Marks what this change undoes; somebody else may have undone it first.
    fn mark_undone(&mut self) -> Stored<()> {
        let Some(undone) = &self.change.undoes else { return Ok(()) };
        let marking = while_doing("undo a change");
        self.change_row().map_err(&marking)?;
        let sql = "UPDATE changes SET undone_by = ?1 WHERE id = ?2 AND ifnull(undone_by, ?1) = ?1";
        let marked =
            self.transaction.execute(sql, params![self.change.id.as_str(), undone.as_str()]).map_err(&marking)?;
        if marked == 0 { Err(StoreError::Conflict { what: undone.to_string() }) } else { Ok(()) }
    }

    pub(crate) fn change_row(&mut self) -> rusqlite::Result<i64> {
        if let Some(row) = self.row {
            return Ok(row);
        }
        let row = insert_change(self.transaction, self.change, None)?;
        self.row = Some(row);
        Ok(row)
    }
}

fn stored(connection: &Connection, id: &EntryId) -> rusqlite::Result<Option<Entry>> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.id = ?");
    connection.prepare_cached(&sql)?.query_row([id.as_str()], rows::entry).optional()
}

/// A pointer that did not stand where it should have is a conflict.
fn moved(session: &SessionId, outcome: rusqlite::Result<bool>) -> Stored<Option<Entry>> {
    if outcome.map_err(while_doing("move the pointer"))? {
        Ok(None)
    } else {
        Err(StoreError::Conflict { what: session.to_string() })
    }
}

pub(crate) fn insert_change(
    connection: &Connection,
    change: &Change,
    adopted_by: Option<&Change>,
) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO changes (id, who, via, verb, at, undoes, adopted_by) VALUES (?, ?, ?, ?, ?, ?, ?)";
    connection.prepare_cached(sql)?.insert(params![
        change.id.as_str(),
        change.actor.who.as_str(),
        change.actor.via,
        change.verb.as_str(),
        change.at.as_millisecond(),
        change.undoes.as_ref().map(|id| id.as_str()),
        adopted_by.map(|change| change.id.as_str()),
    ])
}

/// The active entry that says the same in the same place, where neither has a key; a twin, if the first is gone.
fn same(connection: &Connection, entry: &Entry) -> rusqlite::Result<Option<Entry>> {
    let Some(digest) = entry.text_digest() else { return Ok(None) };
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.digest = ? ORDER BY e.twin LIMIT 1");
    connection.prepare_cached(&sql)?.query_row([digest.as_str()], rows::entry).optional()
}

/// A key that is taken is said to be; anything else is what SQLite says it is.
fn conflict(error: rusqlite::Error, entry: &Entry) -> StoreError {
    match &entry.key {
        Some(key) if is_key_taken(&error) => StoreError::KeyTaken { key: key.clone() },
        _ => while_doing("store a memory")(error),
    }
}
