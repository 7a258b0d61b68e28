//! Everything out and in again, and out for good: export, import, backup, erase.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use common::{Home, mode, string, tree};
use serde_json::{Value, json};

/// A memory with a past: keys, tags, weights, forgotten and edited entries, documents with versions, recalls.
fn lived_in() -> Home {
    let mut home = Home::new();
    home.remember(&["We deploy on Fridays", "--key", "deploy", "--tag", "ops", "--sig", "5", "--project", "apollo"]);
    home.remember(&["Tea, not coffee", "--importance", "0.123", "--source", "agent", "--tag", "task:t1"]);
    home.remember(&["Wrong from the start", "--key", "gone"]);
    home.remember(&["--layer", "identity", "My name is Ada", "--sig", "5"]);
    home.set_now("2026-03-02T08:00:00Z");
    home.remember(&["We deploy on Mondays\nand say so", "--key", "deploy", "--project", "apollo"]);
    home.run(&["forget", "gone"]).done();
    home.run_with(&["write", "user/notes/travel"], "# Travel\n\n- Lisbon in May\n- 東京 in autumn\n").done();
    home.run_with(&["write", "user/working"], "- shipping the parser\n").done();
    home.set_now("2026-03-03T08:00:00Z");
    home.put("user/notes/travel.md", "# Travel\n\n- Porto in May\n");
    for query in ["deploy", "tea", "porto", "name", "deploy"] {
        home.run(&["recall", query]).done();
    }
    home
}

/// The export without the time at which it was made.
fn export(home: &Home) -> Value {
    let mut export = home.json(&["export"]);
    assert_eq!(export["version"], 1);
    export.as_object_mut().unwrap().remove("exported_at").unwrap();
    export
}

/// Writes an export for importing; gives its path.
fn written(home: &Home, export: &Value) -> String {
    let mut export = export.clone();
    export["exported_at"] = json!("2026-03-03T08:00:00Z");
    let file = home.root().join("person/import.json");
    std::fs::write(&file, export.to_string()).unwrap();
    file.to_string_lossy().into_owned()
}

fn import(home: &Home, export: &Value) -> Value {
    home.json(&["import", &written(home, export)])
}

#[test]
fn what_is_exported_and_imported_elsewhere_exports_identical() {
    let (here, mut there) = (lived_in(), Home::new());
    there.set_now("2026-06-01T08:00:00Z");
    let first = export(&here);
    assert_eq!(first["documents"].as_array().unwrap().len(), 3);
    let imported = import(&there, &first);
    assert_eq!((&imported["added"], &imported["kept"], &imported["set_aside"]), (&json!(3), &json!(0), &json!([])));
    let second = export(&there);
    for part in ["memories", "history", "documents", "document_history", "sessions", "turns"] {
        assert_eq!(second[part], first[part], "{part} came back different");
    }
    assert_eq!(second, first);
    let deploy = there.json(&["show", "deploy"]);
    assert_eq!((&deploy["recall_count"], &deploy["version"]), (&json!(2), &json!(2)));
    assert_eq!(there.json(&["show", "gone"])["status"], "inactive", "what was forgotten stays forgotten");
    assert_eq!(there.text("user/notes/travel.md"), "# Travel\n\n- Porto in May\n");
    assert_eq!(there.found(&["porto"]), ["Porto in May"]);
    assert_eq!(there.run(&["doctor"]).code, 0);
}

#[test]
fn importing_twice_adds_nothing() {
    let (here, there) = (lived_in(), Home::new());
    let exported = export(&here);
    import(&there, &exported);
    let once = export(&there);
    let again = import(&there, &exported);
    assert_eq!((&again["added"], &again["kept"]), (&json!(0), &json!(3)));
    assert_eq!((&again["documents"], &again["set_aside"]), (&json!([]), &json!([])));
    assert_eq!(export(&there), once);
    let back_home = import(&here, &exported);
    assert_eq!(back_home["added"], 0);
    assert_eq!(export(&here), exported);
}

