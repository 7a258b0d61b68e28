//! Opening: every pragma, the version gate and the migrations. Nothing else opens the database.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use throughline_core::ports::StoreError;

use crate::error::{is_busy, while_doing, without_path};

/// Schema versions, in order: never edited, only added to.
pub(crate) const MIGRATIONS: [&str; 29] = [
    include_str!("migrations/0001_memory.sql"),
    include_str!("migrations/0002_conversations.sql"),
    include_str!("migrations/0003_work.sql"),
    include_str!("migrations/0004_reflection.sql"),
    include_str!("migrations/0005_vault.sql"),
    include_str!("migrations/0006_jobs.sql"),
    include_str!("migrations/0007_embeddings.sql"),
    include_str!("migrations/0008_positions.sql"),
    include_str!("migrations/0009_holders.sql"),
    include_str!("migrations/0010_same_text.sql"),
    include_str!("migrations/0011_queries.sql"),
    include_str!("migrations/0012_revisions.sql"),
    include_str!("migrations/0013_machines.sql"),
    include_str!("migrations/0014_store_identity.sql"),
    include_str!("migrations/0015_memory_vectors.sql"),
    include_str!("migrations/0016_person.sql"),
    include_str!("migrations/0017_injected_versions.sql"),
    include_str!("migrations/0018_projects.sql"),
    include_str!("migrations/0019_off_record.sql"),
    include_str!("migrations/0020_mutes.sql"),
    include_str!("migrations/0021_titles.sql"),
    include_str!("migrations/0022_reviewed.sql"),
    include_str!("migrations/0023_withdrawals.sql"),
    include_str!("migrations/0024_threads.sql"),
    include_str!("migrations/0025_line_sources.sql"),
    include_str!("migrations/0026_word_index.sql"),
    include_str!("migrations/0027_payloads.sql"),
    include_str!("migrations/0028_waiting_sessions.sql"),
    include_str!("migrations/0029_vault_unread.sql"),
];

/// The schema that brought the word index: from there on, a memory that begins has no other.
const WORD_INDEX: i64 = 26;

/// `PRAGMA application_id`: says that a database is one of ours.
const APPLICATION_ID: i64 = 0x5468_724C;

/// Versions before this one can corrupt a database when a write-ahead log is reset.
const OLDEST_SQLITE: i32 = 3_051_003;

/// How long a writer waits for another before it gives up.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Copies from before a change of the schema that processes may make at once.
const MOST_COPIES: u32 = 64;

/// How much a commit waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A commit survives the loss of power.
    #[default]
    Full,
    /// A commit survives the end of the process; for logs, and for data that can be made again.
    Process,
}

/// Whether a database may be made where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Make {
    /// Only where a memory begins.
    New,
    /// One that is missing stays missing.
    Nothing,
}

/// A connection with every pragma set, to a database that is ours and not newer than this program.
pub(crate) fn connect(path: &Path, durability: Durability, make: Make) -> Result<Connection, StoreError> {
    let connection = connect_untouched(path, make)?;
    equip(&connection, durability)?;
    close_quietly(&connection, false).map_err(while_doing("open the database"))?;
    Ok(connection)
}

/// The same beside others of this process: it keeps fewer pages, so that many readers do not take much memory.
pub(crate) fn connect_beside(path: &Path, durability: Durability) -> Result<Connection, StoreError> {
    let connection = connect(path, durability, Make::Nothing)?;
    connection.execute_batch("PRAGMA cache_size = -4096").map_err(while_doing("open the database"))?;
    Ok(connection)
}

/// Keeps few pages from here on: a process that ends soon reads most pages once, and reuses memory faster than it gets more.
pub(crate) fn keep_little(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA cache_size = -1024")
}

/// The same without any pragma: nothing is written by opening it, nor by closing it.
pub(crate) fn connect_untouched(path: &Path, make: Make) -> Result<Connection, StoreError> {
    let opening = while_doing("open the database");
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, make == Make::New);
    let connection = Connection::open_with_flags(path, flags).map_err(|error| opening(without_path(error)))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(&opening)?;
    // Until the gate has passed, closing must not fold a log into a database that is not ours to touch.
    close_quietly(&connection, true).map_err(&opening)?;
    let found = patiently(|| schema_version(&connection)).map_err(&opening)?;
    gate(found, &connection)?;
    Ok(connection)
}

