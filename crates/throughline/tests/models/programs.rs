//! Stand-ins for `claude` and `codex` that do well, fail, hang, babble or are not there.

use serde_json::{Value, json};

use super::{FACTS, SUMMARY, consolidate, good, only_programs, the_conversation_goes_on, with_model};
use crate::common::{Home, until};

/// The name in the config and the program.
const READY_MADE: [(&str, &str); 2] = [("claude-code", "claude"), ("codex", "codex")];

fn ready_made(name: &str, more: &str) -> Home {
    with_model(&format!("provider = \"command\"\ncommand = \"{name}\"\n{more}"))
}

#[test]
fn a_good_reply_becomes_memory_and_is_in_the_ledger() {
    for (name, program) in READY_MADE {
        let mut home = ready_made(name, "model = \"small\"\n");
        let script = good(&home);
        only_programs(&mut home, &[(program, &script)]);
        let (done, code) = consolidate(&home);
        assert_eq!((&done["outcome"], &done["summary"], code), (&json!("done"), &json!(SUMMARY), 0), "{name}: {done}");
        assert_eq!(home.listed(&["--layer", "knowledge"]), ["The launch is on 3 May"]);
        let notes = std::fs::read_to_string(home.root().join("notes")).unwrap();
        let line = |start: &str| notes.lines().filter(|line| line.starts_with(start)).collect::<Vec<_>>();
        assert_eq!(line("mark: "), ["mark: 1"; 2], "{notes}");
        assert_eq!(line("files: ").iter().map(|line| line.replace(' ', "")).collect::<Vec<_>>(), ["files:0"; 2]);
        assert!(line("args: ").iter().all(|args| args.contains("--model small")), "{notes}");
        assert!(!line("args: ")[0].contains("launch"), "what was said is no argument: everybody sees those");
        let spent = home.json(&["stats"])["spending"].clone();
        let row = |purpose: &str| spent.as_array().unwrap().iter().find(|row| row["purpose"] == purpose).cloned();
        let summary = row("summary").unwrap_or_else(|| panic!("{spent}"));
        assert_eq!((&summary["provider"], &summary["model"]), (&json!("command"), &json!(format!("{name} small"))));
        assert!(summary["tokens_in"].as_u64() > Some(50) && summary["tokens_out"].as_u64() > Some(5), "{summary}");
    }
}

#[test]
fn any_program_can_be_the_model() {
    let replies =
        format!("case \"$(cat)\" in 'Task: summary'*) cat <<'END'\n{SUMMARY}\nEND\n;; *) echo '{FACTS}' ;; esac");
    for command in ["\"mine 'and a word'\"", "[\"mine\", \"and a word\"]", "\"./mine 'and a word'\""] {
        let mut home = with_model(&format!("provider = \"command\"\ncommand = {command}\n"));
        let script = format!("test \"$1\" = 'and a word' || exit 9\n{replies}");
        only_programs(&mut home, &[("mine", &script)]);
        std::fs::copy(home.root().join("bin/mine"), home.path("mine")).unwrap();
        let (done, _) = consolidate(&home);
        assert_eq!((&done["outcome"], &done["summary"]), (&json!("done"), &json!(SUMMARY)), "{command}: {done}");
    }
}

/// Three failures in a row: the conversation is kept as it was said, and goes on.
#[track_caller]
fn degrades(home: &Home, what: &str) -> String {
    let mut reason = String::new();
    for failures in 1..=2 {
        let (failed, code) = consolidate(home);
        assert_eq!((&failed["outcome"], &failed["failures"], code), (&json!("failed"), &json!(failures), 2), "{what}");
        reason = format!("{reason}{}\n", failed["reason"].as_str().unwrap_or_else(|| panic!("{failed}")));
    }
    the_conversation_goes_on(home);
    let (archived, code) = consolidate(home);
    assert_eq!((&archived["outcome"], code), (&json!("archived"), 0), "{what}: {archived}");
    assert_eq!(home.json(&["working"])["text"], Value::Null, "{what}");
    reason
}

