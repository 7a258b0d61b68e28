//! Erasing through the real binary: words that nothing else has are planted by every way in, erased, and looked for in every
//! file. Nothing is left, or it is named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "erasing/index.rs"]
mod index;

use common::{Home, string, tree};
use serde_json::Value;

const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\n\
                     [embeddings]\nprovider = \"none\"\n";

fn quiet() -> Home {
    Home::with_config("config.toml", QUIET)
}

/// The files that hold a word, or all of it but its beginning: an index shares beginnings.
fn left(home: &Home, word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    let end = &word.as_bytes()[2..word.len() - 1];
    let holds = |bytes: &[u8]| bytes.to_ascii_lowercase().windows(end.len()).any(|window| window == end);
    let files = tree(home.root()).into_iter().filter(|(_, bytes)| holds(bytes));
    files.map(|(path, _)| path.strip_prefix(home.root()).unwrap().display().to_string()).collect()
}

fn say(home: &Home, session: &str, text: &str) {
    home.json(&["session", "observe", "--session", session, text]);
}

/// A backup, an export of each format that is reached, and a question, all of which hold what there is.
fn copy(home: &Home, question: &str) {
    home.json(&["recall", question]);
    home.run(&["backup"]).done();
    let nth = tree(&home.root().join("person")).len();
    home.run(&["export", "--out", &format!("export-{nth}.json")]).done();
}

/// The ids of statements that have a word.
fn ids(home: &Home, word: &str) -> Vec<String> {
    let listed = home.json(&["list", "--status", "any", "--limit", "100"]);
    let has = |memory: &&Value| string(&memory["content"]).contains(word) && memory["layer"] != "archive";
    listed["memories"].as_array().unwrap().iter().filter(has).map(|memory| string(&memory["id"])).collect()
}

/// Erases the statements that have a word, with what was said; gives what was not reached.
#[track_caller]
fn erase(home: &Home, word: &str) -> Vec<String> {
    let ids = ids(home, word);
    assert!(!ids.is_empty(), "nothing has {word}");
    let erase = |id: &String| home.json(&["forget", id, "--erase", "--with-sources", "--yes"])["unreached"].clone();
    let unreached = ids.iter().map(erase).flat_map(|unreached| unreached.as_array().unwrap().clone());
    unreached.map(|place| string(&place)).collect()
}

