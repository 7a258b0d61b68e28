//! Changes: applied in one transaction, and logged.

use throughline_core::model::{
    Change, ContentHash, DocumentName, Entry, EntryId, MachineId, Position, SessionId, Turn,
};
use throughline_core::ports::{Changes, ErasureMark, Op, StoreError, Undoable};
use throughline_stores::Balance;
use throughline_stores::words::Collection;

use crate::connection::Connection;
use crate::error::Sql;
use crate::pool::Between;
use crate::rows::{self, CHANGE_COLUMNS, ENTRY_COLUMNS, Inserted};
use crate::transaction::{Counter, Transaction};
use crate::values::{to_json, values};
use crate::{PostgresStore, Stored, erase, index, line_sources, mutes, reflections, turns, undo, withdrawals};

impl Changes for PostgresStore {
    fn apply(&self, change: &Change, ops: &[Op], last: &mut dyn FnMut() -> bool) -> Stored<Vec<Entry>> {
        let between = Between { first: &|connection| ask_first(connection, change, ops), ..Between::default() };
        self.write_between(self.effort, "apply the change", &between, |transaction| {
            let mut writer = ChangeWriter::begin(transaction, change, &self.machine)?;
            let mut entries = Vec::new();
            for op in ops {
                entries.extend(writer.apply(op)?);
            }
            writer.settle()?;
            writer.mark_undone()?;
            // A file is exchanged by `last`, and must not be exchanged again; without one, the change may be repeated.
            if ops.iter().any(|op| matches!(op, Op::Document { .. })) {
                transaction.seal()?;
            }
            transaction.finish(&self.pool, &mut *last).map(|()| entries)
        })
    }

    fn changes(&self, limit: usize) -> Stored<Vec<Change>> {
        let sql = format!("SELECT {CHANGE_COLUMNS} FROM changes c WHERE c.space = $1 ORDER BY c.number DESC LIMIT $2");
        self.read("read the changes", |connection| connection.all(&sql, &values![limit], |row| rows::change(row, 0)))
    }

    fn undoable(&self) -> Stored<Option<Undoable>> {
        self.snapshot("look for what to undo", |connection| undo::undoable(connection, &self.machine))
    }

    fn erasure_mark(&self) -> Stored<ErasureMark> {
        self.read("count erasures", erase::erasures).map(ErasureMark::of_count)
    }
}

/// Applies the operations of one change; writes the change itself when the first of them has an effect.
pub(crate) struct ChangeWriter<'a> {
    pub(crate) transaction: &'a Transaction<'a>,
    pub(crate) change: &'a Change,
    pub(crate) machine: &'a MachineId,
    number: Option<i64>,
    balance: Balance,
}

impl<'a> ChangeWriter<'a> {
    /// Begins a change, or goes on with one that is there already. One that was undone in between is over, and one that
    /// an import brought along is another's: what it wrote here could not be undone.
    pub(crate) fn begin(transaction: &'a Transaction<'a>, change: &'a Change, machine: &'a MachineId) -> Sql<Self> {
        let number = match known_change(transaction, change)? {
            Some((_, true)) => return Err(StoreError::Conflict { what: change.id.to_string() }.into()),
            known => known.map(|(number, _)| number),
        };
        Ok(Self { transaction, change, machine, number, balance: Balance::default() })
    }

    fn apply(&mut self, op: &Op) -> Sql<Option<Entry>> {
        match op {
            Op::Insert(entry) => return self.insert(entry).map(Some),
            Op::Update(entry) => return self.update(entry).map(Some),
            Op::Document { name, text, hash, bullets } => {
                self.document_with_lines(name, text.as_deref(), hash, bullets.as_deref())?;
            }
            Op::Consolidated { session, from, to, kept_from, summary } => {
                self.consolidated(session, [*from, *to, *kept_from], summary.as_ref())?;
            }
            Op::Person { session, name } => {
                let sql = "UPDATE sessions SET person = coalesce(person, $3) WHERE space = $1 AND id = $2";
                self.transaction.post(sql, &values![session.as_str(), name])?;
            }
            Op::LineSources { line, turns } => line_sources::add(self.transaction, line, turns)?,
            Op::Reflected(pass) => reflections::insert(self.transaction, pass)?,
            Op::Erased => drop(self.change_number()?),
            Op::Unerased(since) => erase::check_unerased(self.transaction, since)?,
            Op::Task(task) => self.versioned(task)?,
            Op::Thread(thread) => self.versioned(thread)?,
            Op::Project(project) => self.versioned(project)?,
        }
        Ok(None)
    }

