//! An import that is killed in the middle goes on where it was.

use std::time::Duration;

use serde_json::{Value, json};

use super::{added, everything, put};
use crate::common::Home;

const MEMORIES: u64 = 3000;
const TURNS: u64 = 1500;
const BUSY: Duration = Duration::from_secs(120);

fn big() -> String {
    let memory = |n: u64| json!({ "content": format!("Crate {n} holds {} lemons", n * 7 % 1013), "id": n.to_string() });
    let turn = |n: u64| {
        let (session, at) = (format!("s{}", n % 50), 1_700_000_000 + n);
        json!({ "role": "user", "content": format!("I moved crate {n}"), "session": session, "at": at })
    };
    let lines = (0..MEMORIES).map(memory).chain((0..TURNS).map(turn));
    lines.map(|line| line.to_string()).collect::<Vec<_>>().join("\n")
}

/// How many rows there are, read without a process of its own: that would be slower than the import.
fn rows(database: &rusqlite::Connection) -> u64 {
    let sql = "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM turns)";
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn counts(home: &Home) -> (u64, u64) {
    let stats = home.json(&["stats"]);
    let of = |value: &Value| value.as_u64().unwrap();
    (of(&stats["knowledge"]), of(&stats["turns"]))
}

#[test]
fn a_killed_import_is_finished_by_the_next_without_a_trace() {
    let (undisturbed, home) = (Home::new(), Home::new());
    let text = big();
    let report = undisturbed.json(&["import", &put(&undisturbed, "big.jsonl", &text), "--later"]);
    assert_eq!(added(&report), (MEMORIES, TURNS));
    let file = put(&home, "big.jsonl", &text);
    home.run(&[]).done();
    let mut partial = 0;
    for round in 0..40 {
        if counts(&home) == (MEMORIES, TURNS) {
            break;
        }
        let database = rusqlite::Connection::open(home.path("memory.db")).unwrap();
        database.busy_timeout(BUSY).unwrap();
        let before = rows(&database);
        let mut import = home.throughline(&["--json", "import", &file, "--later"]).spawn().unwrap();
        // As soon as something more is in.
        while rows(&database) == before && import.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        import.kill().unwrap();
        import.wait().unwrap();
        let (memories, turns) = counts(&home);
        assert!(memories.is_multiple_of(500) && turns.is_multiple_of(500), "round {round}: {memories}, {turns}");
        partial += u32::from((memories, turns) != (MEMORIES, TURNS));
    }
    assert!(partial > 0, "it was never caught in the middle");
    home.json(&["import", &file, "--later"]);
    assert_eq!(counts(&home), (MEMORIES, TURNS));
    assert_eq!(everything(&home), everything(&undisturbed));
    home.run(&["doctor"]).done();
    let undone = home.json(&["undo"]);
    assert_eq!(undone["memories"].as_array().unwrap().len() as u64, MEMORIES, "one change, however often it died");
    assert_eq!(counts(&home), (0, TURNS));
    assert_eq!(home.json(&["import", &file, "--later"])["knowledge"]["brought_back"], MEMORIES);
}
