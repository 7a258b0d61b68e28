//! The command line as a person meets it: help, hints, and the short ways of saying things.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use common::{Home, Ran, string};
use serde_json::json;
use throughline_testkit::model_server::{ModelServer, Step};

#[test]
fn the_help_lists_commands_in_groups() {
    let help = Home::new().run(&["--help"]).done();
    let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("no {text:?} in {help}"));
    assert!(at("\nStart:\n") < at("\n  connect ") && at("\n  connect ") < at("\nMemories:\n"));
    assert!(at("\nMemories:\n") < at("\n  recall ") && at("\n  recall ") < at("\nFor programs:\n"));
}

#[test]
fn a_usage_error_has_one_hint() {
    let home = Home::new();
    for (args, hint) in [
        (&["recal"][..], "hint: some similar subcommands exist"),
        (&["recall", "x", "--limt", "3"], "hint: a similar argument exists: '--limit'"),
        (&["recall"], "hint: `--help` behind the command shows what it takes"),
        (&["import", "--from", "nobody"], "hint: `--help`"),
    ] {
        let ran = home.run(args);
        assert_eq!((ran.code, ran.stderr.matches("hint:").count()), (2, 1), "{ran:?}");
        assert!(ran.stderr.contains(hint), "{ran:?}");
        assert!(!ran.stderr.contains("tip:") && !ran.stderr.contains("For more information"), "{ran:?}");
    }
}

#[test]
fn a_hit_has_two_lines_unless_all_of_it_is_wanted() {
    let home = Home::new();
    let long = format!("The harbour master {}is called Otto", "keeps the tide tables and ".repeat(20));
    home.remember(&[&long]);
    let brief = home.run(&["recall", "harbour master"]).done();
    assert_eq!(brief.lines().count(), 2, "{brief}");
    assert!(brief.lines().next().unwrap().ends_with('…'), "{brief}");
    let full = home.run(&["recall", "harbour master", "--full"]).done();
    assert!(full.contains("is called Otto"), "{full}");
}

#[test]
fn a_directory_is_registered_by_its_own_name_and_moves_no_other_project() {
    let home = Home::new();
    for dir in ["one/shop", "two/shop"] {
        std::fs::create_dir_all(home.root().join("person").join(dir)).unwrap();
    }
    let add = |dir: &str| {
        let mut command = home.throughline(&["--json", "project", "add", "."]);
        let output = command.current_dir(home.root().join("person").join(dir)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        string(&serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["name"])
    };
    assert_eq!((add("one/shop"), add("two/shop"), add("one/shop")), ("shop".into(), "two-shop".into(), "shop".into()));
    assert_eq!(home.json(&["project", "list"])["projects"].as_array().unwrap().len(), 2);
    home.run(&["project", "add", "./nowhere"]).failed(2, "cannot use ./nowhere", "a directory that exists");
}

#[test]
fn backups_are_listed_newest_first() {
    let mut home = Home::new();
    let none = home.run(&["backup", "list"]);
    assert!(none.code == 1 && none.stdout.contains("`throughline backup` writes one"), "{none:?}");
    home.remember(&["We deploy on Fridays"]);
    home.run(&["backup"]).done();
    home.set_now("2031-01-02T03:04:05Z");
    home.run(&["backup"]).done();
    let copies = home.json(&["backup", "list"])["backups"].clone();
    let copies = copies.as_array().unwrap();
    assert_eq!(copies.len(), 2);
    assert_eq!(copies[0]["name"], "memory-2031-01-02-030405.db");
    home.run(&["backup", "--check", &string(&copies[1]["name"])]).done();
}

#[test]
fn a_value_with_which_no_memory_could_be_opened_is_not_set() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays"]);
    home.run(&["config", "set", "store.url", "x"]).failed(2, "`store.url` is not usable", "postgres://");
    home.run(&["config", "set", "memory.user_namespace", "a/b"]).failed(2, "`memory.user_namespace` is not usable", "");
    assert_eq!(home.listed(&[]), ["We deploy on Fridays"]);
}

#[test]
fn a_value_is_set_in_the_config_file_and_a_wrong_one_is_not() {
    let home = Home::with_config("config.toml", "# mine\n[memory]\nrecall_limit = 3 # few\n");
    home.run(&["config", "set", "memory.recall_limit", "7"]).done();
    home.run(&["config", "set", "model.model", "7"]).done();
    home.run(&["config", "set", "channels.telegram.groups", "true"]).done();
    let text = home.text("config.toml");
    assert!(text.starts_with("# mine\n[memory]\nrecall_limit = 7 # few\n"), "{text}");
    assert!(text.contains("model = \"7\"") && text.contains("[channels.telegram]\ngroups = true\n"), "{text}");
    for (key, value, problem) in [
        ("memory.recall_limit", "many", "recall_limit"),
        ("memory.recal_limit", "3", "recal_limit"),
        ("recall_limit", "3", "is no key"),
    ] {
        let ran = home.run(&["config", "set", key, value]);
        assert!(ran.code == 2 && ran.stderr.contains(problem) && ran.stderr.contains("hint:"), "{ran:?}");
    }
    assert_eq!(home.text("config.toml"), text);
    assert_eq!(home.json(&["config", "set", "memory.recall_limit", "7"])["changed"], false);
}

