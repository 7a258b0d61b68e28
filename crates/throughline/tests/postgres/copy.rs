//! `throughline copy`: a whole memory from a file to the server and back.

use serde_json::Value;

use super::common::Home;
use super::{on_server, server};

/// The address of a space.
fn space(name: &str) -> String {
    format!("{}?space={name}", server().url())
}

/// The address of the database of a home.
fn file(home: &Home) -> String {
    format!("sqlite://{}", home.path("memory.db").display())
}

fn in_a_file() -> Home {
    Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n")
}

/// A memory with something of every kind.
fn lived_in() -> Home {
    let home = in_a_file();
    home.remember(&["We deploy on Fridays", "--tag", "work", "--key", "deploy"]);
    home.remember(&["My cat is called Miso"]);
    let wrong = home.remember(&["The office is in Lisbon"]);
    home.run(&["correct", "The office is in Porto", "--wrong", &wrong]).done();
    let gone = home.remember(&["The door code is on the fridge"]);
    home.run(&["forget", &gone, "--erase", "--yes"]).done();
    let forgotten = home.remember(&["The printer is broken"]);
    home.run(&["forget", &forgotten]).done();
    let muted = home.remember(&["Tuesdays are long"]);
    home.run(&["mute", &muted]).done();
    home.run_with(&["write", "user/profile"], "- likes tea\n- lives in Porto\n").done();
    home.run_with(&["write", "user/notes/trip"], "A plan.\n\n- pack light\n").done();
    for (session, text) in [("cli:a", "I moved to Porto"), ("cli:b", "We talked about \u{10FFFD} and 用户")] {
        home.run(&["session", "observe", "--session", session, "--role", "user", text]).done();
        home.run(&["session", "observe", "--session", session, "--role", "assistant", "Noted."]).done();
    }
    home.run(&["task", "add", "Paint the fence"]).done();
    std::fs::create_dir(home.path("stall")).unwrap();
    home.run(&["project", "add", "stall", "--dir", home.path("stall").to_str().unwrap()]).done();
    home.run_with(&["write", "projects/stall"], "- opens at nine\n").done();
    let manual = home.root().join("person/manual.md");
    std::fs::write(&manual, "# Manual\n\nPress the green button.\n").unwrap();
    home.run(&["vault", "add", manual.to_str().unwrap()]).done();
    assert_eq!(home.found(&["when do we deploy"]), ["We deploy on Fridays"]);
    home.run(&["undo"]).done();
    home
}

/// Everything that a memory gives.
fn everything(home: &Home) -> Vec<Value> {
    let views: [&[&str]; 5] =
        [&["export"], &["history"], &["session", "show", "cli:b"], &["task", "list"], &["project", "list"]];
    views.into_iter().map(|view| home.json(view)).collect()
}

#[test]
fn there_and_back_gives_the_same_memory() {
    let home = lived_in();
    let before = everything(&home);
    let there = home.json(&["copy", "--from", &file(&home), "--to", &space("copied")]);
    assert_eq!(there["resumed"], 0);
    assert!(there["rows"].as_u64().unwrap() > 40 && there["tables"]["turns"] == 4, "{there}");
    let shared = on_server("copied");
    assert_eq!(everything(&shared), before);
    assert_eq!(shared.run(&["read", "user/profile"]).done(), "- likes tea\n- lives in Porto\n");
    shared.run(&["doctor"]).done();

    let back = in_a_file();
    let again = back.json(&["copy", "--from", &space("copied"), "--to", &file(&back)]);
    assert_eq!((&again["rows"], &again["digest"]), (&there["rows"], &there["digest"]), "{again}");
    assert_eq!(everything(&back), before);
    assert_eq!(back.text("user/notes/trip.md"), "A plan.\n\n- pack light\n");
    back.run(&["doctor"]).done();
    back.remember(&["Something new"]);
    assert_eq!(back.found(&["something new"]), ["Something new"]);
    let office = "where is the office";
    assert_eq!(shared.found(&[office]), home.found(&[office]));
    assert_eq!(back.found(&[office]), home.found(&[office]));
    shared.remember(&["Something new there"]);
    shared.run(&["undo"]).done();
}

#[test]
fn interrupted_copy_is_no_memory_until_it_is_complete() {
    let home = lived_in();
    let (from, to) = (file(&home), space("interrupted"));
    // The tables are there, and the space is empty.
    on_server("interrupted").run(&["stats"]).done();
    server().run(
        "CREATE FUNCTION throughline.refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN IF NEW.space = 'interrupted' THEN RAISE 'the disk is on fire'; END IF; RETURN NEW; END $$; \
         CREATE TRIGGER refuse BEFORE INSERT ON throughline.turns FOR EACH ROW EXECUTE FUNCTION throughline.refuse()",
    );
    home.run(&["copy", "--from", &from, "--to", &to]).failed(
        2,
        "cannot write the target",
        "run the same command again",
    );
    on_server("interrupted").run(&["stats"]).failed(2, "the memory is not complete", "throughline copy");
    server().run("DROP TRIGGER refuse ON throughline.turns; DROP FUNCTION throughline.refuse()");
    let copied = home.json(&["copy", "--from", &from, "--to", &to]);
    assert!(copied["resumed"].as_u64().unwrap() > 0, "{copied}");
    let before = everything(&home);
    assert_eq!(everything(&on_server("interrupted")), before);

    // Into a file: nothing is at its place before it is whole.
    let back = in_a_file();
    back.put("user/profile.md", "- somebody else\n");
    back.run(&["copy", "--from", &to, "--to", &file(&back)]).failed(2, "cannot write the target", "");
    assert!(!back.path("memory.db").exists());
    std::fs::remove_file(back.path("user/profile.md")).unwrap();
    back.run(&["copy", "--from", &to, "--to", &file(&back)]).done();
    assert_eq!(everything(&back)[0], before[0]);
}

#[test]
fn copy_of_what_changed_since_begins_anew() {
    let home = lived_in();
    let back = in_a_file();
    back.put("user/profile.md", "- somebody else\n");
    home.json(&["copy", "--from", &file(&home), "--to", &space("changing")]);
    back.run(&["copy", "--from", &space("changing"), "--to", &file(&back)]).failed(2, "cannot write the target", "");
    std::fs::remove_file(back.path("user/profile.md")).unwrap();
    on_server("changing").remember(&["It is later now"]);
    let copied = back.json(&["copy", "--from", &space("changing"), "--to", &file(&back)]);
    assert_eq!(copied["resumed"], 0, "{copied}");
    assert_eq!(back.found(&["is it later"]), ["It is later now"]);
}

#[test]
fn memory_is_never_copied_over_another() {
    let (home, other) = (lived_in(), in_a_file());
    other.remember(&["Mine"]);
    on_server("taken").remember(&["Taken"]);
    let refused = |to: &str| {
        home.run(&["copy", "--from", &file(&home), "--to", to]).failed(2, "holds a memory already", "another place");
    };
    refused(&space("taken"));
    refused(&file(&other));
    assert_eq!(other.found(&["mine"]), ["Mine"]);
    assert_eq!(on_server("taken").json(&["stats"])["knowledge"], 1);
    let nowhere = format!("sqlite://{}", home.path("nothing.db").display());
    home.run(&["copy", "--from", &nowhere, "--to", &space("never")]).failed(2, "there is no memory at", "");
    home.run(&["copy", "--from", "mysql://a:secret@b", "--to", &nowhere]).failed(2, "`mysql` is neither", "");
}
