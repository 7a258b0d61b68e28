//! What people already have: every format through the program, again and again, undone, killed, and hostile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

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
    ("claude", 5, 2, "harpsichords", "Ada restores harpsichords in a workshop in Lisbon."),
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

        let report = home.json(&["import", &file]);
        assert_eq!(added(&report), (*memories, *said), "{name}");
        for part in ["knowledge", "archive", "turns", "sessions", "skipped", "samples", "redacted", "files"] {
            assert_eq!(report[part], dry[part], "{name}: the dry run foretells {part}");
        }
        assert_eq!(home.listed(&["--limit", "1000"]).len() as u64, *memories, "{name}");
        let kind = if *memories == 0 { "turn" } else { "entry" };
        let found = home.found(&["--kind", kind, query]);
        assert!(found.contains(&(*text).to_owned()), "{name}: {query} finds {found:?}");

        let once = everything(&home);
        let again = home.json(&["import", &file]);
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
        home.run(&["import", &file]).done();
        let mut all = home.listed(&["--limit", "1000"]);
        for round in 1..=2 {
            let undone = home.json(&["undo"]);
            assert_eq!(undone["undone"]["verb"], "import", "{name}");
            assert_eq!(home.listed(&["--limit", "1000"]), ["here before"], "{name}, round {round}");
            let dry = home.json(&["import", &file, "--dry-run"]);
            let back = home.json(&["import", &file]);
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
        home.run(&["import", &fixture(name)]).done();
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
    let report = home.json(&["import", &put(&home, "talk.jsonl", lines.join("\n"))]);
    assert_eq!((added(&report), &report["sessions"]), ((0, 41), &json!(41)));
    let states = home.json(&["session", "list"]);
    let is_settled = |state: &Value| state["consolidated"].as_i64().is_some_and(|at| at > 0);
    assert!(states["sessions"].as_array().unwrap().iter().all(is_settled), "{states}");
    let outcome = home.json(&["session", "consolidate", "jsonl:s1"]);
    assert_eq!(outcome["outcome"], "nothing", "{outcome}");
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
        "skipped    1 that is not JSON: line 4\n",
        "skipped    1 that has a role that is not known: line 8\n",
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
