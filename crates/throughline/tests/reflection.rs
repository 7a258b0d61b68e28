//! Reflection on a person's machine, with nothing installed: the offline rules, the log, the schedule, and kills.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::time::Duration;

use serde_json::json;

use common::{Home, string, tree, until};

const CONFIG: &str = "[memory]\nenabled = true\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nidle_consolidation_minutes = 0\n";

const FILE: &str = "# Stall\n\nWritten by me.  \n\n## What Is\n- [sig:5] Never sell on Sundays\n- Lemons cost 3 euros\n- lemons cost 3 euros.\n\
                    - The menu: done\n- The new sign is being painted\n\n## What Happened\n- [sig:1] 2024-01-01 Rain\n- [sig:4] 2020-01-01 We opened\n\n## What Is Done\n";

/// A machine with the project `stall`, whose memory file a person wrote.
fn stall(config: &str) -> Home {
    let home = Home::with_config("config.toml", config);
    std::fs::create_dir(home.root().join("stall")).unwrap();
    std::fs::write(home.root().join("stall/memory.md"), FILE).unwrap();
    home.run(&["project", "add", "stall", "--dir", home.root().join("stall").to_str().unwrap()]).done();
    home
}

fn file(home: &Home) -> String {
    std::fs::read_to_string(home.root().join("stall/memory.md")).unwrap()
}

#[test]
fn the_offline_rules_tidy_a_project_and_undo_gives_back_every_byte() {
    let home = stall(&format!("{CONFIG}[reflection]\nmax_share = 1.0\n"));
    home.run(&["session", "observe", "--session", "cli:a", "--project", "stall", "We finished painting the new sign."])
        .done();
    let before = tree(&home.root().join("stall"));
    let shown = home.run(&["reflect", "--project", "stall", "--dry-run"]).done();
    assert!(shown.contains("- - The menu: done") && shown.contains("+ - The menu: done"), "{shown}");
    assert!(shown.ends_with("this would change; nothing was written\n"), "{shown}");
    assert_eq!(tree(&home.root().join("stall")), before, "a dry run changes nothing");
    assert_eq!(home.run(&["reflect", "log"]).code, 1, "and is not in the log");
    home.run(&["reflect", "--project", "stall"]).done();
    let expected = "# Stall\n\nWritten by me.  \n\n## What Is\n- [sig:5] Never sell on Sundays\n- Lemons cost 3 euros\n\n\
                    ## What Happened\n- [sig:4] 2020-01-01 We opened\n\n\
                    ## What Is Done\n\n- The menu: done\n- The new sign is being painted\n";
    assert_eq!(file(&home), expected);
    let log = home.json(&["reflect", "log"]);
    let pass = &log["passes"][0];
    assert_eq!((&pass["outcome"], &pass["target"]), (&json!("changed"), &json!("projects/stall")));
    assert_eq!(pass["applied"].as_array().unwrap().len(), 4, "{pass}");
    let told = home.run(&["reflect", "log"]).done();
    assert!(told.contains("prune “2024-01-01 Rain”"), "{told}");
    assert!(home.run(&["reflect", "--project", "stall"]).done().contains("all is well as it is"));
    home.run(&["undo"]).done();
    assert_eq!(file(&home), FILE);
}

#[test]
fn a_pass_that_is_due_runs_with_the_next_command_and_not_in_quiet_hours() {
    let mut home = stall(&format!("{CONFIG}[reflection]\nquiet_from = 22\nquiet_until = 7\n"));
    let say = |home: &Home| {
        home.run(&["session", "observe", "--session", "cli:a", "hello there"]).done();
    };
    say(&home);
    assert_eq!(home.run(&["reflect", "log"]).code, 1, "not on the first day");
    home.set_now("2026-03-03T23:00:00Z");
    say(&home);
    assert_eq!(home.json(&["reflect", "--due"])["passes"], json!([]), "not at night");
    assert_eq!(home.run(&["reflect", "log"]).code, 1, "not at night");
    home.set_now("2026-03-04T08:00:00Z");
    say(&home);
    // The person's memory and the project's.
    until(|| (home.json(&["reflect", "log"])["passes"].as_array().unwrap().len() == 2).then_some(()));
    let off = Home::with_config("config.toml", &format!("{CONFIG}[reflection]\nevery_hours = 0\n"));
    assert_eq!(off.json(&["reflect", "--due"])["passes"], json!([]));
}

/// Killed anywhere, a pass leaves the old file or the new one, whole, and the next pass completes it.
#[test]
fn a_kill_leaves_the_old_file_or_the_new_one() {
    let home = stall(&format!("{CONFIG}[reflection]\nmax_share = 1.0\n"));
    let old: String = FILE.to_owned() + &(0..400).map(|n| format!("\nline {n} of mine\n")).collect::<String>();
    let put = || std::fs::write(home.root().join("stall/memory.md"), &old).unwrap();
    put();
    home.run(&["reflect", "--project", "stall"]).done();
    let new = file(&home);
    assert_ne!(new, old);
    let (mut olds, mut news) = (0, 0);
    for round in 0..30_u64 {
        put();
        let mut run = home.throughline(&["reflect", "--project", "stall"]).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(round * 7919 % 30 * 2000));
        run.kill().unwrap();
        run.wait().unwrap();
        match file(&home) {
            text if text == old => olds += 1,
            text if text == new => news += 1,
            text => panic!("round {round}: neither old nor new: {text}"),
        }
        home.run(&["reflect", "--project", "stall"]).done();
        assert_eq!(file(&home), new, "round {round}: the next pass completes it");
    }
    assert_eq!(olds + news, 30);
    home.run(&["doctor"]).done();
}

#[test]
fn tiers_are_read_as_a_whole() {
    let home = stall(CONFIG);
    home.run(&["session", "observe", "--session", "cli:a", "hello tiers"]).done();
    home.run(&["remember", "--layer", "identity", "My name is Ada"]).done();
    assert!(home.run(&["read", "--tier", "short", "--session", "cli:a"]).done().contains("hello tiers"));
    assert_eq!(home.run(&["read", "--tier", "project", "--project", "stall"]).done(), FILE);
    assert!(home.run(&["read", "--tier", "user"]).done().contains("My name is Ada"));
    assert_eq!(home.run(&["read", "--tier", "vault"]).code, 1);
    assert_eq!(home.run(&["read", "--tier", "project"]).code, 2, "which one?");
    assert_eq!(home.run(&["read", "--tier", "moon"]).code, 2);
    assert_eq!(home.run(&["read"]).code, 2);
}

#[test]
fn the_user_tier_can_be_an_existing_directory() {
    let home = Home::with_config("config.toml", &format!("{CONFIG}user_dir = \"~/.global_memory\"\n"));
    let own = home.root().join("person/.global_memory");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("tastes.md"), "- likes tea\n").unwrap();
    assert_eq!(home.run(&["read", "user/tastes"]).done(), "- likes tea\n");
    assert_eq!(home.found(&["tea"]), ["likes tea"]);
    home.run(&["remember", "--layer", "identity", "My name is Ada"]).done();
    assert_eq!(std::fs::read_to_string(own.join("profile.md")).unwrap(), "- My name is Ada\n");
    assert!(!home.path("user/profile.md").exists());
    let tier = string(&home.json(&["read", "--tier", "user"])["text"]);
    assert!(tier.contains("likes tea") && tier.contains("My name is Ada"), "{tier}");
    home.run(&["undo"]).done();
    assert!(!own.join("profile.md").exists());
}
