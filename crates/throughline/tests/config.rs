//! The config file: three formats, no unknown key, and the switch that turns memory off.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use common::{Home, string};
use serde_json::{Value, json};

const YAML: &str = "memory:
  user_namespace: \"user\"
  working_memory_ttl_days: 14       # default
  working_memory_max_tokens: 1000   # default
  proactive_session_greeting: false # default
";

const JSON: &str = r#"{
  "memory": {
    "enabled": true,
    "consolidation_provider": "openai",
    "consolidation_model": "gpt-4o-mini",
    "recall_limit": 5,
    "consolidation_turn_threshold": 3,
    "idle_consolidation_minutes": 10,
    "timeline_retention_days": 90,
    "max_failures_before_degrade": 3
  }
}
"#;

/// A setting as `config show` tells it: its value, and where it comes from.
fn setting(home: &Home, key: &str) -> (String, String) {
    let shown = home.json(&["config", "show"]);
    let found = shown["settings"].as_array().unwrap().iter().find(|row| row["key"] == key);
    let row = found.unwrap_or_else(|| panic!("no {key} in {shown:#}"));
    (string(&row["value"]), string(&row["from"]))
}

fn from_file(value: &str) -> (String, String) {
    (value.to_owned(), "file".to_owned())
}

fn default(value: &str) -> (String, String) {
    (value.to_owned(), "default".to_owned())
}

#[test]
fn the_sources_yaml_loads_unchanged() {
    for name in ["config.yaml", "config.yml"] {
        let home = Home::with_config(name, YAML);
        assert!(home.run(&["config", "check"]).done().ends_with(&format!("{name} is fine\n")));
        assert_eq!(setting(&home, "memory.user_namespace"), from_file("\"user\""));
        assert_eq!(setting(&home, "memory.working_memory_ttl_days"), from_file("14"));
        assert_eq!(home.json(&["remember", "Tea"])["namespace"], "user/facts");
        assert!(!home.path("config.toml").exists(), "no second file is written");
        assert_eq!(home.text(name), YAML);
    }
}

#[test]
fn the_sources_json_loads_unchanged() {
    let home = Home::with_config("config.json", JSON);
    assert!(home.run(&["config", "check"]).done().ends_with("config.json is fine\n"));
    assert_eq!(setting(&home, "memory.consolidation_model"), from_file("\"gpt-4o-mini\""));
    assert_eq!(setting(&home, "memory.user_namespace"), default("unset"));
    assert_eq!(home.json(&["remember", "Tea"])["namespace"], "global");
    assert_eq!(home.text("config.json"), JSON);
}

#[test]
fn show_says_where_each_value_comes_from() {
    let home = Home::with_config("config.toml", "[memory]\nrecall_limit = 7\n[model]\napi_key_env = \"MY_KEY\"\n");
    assert_eq!(setting(&home, "memory.recall_limit"), from_file("7"));
    assert_eq!(setting(&home, "memory.recall_max_tokens"), default("1000"));
    assert_eq!(setting(&home, "model.api_key_env"), from_file("\"MY_KEY\""));
    let shown = home.run(&["config", "show"]).done();
    assert!(shown.starts_with(&format!("{}\n\n KEY ", home.path("config.toml").display())), "{shown}");
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["memory.recall_limit", "7", "file"])), "{shown}");
}

#[test]
fn looking_at_the_config_makes_no_home() {
    let home = Home::new();
    assert_eq!(home.run(&["config", "check"]).done(), "no config file yet: the defaults are in force\n");
    assert!(home.run(&["config", "show"]).done().starts_with("no config file\n"));
    assert!(!home.path("").exists());
}

/// Every command that reads the config refuses it, with the same words, and makes nothing.
#[track_caller]
fn refused(name: &str, text: &str, error: &str, hint: &str) {
    let home = Home::with_config(name, text);
    for args in [&["config", "check"][..], &["config", "show"], &["remember", "x"], &["list"], &[]] {
        home.run(args).failed(2, error, hint);
    }
    assert!(!home.path("memory.db").exists());
    assert_eq!(home.text(name), text);
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 2, "{doctor:?}");
    assert!(doctor.stdout.contains(error), "{doctor:?}");
}

