//! Opening: the settings of a connection, the version gate, the migrations, and the row of a space.

use std::time::Duration;

use throughline_core::ports::StoreError;
use throughline_stores::words::Collection;
use tokio_postgres::error::SqlState;

use crate::connection::{Connection, STATEMENT_TIMEOUT};
use crate::error::{Error, Sql};
use crate::reach::ITS_TIME;
use crate::values::values;

/// Schema versions, in order: never edited, only added to.
const MIGRATIONS: [&str; 4] = [
    include_str!("migrations/0001_memory.sql"),
    include_str!("migrations/0002_row_security.sql"),
    include_str!("migrations/0003_documents.sql"),
    include_str!("migrations/0004_copying.sql"),
];

/// The oldest PostgreSQL that has what is asked of it.
const OLDEST: u32 = 15;

/// How long a writer waits for another before it gives up, in milliseconds.
const LOCK_TIMEOUT: u128 = 30_000;

/// A machine that is cut off may hold the lock of its space: the server notices within half a minute. Engines that do not know
/// these settings are not asked for them.
const NOTICES_LOSS: &str = "SELECT set_config(name, CASE name WHEN 'tcp_user_timeout' THEN '20000' WHEN 'tcp_keepalives_idle' \
     THEN '10' ELSE '3' END, false) FROM pg_settings \
     WHERE name IN ('tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout')";

/// The server ends a transaction whose client does nothing for longer, so that nobody waits for a machine that is gone.
const IDLE_TIMEOUT: u64 = 300_000;

/// How often processes that begin a database at the same time may stand in each other's way.
const ATTEMPTS: u32 = 10;

/// A key for the digests of a space: 244 random bits of the server's.
pub(crate) const FRESH_SECRET: &str =
    "decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')";

/// Sets a connection up. All tables are in a schema of their own, so that the database may hold others.
pub(crate) fn equip(connection: &Connection, patience: Duration) -> Sql<()> {
    let lock_timeout = LOCK_TIMEOUT.min(connection.reach().address.patience.as_millis().max(1));
    let settings = format!(
        "SET statement_timeout = {STATEMENT_TIMEOUT}; SET lock_timeout = {lock_timeout}; \
         SET idle_in_transaction_session_timeout = {IDLE_TIMEOUT}; SET client_min_messages = warning; \
         SET search_path = throughline; SELECT set_config('throughline.space', '{}', false); {NOTICES_LOSS}; \
         SELECT {ITS_TIME}, version()",
        connection.space()
    );
    check_version(&connection.set_up(&settings, patience)?)
}

/// Refuses a PostgreSQL that is too old. Other engines count their versions otherwise.
fn check_version(version: &str) -> Sql<()> {
    let number = version.strip_prefix("PostgreSQL ").filter(|number| !number.contains("-YB-")).unwrap_or_default();
    let major = number.split(|c: char| !c.is_ascii_digit()).next().and_then(|major| major.parse::<u32>().ok());
    if major.is_some_and(|major| major < OLDEST) { Err(Error::OldServer(version.to_owned())) } else { Ok(()) }
}

/// Brings the schema up to date, and begins the space where it is new. One that a copy is not complete in is no memory yet.
pub(crate) fn prepare(connection: &Connection) -> Sql<()> {
    if prepare_space(connection)? { Err(StoreError::HalfCopied.into()) } else { Ok(()) }
}

/// The same for the copy itself.
pub(crate) fn prepare_unfinished(connection: &Connection) -> Sql<()> {
    prepare_space(connection).map(drop)
}

/// Says whether an unfinished copy is in the space.
fn prepare_space(connection: &Connection) -> Sql<bool> {
    let known = MIGRATIONS.len() as i64;
    match version(connection)? {
        Some(found) if found == known => {}
        Some(found) if found > known => return Err(StoreError::TooNew { found, known }.into()),
        _ => begin_schema(connection).and_then(|()| migrate(connection))?,
    }
    begin_space(connection)
}

