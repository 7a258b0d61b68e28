//! A program as the model: what it is given, how it may fail, and that none of it is left behind.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{chat, kind};
use throughline_core::ports::{Cost, Model, ModelError, Reply};
use throughline_providers::{Careful, CommandModel, CommandSettings, ReadyMade, ThreadPause};
use throughline_testkit::FixedClock;

/// Long enough for a machine that is busy with other tests.
const AMPLE: Duration = Duration::from_secs(120);

fn shell(script: &str, timeout: Duration) -> CommandModel {
    let words = ["sh", "-c", script].map(Into::into).to_vec();
    CommandModel::new(CommandSettings { words, ready_made: None, name: "sh".to_owned(), timeout })
}

fn answer(script: &str) -> Result<Reply, ModelError> {
    shell(script, AMPLE).complete(&chat(), &mut |_| true)
}

/// The error as a person reads it.
fn error(script: &str) -> String {
    answer(script).unwrap_err().to_string()
}

#[test]
fn the_prompt_goes_in_and_the_reply_comes_out() {
    let mut seen = String::new();
    let model = shell("cat", AMPLE);
    let reply = model.complete(&chat(), &mut |piece| {
        seen.push_str(piece);
        true
    });
    let reply = reply.unwrap();
    assert!(
        reply.text.starts_with("You are kind.\n\nUser: Hello\n\nAssistant: Hi!\n\nUser: How are you?"),
        "{reply:?}"
    );
    assert_eq!(seen, reply.text);
    assert!(reply.tokens_in > 10 && reply.tokens_out > 10, "tokens are estimated: {reply:?}");
    assert_eq!((model.provider(), model.name(), model.cost()), ("command", "sh", Cost::Tokens));
}

#[test]
fn a_run_is_marked_and_has_an_empty_directory_of_its_own() {
    let text = answer("echo \"$THROUGHLINE_MODEL_RUN\"; ls -A | wc -l; pwd").unwrap().text;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert_eq!(lines[..2], ["1", "0"]);
    assert!(lines[2].contains("throughline-model-") && !Path::new(lines[2]).exists(), "it is gone afterwards: {text}");
}

#[test]
fn a_program_that_reads_nothing_and_one_that_prints_first_are_fine() {
    assert_eq!(answer("echo well").unwrap().text, "well");
    let much = "head -c 300000 /dev/zero | tr '\\0' x; cat >/dev/null";
    assert_eq!(answer(much).unwrap().text.len(), 300_000);
}

#[test]
fn failures_say_what_the_program_said() {
    assert_eq!(error("echo first >&2; echo no quota >&2; exit 3"), "command failed (exit status: 3): first; no quota");
    assert_eq!(error("echo please log in; exit 1"), "command failed (exit status: 1): please log in");
    assert_eq!(
        error("cat >&2; exit 1"),
        "command failed (exit status: 1): it printed no message",
        "no prompt in an error"
    );
    assert_eq!(error("kill -9 $$"), "command failed (signal: 9 (SIGKILL)): it printed no message");
    assert_eq!(error("echo odd >&2"), "command sent something that cannot be read: the reply is empty: odd");
    assert_eq!(error("printf '\\377'"), "command sent something that cannot be read: the reply is not UTF-8");
}

#[test]
fn too_much_output_is_an_error_at_once() {
    let began = Instant::now();
    let why = "command sent something that cannot be read: the reply is longer than 1024 KB";
    assert_eq!(error("yes"), why);
    assert_eq!(error("head -c 1100000 /dev/zero | tr '\\0' x"), why, "also where the program ends by itself");
    assert!(began.elapsed() < AMPLE / 2);
    let loud = answer("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo well");
    assert_eq!(loud.unwrap().text, "well", "standard error is no reply");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let words = vec!["claude-that-is-not-there".into()];
    let ready_made = Some(ReadyMade::ClaudeCode);
    let settings = CommandSettings { words, ready_made, name: "claude-code".to_owned(), timeout: AMPLE };
    let error = CommandModel::new(settings).complete(&chat(), &mut |_| true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "claude-code cannot be run: `claude-that-is-not-there`: it is not installed, or not on PATH"
    );
    assert!(!error.is_passing() && error.hint().unwrap().contains("throughline model list"));
}

/// A script that starts another process, says which one, and hangs.
fn hanging(pids: &Path) -> String {
    format!("sleep 1000 & echo $! >{0}.part; echo $$ >>{0}.part; mv {0}.part {0}; wait", pids.display())
}

/// All of the processes that are named in a file are gone.
fn are_gone(pids: &Path) -> bool {
    let named = std::fs::read_to_string(pids).unwrap();
    let is_alive = |pid: &str| {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // A zombie waits for whoever adopted it.
        !state.is_empty() && !state.contains(") Z ")
    };
    named.lines().count() == 2 && !named.lines().any(is_alive)
}

#[track_caller]
fn until(mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < AMPLE, "waited in vain");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn after_the_time_is_up_the_whole_group_is_killed() {
    let place = tempfile::tempdir().unwrap();
    let pids = place.path().join("pids");
    // Short, but long enough for the script to write its file.
    let result = shell(&hanging(&pids), Duration::from_secs(3)).complete(&chat(), &mut |_| true);
    assert_eq!(result.unwrap_err().to_string(), "command did not answer in time");
    until(|| are_gone(&pids));
}

#[test]
fn cancelling_kills_the_whole_group() {
    let place = tempfile::tempdir().unwrap();
    let pids = place.path().join("pids");
    let result = shell(&hanging(&pids), AMPLE).complete(&chat(), &mut |piece| {
        assert_eq!(piece, "", "there is nothing to say");
        !pids.exists()
    });
    assert_eq!(kind(&result), "cancelled");
    until(|| are_gone(&pids));
}

#[test]
fn what_a_program_leaves_behind_is_killed_and_not_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let pids = place.path().join("pids");
    let script = format!("sleep 1000 & echo $! >{0}; echo $$ >>{0}; echo well", pids.display());
    assert_eq!(answer(&script).unwrap().text, "well");
    until(|| are_gone(&pids));
}

#[test]
fn a_run_that_fails_is_tried_again() {
    let place = tempfile::tempdir().unwrap();
    let count = place.path().join("count");
    let script = format!("echo x >>{0}; test $(wc -l <{0}) -ge 2 && echo well", count.display());
    let clock = Arc::new(FixedClock::at("2026-03-01T12:00:00Z".parse().unwrap()));
    let careful = Careful::new(shell(&script, AMPLE), clock, Arc::new(ThreadPause::seeded(1)));
    assert_eq!(careful.complete(&chat(), &mut |_| true).unwrap().text, "well");
    assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 2);
}