    fn insert(&mut self, entry: &Entry) -> Sql<Entry> {
        if let Some(same) = same(self.transaction, entry)? {
            return Ok(same);
        }
        let entry = Entry { version: 1, ..entry.clone() };
        match rows::insert(self.transaction, &entry)? {
            Inserted::New => {}
            Inserted::KeyTaken => return Err(key_taken(&entry)),
            Inserted::IdTaken => return Err(StoreError::Conflict { what: entry.id.to_string() }.into()),
        }
        self.keep(&entry)?;
        self.balance.added(&entry);
        Ok(entry)
    }

    fn update(&mut self, entry: &Entry) -> Sql<Entry> {
        let next = Entry { version: entry.version.saturating_add(1), ..entry.clone() };
        let conflict = || StoreError::Conflict { what: entry.id.to_string() };
        let before = stored(self.transaction, &entry.id)?.filter(|before| before.version == entry.version);
        let before = before.ok_or_else(conflict)?;
        if rows::is_key_taken(self.transaction, &next)? {
            return Err(key_taken(&next));
        }
        if !rows::update(self.transaction, &next)? {
            return Err(conflict().into());
        }
        self.keep(&next)?;
        self.balance.changed(&before, &next);
        Ok(next)
    }

    pub(crate) fn keep(&mut self, entry: &Entry) -> Sql<()> {
        let change = self.change_number()?;
        post_version(self.transaction, entry, change)
    }

