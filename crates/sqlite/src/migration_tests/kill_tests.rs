//! A database of every schema, and processes that are killed at every statement of the migration from it: what is left is the
//! old schema with all of its rows, never something in between.

#![allow(clippy::disallowed_methods, reason = "a test starts itself as the process that is killed")]

use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Batch, Connection};
use throughline_core::model::ContentHash;

use crate::open::{MIGRATIONS, Make, migrate, schema_version};
use crate::{Durability, open};

/// Rows for every schema.
const ROWS: &str = include_str!("../migrations/fixtures/every_schema.sql");

/// Tells this program that it is the process to be killed: the database, the schema to reach, the statement to end at.
const KILLED: &str = "THROUGHLINE_KILLED_MIGRATION";

/// With it, every schema is migrated to the latest one, and not only to the next: thousands of processes.
const ALL: &str = "THROUGHLINE_ALL_MIGRATIONS";

/// What differs from one migration to the next, because it is random.
const RANDOM: [&str; 6] = ["store_identity", "withdrawn_key", "entry_tail", "turn_tail", "chunk_tail", "word_segments"];

fn connect(path: &Path) -> Connection {
    open::connect(path, Durability::Process, Make::New).unwrap()
}

/// The rows that a schema could first hold.
fn rows_of(schema: usize) -> &'static str {
    let heading = format!("-- Schema {schema}\n");
    let section = ROWS.split_once(&heading).map_or("", |(_, rest)| rest);
    section.split_once("-- Schema ").map_or(section, |(section, _)| section)
}

/// A database that was used with every schema up to this one.
fn database(path: &Path, schema: usize) {
    let mut connection = connect(path);
    for step in 1..=schema {
        migrate(&mut connection, &MIGRATIONS[..step], None).unwrap();
        connection.execute_batch(rows_of(step)).unwrap();
    }
}

/// Everything that a database holds: its schema, and the rows of every table, except of those that are left out.
fn dump(connection: &Connection, left_out: &[&str]) -> Vec<String> {
    let list = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            (0..columns).map(|at| row.get::<_, rusqlite::types::Value>(at)).collect::<rusqlite::Result<Vec<_>>>()
        };
        statement.query_map([], row).unwrap().map(|row| format!("{:?}", row.unwrap())).collect()
    };
    let mut lines = list("SELECT type, name, sql FROM sqlite_schema ORDER BY name");
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name";
    let mut statement = connection.prepare(tables).unwrap();
    for table in statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap) {
        if !left_out.contains(&table.as_str()) {
            lines.push(table.clone());
            let columns = if table == "withdrawn" && !left_out.is_empty() { "content, memory, why" } else { "*" };
            lines.extend(list(&format!("SELECT {columns} FROM \"{table}\"")));
        }
    }
    lines
}

/// The statements of each step from one schema to another, each as it is written.
fn statements(path: &Path, from: usize, to: usize) -> Vec<Vec<String>> {
    let connection = Connection::open(path).unwrap();
    crate::functions::register(&connection).unwrap();
    let steps = MIGRATIONS[from..to].iter().map(|step| {
        let (mut batch, mut texts) = (Batch::new(&connection, step), Vec::new());
        while let Some(mut statement) = batch.next().unwrap() {
            texts.push(statement.expanded_sql().unwrap());
            statement.raw_execute_all();
        }
        texts
    });
    steps.collect()
}

/// Runs a statement to its end, whether it gives rows or not.
trait RawExecuteAll {
    fn raw_execute_all(&mut self);
}

impl RawExecuteAll for rusqlite::Statement<'_> {
    fn raw_execute_all(&mut self) {
        let mut rows = self.raw_query();
        while rows.next().unwrap().is_some() {}
    }
}

/// The process that is killed: it ends at one statement of the migration, without any chance to clean up.
fn be_killed(order: &str) {
    let parts: Vec<&str> = order.split('|').collect();
    let number = |at: usize| parts[at].parse::<usize>().unwrap();
    let (path, from, to, nth) = (Path::new(parts[0]), number(1), number(2), number(3));
    let scratch = tempfile::tempdir().unwrap();
    let copy = scratch.path().join("copy.db");
    std::fs::copy(path, &copy).unwrap();
    let mut left = nth;
    let mut steps: Vec<String> = MIGRATIONS[..from].iter().map(|&step| step.to_owned()).collect();
    for statements in statements(&copy, from, to) {
        let mut step = statements;
        if left <= step.len() {
            step.insert(left, "SELECT die();".to_owned());
            left = usize::MAX;
        } else {
            left -= step.len();
        }
        steps.push(step.join("\n"));
    }
    let mut connection = connect(path);
    let die = |_: &rusqlite::functions::Context<'_>| -> rusqlite::Result<bool> { std::process::abort() };
    connection.create_scalar_function("die", 0, FunctionFlags::SQLITE_UTF8, die).unwrap();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let ended = migrate(&mut connection, &steps, None);
    unreachable!("the migration went on: {ended:?}");
}