#[test]
fn questions_that_named_an_erased_memory_go_too() {
    let home = quiet();
    let id = home.remember(&["The vault code is quaxolite", "--tag", "quaxolite", "--key", "quaxolite-key"]);
    home.run(&["edit", &id, "--content", "The vault code became quaxolite two"]).done();
    // One that returns it, and two that do not.
    home.json(&["recall", "quaxolite"]);
    home.json(&["recall", "quaxolite", "--layer", "identity"]);
    home.json(&["recall", "quaxolite", "--project", "none"]);
    copy(&home, "what is quaxolite exactly");
    assert_eq!(erase(&home, "quaxolite"), [""; 0]);
    assert_eq!(left(&home, "quaxolite"), [""; 0]);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn summaries_threads_and_copies_lose_what_is_erased_and_keep_the_rest() {
    let home = quiet();
    say(&home, "telegram:1", "My dentist is Doctor Brimblewick. We meet on Mondays in Porto.");
    home.run(&["session", "end", "telegram:1"]).done();
    say(&home, "telegram:2", "I'm working on the letter to Brimblewick in letters/dentist.md.");
    home.run(&["session", "consolidate", "telegram:2"]).done();
    copy(&home, "who is Brimblewick");
    assert!(left(&home, "Brimblewick").len() > 2);
    let named = erase(&home, "dentist is Doctor Brimblewick").join("\n");
    let archive = home.json(&["list", "--layer", "archive", "--limit", "100"]).to_string();
    assert!(!archive.contains("Doctor Brimblewick"), "{archive}");
    assert!(archive.contains("Mondays") && archive.contains("letter to Brimblewick"), "{archive}");
    // What else is said about the same name stays, and is named.
    assert!(home.text("user/working.md").contains("Brimblewick"));
    for place in
        ["what was said in sessions/telegram:2", "the thread of the conversation telegram:2", "a line of user/working"]
    {
        assert!(named.contains(place), "{place}: {named}");
    }
    assert_eq!(left(&home, "Doctor Brimblewick"), [""; 0]);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

/// Files that hold a word and are not in what was named.
fn unnamed(home: &Home, word: &str, named: &str) -> Vec<String> {
    left(home, word).into_iter().filter(|file| !named.contains(file.as_str())).collect()
}

#[test]
fn a_conversation_leaves_no_thread_in_a_copy() {
    let home = quiet();
    say(
        &home,
        "telegram:1",
        "I'm working on the letter to Brimblewick in letters/dentist.md. My dentist is Brimblewick.",
    );
    home.run(&["session", "consolidate", "telegram:1"]).done();
    say(&home, "telegram:2", "I'm working on the roof in house/roof.md.");
    home.run(&["session", "consolidate", "telegram:2"]).done();
    home.json(&["recall", "Brimblewick", "--layer", "archive", "--project", "none"]);
    copy(&home, "who is Brimblewick");
    home.put("chat-history", "hello\nwho is Brimblewick?\nhow is the roof?\n");
    let export = home.root().join("person").join("export-0.json");
    assert!(left(&home, "Brimblewick").len() > 4, "{:?}", left(&home, "Brimblewick"));
    assert!(home.text("user/working.md").contains("Brimblewick"), "it is in a thread");
    let told = home.json(&["forget", "--session", "telegram:1", "--erase", "--yes"]);
    assert_eq!(left(&home, "Brimblewick"), [""; 0], "{told}");
    assert_eq!(told["unreached"], serde_json::json!([]));
    // The other conversation's thread is whole, also in the copies.
    assert!(home.text("user/working.md").contains("roof"));
    let export: Value = serde_json::from_slice(&std::fs::read(export).unwrap()).unwrap();
    assert_eq!(export["threads"].as_array().unwrap().len(), 1, "{export}");
    assert!(export["documents"].to_string().contains("roof"));
    assert_eq!(home.text("chat-history"), "hello\nhow is the roof?\n");
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn copies_that_still_name_an_erased_conversation_are_named() {
    let home = quiet();
    say(&home, "telegram:1", "My dentist is Brimblewick.");
    home.run(&["session", "end", "telegram:1"]).done();
    say(&home, "telegram:2", "I'm working on the letter to Brimblewick in letters/dentist.md.");
    home.run(&["session", "consolidate", "telegram:2"]).done();
    copy(&home, "who is Brimblewick");
    let told = home.json(&["forget", "--session", "telegram:1", "--erase", "--yes"])["unreached"].to_string();
    for place in
        ["what was said in sessions/telegram:2", "the thread of the conversation telegram:2", "the backup", "the copy"]
    {
        assert!(told.contains(place), "{place}: {told}");
    }
    let own = ["memory/memory.db", "memory/user/working.md"];
    let silent: Vec<_> =
        unnamed(&home, "Brimblewick", &told).into_iter().filter(|file| !own.contains(&file.as_str())).collect();
    assert_eq!(silent, [""; 0], "{told}");
    assert_eq!(left(&home, "dentist is Brimblewick"), [""; 0], "{told}");
}

#[test]
fn a_former_line_is_erased_from_backups_exports_and_the_log() {
    let home = quiet();
    home.put("user/notes.md", "- likes fromplestilt cheese\n- buys milk\n");
    let line = ids(&home, "fromplestilt").remove(0);
    copy(&home, "fromplestilt");
    home.put("user/notes.md", "- likes other cheese\n- buys milk\n");
    home.json(&["list"]);
    copy(&home, "where is the fromplestilt");
    assert!(left(&home, "fromplestilt").len() > 3, "{:?}", left(&home, "fromplestilt"));
    let erased = home.json(&["forget", &line, "--erase", "--yes"]);
    let silent: Vec<_> =
        left(&home, "fromplestilt").into_iter().filter(|file| !erased.to_string().contains(file)).collect();
    assert_eq!(silent, [""; 0], "{erased}");
    assert_eq!(home.text("user/notes.md"), "- likes other cheese\n- buys milk\n");
}

#[test]
fn a_topic_is_erased_from_what_repeats_it_and_its_tasks_are_named() {
    let home = quiet();
    say(&home, "telegram:3", "I saw a wexlebird yesterday. I live in Porto.");
    home.run(&["session", "end", "telegram:3"]).done();
    home.remember(&["The wexlebird nests in May"]);
    let task = string(&home.json(&["task", "add", "Ask about the wexlebird"])["id"]);
    copy(&home, "wexlebird");
    let shown = home.json(&["forget", "--about", "wexlebird", "--erase"]);
    assert_eq!(shown["dry_run"], true, "nothing is changed without a yes");
    assert!(!ids(&home, "wexlebird").is_empty());
    let told = home.run(&["forget", "--about", "wexlebird", "--erase", "--with-sources", "--yes"]).done();
    assert!(told.contains(&format!("not reached: the task {task}")), "{told}");
    assert_eq!(ids(&home, "wexlebird"), [""; 0]);
    for gone in ["list", "session"] {
        let args: &[&str] =
            if gone == "list" { &["list", "--layer", "archive"] } else { &["session", "show", "telegram:3"] };
        assert!(!home.json(args).to_string().contains("wexlebird"), "{gone}");
    }
    assert!(left(&home, "wexlebird").iter().all(|file| !file.contains("user/")));
}

#[test]
fn what_was_erased_does_not_come_back_with_an_import_or_at_the_sessions_end() {
    let mut home = quiet();
    say(&home, "telegram:4", "My doctor is Plimshoe.");
    home.run(&["session", "consolidate", "telegram:4"]).done();
    home.put("../person/notes.md", "- My doctor is Plimshoe\n");
    let export = home.run(&["--json", "export"]).done();
    home.set_now("2026-03-01T12:30:00Z");
    for id in ids(&home, "Plimshoe") {
        home.json(&["forget", &id, "--erase", "--yes"]);
    }
    home.put("../person/export.json", &export);
    home.run(&["session", "end", "telegram:4"]).done();
    for file in ["export.json", "notes.md"] {
        home.json(&["import", file]);
    }
    assert_eq!(ids(&home, "Plimshoe"), [""; 0]);
    home.remember(&["My doctor is Plimshoe"]);
    assert_eq!(ids(&home, "Plimshoe").len(), 1, "what the person says again counts again");
}

/// What a turn says that nothing was made of yet: the turn stays and is named, and no fact is made of it any more.
#[test]
fn an_erased_fact_does_not_come_back_at_the_sessions_end() {
    let mut home = quiet();
    say(&home, "telegram:4", "My doctor is Plimshoe.");
    say(&home, "telegram:4", "I like green tea in the morning.");
    home.set_now("2026-03-01T12:30:00Z");
    let id = home.remember(&["My doctor is Plimshoe"]);
    let erased = home.json(&["forget", &id, "--erase", "--yes"]);
    assert!(erased["unreached"].to_string().contains("telegram:4"), "{erased}");
    home.run(&["session", "end", "telegram:4"]).done();
    assert_eq!(ids(&home, "green tea").len(), 1, "the session's end made facts");
    assert_eq!(ids(&home, "Plimshoe"), [""; 0]);
    let shown = home.run(&["profile"]).done() + &home.run(&["context", "--session", "telegram:5"]).done();
    assert!(!shown.contains("Plimshoe"), "{shown}");
}

#[test]
fn tasks_and_files_of_the_vault_that_still_say_it_are_named() {
    let home = quiet();
    home.remember(&["The gate code is wimblenook"]);
    let task = string(&home.json(&["task", "add", "Change the gate code from wimblenook"])["id"]);
    home.put("../person/gate.md", "# Gate\n\nWimblenook opens it.\n");
    home.json(&["vault", "add", "gate.md"]);
    let named = erase(&home, "wimblenook");
    assert!(named.contains(&format!("the task {task}, now or earlier")), "{named:?}");
    assert!(named.iter().any(|place| place.contains("gate.md of the vault")), "{named:?}");
}

/// What waited for a server and was refused by it stays in the home: erasing reaches it, too.
#[test]
fn what_was_set_aside_is_erased_or_named() {
    let home = quiet();
    say(&home, "telegram:1", "My dentist is Brimblewick.");
    say(&home, "telegram:2", "My cat is called Snorfelbin.");
    let waiting = |session: &str, text: &str| {
        serde_json::json!({ "by": "host", "session": session, "turns": [{ "id": "t9", "role": "summary", "content": text,
            "at": "2026-03-01T11:00:00Z" }] })
        .to_string()
    };
    home.put("spool/000000000000001-a.json", &waiting("telegram:1", "My dentist is Brimblewick."));
    home.put("spool/000000000000002-b.json", &waiting("telegram:2", "My cat is called Snorfelbin."));
    home.put("spool/000000000000003-c.json", "My cat is called Snorfelbin. {");
    home.put("unsaved-2026-03-01-110000.txt", "My cat is called Snorfelbin, and she is old.");
    assert_eq!(home.run(&["list"]).code, 1, "nothing was kept");
    let aside: Vec<_> = left(&home, "Brimblewick").into_iter().filter(|file| file.contains("spool")).collect();
    assert_eq!(aside, ["memory/spool/000000000000001-a.refused"], "what is refused is set aside");
    let told = home.json(&["forget", "--session", "telegram:1", "--erase", "--yes"]);
    assert_eq!(left(&home, "Brimblewick"), [""; 0], "{told}");
    let id = home.remember(&["My cat is called Snorfelbin"]);
    let named = home.json(&["forget", &id, "--erase", "--yes"])["unreached"].to_string();
    for file in ["000000000000002-b.refused", "000000000000003-c.refused", "unsaved-2026-03-01-110000.txt"] {
        assert!(named.contains(file), "{named}");
    }
    home.json(&["forget", "--everything", "--erase", "--yes"]);
    assert_eq!(left(&home, "Snorfelbin"), [""; 0]);
}

/// Neither is ours, and opening a pipe would wait for ever.
#[cfg(unix)]
#[test]
fn a_link_or_a_pipe_among_what_waits_is_not_opened() {
    let home = quiet();
    home.put(
        "elsewhere.json",
        r#"{"by": "host", "session": "telegram:1", "turns": [{"id": "t1", "role": "user",
        "content": "My dentist is Brimblewick.", "at": "2026-03-01T11:00:00Z"}]}"#,
    );
    home.put("spool/keep", "");
    std::os::unix::fs::symlink(home.path("elsewhere.json"), home.path("spool/000000000000001-a.json")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(home.path("spool/000000000000002-b.json")).status();
    assert!(pipe.unwrap().success());
    assert_eq!(home.run(&["list"]).code, 1, "nothing was kept");
    assert_eq!(home.found(&["--kind", "turn", "dentist"]), [""; 0]);
    let names: Vec<_> = std::fs::read_dir(home.path("spool")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().ends_with(".json")), "{names:?}");
}