/// Sets every pragma.
pub(crate) fn equip(connection: &Connection, durability: Durability) -> Result<(), StoreError> {
    patiently(|| set_pragmas(connection, durability)).map_err(while_doing("open the database"))
}

/// Whether closing leaves file and log as they are, instead of folding the log into the file.
pub(crate) fn close_quietly(connection: &Connection, quietly: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, quietly).map(drop)
}

/// A connection to a backup of the current schema: one file, no log beside it.
pub(crate) fn connect_to_backup(path: &Path) -> Result<Connection, StoreError> {
    let opening = while_doing("open a backup");
    check_is_file(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| opening(without_path(error)))?;
    let found = schema_version(&connection).map_err(&opening)?;
    gate(found, &connection)?;
    if found != MIGRATIONS.len() as i64 {
        let source = format!("its schema is {found}").into();
        return Err(StoreError::Failed { doing: "erase from a backup", source });
    }
    let pragmas = "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;";
    connection.execute_batch(pragmas).map_err(&opening)?;
    Ok(connection)
}

/// Refuses what is no plain file: opening a pipe would wait for a writer.
fn check_is_file(path: &Path) -> Result<(), StoreError> {
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        let source = std::io::Error::other(format!("{} is not a plain file", path.display()));
        return Err(StoreError::Failed { doing: "open a backup", source: Box::new(source) });
    }
    Ok(())
}

/// A connection that only reads a copy of a database of ours, whatever its schema, unless that is newer than this program.
pub(crate) fn connect_to_copy(path: &Path) -> Result<Connection, StoreError> {
    let opening = while_doing("open a backup");
    check_is_file(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| opening(without_path(error)))?;
    let found = schema_version(&connection).map_err(&opening)?;
    gate(found, &connection)?;
    if found == 0 {
        return Err(StoreError::Damaged { source: Some("it holds nothing".into()) });
    }
    Ok(connection)
}

/// Whether a connection that only reads takes SQLite's locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locking {
    /// Others may write.
    Usual,
    /// Nobody can.
    None,
}

/// A connection that only reads the database itself, also one that a newer program wrote.
pub(crate) fn connect_to_read(path: &Path, locking: Locking) -> Result<Connection, StoreError> {
    let opening = while_doing("open the database to read");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let opened = match locking {
        Locking::Usual => Connection::open_with_flags(path, flags),
        Locking::None => Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI),
    };
    let connection = opened.map_err(|error| opening(without_path(error)))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(&opening)?;
    let known = MIGRATIONS.len() as i64;
    let found = patiently(|| schema_version(&connection)).map_err(&opening)?;
    gate(found.min(known), &connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(&opening)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(&opening)?;
    let pragmas =
        "PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;";
    connection.execute_batch(pragmas).map_err(opening)?;
    Ok(connection)
}

/// The address of a file that nobody changes.
fn immutable(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address + "?immutable=1"
}

/// The schema that a database has.
pub(crate) fn schema_of(connection: &Connection) -> Result<i64, StoreError> {
    schema_version(connection).map_err(while_doing("open the database"))
}

fn set_pragmas(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Without it, a prepared statement is prepared anew whenever the values change that a range begins or ends with.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "journal_mode", "wal")?;
    set_durability(connection, durability)?;
    // The log is copied into the file by whoever wrote, between two looks at the files.
    connection.execute_batch(
        "PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA mmap_size = 0;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -16384;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA journal_size_limit = 16777216;",
    )
}

/// Waits no longer than this for another writer, and syncs no more than this.
pub(crate) fn hurry(connection: &Connection, patience: Duration, durability: Durability) -> rusqlite::Result<()> {
    connection.busy_timeout(patience)?;
    set_durability(connection, durability)
}

/// Undoes [`hurry`].
pub(crate) fn unhurry(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    hurry(connection, BUSY_TIMEOUT, durability)
}

fn set_durability(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.execute_batch(match durability {
        Durability::Full => "PRAGMA synchronous = FULL",
        Durability::Process => "PRAGMA synchronous = NORMAL",
    })
}

/// Some locks are not waited for by SQLite itself (turning on the write-ahead log is one): this waits for those.
fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let pause = Duration::from_millis(10);
    let mut left = BUSY_TIMEOUT;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && !left.is_zero() => {
                std::thread::sleep(pause);
                left = left.saturating_sub(pause);
            }
            outcome => return outcome,
        }
    }
}

