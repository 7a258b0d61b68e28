//! What an older schema held is still there after the migrations.

use rusqlite::Connection;
use throughline_core::ports::{Changes as _, History as _, Projects as _};

mod kill_tests;

use crate::open::{MIGRATIONS, migrate};
use crate::{Durability, SqliteStore, open};

/// A database that was brought up to date from schema 7.
fn from_schema_7() -> (tempfile::TempDir, Connection) {
    let home = tempfile::tempdir().unwrap();
    let mut connection = open::connect(&home.path().join("memory.db"), Durability::Process, open::Make::New).unwrap();
    migrate(&mut connection, &MIGRATIONS[..7], None).unwrap();
    connection.execute_batch(include_str!("migrations/fixtures/schema_7.sql")).unwrap();
    migrate(&mut connection, &MIGRATIONS, None).unwrap();
    assert_eq!(crate::health::check(&connection).unwrap(), Vec::<String>::new());
    (home, connection)
}

/// The rows that a query gives, their columns joined.
fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn turns_of_schema_7_have_positions_in_their_session() {
    let (_home, connection) = from_schema_7();
    let sql = "SELECT id || ' ' || position FROM turns ORDER BY session, position";
    assert_eq!(rows(&connection, sql), ["a1 1", "a2 2", "a3 3", "a4 4", "b1 1", "b2 2", "b3 3"]);
}

#[test]
fn pointers_of_schema_7_stand_where_they_stood() {
    let (_home, connection) = from_schema_7();
    let sql = "SELECT concat_ws(' ', id, last_position, consolidated, kept_from, imported_to) FROM sessions";
    let expected = [
        // Consolidated up to a turn that was erased: up to the one before it, and `a3` still waits.
        "cli:a 4 2 2 0",
        // Up to the newest, which was erased: what is said next still waits.
        "cli:b 3 3 1 2",
        "cli:empty 0 0 0 0",
    ];
    assert_eq!(rows(&connection, sql), expected);
    let sql = "SELECT concat_ws(' ', session, memory, after) FROM injected ORDER BY session, memory";
    assert_eq!(rows(&connection, sql), ["1 m1 0", "1 m2 2", "2 m1 3"]);
}

#[test]
fn sessions_of_schema_7_do_not_say_who_the_person_is() {
    let (_home, connection) = from_schema_7();
    assert_eq!(rows(&connection, "SELECT '' || count(person) FROM sessions"), ["0"]);
}

#[test]
fn leases_of_schema_7_expire() {
    let (_home, connection) = from_schema_7();
    let sql = "SELECT concat_ws('|', name, host, process, started, worker, until) FROM leases";
    assert_eq!(rows(&connection, sql), ["consolidate user||0|4711/2|0|9000"], "no host: nobody takes it for gone");
}

#[test]
fn entries_of_schema_7_that_say_the_same_are_told_apart() {
    let (home, connection) = from_schema_7();
    let sql = "SELECT concat_ws('|', id, twin, digest IS NOT NULL) FROM entries ORDER BY row";
    assert_eq!(rows(&connection, sql), ["first||1", "twin|twin|1", "gone||0", "keyed||0", "elsewhere||1"]);
    assert_eq!(rows(&connection, "SELECT '' || count(DISTINCT digest) FROM entries"), ["2"]);
    drop(connection);
    let store = SqliteStore::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
    let again = throughline_testkit::stores::insert(&store, throughline_testkit::stores::entry("new", "likes tea"));
    assert_eq!(again.id.as_str(), "first");
}