/// Whether the server tells others of what is written.
pub(crate) fn can_notify(connection: &Connection) -> Sql<bool> {
    connection.one("SELECT to_regproc('pg_catalog.pg_notify') IS NOT NULL AND $1 <> ''", &[])?.flag(0)
}

/// The schema that the database has, if it has any.
fn version(connection: &Connection) -> Sql<Option<i64>> {
    match connection.run_for_row("SELECT version FROM schema_version") {
        Ok(row) => Ok(row.and_then(|row| row.get(0)?.parse().ok())),
        Err(Error::Postgres(error)) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes the table that says which schema there is. `IF NOT EXISTS` does not wait for others who make it: then it is there the
/// next time.
fn begin_schema(connection: &Connection) -> Sql<()> {
    let sql = "CREATE SCHEMA IF NOT EXISTS throughline; \
               CREATE TABLE IF NOT EXISTS schema_version (one bigint PRIMARY KEY CHECK (one = 1), version bigint NOT NULL); \
               INSERT INTO schema_version (one, version) VALUES (1, 0) ON CONFLICT DO NOTHING";
    let mut outcome = connection.run(sql);
    for _ in 1..ATTEMPTS {
        match &outcome {
            Err(Error::Postgres(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {}
            _ => break,
        }
        outcome = connection.run(sql);
    }
    outcome
}

/// Takes the steps that are missing, in one transaction, under a lock on the row that says how many there are: engines without
/// advisory locks have that one too.
fn migrate(connection: &Connection) -> Sql<()> {
    let migrated = connection.run("BEGIN; SELECT version FROM schema_version FOR UPDATE").and_then(|()| {
        let found = version(connection)?.unwrap_or_default();
        for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
            connection.run(step)?;
        }
        connection.run(&format!("UPDATE schema_version SET version = {}; COMMIT", MIGRATIONS.len()))
    });
    if migrated.is_err() {
        connection.run("ROLLBACK")?;
    }
    migrated
}

/// Says whether an unfinished copy is in the space.
fn begin_space(connection: &Connection) -> Sql<bool> {
    if let Some(space) = connection.maybe("SELECT copying IS NOT NULL FROM spaces WHERE space = $1", &[])? {
        return space.flag(0);
    }
    let begun = connection.run("BEGIN").and_then(|()| {
        let sql = format!("INSERT INTO spaces (space, secret) VALUES ($1, {FRESH_SECRET}) ON CONFLICT DO NOTHING");
        connection.execute(&sql, &[])?;
        let sql = "INSERT INTO word_indexes (space, collection, built, until, tail) \
                   SELECT $1, unnest($2::bigint[]), 0, 0, 0 ON CONFLICT DO NOTHING";
        connection.execute(sql, &values![Collection::ALL.map(Collection::number).to_vec()])?;
        connection.run("COMMIT")
    });
    if begun.is_err() {
        connection.run("ROLLBACK")?;
    }
    begun.map(|()| false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(version: &str, is_taken: bool) {
        assert_eq!(check_version(version).is_ok(), is_taken, "{version}");
    }

    #[test]
    fn refuses_a_server_that_is_too_old() {
        check("PostgreSQL 14.9 (Debian 14.9-1.pgdg120+1) on x86_64-pc-linux-gnu", false);
        check("PostgreSQL 9.6.24 on aarch64-apple-darwin", false);
        check("PostgreSQL 15.5 (Debian 15.5-0+deb12u1) on x86_64-pc-linux-gnu", true);
        check("PostgreSQL 19devel on x86_64-pc-linux-gnu", true);
        check("PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu", true);
        check("CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)", true);
        let refused = check_version("PostgreSQL 14.9 on x86_64").unwrap_err().to_string();
        assert_eq!(refused, "the server is PostgreSQL 14.9 on x86_64; PostgreSQL 15 or later is needed");
    }
}