pub(crate) fn schema_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT user_version FROM pragma_user_version")?.query_row([], |row| row.get(0))
}

/// Refuses an old SQLite, a database of somebody else's, and one that a newer program wrote.
fn gate(found: i64, connection: &Connection) -> Result<(), StoreError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        let source = format!("SQLite {} is older than 3.51.3", rusqlite::version()).into();
        return Err(StoreError::Failed { doing: "use this SQLite", source });
    }
    let (application, tables): (i64, i64) = connection
        .query_row(
            "SELECT (SELECT application_id FROM pragma_application_id), count(*) FROM sqlite_schema",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(while_doing("look at the database"))?;
    if application != APPLICATION_ID && (tables > 0 || found > 0) {
        let source = Some("it is a database of another program".into());
        return Err(StoreError::Damaged { source });
    }
    let known = MIGRATIONS.len() as i64;
    if found > known {
        return Err(StoreError::TooNew { found, known });
    }
    Ok(())
}

/// Brings the schema up to date: a backup first, then each step in one transaction with all the others.
pub(crate) fn migrate(
    connection: &mut Connection,
    steps: &[&str],
    backups: Option<&Path>,
) -> Result<Option<PathBuf>, StoreError> {
    let migrating = while_doing("bring the database up to date");
    let latest = steps.len() as i64;
    let found = schema_version(connection).map_err(&migrating)?;
    if found == latest {
        return Ok(None);
    }
    let saved = match backups {
        Some(directory) if found > 0 => Some(save_before(connection, directory, found)?),
        _ => None,
    };
    crate::functions::register(connection).map_err(&migrating)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&migrating)?;
    // Another process may have been faster: look again under the lock.
    let found = schema_version(&transaction).map_err(&migrating)?;
    for step in steps.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(step).map_err(&migrating)?;
    }
    if latest >= WORD_INDEX {
        crate::words::fts5::remove_unused(&transaction).map_err(&migrating)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(&migrating)?;
    transaction.pragma_update(None, "user_version", latest.max(found)).map_err(&migrating)?;
    transaction.commit().map_err(&migrating)?;
    Ok(saved)
}

