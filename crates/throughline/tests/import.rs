//! What people already have: every format through the program, again and again, undone, killed, and hostile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "import/arriving.rs"]
mod arriving;
#[path = "import/bombs.rs"]
mod bombs;
mod common;
#[path = "import/hostile.rs"]
mod hostile;
#[path = "import/kills.rs"]
mod kills;

use common::{Home, string};
use serde_json::{Value, json};

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/import/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Everything that is stored, without the time of the export.
fn everything(home: &Home) -> Value {
    let mut export = home.json(&["export"]);
    export.as_object_mut().unwrap().remove("exported_at").unwrap();
    export
}

/// How many memories and turns a report says are new.
fn added(report: &Value) -> (u64, u64) {
    let of = |kind: &str| report[kind]["added"].as_u64().unwrap();
    (of("knowledge") + of("archive"), of("turns"))
}

/// Each format: the file or folder, how many memories and turns it gives, and a query with what that must find.
const FORMATS: &[(&str, u64, u64, &str, &str)] = &[
    ("chatgpt", 0, 7, "green brompton", "My bike is a green Brompton"),
    ("claude", 3, 2, "harpsichords", "Ada restores harpsichords in a workshop in Lisbon."),
    ("mem0.json", 3, 0, "walnuts", "Is allergic to walnuts"),
    ("memory.jsonl", 3, 0, "payments", "Maria Chen: Leads the payments team"),
    ("graph.json", 2, 0, "otto eats", "Otto: Eats at seven"),
    ("CLAUDE.md", 5, 0, "irrigation", "Orchard is a Rust service that schedules the irrigation of pear trees."),
    ("hermes", 5, 0, "staging server", "The staging server is called heron and runs Debian 12"),
    ("openclaw", 5, 0, "notary", "Talked to the notary about the flat in Graz."),
    ("memories.jsonl", 3, 2, "cabin wifi", "The wifi at the cabin is called Fjellheim"),
];

#[test]
fn every_format_comes_in_once_and_is_found() {
    for (name, memories, said, query, text) in FORMATS {
        let home = Home::new();
        let file = fixture(name);
        home.run(&[]).done();
        let before = everything(&home);
        let dry = home.json(&["import", &file, "--dry-run"]);
        assert_eq!((added(&dry), &dry["dry_run"]), ((*memories, *said), &json!(true)), "{name}: {dry}");
        assert_eq!(everything(&home), before, "{name}: a dry run changes nothing");

        let report = home.json(&["import", &file, "--later"]);
        assert_eq!(added(&report), (*memories, *said), "{name}");
        for part in ["profile", "knowledge", "archive", "turns", "sessions", "skipped", "samples", "redacted", "files"]
        {
            assert_eq!(report[part], dry[part], "{name}: the dry run foretells {part}");
        }
        let lines = report["profile"]["added"].as_u64().unwrap();
        assert_eq!(home.listed(&["--limit", "1000"]).len() as u64, *memories + lines, "{name}");
        let kind = match (*memories, lines) {
            (0, _) => "turn",
            (_, 0) => "entry",
            _ => "bullet",
        };
        let found = home.found(&["--kind", kind, query]);
        assert!(found.contains(&(*text).to_owned()), "{name}: {query} finds {found:?}");

        let once = everything(&home);
        let again = home.json(&["import", &file, "--later"]);
        assert_eq!(added(&again), (0, 0), "{name}: {again}");
        assert_eq!(everything(&home), once, "{name}: twice is once");
        home.run(&["doctor"]).done();
    }
}