#[test]
fn an_unknown_key_is_named_with_the_nearest_known_one() {
    let did_you_mean = "did you mean `memory.recall_limit`?";
    refused("config.toml", "[memory]\nrecal_limit = 5\n", "unknown key `memory.recal_limit`", did_you_mean);
    refused("config.yaml", "memory:\n  recal_limit: 5\n", "unknown key `memory.recal_limit`", did_you_mean);
    refused("config.json", r#"{"memory": {"recall_limits": 5}}"#, "`memory.recall_limits`", did_you_mean);
    refused("config.toml", "[memroy]\nrecall_limit = 5\n", "unknown key `memroy", "`memory");
    refused("config.toml", "[memory]\nwholly_unlike = 1\n", "unknown key `memory.wholly_unlike`", "config show");
}

#[test]
fn a_value_out_of_its_range_is_named_with_the_range() {
    for (key, value, range) in [
        ("working_memory_ttl_days", "0", "1 to 365"),
        ("working_memory_ttl_days", "366", "1 to 365"),
        ("working_memory_max_tokens", "99", "100 to 4000"),
        ("working_memory_max_tokens", "4001", "100 to 4000"),
        ("recall_limit", "-1", "0 to 100"),
        ("trigger_ratio", "1.5", "0 to 1"),
    ] {
        let error = format!("`memory.{key}` is {value}, expected {range}");
        refused("config.toml", &format!("[memory]\n{key} = {value}\n"), &error, "config show");
    }
    refused("config.yaml", "memory:\n  enabled: maybe\n", "`memory.enabled` is text, expected true or false", "show");
    refused("config.toml", "[memory]\nranking = \"best\"\n", "expected one of `fused`, `bm25`", "config show");
}

#[test]
fn a_file_that_is_not_of_its_format_is_refused_with_the_place() {
    for (name, text) in [("config.toml", "[memory\n"), ("config.json", "{\"memory\": }"), ("config.yaml", "a: [b\n")] {
        let home = Home::with_config(name, text);
        let ran = home.run(&["list"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(name) && ran.stderr.contains("line 1"), "{ran:?}");
    }
}

#[test]
fn a_key_in_the_config_file_is_not_repeated_anywhere() {
    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz123456";
    for line in [format!("api_key = \"{secret}\""), format!("api_key_env = \"{secret}\"")] {
        let home = Home::with_config("config.toml", &format!("[model]\n{line}\n"));
        let ran = home.run(&["config", "check"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("environment variable") && !ran.stderr.contains(secret), "{ran:?}");
    }
}

#[test]
fn two_config_files_are_one_too_many() {
    let home = Home::with_config("config.toml", "[memory]\nenabled = true\n");
    home.put("config.yaml", YAML);
    for args in [&["config", "check"][..], &["list"], &["remember", "x"]] {
        home.run(args).failed(2, "there are two config files", "keep the one you mean");
    }
}

/// What an assistant would be given, in a home that holds something to give.
fn context_with(config: &str) -> (Home, Value) {
    let home = Home::with_config("config.toml", config);
    home.remember(&["We deploy on Fridays at noon"]);
    if config.contains("user_namespace") {
        home.remember(&["--layer", "identity", "My name is Ada"]);
        home.run_with(&["write", "user/working"], "- shipping the parser\n").done();
    }
    let context = home.json(&["context", "--message", "when do we deploy?"]);
    (home, context)
}

const NOTHING: &str = "when do we deploy?";

#[test]
fn off_injects_nothing_while_a_persons_own_commands_work() {
    let (home, context) = context_with("[memory]\nenabled = false\nuser_namespace = \"user\"\n");
    assert_eq!(context, json!({ "system_prompt": "", "message": NOTHING, "parts": [] }));
    assert!(home.run(&["context", "--message", NOTHING]).done().ends_with("no memory would be added\n"));
    assert_eq!(home.found(&["deploy"]), ["We deploy on Fridays at noon"]);
    assert_eq!(home.run(&["profile"]).code, 0);
    assert_eq!(home.run(&["working"]).code, 0);
}

#[test]
fn enabled_left_out_is_on_with_a_namespace_and_off_without() {
    let (_home, context) = context_with("[memory]\nuser_namespace = \"user\"\n");
    assert_eq!(context["parts"].as_array().unwrap().len(), 3);
    assert!(context["message"].as_str().unwrap().starts_with("<memory-context>\n"));
    let (_home, context) = context_with("[memory]\nrecall_limit = 5\n");
    assert_eq!(context, json!({ "system_prompt": "", "message": NOTHING, "parts": [] }));
    let (_home, context) = context_with("[memory]\nenabled = true\n");
    assert_eq!((&context["system_prompt"], context["parts"].as_array().unwrap().len()), (&json!(""), 1));
}

#[test]
fn the_context_is_the_profile_then_the_recent_context_then_the_message() {
    let (_home, context) = context_with("[memory]\nuser_namespace = \"user\"\n");
    let prompt = "--- Who you're talking to ---\n- My name is Ada\n\n--- Recent context ---\n- shipping the parser";
    assert_eq!(context["system_prompt"], prompt);
    assert!(context["message"].as_str().unwrap().ends_with("\n</memory-context>\n\nwhen do we deploy?"));
}

#[test]
fn a_preview_records_nothing() {
    let (home, _) = context_with("[memory]\nuser_namespace = \"user\"\n");
    let stats = home.json(&["stats"]);
    assert_eq!((&stats["recalls"], &stats["turns"]), (&json!(0), &json!(0)));
    assert_eq!(home.json(&["list", "--layer", "knowledge"])["memories"][0]["recall_count"], 0);
}

#[test]
fn the_limits_of_recall_in_a_message_are_settings() {
    for (config, parts) in [("recall_limit = 1", 1), ("recall_limit = 0", 0), ("recall_max_tokens = 0", 0)] {
        let home = Home::with_config("config.toml", &format!("[memory]\nenabled = true\n{config}\n"));
        home.remember(&["We deploy on Fridays at noon"]);
        home.remember(&["Whoever has to deploy brings cake"]);
        let context = home.json(&["context", "--message", NOTHING]);
        assert_eq!(context["parts"].as_array().unwrap().len(), parts, "{config}");
    }
}

#[test]
fn working_memory_can_be_turned_off_while_the_profile_stays() {
    let (home, context) = context_with("[memory]\nuser_namespace = \"user\"\nworking_memory = false\n");
    assert_eq!(context["system_prompt"], "--- Who you're talking to ---\n- My name is Ada");
    assert_eq!(home.run(&["working"]).code, 1);
}

#[test]
fn the_first_config_is_seen_whole_or_not_at_all() {
    let home = Home::new();
    for round in 0..400 {
        let directory = home.root().join(format!("tmp/{round}"));
        std::fs::create_dir(&directory).unwrap();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                // Another first run at the same moment looks until it sees the file.
                let look = || throughline::config::load(&directory).unwrap();
                std::iter::repeat_with(look).find(|loaded| loaded.path.is_some()).unwrap().config
            });
            throughline::config::write_first_run(&directory).unwrap();
            let seen = reader.join().unwrap();
            assert_eq!(seen.memory.user_namespace.as_deref(), Some("user"), "round {round}: half a file was read");
        });
    }
}
