//! The invariants of ARCHITECTURE.md that can be read off the source.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every source file below a folder of the workspace, with its text.
fn sources(below: &str) -> Vec<(String, String)> {
    let root = workspace();
    let mut found = Vec::new();
    let mut folders = vec![root.join(below)];
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
            if file.is_dir() && file.file_name().is_none_or(|name| name != "target") {
                folders.push(file);
            } else if file.extension().is_some_and(|end| end == "rs") {
                let name = file.strip_prefix(&root).unwrap().display().to_string();
                found.push((name, std::fs::read_to_string(&file).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "{below} has no sources: was it moved?");
    found
}

/// The part of a file that ships: everything before its unit tests.
fn shipped(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text)
}

fn is_test(name: &str) -> bool {
    ["/tests/", "/suites/"].iter().any(|folder| name.contains(folder)) || name.ends_with("tests.rs")
}

/// Every place in `files` that ships one of `words`.
fn places(files: &[(String, String)], words: &[&str], except: &[&str]) -> Vec<String> {
    let shipping = files.iter().filter(|(name, _)| !is_test(name) && !except.iter().any(|part| name.contains(part)));
    let found = shipping.flat_map(|(name, text)| {
        let words = words.iter().filter(|word| shipped(text).contains(**word));
        words.map(move |word| format!("{name}: {word}"))
    });
    found.collect()
}

#[test]
fn the_core_is_pure() {
    let world =
        ["std::fs", "std::net", "std::env", "std::process", "SystemTime", "Instant", "Timestamp::now", "rusqlite"];
    assert_eq!(places(&sources("crates/core/src"), &world, &[]), [""; 0]);
}

#[test]
fn sql_is_in_the_stores_alone() {
    let sql = ["SELECT ", "INSERT INTO", "DELETE FROM", "PRAGMA ", "rusqlite"];
    // A memory of an older schema can only be made with the schema itself, and what a kill left is looked at before a store opens it.
    let except = ["crates/sqlite/", "crates/postgres/", "torture/src/words/old.rs", "torture/src/words/ranks.rs"];
    assert_eq!(places(&sources("crates"), &sql, &except), [""; 0]);
}

#[test]
fn clock_and_environment_are_read_in_one_place() {
    let world = ["env::var", "Timestamp::now", "SystemTime::now", "Zoned::now", "getrandom::"];
    // A build script is told about the build by its environment.
    assert_eq!(places(&sources("crates"), &world, &["throughline/src/world.rs", "throughline/build.rs"]), [""; 0]);
}

#[test]
fn only_sqlite_opens_the_database_files() {
    let readers = ["File::open", "fs::read", "fs::copy", "OpenOptions::new", "fs::write"];
    // The room that is kept for a full disk is a file of its own, and who holds a lock is read from the system.
    let others = ["sqlite/src/reserve.rs", "sqlite/src/hindrance.rs"];
    assert_eq!(places(&sources("crates/sqlite/src"), &readers, &others), [""; 0]);
    let naming = places(&sources("crates"), &["memory.db"], &["world/home.rs", "cli/bench/", "torture/"]);
    assert_eq!(naming, [""; 0], "the database's name is known where it is opened, and nowhere else");
}

#[test]
fn the_store_is_named_where_it_is_opened_and_nowhere_else() {
    let named = ["throughline_sqlite", "SqliteStore", "throughline_postgres", "PostgresStore"];
    assert_eq!(places(&sources("crates/throughline/src"), &named, &["world/store.rs", "world/store/copy.rs"]), [""; 0]);
    for below in ["crates/server/src", "crates/torture/src", "benches/src"] {
        assert_eq!(places(&sources(below), &named, &[]), [""; 0]);
    }
    let paths = ["path: String", "path: PathBuf"];
    assert_eq!(places(&sources("crates/core/src/ports"), &paths, &[]), [""; 0], "no port says where a store is");
}

#[test]
fn no_stage_knows_a_surface() {
    let surfaces = ["clap", "anstream", "owo_colors", "axum", "println!"];
    for crate_name in ["core", "stores", "sqlite", "postgres", "documents"] {
        assert_eq!(places(&sources(&format!("crates/{crate_name}/src")), &surfaces, &[]), [""; 0]);
    }
}

#[test]
fn no_file_is_longer_than_a_reader_can_hold() {
    let long: Vec<String> = sources("crates")
        .into_iter()
        .chain(sources("benches"))
        .filter(|(_, text)| text.lines().count() > 500)
        .map(|(name, text)| format!("{name}: {} lines", text.lines().count()))
        .collect();
    assert_eq!(long, [""; 0]);
}

#[test]
fn the_program_runs_on_a_sqlite_without_the_known_corruption() {
    let lock = std::fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    assert_eq!(lock.matches("name = \"libsqlite3-sys\"").count(), 1, "one SQLite, bundled");
}

/// Coverage-guided fuzzing is a workspace of its own: with a stale lock, `scripts/fuzz` does not build.
#[test]
fn the_lock_of_the_coverage_build_is_not_stale() {
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap().parse::<toml::Table>().unwrap();
    let lock = read(workspace().join("crates/fuzz/coverage/Cargo.lock"));
    let packages = lock["package"].as_array().unwrap().iter();
    let ours = packages.filter(|package| package["name"].as_str().unwrap().starts_with("throughline"));
    let mut count = 0;
    for package in ours {
        let name = package["name"].as_str().unwrap();
        let folder = name.strip_prefix("throughline-").unwrap_or(name).replace("fuzz-coverage", "fuzz/coverage");
        let wanted = read(workspace().join("crates").join(&folder).join("Cargo.toml"));
        let locked = package.get("dependencies").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let locked: Vec<&str> = locked.iter().filter_map(|line| line.as_str()?.split(' ').next()).collect();
        for wanted in wanted["dependencies"].as_table().unwrap().keys() {
            assert!(
                locked.contains(&wanted.as_str()),
                "{name} needs {wanted}: cargo update -w in crates/fuzz/coverage"
            );
        }
        count += 1;
    }
    assert!(count > 10, "the crates of the workspace are locked there");
}
