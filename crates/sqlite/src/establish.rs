//! Finds out whether the database at a path can be used, and opens it.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use throughline_core::ports::{Loss, StoreError};

use crate::error::while_doing;
use crate::files::Stamp;
use crate::identity::{self, Identity, Pairing};
use crate::open::{self, Durability, Make};
use crate::watch::{Known, Watch, copy_log};
use crate::{erase, health};

/// How long sweeping up waits for others.
const BRIEF: Duration = Duration::from_millis(100);

/// Why a database cannot be used.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is not the one that is expected.
    Replaced,
    /// Its content is not sound.
    Unsound(String),
    /// It was moved while it was opened.
    Moved,
    /// It could not be opened.
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Refusal {
    /// As whoever opens a database is told.
    pub(crate) fn at_open(self) -> StoreError {
        let damaged = |why: String| StoreError::Damaged { source: Some(why.into()) };
        match self {
            Self::Replaced => damaged("the database file and its write-ahead log do not belong together".to_owned()),
            Self::Unsound(why) => damaged(why),
            Self::Moved => StoreError::Lost { loss: Loss::Missing, backup: None },
            Self::Store(error) => error,
        }
    }

    /// What happened to a database that was open before; nothing where that is not known now. `is_same_file` says whether
    /// the file is still the one that was opened.
    pub(crate) fn loss(&self, is_same_file: bool) -> Option<Loss> {
        match self {
            Self::Store(StoreError::Damaged { .. } | StoreError::TooNew { .. }) if !is_same_file => {
                Some(Loss::Replaced)
            }
            Self::Replaced | Self::Store(StoreError::TooNew { .. }) => Some(Loss::Replaced),
            Self::Unsound(_) | Self::Store(StoreError::Damaged { .. }) => Some(Loss::Damaged),
            Self::Moved | Self::Store(_) => None,
        }
    }
}

/// Opens the database, brings its schema up to date, and looks at it as closely as there is reason to. One that was open
/// before has to be what it was `expected` to be, and sound.
pub(crate) fn establish(
    watch: &Watch,
    backups: &Path,
    durability: Durability,
    make: Make,
    expected: Option<&Identity>,
) -> Result<(Known, Connection), Refusal> {
    let opening = while_doing("open the database");
    // Until it is known that file and log belong together, nothing is written, not even by closing.
    let mut connection = open::connect_untouched(&watch.files.main, make)?;
    let is_current = open::schema_version(&connection).map_err(&opening)? == open::MIGRATIONS.len() as i64;
    let compared = if is_current { Some(compare(watch, &connection)?) } else { None };
    if let Some(expected) = expected
        && !compared.as_ref().is_some_and(|(identity, _)| identity.follows(expected))
    {
        return Err(Refusal::Replaced);
    }
    open::equip(&connection, durability)?;
    if let Some(saved) = open::migrate(&mut connection, &open::MIGRATIONS, Some(backups))? {
        tracing::info!(backup = %saved.display(), "the schema was brought up to date");
    }
    let (identity, counted) = compared.map_or_else(|| compare(watch, &connection), Ok)?;
    if expected.is_some() || counted.is_none() {
        let mut damage = health::damage(&connection).map_err(&opening)?;
        // Where all of the log is in the file, the file has to be sound by itself: the log may begin anew at any time.
        damage.extend(watch.damage_of_file(&connection, true).map_err(&opening)?);
        if let Some(first) = damage.into_iter().next() {
            return Err(Refusal::Unsound(first));
        }
    }
    let counted = finish(&connection, &identity, counted).map_err(&opening)?;
    if identity::has_moved(&connection).unwrap_or(true) {
        return Err(Refusal::Moved);
    }
    let page_size: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(opening)?;
    let known = Known::of(&watch.files.stamps(), u64::try_from(page_size).unwrap_or(0), counted, identity);
    Ok((known.ok_or(Refusal::Moved)?, connection))
}

/// Who the database is, and what its file alone counts, if that can be read.
fn compare(watch: &Watch, connection: &Connection) -> Result<(Identity, Option<i64>), Refusal> {
    let reading = while_doing("open the database");
    let identity = identity::read(connection).map_err(&reading)?;
    // Without a log there is nothing that could belong to something else, and all of it is in the file.
    if Stamp::of(&watch.files.log).is_none_or(|log| log.length == 0) {
        let counted = identity.writes;
        return Ok((identity, Some(counted)));
    }
    let before = watch.bare.read();
    let identity = identity::read(connection).map_err(reading)?;
    match watch.bare.read().pairs_with(&identity, &before) {
        Pairing::Fits(counted) => Ok((identity, Some(counted))),
        Pairing::Unknown => Ok((identity, None)),
        Pairing::Broken => Err(Refusal::Replaced),
    }
}

/// What is left to do with a database that can be used; gives what its file alone counts.
fn finish(connection: &Connection, identity: &Identity, counted: Option<i64>) -> rusqlite::Result<i64> {
    if erase::is_unswept(connection)? {
        // Whoever opens a memory wants something else: another process that writes is not waited for.
        connection.busy_timeout(BRIEF)?;
        if !erase::sweep(connection) {
            tracing::debug!("something was erased, and its traces cannot be swept away for now");
        }
        connection.busy_timeout(open::BUSY_TIMEOUT)?;
    }
    let counted = match counted {
        Some(counted) if counted > 0 => counted,
        // Only a file that says who it is can be told from another one.
        _ if copy_log(connection)? => identity.writes,
        _ => 0,
    };
    open::close_quietly(connection, false)?;
    Ok(counted)
}