/// Starts this program anew; it must not come to an end by itself.
fn kill(path: &Path, from: usize, to: usize, nth: usize) {
    let order = format!("{}|{from}|{to}|{nth}", path.display());
    let test = "migration_tests::kill_tests::a_process_killed_at_any_statement_leaves_the_old_schema";
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", test, "--nocapture"]).env(KILLED, order).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), None, "{from} to {to} at {nth}: {said}");
}

/// Copies a database that nobody has open.
fn copied(from: &Path, home: &Path) -> PathBuf {
    let path = home.join("memory.db");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(home.join(format!("memory.db{end}")));
    }
    std::fs::copy(from, &path).unwrap();
    path
}

#[test]
fn a_process_killed_at_any_statement_leaves_the_old_schema() {
    if let Ok(order) = std::env::var(KILLED) {
        return be_killed(&order);
    }
    let is_all = std::env::var_os(ALL).is_some();
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut kills = 0;
    for from in 1..MIGRATIONS.len() {
        let to = if is_all { MIGRATIONS.len() } else { from + 1 };
        let original = home.path().join(format!("schema-{from}.db"));
        database(&original, from);
        let before = dump(&connect(&original), &[]);
        let copy = copied(&original, work.path());
        let count: usize = statements(&copy, from, to).iter().map(Vec::len).sum();
        for nth in 0..=count {
            let path = copied(&original, work.path());
            kill(&path, from, to, nth);
            kills += 1;
            let mut connection = connect(&path);
            assert_eq!(schema_version(&connection).unwrap(), from as i64);
            assert_eq!(dump(&connection, &[]), before, "schema {from}, killed at statement {nth}");
            if nth == count {
                migrate(&mut connection, &MIGRATIONS, None).unwrap();
                assert_eq!(crate::health::check(&connection).unwrap(), Vec::<String>::new(), "schema {from}");
                let mut untouched = connect(&original);
                migrate(&mut untouched, &MIGRATIONS, None).unwrap();
                assert_eq!(dump(&connection, &RANDOM), dump(&untouched, &RANDOM), "schema {from}");
            }
        }
    }
    assert!(kills > 200, "{kills}");
    println!("migrations · schemas {} · kills {kills} · between old and new 0", MIGRATIONS.len() - 1);
}

#[test]
fn a_database_of_every_schema_is_brought_up_to_date_with_all_that_it_held() {
    for schema in 1..=MIGRATIONS.len() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("memory.db");
        database(&path, schema);
        let mut connection = connect(&path);
        migrate(&mut connection, &MIGRATIONS, Some(home.path())).unwrap();
        assert_eq!(crate::health::check(&connection).unwrap(), Vec::<String>::new(), "schema {schema}");
        let counts = "SELECT concat_ws(' ', (SELECT count(*) FROM entries), (SELECT count(*) FROM turns), \
            (SELECT count(*) FROM sessions), (SELECT count(*) FROM documents), (SELECT count(*) FROM changes))";
        assert_eq!(super::rows(&connection, counts), ["8 5 3 2 4"], "schema {schema}");
        assert_eq!(
            super::rows(&connection, "SELECT content FROM entries WHERE id = 'tea'"),
            ["likes green tea in the morning"]
        );
        let all = |sql: &str| super::rows(&connection, sql);
        // What was being built is given up with schema 27.
        let segments: &[&str] = match schema {
            26.. => &["1 2 01", "2 2 02"],
            _ => &[],
        };
        let sql =
            "SELECT concat_ws(' ', s.row, state, hex(bytes)) FROM word_segments s JOIN word_parts ON key >> 32 = s.row";
        assert_eq!(all(sql), segments, "schema {schema}");
        let changed = "SELECT '' || ((SELECT count(*) FROM entry_tail) > 0 AND (SELECT count(*) FROM turn_tail) > 0)";
        assert_eq!(all(changed), [if schema < 27 { "0" } else { "1" }], "schema {schema}");
        let unread = all("SELECT concat_ws(' ', path, stamp, why) FROM vault_unread");
        let expected: &[&str] = if schema < 29 { &[] } else { &["/notes/scan.pdf s3 holds no text"] };
        assert_eq!(unread, expected, "schema {schema}");
    }
}

/// What was released is never edited: a memory of that schema would be brought up to date to something else than it is.
#[test]
fn released_migrations_stay_as_they_are() {
    let known = include_str!("../migrations/fixtures/digests.txt");
    let digests: Vec<String> = MIGRATIONS.iter().map(|step| ContentHash::of(step).as_str().to_owned()).collect();
    assert_eq!(
        digests,
        known.lines().collect::<Vec<_>>(),
        "a released migration was edited, or a new one has no digest"
    );
}
