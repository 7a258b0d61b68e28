//! Tasks, projects, reports, corrections, tools and the end of a conversation, through the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "work/ending.rs"]
mod ending;
#[path = "work/tools.rs"]
mod tools;

use common::{Home, string, tree};
use serde_json::{Value, json};

/// A namespace, and nothing that starts by itself.
const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\n";

fn quiet() -> Home {
    Home::with_config("config.toml", QUIET)
}

#[track_caller]
fn add(home: &Home, args: &[&str]) -> String {
    string(&home.json(&[&["task", "add"], args].concat())["id"])
}

/// Everything that a command may change, in the export's words: all but when it was exported.
fn everything(home: &Home) -> (Value, Vec<Vec<u8>>) {
    let mut export = home.json(&["export"]);
    export["exported_at"] = Value::Null;
    let files = tree(&home.path("")).into_iter().filter(|(path, _)| path.extension().is_some_and(|it| it == "md"));
    (export, files.map(|(_, bytes)| bytes).collect())
}

#[test]
fn a_task_from_beginning_to_end() {
    let mut home = quiet();
    let id = add(&home, &["Fix", "the", "parser", "--project", "apollo", "--state", "The lexer is done."]);
    let task = home.json(&["task", "show", &id[..6]]);
    let expected = json!({
        "id": id, "title": "Fix the parser", "status": "open", "state": "The lexer is done.", "project": "apollo",
        "created_at": "2026-03-01T12:00:00Z", "updated_at": "2026-03-01T12:00:00Z", "done_at": null, "archive": null,
        "version": 1,
    });
    assert_eq!(task, expected);
    let updated = home.json(&["task", "update", &id, "--state", "Only tests are left."]);
    assert_eq!((&updated["state"], &updated["version"]), (&json!("Only tests are left."), &json!(2)));
    assert!(home.run(&["task", "show", &id]).done().contains("Only tests are left."));
    home.set_now("2026-03-03T12:00:00Z");
    let done = home.json(&["task", "done", "Fix the parser", "--conclusion", "Recursive descent won."]);
    assert_eq!(
        (&done["status"], &done["state"], &done["done_at"]),
        (&json!("done"), &json!(""), &json!("2026-03-03T12:00:00Z"))
    );
    assert_eq!(done["archive"], done["archived"]["id"]);
    let content = "[2026-03-03 12:00] Task done: Fix the parser\n\nOnly tests are left.\n\nRecursive descent won.";
    assert_eq!(home.listed(&["--layer", "archive"]), [content]);
    assert!(home.run(&["task", "list"]).stdout.contains("no tasks"));
    assert_eq!(home.json(&["task", "list", "--status", "done"])["tasks"][0]["id"], json!(id));
    home.run(&["undo"]).done();
    let back = home.json(&["task", "show", &id]);
    assert_eq!((&back["status"], &back["state"]), (&json!("open"), &json!("Only tests are left.")));
    assert_eq!(home.listed(&["--layer", "archive"]), [""; 0]);
    home.run(&["task", "done", &id]).done();
    assert_eq!(home.json(&["task", "update", &id, "--reopen"])["status"], json!("open"));
    home.run(&["task", "done", &id]).done();
    assert_eq!(home.listed(&["--layer", "archive"]).len(), 1, "the same entry");
}

