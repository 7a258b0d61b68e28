//! Copies of the live database, made and verified by SQLite itself.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use throughline_core::ports::StoreError;

use crate::error::while_doing;

/// Pages copied between two looks at the lock.
const PAGES_A_STEP: i32 = 1024;

/// Copies to `target`, which must not exist. Left behind is a whole, checked, single file, or nothing.
pub(crate) fn copy(source: &Connection, target: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
    let partial = target.with_extension("partial");
    let outcome = copy_to(source, &partial, progress).and_then(|()| {
        std::fs::hard_link(&partial, target)
            .map_err(|error| StoreError::Failed { doing: "put the backup in its place", source: Box::new(error) })
    });
    // The name is ours alone; that it is gone already is as good.
    let _ = std::fs::remove_file(&partial);
    outcome
}

fn copy_to(source: &Connection, partial: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
    let backing_up = while_doing("back up");
    let _ = std::fs::remove_file(partial);
    let mut copy = Connection::open(partial).map_err(&backing_up)?;
    restrict(partial)?;
    copy.execute_batch("PRAGMA synchronous = FULL").map_err(&backing_up)?;
    {
        let backup = Backup::new(source, &mut copy).map_err(&backing_up)?;
        while backup.step(PAGES_A_STEP).map_err(&backing_up)? != StepResult::Done {
            let now = backup.progress();
            progress((now.pagecount - now.remaining).max(0) as u64, now.pagecount.max(0) as u64);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    // A backup is one file: no log beside it that could be left behind.
    copy.pragma_update(None, "journal_mode", "delete").map_err(&backing_up)?;
    let verdict: String = copy.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(&backing_up)?;
    if verdict != "ok" {
        return Err(StoreError::Damaged { path: partial.display().to_string(), source: Some(verdict.into()) });
    }
    Ok(())
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
