//! Copies of the live database, made and checked by SQLite itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use throughline_core::ports::{CopyCheck, StoreError, StoreStats};

use crate::error::while_doing;
use crate::files::{Files, Growth};
use crate::pool::bound::Bounds;
use crate::{Stored, health, open};

/// Pages copied between two reports.
const PAGES_A_STEP: i32 = 1024;

/// Copies to `target`, which must not exist. Left behind is a whole, checked, single file, or nothing.
pub(crate) fn copy(
    source: &Connection,
    target: &Path,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<(), StoreError> {
    copy_within(source, target, Bounds::USUAL.noting, progress)
}

/// The same, as long as the log of the database grows by no more than so many bytes meanwhile.
pub(crate) fn copy_within(
    source: &Connection,
    target: &Path,
    most: u64,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<(), StoreError> {
    let failed = |doing| move |error| StoreError::Failed { doing, source: Box::new(error) };
    if target.exists() {
        let taken = std::io::Error::new(std::io::ErrorKind::AlreadyExists, format!("{} is there", target.display()));
        return Err(failed("write a backup there")(taken));
    }
    let partial = scratch(target, "partial");
    let growth = source.path().map(|path| Growth::begin(Files::of(Path::new(path)).log, most));
    let check = || growth.as_ref().map_or(Ok(()), |growth| growth.check("back up"));
    let outcome = copy_to(source, &partial, &check, progress).and_then(|()| {
        // A link never replaces what appeared meanwhile; where a file system has none, a move must do.
        std::fs::hard_link(&partial, target)
            .or_else(|error| if target.exists() { Err(error) } else { std::fs::rename(&partial, target) })
            .map_err(failed("put the backup in its place"))
    });
    if let Err(error) = std::fs::remove_file(&partial)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, file = %partial.display(), "a partial backup stays behind");
    }
    outcome
}

/// A file beside another that nobody else uses. Erasing removes whatever ends in `partial`, should this process be killed.
pub(crate) fn scratch(beside: &Path, end: &str) -> PathBuf {
    static NTH: AtomicU32 = AtomicU32::new(0);
    let name = beside.file_name().unwrap_or_default().to_string_lossy();
    beside.with_file_name(format!(".{name}.{}-{}.{end}", std::process::id(), NTH.fetch_add(1, Ordering::Relaxed)))
}

fn copy_to(
    source: &Connection,
    partial: &Path,
    check: &dyn Fn() -> Stored<()>,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<(), StoreError> {
    let backing_up = while_doing("back up");
    let mut copy = Connection::open(partial).map_err(&backing_up)?;
    restrict(partial)?;
    copy.execute_batch("PRAGMA synchronous = FULL").map_err(&backing_up)?;
    {
        // One snapshot for the whole copy: a writer elsewhere would make it begin again and again.
        let snapshot = source.unchecked_transaction().map_err(&backing_up)?;
        snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(&backing_up)?;
        let backup = Backup::new(&snapshot, &mut copy).map_err(&backing_up)?;
        while backup.step(PAGES_A_STEP).map_err(&backing_up)? != StepResult::Done {
            check()?;
            let now = backup.progress();
            if !progress((now.pagecount - now.remaining).max(0) as u64, now.pagecount.max(0) as u64) {
                return Err(StoreError::TakenBack);
            }
        }
    }
    // A backup is one file: no log beside it that could be left behind.
    copy.pragma_update(None, "journal_mode", "delete").map_err(&backing_up)?;
    let verdict: String = copy.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(&backing_up)?;
    if verdict != "ok" {
        return Err(StoreError::Damaged { source: Some(verdict.into()) });
    }
    Ok(())
}

/// How often a restore looks whether others have let go of the database, and how often at most.
const PAUSE: Duration = Duration::from_millis(50);
const LOOKS: u32 = 200;

/// Restores a copy beside itself, brings it up to date and checks it, as if it were needed; leaves nothing behind.
pub(crate) fn drill(copy: &Path) -> Stored<CopyCheck> {
    let scratch = scratch(copy, "drill.partial");
    let outcome = drill_at(copy, &scratch);
    remove_scratch(&scratch);
    outcome
}

/// Removes a scratch file, and what SQLite may have left beside it.
pub(crate) fn remove_scratch(scratch: &Path) {
    for left in [scratch.to_owned(), scratch.with_extension("partial-journal")] {
        if let Err(error) = std::fs::remove_file(&left)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, file = %left.display(), "a scratch copy stays behind");
        }
    }
}