/// A word in everything that a memory can hold: in texts, keys, labels, names, titles, questions and what was put aside.
#[test]
fn everything_leaves_no_word_in_any_file() {
    let home = quiet();
    home.remember(&["The gate code is Zarkolint", "--key", "Zarkolint-code", "--tag", "Zarkolint"]);
    home.remember(&["--layer", "identity", "My aunt is Zarkolint"]);
    let wrong = home.remember(&["The office is in Zarkolint"]);
    home.run(&["correct", "The office is in Porto", "--wrong", &wrong]).done();
    let muted = home.remember(&["Zarkolint is closed on Tuesdays"]);
    home.run(&["mute", &muted]).done();
    home.run_with(&["write", "user/notes/Zarkolint"], "- The boat is called Zarkolint\n").done();
    say(
        &home,
        "telegram:Zarkolint",
        "My dentist is Zarkolint. I'm working on the letter to Zarkolint in letters/a.md.",
    );
    home.run(&["session", "consolidate", "telegram:Zarkolint"]).done();
    home.run(&["task", "add", "Ask about Zarkolint"]).done();
    let dir = home.root().join("person/shop");
    std::fs::create_dir(&dir).unwrap();
    home.run(&["project", "add", "Zarkolint", "--dir", dir.to_str().unwrap()]).done();
    home.remember(&["The shop uses Zarkolint", "--project", "Zarkolint"]);
    home.put("../person/gate.md", "# Gate\n\nZarkolint opens it.\n");
    home.json(&["vault", "add", "gate.md"]);
    home.json(&["context", "--session", "web:1", "--message", "what about Zarkolint?"]);
    home.put("chat-history", "who is Zarkolint?\n");
    home.put("unsaved-2026-03-01-110000.txt", "Zarkolint\n");
    home.put("spool/000000000000001-a.json", "Zarkolint");
    copy(&home, "who is Zarkolint");
    assert!(left(&home, "Zarkolint").len() > 6, "{:?}", left(&home, "Zarkolint"));
    std::fs::remove_file(home.root().join("person/gate.md")).unwrap();
    let told = home.json(&["forget", "--everything", "--erase", "--yes"]);
    assert_eq!(left(&home, "Zarkolint"), [""; 0], "{told}");
    let names = tree(home.root()).into_keys().filter(|path| path.display().to_string().contains("Zarkolint"));
    assert_eq!(names.count(), 0, "{told}");
    assert_eq!(home.run(&["doctor"]).code, 0);
    assert_eq!(home.json(&["vault", "list"])["documents"].as_array().map(Vec::len), Some(0));
}

