//! The commands of docs/tasks.md, as they stand there: what is copied from the page works.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::daemon::Daemon;
use common::{Home, Ran, installed, string};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// How the page starts the daemon. The test starts it on a free port.
const SERVE: &str = "throughline serve --no-link &";

/// The commands below a heading of the page, without what is said about them.
#[track_caller]
fn commands(heading: &str) -> Vec<String> {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/tasks.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.lines().next() == Some(heading));
    let section = section.unwrap_or_else(|| panic!("docs/tasks.md has no heading `{heading}`"));
    let block = section.split("```").find_map(|block| block.strip_prefix("sh\n"));
    let block = block.unwrap_or_else(|| panic!("`{heading}` has no commands"));
    let bare = |line: &str| line.split("  #").next().unwrap_or_default().trim_end().to_owned();
    block.lines().map(bare).filter(|line| !line.is_empty()).collect()
}

/// A shell on this home's machine, in which `throughline` is this build and `more` comes before it on the path.
fn shell(home: &Home, more: &str, script: &str) -> Ran {
    let bin = Path::new(env!("CARGO_BIN_EXE_throughline")).parent().unwrap();
    let mut command: Command = home.command("bash");
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value).unwrap();
    let path = format!("{more}:{}:{}", bin.display(), path.to_str().unwrap());
    // npx asks whether a newer npm is out, and says so among the errors.
    command.env("npm_config_update_notifier", "false");
    command.env("PATH", path).args(["-euo", "pipefail", "-c", script]);
    Ran::of(command.output().unwrap())
}

/// What a person has in their directory who has unpacked a release: the examples.
fn with_examples(home: &Home) -> PathBuf {
    let place = home.root().join("person");
    let copied = Command::new("cp").arg("-r").arg(Path::new(ROOT).join("examples")).arg(&place).status().unwrap();
    assert!(copied.success());
    place
}

/// The commands after the one that starts the daemon, with a daemon running.
#[track_caller]
fn with_daemon(home: &Home, more: &str, heading: &str) -> String {
    let commands = commands(heading);
    assert_eq!(commands[0], SERVE);
    let _daemon = Daemon::start(home);
    shell(home, more, &commands[1..].join("\n")).done()
}

#[test]
fn from_python() {
    let home = Home::new();
    with_examples(&home);
    let told = with_daemon(&home, "", "… use it from Python?");
    assert!(told.contains("found We deploy on Fridays at noon"), "{told}");
}

#[test]
fn from_typescript() {
    let home = Home::new();
    let place = with_examples(&home);
    let about: serde_json::Value =
        serde_json::from_slice(&fs::read(place.join("examples/typescript/package.json")).unwrap()).unwrap();
    let packages = about["dependencies"].as_object().unwrap().iter();
    let packages: Vec<String> =
        packages.map(|(name, version)| format!("{name}@{}", version.as_str().unwrap())).collect();
    // What `npm install` fetches is fetched once for all tests.
    let fetched = installed::node("examples-node", &packages.iter().map(String::as_str).collect::<Vec<_>>());
    let programs = home.root().join("programs");
    fs::create_dir(&programs).unwrap();
    let npm = format!("#!/bin/sh\ntest \"$*\" = install && ln -s '{}/node_modules' node_modules\n", fetched.display());
    fs::write(programs.join("npm"), npm).unwrap();
    assert!(Command::new("chmod").arg("755").arg(programs.join("npm")).status().unwrap().success());
    let told = with_daemon(&home, programs.to_str().unwrap(), "… use it from TypeScript?");
    assert!(told.contains("found We deploy on Fridays at noon"), "{told}");
}

#[test]
fn a_topic_goes_comes_back_and_is_erased() {
    let home = Home::new();
    home.remember(&["The trip to Porto is in May"]);
    home.remember(&["We deploy on Fridays"]);
    let commands = commands("… delete a topic?");
    let [forget, undo, erase] = &commands[..] else { panic!("{commands:?}") };
    let agreed = |line: &str| {
        let told = shell(&home, "", line).done();
        assert!(told.contains("nothing was changed"), "without a terminal it asks nothing: {told}");
        shell(&home, "", &format!("{line} --yes")).done();
    };
    agreed(forget);
    assert_eq!(home.listed(&[]), ["We deploy on Fridays"]);
    shell(&home, "", undo).done();
    assert_eq!(home.listed(&[]).len(), 2);
    agreed(erase);
    assert_eq!(home.listed(&["--status", "any"]), ["We deploy on Fridays"]);
}

#[test]
fn a_backup_is_made_proved_and_restored() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays"]);
    let commands = commands("… back up?");
    assert_eq!(commands.len(), 4, "{commands:?}");
    shell(&home, "", &commands[..2].join("\n")).done();
    home.remember(&["The staging database is reset on Sundays"]);
    let name = string(&home.json(&["backup", "list"])["backups"][0]["name"]);
    let told = shell(&home, "", &commands[2..].join("\n").replace("NAME", &name)).done();
    assert!(told.contains("can be restored") && told.contains("restored "), "{told}");
    assert_eq!(home.listed(&[]), ["We deploy on Fridays"]);
}

#[test]
fn what_leaves_this_machine_is_shown() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays at noon"]);
    let told = shell(&home, "", &commands("… see what leaves this machine?").join("\n")).done();
    for text in
        ["offline", "memory.recall_limit", "We deploy on Fridays at noon", "recalls in the log", "off the record"]
    {
        assert!(told.contains(text), "no `{text}`: {told}");
    }
}