fn save_before(connection: &Connection, directory: &Path, found: i64) -> Result<PathBuf, StoreError> {
    let mut path = directory.join(format!("before-schema-{}.db", found + 1));
    let mut nth = 1;
    loop {
        while path.exists() {
            nth += 1;
            path = directory.join(format!("before-schema-{}-{nth}.db", found + 1));
        }
        match crate::backup::copy(connection, &path, &mut |_, _| true) {
            Ok(()) => return Ok(path),
            // Another process that brings the schema up to date was faster with this name.
            Err(_) if path.exists() && nth < MOST_COPIES => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [&str; 2] = ["CREATE TABLE a (x) STRICT;", "CREATE TABLE b (x INTEGER) STRICT;"];
    const ONE: [&str; 1] = ["CREATE TABLE a (x TEXT) STRICT; INSERT INTO a VALUES ('kept');"];

    fn fresh() -> (tempfile::TempDir, Connection) {
        let home = tempfile::tempdir().unwrap();
        let connection = connect(&home.path().join("memory.db"), Durability::Process, Make::New).unwrap();
        (home, connection)
    }

    #[test]
    fn migrates_once_and_keeps_a_copy_of_what_was() {
        let (home, mut connection) = fresh();
        assert_eq!(migrate(&mut connection, &ONE, Some(home.path())).unwrap(), None);
        let saved = migrate(&mut connection, &[ONE[0], TWO[1]], Some(home.path())).unwrap().unwrap();
        assert_eq!(schema_version(&connection).unwrap(), 2);
        let copy = Connection::open(saved).unwrap();
        assert_eq!(schema_version(&copy).unwrap(), 1);
        assert_eq!(copy.query_row("SELECT x FROM a", [], |row| row.get::<_, String>(0)).unwrap(), "kept");
        assert_eq!(migrate(&mut connection, &[ONE[0], TWO[1]], Some(home.path())).unwrap(), None);
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let (home, mut connection) = fresh();
        migrate(&mut connection, &ONE, None).unwrap();
        let broken = [ONE[0], "CREATE TABLE c (x INTEGER) STRICT; CREATE TABLE c (x INTEGER) STRICT;"];
        assert!(migrate(&mut connection, &broken, Some(home.path())).is_err());
        assert_eq!(schema_version(&connection).unwrap(), 1);
        assert!(connection.prepare("SELECT * FROM c").is_err());
    }

    #[test]
    fn what_schema_2_held_is_read_by_schema_3() {
        let (_home, mut connection) = fresh();
        migrate(&mut connection, &MIGRATIONS[..2], None).unwrap();
        let entry = "INSERT INTO entries (id, kind, namespace, layer, source, status, importance, tags, created_at, \
             updated_at, supersedes, provenance, version, content, terms) \
             VALUES (?1, 'entry', 'global', 'knowledge', 'user', 'active', 0.5, '[]', 0, 0, ?2, '[]', 1, ?1, ?1)";
        connection.execute(entry, ["replacing", "replaced"].map(Some)).unwrap();
        connection.execute(entry, [Some("plain"), None]).unwrap();
        let rest = "INSERT INTO changes (id, who, via, verb, at) VALUES ('c', 'user', 'cli', 'import', 0);
             INSERT INTO adopted SELECT row, 'entry', 'plain' FROM changes;
             INSERT INTO sessions (id, created_at, updated_at) VALUES ('cli:a', 0, 0);
             INSERT INTO recalls (id, at, query, hits) VALUES ('r', 0, 'tea', '[]');";
        connection.execute_batch(rest).unwrap();
        migrate(&mut connection, &MIGRATIONS, None).unwrap();
        let text = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
        let read = |id: &str| {
            let sql = format!("SELECT {} FROM entries e WHERE id = '{id}'", crate::rows::ENTRY_COLUMNS);
            connection.query_row(&sql, [], crate::rows::entry).unwrap().supersedes
        };
        assert_eq!(read("replacing"), [throughline_core::model::EntryId::new("replaced")]);
        assert_eq!(read("plain"), []);
        assert_eq!(text("SELECT what || ' ' || id FROM adopted"), "entry plain");
        assert_eq!(text("SELECT id || ' ' || consolidated FROM sessions"), "cli:a 0");
        assert_eq!(text("SELECT id || ifnull(session, ' of nobody') FROM recalls"), "r of nobody");
        connection.execute("INSERT INTO adopted SELECT row, 'task', 't' FROM changes", []).unwrap();
    }

    #[test]
    fn vectors_of_schema_5_serve_on() {
        let (_home, mut connection) = fresh();
        migrate(&mut connection, &MIGRATIONS[..5], None).unwrap();
        let rows = "INSERT INTO vault_documents VALUES (1, 'd', '/a', '/a', 'files', 'A', 'h', 's', 1, 0);
             INSERT INTO vault_chunks VALUES (7, 'c', 1, 0, '[]', NULL, 1, 1, 'tea', 'tea');
             INSERT INTO vector_sets VALUES (3, 'openai/org/model', 8, 1);
             INSERT INTO vector_blocks VALUES (3, 0, x'80', x'ff');
             INSERT INTO vector_bytes VALUES (7, 3, 0.5, x'0102');";
        connection.execute_batch(rows).unwrap();
        migrate(&mut connection, &MIGRATIONS, None).unwrap();
        let text = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
        assert_eq!(
            text("SELECT row || ' ' || provider || ' ' || model || ' ' || serving FROM vector_sets"),
            "3 openai org/model 1"
        );
        assert_eq!(
            text("SELECT hex(bits) || hex(bytes) FROM vector_blocks JOIN vector_bytes USING (vector_set)"),
            "FF0102"
        );
        connection.execute("DELETE FROM vault_chunks", []).unwrap();
        assert_eq!(text("SELECT count(*) || '' FROM vector_bytes"), "0", "vectors still go with their chunk");
        assert_eq!(text("SELECT count(*) || '' FROM pragma_foreign_key_check"), "0");
    }

    #[test]
    fn every_pragma_is_set() {
        let home = tempfile::tempdir().unwrap();
        let connection = connect(&home.path().join("memory.db"), Durability::Full, Make::New).unwrap();
        let pragma = |name: &str| {
            connection.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0)).unwrap()
        };
        assert_eq!(pragma("journal_mode"), "wal".to_owned().into());
        for (name, value) in [("synchronous", 2), ("foreign_keys", 1), ("secure_delete", 1), ("trusted_schema", 0)] {
            assert_eq!(pragma(name), value.into(), "{name}");
        }
        assert_eq!(pragma("busy_timeout"), 30_000.into());
    }
}