#[test]
fn an_import_is_undone_as_a_whole_and_comes_back_when_it_is_repeated() {
    for (name, memories, ..) in FORMATS.iter().filter(|(_, memories, ..)| *memories > 0) {
        let home = Home::new();
        let file = fixture(name);
        home.remember(&["here before"]);
        home.run(&["import", &file, "--later"]).done();
        let mut all = home.listed(&["--limit", "1000"]);
        for round in 1..=2 {
            let undone = home.json(&["undo"]);
            assert_eq!(undone["undone"]["verb"], "import", "{name}");
            assert_eq!(home.listed(&["--limit", "1000"]), ["here before"], "{name}, round {round}");
            let dry = home.json(&["import", &file, "--dry-run"]);
            let back = home.json(&["import", &file, "--later"]);
            assert_eq!(back["knowledge"], dry["knowledge"]);
            let brought = |kind: &str| back[kind]["brought_back"].as_u64().unwrap();
            assert_eq!((brought("knowledge") + brought("archive"), added(&back)), (*memories, (0, 0)), "{name}");
            let mut now = home.listed(&["--limit", "1000"]);
            now.sort();
            all.sort();
            assert_eq!(now, all, "{name}, round {round}");
        }
        home.run(&["doctor"]).done();
    }
}

#[test]
fn what_was_forgotten_or_changed_here_stays_so() {
    let home = Home::new();
    home.run(&["import", &fixture("mem0.json")]).done();
    let id = |query: &str| string(&home.json(&["recall", query])["hits"][0]["id"]);
    let (gone, edited) = (id("badminton"), id("walnuts"));
    home.run(&["forget", &gone]).done();
    home.run(&["edit", &edited, "--content", "Is allergic to hazelnuts"]).done();
    let report = home.json(&["import", &fixture("mem0.json")]);
    let tally = json!({ "added": 0, "brought_back": 0, "here": 1, "differing": 1, "forgotten": 1 });
    assert_eq!(report["knowledge"], tally);
    assert_eq!(home.json(&["show", &gone])["status"], "inactive");
    assert_eq!(home.json(&["show", &edited])["content"], "Is allergic to hazelnuts");
}

#[test]
fn what_is_known_by_other_ways_is_not_stored_twice() {
    let home = Home::new();
    home.remember(&["Is allergic to walnuts"]);
    home.remember(&["Deploys happen on Mondays", "--key", "deploy-day"]);
    let report = home.json(&["import", &fixture("mem0.json")]);
    assert_eq!((&report["knowledge"]["added"], &report["knowledge"]["here"]), (&json!(2), &json!(1)));
    let report = home.json(&["import", &fixture("memories.jsonl")]);
    let reasons: Vec<String> =
        report["skipped"].as_array().unwrap().iter().map(|skipped| string(&skipped["reason"])).collect();
    assert!(reasons.contains(&"has a key that is taken here".to_owned()), "{reasons:?}");
    assert_eq!(home.json(&["show", "deploy-day"])["content"], "Deploys happen on Mondays");
}

#[test]
fn dates_sources_labels_and_weights_come_along() {
    let home = Home::new();
    for name in ["mem0.json", "CLAUDE.md", "openclaw", "hermes", "chatgpt"] {
        home.run(&["import", &fixture(name), "--later"]).done();
    }
    let first = |query: &str| home.json(&["recall", query])["hits"][0].clone();
    let badminton = first("badminton");
    assert_eq!(badminton["created_at"], "2024-07-20T08:30:36.275Z");
    assert_eq!((&badminton["source"], &badminton["updated_at"]), (&json!("agent"), &badminton["created_at"]));
    assert_eq!(badminton["tags"], json!(["imported", "mem0", "sports", "hobbies"]));
    let unwrap = first("never call unwrap outside tests");
    assert_eq!((&unwrap["significance"], &unwrap["source"]), (&json!(5), &json!("user")));
    let hetzner = first("hetzner mail server");
    assert_eq!((&hetzner["layer"], &hetzner["created_at"]), (&json!("archive"), &json!("2026-02-14T12:00:00Z")));
    assert!(first("answers in Portuguese")["tags"].as_array().unwrap().contains(&json!("identity")));
    assert!(!home.path("user/profile.md").exists(), "no file writes the profile by itself");
    let shown = home.json(&["session", "show", "chatgpt:6631c0de-0001"]);
    assert_eq!(shown["turns"][0]["at"], "2024-05-01T08:00:01Z");
    assert_eq!(shown["turns"].as_array().unwrap().len(), 4);
}