#[test]
fn failures_cost_the_summary_and_never_the_conversation() {
    for (name, program) in READY_MADE {
        for (what, script, told) in [
            ("exit 1", "cat >/dev/null; echo 'working on it' >&2; echo 'quota reached' >&2; exit 1", "quota reached"),
            ("huge", "yes 'more and more'", "longer than 1024 KB"),
            ("nothing", "cat >/dev/null", "the reply is empty"),
            ("garbage", "cat >/dev/null; echo '{\"error\": \"N/A\"}'", ""),
            ("refusal", "echo \"I'm sorry, but I can't help with that.\"", ""),
        ] {
            let mut home = ready_made(name, "");
            only_programs(&mut home, &[(program, script)]);
            let reason = degrades(&home, &format!("{name}, {what}"));
            assert!(reason.contains(told), "{name}, {what}: {reason}");
        }
    }
}

#[test]
fn a_program_that_hangs_is_given_up() {
    let mut home = ready_made("claude-code", "timeout_seconds = 1\n");
    let pids = home.root().join("pids");
    only_programs(&mut home, &[("claude", &format!("sleep 1000 & echo $! >>'{}'; wait", pids.display()))]);
    let reason = degrades(&home, "hanging");
    assert!(reason.contains("claude-code did not answer in time"), "{reason}");
    for pid in std::fs::read_to_string(&pids).unwrap().lines() {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{pid} is left behind: {state}");
    }
}

#[test]
fn ctrl_c_ends_the_program_too() {
    let mut home = ready_made("codex", "");
    let pids = home.root().join("pids");
    only_programs(&mut home, &[("codex", &format!("sleep 1000 & echo $! >>'{}'; wait", pids.display()))]);
    let mut waiting = home.throughline(&["session", "consolidate", "telegram:1"]).spawn().unwrap();
    let pid = until(|| std::fs::read_to_string(&pids).ok().filter(|pid| pid.ends_with('\n')));
    let told = std::process::Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(waiting.wait().unwrap().code(), Some(130));
    until(|| {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        (state.is_empty() || state.contains(") Z ")).then_some(())
    });
    the_conversation_goes_on(&home);
}

#[test]
fn a_program_that_is_not_installed_is_named() {
    for (name, program) in READY_MADE {
        let reason = degrades(&ready_made(name, ""), name);
        assert!(reason.contains(&format!("`{program}`: it is not installed, or not on PATH")), "{reason}");
    }
}

#[test]
fn a_section_that_makes_no_sense_leaves_the_offline_model() {
    for section in ["provider = \"command\"\n", "provider = \"command\"\ncommand = \"mine 'open\"\n"] {
        let home = with_model(section);
        let ran = home.run(&["--json", "session", "consolidate", "telegram:1"]);
        let done: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&done["outcome"], ran.code), (&json!("done"), 0), "{ran:?}");
        assert!(ran.stderr.contains("going on offline"), "{ran:?}");
    }
}

#[test]
fn a_spent_budget_ends_the_asking() {
    let mut home = ready_made("codex", "daily_tokens = 10\n");
    let script = good(&home);
    only_programs(&mut home, &[("codex", &script)]);
    let (done, _) = consolidate(&home);
    assert_eq!((&done["outcome"], &done["facts"]), (&json!("done"), &json!([])), "the facts were no longer paid for");
}

#[test]
fn servers_in_the_settings_of_codex_are_left_out() {
    let mut home = ready_made("codex", "");
    let settings = home.root().join("person/.codex");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("config.toml"), "[mcp_servers.throughline]\ncommand = \"throughline\"\n").unwrap();
    let script = good(&home);
    only_programs(&mut home, &[("codex", &script)]);
    consolidate(&home);
    let notes = std::fs::read_to_string(home.root().join("notes")).unwrap();
    assert!(notes.contains("-c mcp_servers.throughline.enabled=false"), "{notes}");
}