/// An empty home on a machine whose clock agrees: times that are still to come are not taken over.
fn elsewhere() -> Home {
    let mut home = Home::new();
    home.set_now("2026-03-03T08:00:00Z");
    home
}

/// A home with a project whose memory file says something, a task and a conversation.
fn at_work(dir: &std::path::Path) -> Home {
    let home = lived_in();
    home.run(&["project", "add", "apollo", "--dir", &dir.to_string_lossy()]).done();
    home.run(&["project", "record", "The build runs with just", "--project", "apollo"]).done();
    home.run(&["project", "record", "CI takes five minutes", "--project", "apollo"]).done();
    home.run(&["task", "add", "Fix the parser", "--project", "apollo"]).done();
    home.run(&["session", "observe", "--session", "web:1", "--project", "apollo", "The lexer is done"]).done();
    home
}

/// Imports, and holds the dry run to what came of it.
fn import_as_foretold(home: &Home, export: &Value) -> Value {
    let mut foretold = home.json(&["import", "--dry-run", &written(home, export)]);
    assert_eq!(foretold.as_object_mut().unwrap().remove("dry_run"), Some(json!(true)));
    let imported = import(home, export);
    assert_eq!(foretold, imported, "the dry run tells the truth");
    imported
}

#[test]
fn a_project_with_a_memory_file_goes_into_a_new_home_and_its_file_stays() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("memory.md");
    let (here, there) = (at_work(dir.path()), elsewhere());
    let first = export(&here);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(first["documents"].as_array().unwrap().iter().any(|document| document["name"] == "projects/apollo"));
    let imported = import_as_foretold(&there, &first);
    assert_eq!((&imported["tasks"], &imported["projects"]), (&json!(1), &json!(1)), "{imported}");
    assert_eq!(imported["left_out"], json!(["projects/apollo"]));
    assert_eq!(export(&there), first, "the file is the same one here");
    assert_eq!(there.found(&["build", "--project", "apollo"]), ["The build runs with just"]);
    let again = import_as_foretold(&there, &first);
    assert_eq!((&again["left_out"], &again["projects"]), (&json!([]), &json!(0)));
    there.run(&["doctor"]).done();
    assert_eq!(there.json(&["undo"])["undone"]["verb"], "import");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "no undo of an import reaches into a project");
    assert_eq!(import_as_foretold(&there, &first)["projects"], 1);
    assert_eq!(there.found(&["build", "--project", "apollo"]), ["The build runs with just"]);
}

#[test]
fn a_memory_file_that_is_another_one_here_or_none_is_never_written() {
    for theirs in [None, Some("## What Is\n- [sig:3] Something else\n")] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("memory.md");
        let first = export(&at_work(dir.path()));
        match theirs {
            None => std::fs::remove_file(&file).unwrap(),
            Some(text) => std::fs::write(&file, text).unwrap(),
        }
        let there = elsewhere();
        let said = there.run(&["import", &written(&there, &first)]).done();
        let left = "the memory file of project apollo stays where it is; the exported text is not written\n";
        assert!(said.contains(left), "{said}");
        let second = export(&there);
        for part in ["history", "sessions", "turns", "tasks", "task_history", "projects", "project_history"] {
            assert_eq!(second[part], first[part], "{part} came back different");
        }
        let versions = there.json(&["history", "projects/apollo"]);
        assert_eq!(versions["versions"].as_array().unwrap().len(), 3, "two from there, and what stands here");
        assert_eq!(there.json(&["undo"])["undone"]["verb"], "import");
        assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), theirs);
        there.run(&["doctor"]).done();
    }
}