/// Conversations of this week would each be summed up as soon as anything else is said.
#[test]
fn imported_conversations_start_no_storm_of_summaries() {
    let home = Home::new();
    let lines: Vec<String> = (0..40)
        .map(|n| json!({ "role": "user", "content": format!("I like soup {n}"), "session": format!("s{n}"), "at": "2026-02-28T10:00:00Z" }).to_string())
        .chain([json!({ "role": "user", "content": "no date at all" }).to_string()])
        .collect();
    let report = home.json(&["import", &put(&home, "talk.jsonl", lines.join("\n")), "--later"]);
    assert_eq!((added(&report), &report["sessions"]), ((0, 41), &json!(41)));
    let states = home.json(&["session", "list"]);
    let waits = |state: &Value| state["consolidated"] == 0 && state["imported_to"].as_i64().is_some_and(|at| at > 0);
    assert!(states["sessions"].as_array().unwrap().iter().all(waits), "{states}");
    let observed = home.json(&["session", "observe", "--session", "jsonl:s2", "And bread"]);
    assert_eq!(observed["due"], Value::Null, "{observed}");
}

#[test]
fn imported_conversations_become_memories_when_the_person_says_so() {
    let home = Home::new();
    let line = |session: &str, n: u32| {
        let said = format!("I prefer soup number {n} with rye bread, please remember that");
        json!({ "role": "user", "content": said, "session": session, "at": "2026-02-28T10:00:00Z" }).to_string()
    };
    let lines: Vec<String> = (0..12).map(|n| line("one", n)).chain([line("two", 13), line("three", 14)]).collect();
    home.run(&["import", &put(&home, "talk.jsonl", lines.join("\n")), "--later"]).done();
    let outcome = home.json(&["session", "consolidate", "jsonl:one"]);
    assert_eq!((&outcome["outcome"], &outcome["compacted"]), (&json!("done"), &json!(12)), "{outcome}");
    assert_eq!(home.json(&["session", "consolidate", "--all"])["consolidated"], 2);
}

