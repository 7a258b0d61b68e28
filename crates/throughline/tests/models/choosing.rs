//! `throughline model list` and `throughline model use`.

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

use super::{good, only_programs};
use crate::common::Home;

const KEY: &str = "correct-horse-battery-7731";
const MINE: &str = "# my config\n[memory]\nuser_namespace = \"user\" # me\n\n[model]\n# this is what I like\n\
                    provider = \"openai\" # for now\nmodel = \"gpt\"\nbase_url = \"http://127.0.0.1:9\"\ndaily_tokens = 5000\n";

fn machine(config: &str) -> Home {
    let mut home = Home::with_config("config.toml", config);
    only_programs(&mut home, &[]);
    // Nobody listens there.
    home.set("OLLAMA_HOST", "127.0.0.1:9");
    home
}

#[track_caller]
fn listed(home: &Home, name: &str) -> Value {
    let models = home.json(&["model", "list"])["models"].clone();
    models.as_array().unwrap().iter().find(|model| model["name"] == name).unwrap_or_else(|| panic!("{models}")).clone()
}

#[test]
fn the_list_says_what_is_there_and_what_it_costs() {
    let mut home = machine(MINE);
    for name in ["ollama", "claude-code", "codex", "openai", "anthropic"] {
        assert_eq!(listed(&home, name)["available"], false, "{name}");
    }
    let offline = listed(&home, "offline");
    assert_eq!((&offline["available"], &offline["chosen"]), (&json!(true), &json!(false)));
    let server = ModelServer::scripted([]);
    only_programs(&mut home, &[("claude", "exit 1"), ("codex", "exit 1")]);
    home.set("OLLAMA_HOST", &server.url());
    home.set("OPENAI_API_KEY", KEY);
    home.put("anthropic.key", KEY);
    std::fs::set_permissions(home.path("anthropic.key"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    for (name, detail, costs) in [
        ("ollama", "running", "free"),
        ("claude-code", "bin/claude", "Claude subscription"),
        ("codex", "bin/codex", "ChatGPT subscription"),
        ("openai", "a key in OPENAI_API_KEY", "per token"),
        ("anthropic", "a key in anthropic.key", "per token"),
    ] {
        let model = listed(&home, name);
        assert_eq!((&model["available"], &model["chosen"]), (&json!(true), &json!(name == "openai")), "{model}");
        assert!(model["detail"].as_str().unwrap().contains(detail), "{model}");
        assert!(model["costs"].as_str().unwrap().contains(costs), "{model}");
    }
    assert_eq!(listed(&home, "ollama")["models"], json!(["scripted"]), "what only embeds is left out");
    let shown = home.run(&["model", "list"]).done();
    assert!(shown.contains("* uses the model gpt") && !shown.contains(KEY), "{shown}");
}

#[test]
fn a_command_of_the_persons_own_is_listed() {
    let home = machine("[model]\nprovider = \"command\"\ncommand = \"llm -m small\"\n");
    let own = listed(&home, "command");
    assert_eq!((&own["detail"], &own["chosen"]), (&json!("llm -m small"), &json!(true)));
}

#[test]
fn a_model_that_answers_is_written_and_the_rest_of_the_file_stays() {
    for (name, program) in [("claude-code", "claude"), ("codex", "codex")] {
        let mut home = machine(MINE);
        let script = good(&home);
        only_programs(&mut home, &[(program, &script)]);
        let chosen = home.json(&["model", "use", name, "--model", "small", "--yes"]);
        assert_eq!(
            (&chosen["works"], &chosen["written"], &chosen["provider"]),
            (&json!(true), &json!(true), &json!("command"))
        );
        let expected = format!(
            "# my config\n[memory]\nuser_namespace = \"user\" # me\n\n[model]\n# this is what I like\n\
             provider = \"command\" # for now\nmodel = \"small\"\ndaily_tokens = 5000\ncommand = \"{name}\"\n"
        );
        assert_eq!(home.text("config.toml"), expected, "the address of another provider is gone");
        assert!(home.run(&["config", "check"]).code == 0);
        let runs = std::fs::read_to_string(home.root().join("notes")).unwrap();
        assert_eq!(runs.matches("args: ").count(), 1, "one request");
        assert_eq!(home.json(&["stats"])["spending"][0]["calls"], 1, "which is in the ledger");
        // Chosen again, it keeps its model; offline needs neither.
        home.json(&["model", "use", name, "--yes"]);
        assert_eq!(home.text("config.toml"), expected);
        home.json(&["model", "use", "offline"]);
        assert!(home.text("config.toml").contains("provider = \"offline\" # for now\ndaily_tokens = 5000\n"));
    }
}

#[test]
fn a_model_that_fails_leaves_the_file_as_it_was() {
    let mut home = machine(MINE);
    only_programs(&mut home, &[("claude", "echo 'Please run /login'; exit 1")]);
    home.run(&["model", "use", "claude-code", "--yes"]).failed(
        2,
        "Please run /login",
        "nothing was changed; `--force`",
    );
    home.run(&["model", "use", "codex", "--yes"]).failed(2, "`codex`: it is not installed", "install the program");
    home.run(&["model", "use", "ollama"]).failed(2, "no Ollama answers", "ollama pull");
    home.run(&["model", "use", "anthropic", "--yes"]).failed(2, "which model", "--model NAME");
    assert_eq!(home.text("config.toml"), MINE);
    let forced = home.json(&["model", "use", "claude-code", "--yes", "--force"]);
    assert_eq!((&forced["works"], &forced["written"]), (&json!(false), &json!(true)));
    assert!(home.text("config.toml").contains("command = \"claude-code\""));
}

#[test]
fn nothing_is_asked_or_written_without_agreement_or_in_a_dry_run() {
    let mut home = machine(MINE);
    let script = good(&home);
    only_programs(&mut home, &[("claude", &script)]);
    let ran = home.run(&["model", "use", "claude-code"]);
    assert!(ran.stderr.contains("what it costs: your Claude subscription"), "{ran:?}");
    ran.failed(2, "not agreed", "--yes");
    let shown = home.run(&["model", "use", "claude-code", "--dry-run"]).done();
    for part in ["+ command = \"claude-code\"", "- model = \"gpt\"", "what it costs", "nothing was asked"] {
        assert!(shown.contains(part), "no {part}: {shown}");
    }
    assert_eq!(home.text("config.toml"), MINE);
    assert!(!home.root().join("notes").exists(), "the program was not run");
}

#[test]
fn services_are_tried_too() {
    let server = ModelServer::always(Step::reply("ready"));
    let mut home = machine(MINE);
    home.set("OLLAMA_HOST", &server.url());
    let chosen = home.json(&["model", "use", "ollama"]);
    assert_eq!((&chosen["works"], &chosen["model"]), (&json!(true), &json!("scripted")), "the newest one: {chosen}");
    assert!(!home.text("config.toml").contains("base_url"), "{}", home.text("config.toml"));
}

#[test]
fn sampling_is_agreed_to_and_written_without_a_try() {
    let home = machine(MINE);
    let listed = listed(&home, "sampling");
    assert_eq!((&listed["available"], &listed["chosen"]), (&json!(false), &json!(false)));
    assert!(listed["detail"].as_str().unwrap().contains("no connected assistant offers it"), "{listed}");
    assert!(listed["costs"].as_str().unwrap().contains("it may ask you first"), "{listed}");
    let ran = home.run(&["model", "use", "sampling"]);
    assert!(ran.stderr.contains("the conversations of all your assistants go to the model"), "{ran:?}");
    ran.failed(2, "not agreed", "--yes");
    assert_eq!(home.text("config.toml"), MINE);
    let told = home.run(&["model", "use", "sampling", "--yes"]).done();
    assert!(told.contains("sampling was not tried"), "{told}");
    assert!(home.text("config.toml").contains("provider = \"sampling\" # for now\ndaily_tokens = 5000\n"));
    home.run_with(&["chat"], "Hello\n").failed(2, "for memory alone", "consolidation_provider");
}

#[test]
fn other_formats_are_changed_by_hand() {
    let home = Home::with_config("config.yaml", "memory:\n  user_namespace: user\n");
    let ran = home.run(&["model", "use", "claude-code", "--yes"]);
    ran.failed(2, "only a TOML file is changed", "set `provider` to \"command\", `command` to \"claude-code\"");
    assert_eq!(home.text("config.yaml"), "memory:\n  user_namespace: user\n");
}