#[test]
fn a_memory_of_a_task_is_found_by_it_when_the_task_is_gone() {
    let home = quiet();
    let id = add(&home, &["Fix the parser"]);
    home.remember(&["The grammar is in docs", "--tag", &format!("task:{id}")]);
    assert_eq!(home.json(&["task", "remove", &id])["status"], json!("removed"));
    assert_eq!(home.listed(&["--tag", &format!("task:{id}")]), ["The grammar is in docs"]);
    assert_eq!(home.run(&["task", "list"]).code, 1);
    assert_eq!(home.json(&["task", "list", "--status", "all"])["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn bad_input_changes_nothing_and_says_what_to_try() {
    let home = quiet();
    let (one, _) = (add(&home, &["Twice"]), add(&home, &["Twice"]));
    home.remember(&["likes tea", "--key", "drink"]);
    let gone = home.remember(&["likes milk"]);
    home.run(&["correct", "likes cocoa", "--wrong", &gone]).done();
    let before = everything(&home);
    let table: &[(&[&str], i32, &str, &str)] = &[
        (&["task", "show", "nobody"], 1, "nobody", "task list"),
        (&["task", "done", "nobody"], 1, "nobody", "task list"),
        (&["task", "update", "nobody", "--state", "x"], 1, "nobody", "task list"),
        (&["task", "remove", ""], 1, "no task", "task list"),
        (&["task", "done", "Twice"], 2, "Twice", "more of the id"),
        (&["task", "add", " "], 2, "title is empty", "nothing was changed"),
        (&["task", "add", "two\nlines"], 2, "title", "nothing was changed"),
        (&["task", "update", &one, "--title", ""], 2, "title is empty", "nothing was changed"),
        (&["task", "list", "--status", "wild"], 2, "open, done, removed", "--help"),
        (&["project", "show", "nobody"], 1, "nobody", "project add"),
        (&["project", "remove", "nobody"], 1, "nobody", "project add"),
        (&["project", "add", "../up"], 2, "", ""),
        (&["project", "add", "apollo", "--dir", "not-there"], 2, "not-there", "exists"),
        (&["report", "--since", "today", "--until", "yesterday"], 2, "since", "swap"),
        (&["report", "--since", "when pigs fly"], 2, "when pigs fly", ""),
        (&["report", "--daily", "--weekly"], 2, "cannot be used with", "--help"),
        (&["correct", "likes cocoa", "--wrong", "nobody"], 1, "nobody", "list"),
        (&["correct", " ", "--wrong", "drink"], 2, "empty", "nothing was changed"),
        (&["correct", "likes water", "--wrong", &gone], 2, "not active", "nothing was changed"),
        (&["merge", "drink"], 2, "", ""),
        (&["merge", "drink", "drink"], 2, "two different", "nothing was changed"),
        (&["merge", "drink", "nobody"], 1, "nobody", "list"),
        (&["session", "end", "nobody"], 1, "nobody", "session list"),
        (&["working", "close", "nobody"], 1, "nobody", "throughline working"),
        (&["session", "end", "a:b:../c"], 2, "", ""),
    ];
    for (args, code, error, hint) in table {
        home.run(args).failed(*code, error, hint);
    }
    assert_eq!(everything(&home), before);
}

#[test]
fn a_report_names_the_week_in_which_something_was_done() {
    let mut home = quiet();
    for (day, title) in [("2026-03-02", "Fix the parser"), ("2026-03-05", "Paint the fence"), ("2026-03-10", "Rest")] {
        home.set_now(&format!("{day}T12:00:00Z"));
        let id = add(&home, &[title]);
        home.run(&["task", "done", &id]).done();
    }
    let week = ["--since", "2026-03-02", "--until", "2026-03-09"];
    let told = |mode: &str| home.run(&[&["report", mode], &week[..]].concat()).done();
    let (daily, weekly) = (told("--daily"), told("--weekly"));
    assert!(daily.contains("## Monday, 2 March 2026\n") && daily.contains("## Thursday, 5 March 2026\n"), "{daily}");
    assert!(weekly.contains("## Week of 2 March 2026\n"), "{weekly}");
    for text in [&daily, &weekly] {
        assert!(text.starts_with("# What was done, 2 March 2026 to 8 March 2026\n"), "{text}");
        assert!(
            text.contains("- **Fix the parser**") && text.contains("- **Paint the fence**") && !text.contains("Rest")
        );
    }
    let body = home.json(&[&["report", "--weekly"], &week[..]].concat());
    assert_eq!((&body["by"], body["periods"].as_array().unwrap().len()), (&json!("week"), 1));
    assert_eq!((&body["periods"][0]["from"], &body["markdown"]), (&json!("2026-03-02"), &json!(weekly)));
    let this_week = home.run(&["report"]).done();
    assert!(this_week.contains("Rest") && !this_week.contains("Fix the parser"), "since Monday: {this_week}");
    let nothing = home.run(&["report", "--since", "2026-01-01", "--until", "2026-01-08"]);
    assert_eq!((nothing.code, nothing.stdout.contains("Nothing in the archive")), (1, true));
    home.set_now("2026-03-12T12:00:00Z");
    let last = home.run(&["report", "--since", "last week"]);
    assert!(last.stdout.contains("Fix the parser") || last.stdout.contains("Paint the fence"), "{last:?}");
}

#[test]
fn projects_are_listed_with_their_open_tasks() {
    let home = quiet();
    assert_eq!(home.run(&["project", "list"]).code, 1);
    let project = home.json(&["project", "add", "apollo", "--dir", "."]);
    assert_eq!((&project["name"], &project["status"]), (&json!("apollo"), &json!("active")));
    assert!(string(&project["dir"]).starts_with('/'), "{project}");
    let id = add(&home, &["Fix the parser", "--project", "apollo"]);
    add(&home, &["Rest"]);
    let shown = home.json(&["project", "show", "apollo"]);
    assert_eq!((&shown["tasks"][0]["id"], shown["tasks"].as_array().unwrap().len()), (&json!(id), 1));
    assert!(home.run(&["project", "show", "apollo"]).done().contains("Fix the parser"));
    assert_eq!(home.json(&["project", "list"])["projects"][0]["name"], "apollo");
    home.run(&["project", "remove", "apollo"]).done();
    assert_eq!(home.run(&["project", "list"]).code, 1);
    assert_eq!(home.json(&["task", "list", "--project", "apollo"])["tasks"][0]["id"], json!(id));
}

#[test]
fn a_correction_is_proposed_first_and_made_by_naming_what_is_wrong() {
    let home = quiet();
    let wrong = home.remember(&["We deploy on Fridays", "--key", "deploy", "--tag", "ops"]);
    let before = everything(&home);
    let proposed = home.run(&["correct", "We deploy on Thursdays"]);
    assert_eq!(proposed.code, 1);
    assert!(proposed.stdout.contains(&format!("--wrong {}", &wrong[..6])), "{proposed:?}");
    let proposals = home.json(&["correct", "We deploy on Thursdays"]);
    assert_eq!(proposals["proposals"][0]["id"], json!(wrong));
    assert_eq!(everything(&home), before, "nothing changed yet");
    let right = home.json(&["correct", "We deploy on Thursdays", "--wrong", "deploy"]);
    assert_eq!(
        (&right["outcome"], &right["key"], &right["source"]),
        (&json!("created"), &json!("deploy"), &json!("user"))
    );
    assert_eq!((&right["supersedes"], &right["superseded"][0]["id"]), (&json!([wrong]), &json!(wrong)));
    assert_eq!(home.found(&["when do we deploy, on Fridays?"]), ["We deploy on Thursdays"]);
    assert_eq!(home.listed(&["--status", "inactive"]), ["We deploy on Fridays"]);
    assert!(home.run(&["history", &wrong]).done().contains("We deploy on Fridays"));
    assert_eq!(home.json(&["correct", "We deploy on Thursdays", "--wrong", "deploy"])["outcome"], json!("unchanged"));
    home.run(&["undo"]).done();
    assert_eq!(home.found(&["deploy"]), ["We deploy on Fridays"]);
}

#[test]
fn several_memories_become_one() {
    let home = quiet();
    let ids = ["likes tea", "tea comes first"].map(|text| home.remember(&[text]));
    let merged = home.json(&["merge", &ids[0], &ids[1], "--text", "loves tea above all"]);
    assert_eq!((&merged["id"], &merged["superseded"][0]["id"]), (&json!(ids[0]), &json!(ids[1])));
    assert_eq!(home.found(&["tea"]), ["loves tea above all"]);
    home.run(&["undo"]).done();
    assert_eq!(home.found(&["tea"]).len(), 2);
}