#[test]
fn undo_takes_a_whole_import_back() {
    let there = Home::new();
    there.remember(&["here before"]);
    import(&there, &export(&lived_in()));
    assert_eq!(there.listed(&["--layer", "knowledge"]).len(), 4);
    let undone = there.json(&["undo"]);
    assert_eq!(undone["undone"]["verb"], "import");
    assert_eq!(there.listed(&[]), ["here before"]);
    assert!(!there.path("user/profile.md").exists() && !there.path("user/notes/travel.md").exists());
    assert_eq!(there.run(&["recall", "porto"]).code, 1);
}

#[test]
fn what_differs_here_stays_and_the_imported_text_stands_beside_it() {
    let there = Home::new();
    there.remember(&["We never deploy", "--key", "deploy", "--project", "apollo"]);
    there.put("user/profile.md", "- My name is Grace\n");
    let imported = import(&there, &export(&lived_in()));
    assert_eq!(imported["set_aside"], json!([{ "name": "user/profile", "aside": "user/profile-imported" }]));
    assert_eq!(imported["inactive"].as_array().unwrap().len(), 1, "its key is taken: {imported}");
    assert_eq!(there.text("user/profile.md"), "- My name is Grace\n");
    assert_eq!(there.text("user/profile-imported.md"), "- [sig:5] My name is Ada\n");
    assert_eq!(there.json(&["show", "deploy"])["content"], "We never deploy");
}

#[test]
fn a_file_that_is_no_export_of_ours_changes_nothing() {
    let home = lived_in();
    let before = (export(&home), tree(&home.path("user")));
    let good = home.run(&["export"]).done();
    let hostile = |name: &str| {
        let mut export: Value = serde_json::from_str(&good).unwrap();
        export["documents"] = json!([{ "name": name, "text": "- owned\n" }]);
        export["memories"] = json!([]);
        export.to_string()
    };
    for text in [
        String::new(),
        "not JSON".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        r#"{"version": 1}"#.to_owned(),
        r#"{"memory": {"enabled": true}}"#.to_owned(),
        good[..good.len() / 2].to_owned(),
        good.replacen("\"version\": 1", "\"version\": 2", 1),
        good.replace("\"layer\": \"knowledge\"", "\"layer\": \"wisdom\""),
        good.replace("2026-03-01T", "the-other-day-"),
        hostile("../outside"),
        hostile("/etc/passwd"),
        hostile("user/../../outside"),
        hostile("user/facts"),
    ] {
        let start: String = text.chars().take(60).collect();
        home.run_with(&["import", "-"], &text).failed(2, "cannot read the export", "throughline export --format json");
        assert!((export(&home), tree(&home.path("user"))) == before, "changed by {start:?}");
    }
    home.run_with(&["import", "-"], &good.replacen("\"version\": 1", "\"version\": 2", 1)).failed(
        2,
        "format 2 is not known here",
        "",
    );
}