#[test]
fn an_edited_config_is_written_only_where_it_is_valid() {
    let mut home = Home::with_config("config.toml", "[memory]\nrecall_limit = 3\n");
    home.set("EDITOR", "sed -i s/3/9/");
    home.run(&["config", "edit"]).done();
    assert_eq!(home.text("config.toml"), "[memory]\nrecall_limit = 9\n");
    home.set("EDITOR", "sed -i s/recall/recal/");
    home.run(&["config", "edit"]).failed(2, "recal_limit", "what you wrote is in ");
    assert_eq!(home.text("config.toml"), "[memory]\nrecall_limit = 9\n");
}

#[test]
fn a_message_on_the_command_line_gets_one_reply() {
    let server = ModelServer::scripted([Step::reply("Good morning.")]);
    let config = format!(
        "[memory]\nconsolidation_provider = \"offline\"\n\n[model]\nprovider = \"ollama\"\nmodel = \"m\"\nbase_url = \"{}\"\n",
        server.url()
    );
    let home = Home::with_config("config.toml", &config);
    let ran = home.run(&["chat", "--session", "one", "hello", "there"]);
    assert_eq!((ran.code, ran.stdout.trim()), (0, "Good morning."), "{ran:?}");
    let said = home.json(&["session", "show", "cli:one"])["turns"].clone();
    assert_eq!((&said[0]["content"], &said[1]["content"]), (&json!("hello there"), &json!("Good morning.")));
}

/// What bash offers for the last word of a line.
fn completed(home: &Home, words: &[&str]) -> Vec<String> {
    let mut command = home.throughline(&[]);
    command.arg("--").arg("throughline").args(words).env("THROUGHLINE_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let ran = Ran::of(command.output().unwrap());
    ran.done().lines().map(str::to_owned).collect()
}

#[test]
fn the_shell_completes_what_is_in_the_memory() {
    let home = Home::new();
    assert_eq!(completed(&home, &["show", "tra"]), Vec::<String>::new());
    assert!(!home.path("").exists(), "a key press makes no memory");
    let id = home.remember(&["Zhang San approves the travel budget", "--key", "travel_budget"]);
    home.run(&["project", "add", "apollo"]).done();
    home.run(&["session", "observe", "--session", "web:1", "Hello"]).done();
    assert_eq!(completed(&home, &["show", "tra"]), ["travel_budget"]);
    assert!(completed(&home, &["forget", &id[..4]]).contains(&id[..8].to_owned()));
    assert_eq!(completed(&home, &["session", "show", "web"]), ["web:1"]);
    assert_eq!(completed(&home, &["project", "show", "ap"]), ["apollo"]);
    let task = string(&home.json(&["task", "add", "Migrate billing"])["id"]);
    assert_eq!(completed(&home, &["task", "done", &task[..2]]), [&task[..8]]);
    assert!(completed(&home, &["recall", "--project", ""]).contains(&"apollo".to_owned()));
    assert!(completed(&home, &["connect", "cod"]).contains(&"codex".to_owned()));
}

#[test]
fn the_shell_completes_documents_backups_settings_and_tags() {
    let home = Home::new();
    assert!(completed(&home, &["config", "set", "memory.recall_l"]).contains(&"memory.recall_limit".to_owned()));
    assert!(!home.path("").exists(), "a key press makes no memory");
    home.run(&["remember", "We deploy on Fridays", "--tag", "ops"]).done();
    home.run(&["remember", "The staging database is reset on Sundays", "--tag", "ops", "--tag", "staging"]).done();
    assert_eq!(completed(&home, &["list", "--tag", ""]), ["ops", "staging"]);
    assert_eq!(completed(&home, &["remember", "x", "--tag", "st"]), ["staging"]);
    home.put("user/notes.md", "- buy milk\n");
    for command in ["read", "write", "history", "restore"] {
        assert_eq!(completed(&home, &[command, "user/no"]), ["user/notes"], "{command}");
    }
    home.run(&["backup"]).done();
    let name = string(&home.json(&["backup", "list"])["backups"][0]["name"]);
    assert_eq!(completed(&home, &["backup", "--check", ""]), [&*name]);
    assert_eq!(completed(&home, &["backup", "--restore", &name[..4]]), [&*name]);
}
