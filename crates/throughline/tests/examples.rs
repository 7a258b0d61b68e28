//! The examples run as they are shown.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "../examples/embed.rs"]
#[allow(dead_code, reason = "its `main` is for people")]
mod embed;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::daemon::Daemon;
use common::{Home, Ran, installed};
use throughline_testkit::model_server::{ModelServer, Step};

fn example(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).join(name)
}

#[test]
fn an_assistant_of_ones_own_knows_tomorrow_what_was_said_today() {
    let home = tempfile::tempdir().unwrap();
    let told = embed::story(home.path()).unwrap();
    assert!(told.contains("(consolidated: 6 turns)"), "{told}");
    let (_, tomorrow) = told.split_once("the next conversation begins with:").unwrap();
    assert!(tomorrow.contains("according to earlier records") && tomorrow.contains("Fridays at noon"), "{told}");
}

/// What the bot answers, line by line.
fn chat(home: &Home, session: &str, messages: &str) -> String {
    let mut command = home.command(example("shell-bot"));
    command.arg(session).env("THROUGHLINE", env!("CARGO_BIN_EXE_throughline")).stdin(Stdio::piped());
    let mut bot = command.spawn().unwrap();
    bot.stdin.take().unwrap().write_all(messages.as_bytes()).unwrap();
    Ran::of(bot.wait_with_output().unwrap()).done()
}

#[test]
fn the_bot_in_shell_remembers_across_conversations() {
    let home = Home::new();
    let first = chat(&home, "shell:monday", "We deploy on Fridays at noon.\n\nMy favourite colour is teal.\n");
    assert_eq!(first.lines().count(), 2, "{first}");
    let second = chat(&home, "shell:tuesday", "When do we deploy?\n");
    assert!(second.contains("according to earlier records") && second.contains("Fridays at noon"), "{second}");
}

#[test]
fn the_script_over_http_stores_finds_and_converses() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let told = Ran::of(home.command("python3").arg(example("python-http.py")).output().unwrap()).done();
    assert!(told.contains("found We deploy on Fridays at noon"), "{told}");
    assert!(told.contains("assistant: according to earlier records: - "), "{told}");
    assert_eq!(home.json(&["session", "list"])["sessions"].as_array().unwrap().len(), 1);
}

/// A home that remembers something, whose daemon passes requests on to a scripted model.
fn with_model(server: &ModelServer) -> (Home, Daemon) {
    let config = format!("[memory]\nuser_namespace = \"user\"\n[proxy]\nopenai_base_url = \"{}/v1\"\n", server.url());
    let mut home = Home::with_config("config.toml", &config);
    home.set("OPENAI_API_KEY", "sk-person");
    home.remember(&["We deploy on Fridays at noon"]);
    let daemon = Daemon::start(&home);
    (home, daemon)
}

/// The model gets the memory, and the program its answer.
#[track_caller]
fn asks_with_memory(program: impl Fn(&Home) -> Command) {
    let server = ModelServer::scripted([Step::reply("On Fridays.")]);
    let (home, _daemon) = with_model(&server);
    let output = program(&home).arg("When do we deploy?").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.contains("memory: on"), "{errors}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "On Fridays.\n");
    let sent = String::from_utf8(server.requests().pop().unwrap().bytes).unwrap();
    assert!(sent.contains("<memory-context>") && sent.contains("We deploy on Fridays at noon"), "{sent}");
}

#[track_caller]
fn keeps_and_finds(mut program: Command) {
    let output = program.env("THROUGHLINE", env!("CARGO_BIN_EXE_throughline")).output().unwrap();
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert!(told.contains("found We deploy on Fridays at noon"), "{told}");
}

#[test]
fn python_over_the_proxy_and_over_mcp() {
    let python = installed::python("examples-python", &["openai==3.51.0", "mcp==2.3.0"]);
    asks_with_memory(|home| {
        let mut command = home.command(&python);
        command.arg(example("python-openai.py"));
        command
    });
    let home = Home::new();
    let mut client = home.command(&python);
    client.arg(example("python-mcp.py"));
    keeps_and_finds(client);
}

/// A program of `examples/typescript`, where its packages are installed.
fn typescript(home: &Home, place: &Path, name: &str) -> Command {
    let mut command = home.command(place.join("node_modules/.bin/tsx"));
    command.arg(place.join(name));
    command
}

#[test]
fn typescript_over_http_the_proxy_and_mcp() {
    let about: serde_json::Value =
        serde_json::from_slice(&std::fs::read(example("typescript/package.json")).unwrap()).unwrap();
    let packages = about["dependencies"].as_object().unwrap().iter();
    let packages: Vec<String> =
        packages.map(|(name, version)| format!("{name}@{}", version.as_str().unwrap())).collect();
    let place = installed::node("examples-node", &packages.iter().map(String::as_str).collect::<Vec<_>>());
    for file in std::fs::read_dir(example("typescript")).unwrap().map(|file| file.unwrap().path()) {
        std::fs::copy(&file, place.join(file.file_name().unwrap())).unwrap();
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    keeps_and_finds(typescript(&home, &place, "http.ts"));
    drop(daemon);
    keeps_and_finds(typescript(&Home::new(), &place, "mcp.ts"));
    asks_with_memory(|home| typescript(home, &place, "openai.ts"));
}