/// Indexes whose segments have a term of a word: it, or a stem of it.
fn indexed(home: &Home, word: &str) -> Vec<String> {
    let stem = &word.to_lowercase()[..6];
    let has = |index: &index::Index| index.terms.iter().any(|term| term.contains(stem));
    index::of(home).into_iter().filter(has).map(|index| index.file).collect()
}

#[test]
fn no_canary_is_left_by_any_way_in() {
    let home = quiet();
    home.remember(&["The gate code is zarkolint"]);
    home.remember(&["--layer", "identity", "My aunt is Dorvegane"]);
    home.put("user/notes.md", "- the boat is called Murxelby\n- buys milk\n");
    say(&home, "web:1", "My bank is Grostlewank.");
    home.run(&["session", "end", "web:1"]).done();
    home.put("../person/MEMORY.md", "- I own a plandertok boat\n");
    home.json(&["import", "MEMORY.md"]);
    std::fs::remove_file(home.root().join("person/MEMORY.md")).unwrap();
    // What is in segments, and not in the tail alone.
    home.run(&["reindex"]).done();
    let canaries = ["zarkolint", "Dorvegane", "Murxelby", "Grostlewank", "plandertok"];
    for canary in canaries {
        home.json(&["context", "--session", "web:2", "--message", &format!("what about {canary}?")]);
        copy(&home, canary);
        assert!(left(&home, canary).iter().any(|file| file.ends_with("memory.db")), "{canary} was not planted");
        let indexed = indexed(&home, canary);
        assert!(indexed.len() > 1, "{canary} is in the segments of the memory and of a backup: {indexed:?}");
    }
    for canary in canaries {
        let named = erase(&home, canary).join("\n");
        assert_eq!(indexed(&home, canary), [""; 0], "{canary} is a term of a segment");
        for index in index::of(&home) {
            assert_eq!(index.ghosts, [""; 0], "{}, after {canary}", index.file);
            assert!(index.terms.contains("milk"), "{}: the rest is still indexed", index.file);
        }
        assert_eq!(unnamed(&home, canary, &named), [""; 0], "{canary}; named: {named}");
    }
    assert_eq!(home.text("user/notes.md"), "- buys milk\n");
    assert_eq!(home.run(&["doctor"]).code, 0);
}