#[test]
fn markdown_is_for_reading() {
    let text = lived_in().run(&["export", "--format", "markdown"]).done();
    for part in [
        "# Memory\n\nExported 2026-03-03T08:00:00Z.\n",
        "\n## user/profile\n\n- [sig:5] My name is Ada\n",
        "\n## user/notes/travel\n\n# Travel\n\n- Porto in May\n",
        "\n## user/facts (knowledge)\n\n- ",
        "- **deploy** We deploy on Mondays\n  and say so `",
        "\n## user/facts (knowledge, forgotten)\n\n- **gone** Wrong from the start `",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn an_export_to_a_file_is_for_its_owners_eyes() {
    let home = lived_in();
    for (format, name) in [("json", "all.json"), ("markdown", "all.md")] {
        let path = home.root().join("person").join(name);
        home.run(&["export", "--format", format, "--out", name]).done();
        std::fs::write(&path, "an older one, made readable by all").unwrap();
        let said = home.run(&["export", "--format", format, "--out", name]).done();
        assert_eq!(said, format!("exported 6 memories and 3 documents to {}\n", path.display()));
        assert_eq!(mode(&path), 0o600);
        let printed = home.run(&["export", "--format", format]).done();
        assert_eq!(std::fs::read_to_string(&path).unwrap().trim_end(), printed.trim_end());
    }
    let ran = home.run(&["export", "--out", "no/such/place.json"]);
    assert!(ran.code == 2 && ran.stderr.starts_with("error: cannot write "), "{ran:?}");
}

#[test]
fn a_backup_is_a_whole_memory() {
    let (home, other) = (lived_in(), Home::new());
    let path = string(&home.json(&["backup"])["path"]);
    assert_eq!(mode(path.as_ref()), 0o600);
    other.run(&[]).done();
    std::fs::copy(&path, other.path("memory.db")).unwrap();
    assert_eq!(other.json(&["show", "deploy"])["content"], "We deploy on Mondays\nand say so");
    assert_eq!(other.run(&["doctor"]).code, 0);
    let taken = home.run(&["backup", &path]);
    assert_eq!(taken.code, 2, "an existing file is not overwritten: {taken:?}");
}

const MARK: &str = "Zyxqvortex";

/// Every file below the home that holds the marker, in any case.
fn traces(home: &Home) -> Vec<String> {
    let lower = MARK.to_lowercase();
    let holds = |bytes: &[u8]| bytes.to_ascii_lowercase().windows(lower.len()).any(|window| window == lower.as_bytes());
    let files = tree(home.root()).into_iter().filter(|(_, bytes)| holds(bytes));
    files.map(|(path, _)| path.strip_prefix(home.root()).unwrap().display().to_string()).collect()
}

/// A home in which the marker is in a memory's text, key, tag and history, and in a line of the profile.
fn marked() -> Home {
    let mut home = lived_in();
    home.remember(&[&format!("the code word is {MARK}-one"), "--key", &format!("{MARK}-key"), "--tag", MARK]);
    home.remember(&["--layer", "identity", &format!("My secret is {MARK}")]);
    home.set_now("2026-03-03T09:00:00Z");
    home.run(&["edit", &format!("{MARK}-key"), "--content", &format!("it became {MARK}-two")]).done();
    home.run(&["recall", "code word"]);
    home.run(&["recall", "became"]).done();
    home.run(&["recall", "secret"]).done();
    home
}

/// Erases both memories that hold the marker; gives what was said not to be reached in the end. The first names the second.
fn erase(home: &Home) -> Vec<Value> {
    let bullet = string(&home.json(&["recall", "secret"])["hits"][0]["id"]);
    let key = format!("{MARK}-key");
    home.json(&["forget", "--yes", "--erase", &bullet]);
    home.json(&["forget", "--yes", "--erase", &key])["unreached"].as_array().unwrap().clone()
}

#[test]
fn erasing_leaves_no_byte_in_database_backups_and_exports() {
    let home = marked();
    home.run(&["backup"]).done();
    for (format, name) in [("json", "all.json"), ("markdown", "all.md")] {
        home.run(&["export", "--format", format, "--out", &home.path(name).to_string_lossy()]).done();
    }
    assert_eq!(traces(&home).len(), 5, "database, backup, profile and both exports: {:?}", traces(&home));
    let unreached = erase(&home);
    assert!(!unreached.iter().any(|place| string(place).contains("memory/")), "every file was reached: {unreached:?}");
    assert_eq!(traces(&home), Vec::<String>::new());
    assert_eq!(home.run(&["show", &format!("{MARK}-key")]).code, 1);
    assert_eq!(home.text("user/profile.md"), "- [sig:5] My name is Ada\n");
    let all: Value = serde_json::from_str(&home.text("all.json")).unwrap();
    assert_eq!(all["memories"].as_array().unwrap().len(), 6, "the rest of the export is as it was");
    assert!(home.text("all.md").contains("Tea, not coffee"));
    assert_eq!((mode(&home.path("all.json")), mode(&home.path("all.md"))), (0o600, 0o600));
    assert_eq!(home.run(&["doctor"]).code, 0);
    home.run(&["undo"]).failed(2, "erased something", "undo --skip");
    for _ in 0..2 {
        home.run(&["undo", "--skip"]).done();
    }
    assert_eq!(home.run(&["undo"]).code, 0, "undo goes on with what is left");
    assert_eq!(traces(&home), Vec::<String>::new(), "and brings nothing back");
}

/// What erasing does not reach, it names: a trace that is left must be in a file that it told about.
#[track_caller]
fn no_silent_trace(home: &Home) {
    let told = erase(home).iter().map(string).collect::<Vec<_>>().join("\n");
    let silent: Vec<_> = traces(home).into_iter().filter(|trace| !told.contains(trace.as_str())).collect();
    assert!(silent.is_empty(), "left behind and not named: {silent:?}; named: {told:?}");
}

#[test]
fn a_json_export_is_reached_whatever_its_file_is_called() {
    let home = marked();
    home.run(&["export", "--out", &home.path("everything.bak").to_string_lossy()]).done();
    home.run(&["export", "--out", &home.path("no-ending").to_string_lossy()]).done();
    no_silent_trace(&home);
}

#[test]
fn a_backup_to_a_place_of_ones_own_is_reached_or_named() {
    let home = marked();
    home.run(&["backup", &home.path("mine.db").to_string_lossy()]).done();
    home.run(&["backup", &home.root().join("person/mine.sqlite").to_string_lossy()]).done();
    no_silent_trace(&home);
}

#[test]
fn an_export_that_was_edited_since_is_reached_or_named() {
    let home = marked();
    for (format, name) in [("json", "all.json"), ("markdown", "all.md")] {
        home.run(&["export", "--format", format, "--out", &home.path(name).to_string_lossy()]).done();
        let text = home.text(name);
        home.put(name, &format!("Kept for later.\n\n{text}\nThe end.\n"));
    }
    no_silent_trace(&home);
    assert!(home.text("all.md").ends_with("\nThe end.\n"));
}

#[test]
fn a_memory_that_was_forgotten_or_replaced_can_still_be_erased() {
    let home = marked();
    let key = format!("{MARK}-key");
    home.run(&["forget", &key]).done();
    home.run(&["forget", "--yes", "--erase", &string(&home.json(&["recall", "secret"])["hits"][0]["id"])]).done();
    home.run(&["forget", "--yes", "--erase", &key]).done();
    assert_eq!(traces(&home), Vec::<String>::new());
}

#[test]
fn an_export_replaces_an_export_and_nothing_else() {
    let home = lived_in();
    home.put("notes.txt", "mine");
    for target in ["memory.db", "backups/../memory.db", "config.toml", "user/profile.md", "user/new.md", "notes.txt"] {
        let ran = home.run(&["export", "--out", &home.path(target).to_string_lossy()]);
        assert_eq!(ran.code, 2, "{target}: {ran:?}");
    }
    assert_eq!(home.text("notes.txt"), "mine");
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn a_line_that_was_forgotten_can_still_be_erased() {
    let home = Home::new();
    home.run(&["remember", "--layer", "identity", "I am Ada"]).done();
    let id = string(&home.json(&["remember", "--layer", "identity", &format!("{MARK} is private")])["id"]);
    home.run(&["forget", &id]).done();
    assert!(!traces(&home).is_empty(), "its history has it");
    home.run(&["forget", &id, "--erase", "--yes"]).done();
    assert_eq!(traces(&home), Vec::<String>::new());
}

#[test]
fn what_a_killed_backup_left_behind_is_erased_too() {
    let home = marked();
    home.put("backups/.memory-x.db.1.partial", &format!("half a copy of {MARK}"));
    no_silent_trace(&home);
    assert!(!home.path("backups/.memory-x.db.1.partial").exists());
}