#[test]
fn turns_and_tasks_of_schema_7_are_found_by_the_new_indexes() {
    let (home, connection) = from_schema_7();
    let sql = "SELECT id || ' ' || tokens FROM turns WHERE session = 1 ORDER BY position";
    assert_eq!(rows(&connection, sql), ["a1 3", "a2 2", "a3 3", "a4 4"]);
    drop(connection);
    let store = SqliteStore::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
    let words = throughline_core::recall::distinct_words("who wrote the parser? write it again");
    let found = throughline_core::ports::Tasks::done_tasks_sharing(&store, &words, 9).unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn stamps_and_directories_of_schema_7_are_those_of_the_only_machine() {
    let (home, connection) = from_schema_7();
    drop(connection);
    let store = SqliteStore::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
    let stamps: Vec<Option<String>> = store.known_documents().unwrap().into_iter().map(|known| known.stamp).collect();
    assert_eq!(stamps, [Some("s1".to_owned()), None]);
    let dirs: Vec<Option<String>> = store.projects().unwrap().into_iter().map(|project| project.dir).collect();
    assert_eq!(dirs, [Some("/home/ada".to_owned()), None]);
    let change = throughline_core::model::ChangeId::new("c1");
    let undoable = store.undoable().unwrap().unwrap();
    assert_eq!((undoable.change.id, undoable.projects[0].0.dir.as_deref()), (change, Some("/home/ada")));
}

#[test]
fn memories_of_schema_7_wait_for_their_vectors() {
    let (home, connection) = from_schema_7();
    let waiting = rows(&connection, "SELECT '' || count(*) FROM memory_vector_queue");
    let sql = "SELECT '' || ((SELECT count(*) FROM entries) + (SELECT count(*) FROM turns WHERE role IN ('user', 'assistant')))";
    assert_eq!(waiting, rows(&connection, sql));
    drop(connection);
    let store = SqliteStore::open(&home.path().join("memory.db"), home.path(), Durability::Process).unwrap();
    let texts: Vec<String> = throughline_core::ports::MemoryVectors::unembedded_memories(&store, 100)
        .unwrap()
        .into_iter()
        .map(|memory| memory.text)
        .collect();
    assert!(texts.len() > 5 && texts.contains(&"likes tea".to_owned()), "{texts:?}");
}

#[test]
fn what_was_learnt_before_there_was_a_review_counts_as_seen() {
    let home = tempfile::tempdir().unwrap();
    let mut connection = open::connect(&home.path().join("memory.db"), Durability::Process, open::Make::New).unwrap();
    let before = MIGRATIONS.iter().position(|migration| migration.contains("TABLE reviewed")).unwrap();
    migrate(&mut connection, &MIGRATIONS[..before], None).unwrap();
    let learnt = |connection: &Connection, n: i64, kind: &str| {
        let sql = "INSERT INTO entries (row, id, kind, namespace, layer, source, status, importance, tags, created_at, \
            updated_at, provenance, version, content, terms, digest, twin) \
            VALUES (?1, 'm' || ?1, ?2, 'user/facts', 'knowledge', 'system', 'active', 0.5, '[]', 0, 0, '[]', 1, \
            'text ' || ?1, 'text', NULL, '')";
        connection.execute(sql, rusqlite::params![n, kind]).unwrap();
        let rest = "INSERT INTO changes (row, id, who, via, verb, at) VALUES (?1, 'c' || ?1, 'system', 'daemon', 'consolidate', 0)";
        connection.execute(rest, [n]).unwrap();
        let version = "INSERT INTO entry_versions (entry, version, change, state) VALUES ('m' || ?1, 1, ?1, '{}')";
        connection.execute(version, [n]).unwrap();
    };
    learnt(&connection, 1, "entry");
    learnt(&connection, 2, "bullet");
    migrate(&mut connection, &MIGRATIONS, None).unwrap();
    let unseen = format!("{} SELECT id FROM entries WHERE row IN (SELECT row FROM unseen)", include_str!("unseen.sql"));
    assert_eq!(rows(&connection, &unseen), [""; 0]);
    learnt(&connection, 3, "entry");
    assert_eq!(rows(&connection, &unseen), ["m3"], "what is learnt from now on is new");
}

#[test]
fn memory_files_that_were_registered_before_are_accepted() {
    let home = tempfile::tempdir().unwrap();
    let mut connection = open::connect(&home.path().join("memory.db"), Durability::Process, open::Make::New).unwrap();
    let before = MIGRATIONS.iter().position(|migration| migration.contains("TABLE accepted_lines")).unwrap();
    migrate(&mut connection, &MIGRATIONS[..before], None).unwrap();
    let line = "INSERT INTO entries (id, kind, namespace, layer, source, status, importance, tags, project, created_at, \
        updated_at, provenance, version, content, terms, digest, twin) \
        VALUES (?1, 'bullet', ?2, 'knowledge', 'user', 'active', 0.5, '[]', ?3, 0, 0, '[]', 1, 'text', 'text', NULL, '')";
    connection.execute(line, ["ours", "projects/apollo", "apollo"]).unwrap();
    connection.execute(line, rusqlite::params!["mine", "user/profile", None::<String>]).unwrap();
    migrate(&mut connection, &MIGRATIONS, None).unwrap();
    assert_eq!(rows(&connection, "SELECT project || ' ' || line FROM accepted_lines"), ["apollo ours"]);
}