    /// A new version of a document, and its lines where they are known.
    fn document_with_lines(
        &mut self,
        name: &DocumentName,
        text: Option<&str>,
        hash: &ContentHash,
        bullets: Option<&[Entry]>,
    ) -> Sql<()> {
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
    fn settle(&self) -> Sql<()> {
        let Some(number) = self.number else { return Ok(()) };
        mutes::carry(self.transaction, &self.balance, self.change.verb)?;
        withdrawals::settle(self.transaction, &self.balance, self.change, number)
    }

    fn document(&mut self, name: &DocumentName, text: Option<&str>, hash: &ContentHash) -> Sql<()> {
        let address = rows::document_address(name);
        let sql = "SELECT version, hash FROM documents WHERE space = $1 AND name = $2";
        let version = match self.transaction.maybe(sql, &values![&address])? {
            Some(row) if row.text(1)? == hash.as_str() => return Ok(()),
            Some(row) => row.int(0)? + 1,
            None => 1,
        };
        let change = self.change_number()?;
        let number = self.transaction.next(Counter::Row);
        self.transaction.post(
            "INSERT INTO document_versions (space, number, name, version, change, hash, text) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            &values![number, &address, version, change, hash.as_str(), text],
        )?;
        self.transaction.post(
            "INSERT INTO documents (space, name, version, hash) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (space, name) DO UPDATE SET version = excluded.version, hash = excluded.hash",
            &values![&address, version, hash.as_str()],
        )?;
        index::forget_stamps(self.transaction, &address)?;
        if text.is_none() {
            let sql = "DELETE FROM entries WHERE space = $1 AND namespace = $2 AND kind = 'bullet' RETURNING number";
            self.transaction.remove(Collection::Entries, sql, &values![&address])?;
        }
        Ok(())
    }

    /// Moves the pointer of a conversation from where it must stand.
    fn consolidated(
        &mut self,
        session: &SessionId,
        [from, to, kept_from]: [Position; 3],
        summary: Option<&Turn>,
    ) -> Sql<()> {
        let sql = "UPDATE sessions SET consolidated = $4, kept_from = $5, failures = 0 \
                   WHERE space = $1 AND id = $2 AND consolidated = $3";
        let bound = values![session.as_str(), from.number(), to.number(), kept_from.number()];
        if self.transaction.execute(sql, &bound)? == 0 {
            return Err(StoreError::Conflict { what: session.to_string() }.into());
        }
        summary.map_or(Ok(()), |summary| turns::append(self.transaction, summary).map(drop))
    }

    /// Marks what this change undoes; somebody else may have undone it first.
    fn mark_undone(&mut self) -> Sql<()> {
        let Some(undone) = &self.change.undoes else { return Ok(()) };
        self.change_number()?;
        let sql = "UPDATE changes SET undone_by = $2 WHERE space = $1 AND id = $3 AND coalesce(undone_by, $2) = $2";
        if self.transaction.execute(sql, &values![self.change.id.as_str(), undone.as_str()])? == 0 {
            return Err(StoreError::Conflict { what: undone.to_string() }.into());
        }
        Ok(())
    }

    pub(crate) fn change_number(&mut self) -> Sql<i64> {
        if let Some(number) = self.number {
            return Ok(number);
        }
        let number = insert_change(self.transaction, self.change, None)?;
        self.number = Some(number);
        Ok(number)
    }
}

/// The number of a change that is there, and whether it is over.
fn known_change(connection: &Connection, change: &Change) -> Sql<Option<(i64, bool)>> {
    let sql =
        "SELECT number, undone_by IS NOT NULL OR adopted_by IS NOT NULL FROM changes WHERE space = $1 AND id = $2";
    connection.maybe(sql, &values![change.id.as_str()])?.map(|row| Ok((row.int(0)?, row.flag(1)?))).transpose()
}

/// Reads what the first operation of a change asks. What the others ask depends on those before them.
fn ask_first(connection: &Connection, change: &Change, ops: &[Op]) {
    let _ = known_change(connection, change);
    let _ = withdrawals::key(connection);
    let mut ops = ops.iter();
    let mut first = ops.next();
    if let Some(Op::Unerased(_)) = first {
        let _ = erase::erasures(connection);
        first = ops.next();
    }
    match first {
        Some(Op::Insert(entry)) => {
            let _ = (same(connection, entry), rows::is_id_taken(connection, entry));
            let _ = rows::is_key_taken(connection, entry);
        }
        Some(Op::Update(entry)) => {
            let _ = (stored(connection, &entry.id), mutes::is_any(connection));
            let _ = rows::is_key_taken(connection, entry);
        }
        _ => {}
    }
}

fn key_taken(entry: &Entry) -> crate::error::Error {
    StoreError::KeyTaken { key: entry.key.clone().unwrap_or_default() }.into()
}

fn stored(connection: &Connection, id: &EntryId) -> Sql<Option<Entry>> {
    let sql = format!("SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.space = $1 AND e.id = $2");
    connection.maybe(&sql, &values![id.as_str()])?.as_ref().map(rows::entry).transpose()
}

/// Keeps a version of an entry under a change; one that is there already stays. Says whether it is new.
pub(crate) fn keep_version(transaction: &Transaction<'_>, entry: &Entry, change: i64) -> Sql<bool> {
    let number = transaction.next(Counter::Row);
    let bound = values![number, entry.id.as_str(), entry.version, change, to_json(entry)?];
    Ok(transaction.execute(KEEP_VERSION, &bound)? == 1)
}

/// The same for somebody who does not ask.
fn post_version(transaction: &Transaction<'_>, entry: &Entry, change: i64) -> Sql<()> {
    let number = transaction.next(Counter::Row);
    let bound = values![number, entry.id.as_str(), entry.version, change, to_json(entry)?];
    transaction.post(KEEP_VERSION, &bound)
}

const KEEP_VERSION: &str = "INSERT INTO entry_versions (space, number, entry, version, change, state) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";

pub(crate) fn insert_change(transaction: &Transaction<'_>, change: &Change, adopted_by: Option<&Change>) -> Sql<i64> {
    let sql = "INSERT INTO changes (space, number, id, who, via, verb, at, undoes, adopted_by) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let number = transaction.next(Counter::Row);
    transaction.post(
        sql,
        &values![
            number,
            change.id.as_str(),
            change.actor.who.as_str(),
            &change.actor.via,
            change.verb.as_str(),
            change.at,
            change.undoes.as_ref().map(|id| id.as_str()),
            adopted_by.map(|change| change.id.as_str()),
        ],
    )?;
    Ok(number)
}

/// The active entry that says the same in the same place, where neither has a key; a twin, if the first is gone.
fn same(connection: &Connection, entry: &Entry) -> Sql<Option<Entry>> {
    let Some(digest) = entry.text_digest() else { return Ok(None) };
    let sql =
        format!("SELECT {ENTRY_COLUMNS} FROM entries e WHERE e.space = $1 AND e.digest = $2 ORDER BY e.twin LIMIT 1");
    connection.maybe(&sql, &values![digest.as_str()])?.as_ref().map(rows::entry).transpose()
}