fn drill_at(copy: &Path, scratch: &Path) -> Stored<CopyCheck> {
    let rehearsing = while_doing("rehearse restoring a backup");
    put_in_place(&open::connect_to_copy(copy)?, &mut target_of_restore(scratch)?)?;
    let mut connection = Connection::open(scratch).map_err(&rehearsing)?;
    connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON").map_err(&rehearsing)?;
    // Before anything is written: a trigger that is not ours must not run.
    let strange = strange(&connection)?;
    if !strange.is_empty() {
        return Ok(CopyCheck { problems: strange, stats: StoreStats::default() });
    }
    open::migrate(&mut connection, &open::MIGRATIONS, None)?;
    let problems = health::check(&connection).map_err(&rehearsing)?;
    Ok(CopyCheck { problems, stats: health::stats(&connection).map_err(&rehearsing)? })
}

/// What is in the schema of a copy and would not be in a new database of its version, or the other way round.
fn strange(copy: &Connection) -> Stored<Vec<String>> {
    let comparing = while_doing("compare the schema of a backup");
    let version = open::schema_version(copy).map_err(&comparing)?;
    let steps = open::MIGRATIONS.get(..usize::try_from(version).unwrap_or(0)).unwrap_or(&open::MIGRATIONS);
    let mut new = Connection::open_in_memory().map_err(&comparing)?;
    open::migrate(&mut new, steps, None)?;
    let (found, expected) = (schema(copy).map_err(&comparing)?, schema(&new).map_err(&comparing)?);
    let leaving = leaving(steps).map_err(&comparing)?;
    let named = |(kind, name, ..): &SchemaRow| format!("{kind} `{name}`");
    let extra = found.difference(&expected).filter(|row| !leaving.contains(*row));
    let extra = extra.map(|row| format!("the {} is not ours", named(row)));
    let missing = expected.difference(&found).map(|row| format!("our {} is missing or changed", named(row)));
    Ok(extra.chain(missing).collect())
}

/// What a copy has besides where it was made while the index of words before this one was still there, or was removed.
fn leaving(steps: &[&str]) -> rusqlite::Result<BTreeSet<SchemaRow>> {
    let old = Connection::open_in_memory()?;
    crate::functions::register(&old)?;
    steps.iter().try_for_each(|step| old.execute_batch(step))?;
    let mut rows = schema(&old)?;
    crate::words::fts5::retire(&old)?;
    rows.append(&mut schema(&old)?);
    Ok(rows)
}

/// Kind, name, table and statement of what a schema holds.
type SchemaRow = (String, String, String, Option<String>);

fn schema(connection: &Connection) -> rusqlite::Result<BTreeSet<SchemaRow>> {
    let mut rows = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?.collect()
}

/// A connection to a file that a copy is about to be put into.
pub(crate) fn target_of_restore(target: &Path) -> Stored<Connection> {
    let restoring = while_doing("restore a backup");
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(target, flags).map_err(&restoring)?;
    restrict(target)?;
    connection.execute_batch("PRAGMA synchronous = FULL").map_err(&restoring)?;
    Ok(connection)
}

/// Puts everything that `source` holds in the place of what is in `live`, in one transaction.
pub(crate) fn put_in_place(source: &Connection, live: &mut Connection) -> Stored<()> {
    let restoring = while_doing("restore a backup");
    let backup = Backup::new(source, live).map_err(&restoring)?;
    let mut looks = 0;
    loop {
        match backup.step(PAGES_A_STEP).map_err(&restoring)? {
            StepResult::Done => return Ok(()),
            StepResult::Busy | StepResult::Locked if looks >= LOOKS => return Err(StoreError::Busy),
            StepResult::Busy | StepResult::Locked => {
                looks += 1;
                std::thread::sleep(PAUSE);
            }
            _ => {}
        }
    }
}

#[cfg(unix)]
fn restrict(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|error| StoreError::Failed { doing: "protect the backup", source: Box::new(error) })
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> Result<(), StoreError> {
    Ok(())
}
