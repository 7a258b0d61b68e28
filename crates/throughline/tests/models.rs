//! Models that people already have, through the real binary: stand-ins for assistants' programs, the programs themselves,
//! and how a model is chosen.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "models/choosing.rs"]
mod choosing;
mod common;
#[path = "models/inside.rs"]
mod inside;
#[path = "models/programs.rs"]
mod programs;
#[path = "models/real.rs"]
mod real;

use std::os::unix::fs::PermissionsExt as _;

use common::Home;
use serde_json::Value;

const SUMMARY: &str = "## Working on\n- The launch moved to 3 May";
const FACTS: &str = r#"{"facts": [{"text": "The launch is on 3 May", "kind": "decision"}]}"#;
const SAID: &str = "I decided to have the launch on 3 May";

/// A machine with a `[model]` section, and a conversation to summarise.
fn with_model(section: &str) -> Home {
    let config = format!(
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n\n[model]\n{section}"
    );
    let mut home = Home::with_config("config.toml", &config);
    only_programs(&mut home, &[]);
    home.json(&["session", "observe", "--session", "telegram:1", SAID]);
    home
}

/// Puts these stand-ins, by name and script, where programs are found; nothing of this machine's assistants is there.
fn only_programs(home: &mut Home, programs: &[(&str, &str)]) {
    let bin = home.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for tool in ["sh", "cat", "head", "sleep", "yes", "pwd", "ls", "wc", "env"] {
        let place =
            ["/bin", "/usr/bin"].iter().map(|dir| std::path::Path::new(dir).join(tool)).find(|path| path.exists());
        let link = bin.join(tool);
        if let (Some(place), false) = (place, link.exists()) {
            std::os::unix::fs::symlink(place, link).unwrap();
        }
    }
    for (name, script) in programs {
        let path = bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    home.set("PATH", bin.to_str().unwrap());
}

/// A stand-in that answers each task, and notes how it was called.
fn good(home: &Home) -> String {
    let notes = home.root().join("notes");
    format!(
        "prompt=$(cat)\n{{ echo \"args: $*\"; echo \"mark: $THROUGHLINE_MODEL_RUN\"; echo \"files: $(ls -A | wc -l)\"; pwd; }} \
         >>'{}'\ncase \"$prompt\" in\n'Task: summary'*'{SAID}'*) cat <<'END'\n{SUMMARY}\nEND\n;;\n\
         'Task: extraction'*'{SAID}'*) echo '{FACTS}' ;;\n*) echo ready ;;\nesac",
        notes.display()
    )
}

/// Consolidates; gives what came of it and the exit code.
#[track_caller]
fn consolidate(home: &Home) -> (Value, i32) {
    let ran = home.run(&["--json", "session", "consolidate", "telegram:1"]);
    (serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}")), ran.code)
}

/// What was said is as it was, and more can be said: no model is a reason for a conversation to fail.
#[track_caller]
fn the_conversation_goes_on(home: &Home) {
    let kept = home.json(&["session", "show", "telegram:1"]);
    assert_eq!(kept["turns"][0]["content"], SAID, "{kept}");
    home.json(&["session", "observe", "--session", "telegram:2", "And now to something else"]);
    let given = home.json(&["context", "--session", "telegram:3", "--message", "When is the launch?"]);
    assert!(given["system_prompt"].is_string(), "{given}");
}