/// Writes a file as a person would; gives its path.
fn put(home: &Home, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = home.root().join("person").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn the_report_says_what_was_done_and_why_not() {
    let home = Home::new();
    let said = home.run(&["import", &fixture("memories.jsonl"), "--dry-run"]).done();
    for part in [
        "memories.jsonl is jsonl\n",
        "knowledge  3 to add\n",
        "turns      2 to add\n",
        "skipped    line 4: is not JSON\n",
        "skipped    line 8: has a role that is not known\n",
        "  + The wifi at the cabin is called Fjellheim\n",
        "nothing was changed\n",
    ] {
        assert!(said.contains(part), "no {part:?} in\n{said}");
    }
    let said = home.run(&["import", &fixture("mem0.json")]).done();
    assert!(said.contains("knowledge  3 added\n") && said.ends_with("`throughline undo` takes it back\n"), "{said}");
    let said = home.run(&["import", &fixture("mem0.json")]).done();
    assert!(said.contains("knowledge  0 added; 3 here already\n") && said.ends_with("nothing new\n"), "{said}");
}

#[test]
fn the_report_cuts_what_is_long_and_counts_the_rest() {
    let home = Home::new();
    let mut lines: Vec<String> =
        (0..7).map(|n| json!({ "content": format!("fact {n} {}", "x".repeat(200)) }).to_string()).collect();
    lines.extend((0..7).map(|_| "broken".to_owned()));
    lines.push(json!({ "content": "heavy", "significance": 11, "created_at": "last tuesday" }).to_string());
    let file = put(&home, "many.jsonl", lines.join("\n"));
    let said = home.run(&["import", &file, "--dry-run"]).done();
    for part in [
        "skipped    line 8, line 9, line 10, line 11, line 12 and 2 more: each is not JSON\n",
        "adjusted   line 15: has a `significance` that is not from 1 to 5: the usual weight stands instead\n",
        "adjusted   line 15: has a `created_at` that is no date: the time of the import stands instead\n",
        "xxx…\n",
        "  and 3 more\n",
    ] {
        assert!(said.contains(part), "no {part:?} in\n{said}");
    }
    let report = home.json(&["import", &file, "--later"]);
    assert_eq!(report["adjusted"][0]["places"], json!(["line 15"]), "{report}");
    assert!(string(&report["samples"][0]).ends_with('…'));
}

#[test]
fn notes_belong_to_their_project() {
    let home = Home::new();
    let notes = put(&home, "apollo/docs/CLAUDE.md", "# Style\n\n- Two spaces\n- Tests are named like sentences here\n");
    put(&home, "zeus/AGENTS.md", "# Style\n\n- Two spaces\n");
    put(&home, "zeus/other.md", "- Zeus has a fine view of the sea\n");
    for name in ["apollo", "zeus"] {
        home.run(&["project", "add", name, "--dir", name]).done();
    }
    let said = home.run(&["import", &notes]).done();
    assert!(said.contains("CLAUDE.md is markdown, of project apollo\n"), "{said}");
    assert!(said.contains("  + Style: Two spaces\n"), "{said}");
    assert_eq!(home.found(&["two spaces", "--project", "apollo"]), ["Style: Two spaces"]);
    assert!(home.found(&["two spaces", "--project", "zeus"]).is_empty());
    let report = home.json(&["import", "zeus"]);
    assert_eq!((added(&report), &report["files"][0]["project"]), ((1, 0), &json!("zeus")), "{report}");
    assert_eq!(home.found(&["two spaces", "--project", "zeus"]), ["Style: Two spaces"]);
    assert_eq!(added(&home.json(&["import", &notes])), (0, 0), "twice is once");

    let report = home.json(&["import", "zeus/other.md", "--project", "hera"]);
    assert_eq!((added(&report), &report["files"][0]["project"]), ((1, 0), &json!("hera")));
    assert_eq!(home.found(&["view of the sea", "--project", "hera"]), ["Zeus has a fine view of the sea"]);
    home.run(&["import", "zeus/other.md", "--project", "a\nb"]).failed(2, "the project", "");
    let export = put(&home, "all.json", home.run(&["export"]).done());
    home.run(&["import", &export, "--project", "hera"]).failed(2, "keep their own projects", "without `--project`");
}

/// A change that came here with an export is somebody else's: the same file is imported under one of its own.
#[test]
fn a_file_that_was_imported_elsewhere_can_still_be_imported_here() {
    let (here, there) = (Home::new(), Home::new());
    here.run(&["import", &fixture("mem0.json")]).done();
    let id = string(&here.json(&["recall", "walnuts"])["hits"][0]["id"]);
    here.run(&["forget", &id, "--erase", "--yes"]).done();
    there.run(&["import", &put(&there, "all.json", here.run(&["export"]).done())]).done();
    let report = there.json(&["import", &fixture("mem0.json")]);
    assert_eq!((added(&report), &report["knowledge"]["here"]), ((1, 0), &json!(2)), "{report}");
    assert_eq!(there.found(&["walnuts"]), ["Is allergic to walnuts"]);
    assert_eq!(there.json(&["undo"])["memories"].as_array().unwrap().len(), 1);
}

#[test]
fn an_export_of_our_own_is_told_from_the_others_and_can_be_tried_first() {
    let (here, there) = (Home::new(), Home::new());
    here.remember(&["We deploy on Fridays"]);
    here.remember(&["--layer", "identity", "My name is Ada"]);
    let export = put(&there, "all.json", here.run(&["export"]).done());
    let dry = there.json(&["import", &export, "--dry-run"]);
    assert_eq!(
        (&dry["added"], &dry["documents"], &dry["dry_run"]),
        (&json!(1), &json!(["user/profile"]), &json!(true))
    );
    assert_eq!(there.listed(&[]), [""; 0]);
    assert_eq!(there.json(&["import", &export])["added"], 1);
    assert_eq!(there.json(&["import", &export, "--dry-run"])["kept"], 1);
}
