//! `throughline chat` with a pipe for a terminal and a scripted server for a model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;
#[path = "chat/tools.rs"]
mod tools;

use common::{Home, string, tree, until};
use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

/// Like no key that anything would recognise and take out.
const KEY: &str = "correct-horse-battery-7731";
const PROVIDERS: [&str; 3] = ["openai", "anthropic", "ollama"];

/// A machine whose model is the server; what is said is summarised without it, so that the script is the chat's alone.
fn with_model(provider: &str, server: &ModelServer) -> Home {
    let config = format!(
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nconsolidation_provider = \"offline\"\n\n\
         [model]\nprovider = \"{provider}\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n",
        server.url()
    );
    let mut home = Home::with_config("config.toml", &config);
    home.set("OPENAI_API_KEY", KEY);
    home.set("ANTHROPIC_API_KEY", KEY);
    home
}

/// Types these lines; gives what was shown, once the run that summarises them has ended.
#[track_caller]
fn chat(home: &Home, session: &str, typed: &str) -> String {
    let ran = home.run_with(&["chat", "--session", session], typed);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "{ran:?}");
    until_quiet(home);
    ran.stdout
}

/// Waits for the detached runs: each conversation in which something was said has been captured.
#[track_caller]
fn until_quiet(home: &Home) {
    let is_done =
        |state: &Value| state["consolidated"] != json!(0) || turns(home, state["id"].as_str().unwrap()).is_empty();
    let all_done = || home.json(&["session", "list"])["sessions"].as_array().unwrap().iter().all(is_done);
    until(|| all_done().then_some(()));
}

/// Who said what, summaries left out.
#[track_caller]
fn turns(home: &Home, session: &str) -> Vec<(String, String)> {
    let shown = home.json(&["session", "show", session]);
    let said = shown["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] != "summary");
    said.map(|turn| (string(&turn["role"]), string(&turn["content"]))).collect()
}

fn exchange(said: &str, reply: &str) -> [(String, String); 2] {
    [("user".to_owned(), said.to_owned()), ("assistant".to_owned(), reply.to_owned())]
}

#[test]
fn a_reply_is_shown_and_kept_and_the_memories_behind_it_are_named() {
    for provider in PROVIDERS {
        let server = ModelServer::scripted([Step::reply("On Friday at noon, as always.")]);
        let home = with_model(provider, &server);
        home.remember(&["--layer", "identity", "My name is Ada"]);
        let id = home.remember(&["We deploy on Fridays at noon"]);
        let shown = chat(&home, "main", "When do we deploy?\n");
        assert!(shown.contains(&format!("{provider} · scripted · cli:main")), "{shown}");
        assert!(shown.contains("On Friday at noon, as always.\n"), "{shown}");
        assert!(shown.contains(&format!("recalled: {}", &id[..6])), "{id}: {shown}");
        assert!(shown.ends_with("this was cli:main; it is remembered\n"), "{shown}");
        // The model saw the memory; the transcript has the words alone.
        let requests = server.requests();
        assert_eq!(requests.len(), 1);
        let sent = requests[0].body.to_string();
        assert!(sent.contains("<memory-context>") && sent.contains("My name is Ada"), "{provider}: {sent}");
        assert_eq!(turns(&home, "main"), exchange("When do we deploy?", "On Friday at noon, as always."));
        for (path, bytes) in tree(home.root()) {
            let has_key = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!has_key, "the key is in {}", path.display());
        }
    }
}

#[test]
fn a_conversation_goes_on_with_what_was_said_before_and_the_same_prompt() {
    for provider in PROVIDERS {
        let server = ModelServer::scripted([Step::reply("Hello Ada."), Step::reply("Ada."), Step::reply("Still Ada.")]);
        let home = with_model(provider, &server);
        home.remember(&["--layer", "identity", "I like short answers"]);
        chat(&home, "main", "I am Ada\nWho am I?\n");
        home.remember(&["--layer", "identity", "I live in Lisbon"]);
        chat(&home, "main", "And now?\n");
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        let system = |body: &Value| match provider {
            "anthropic" => body["system"].clone(),
            _ => body["messages"][0]["content"].clone(),
        };
        assert!(system(&requests[0].body).to_string().contains("short answers"), "{provider}");
        assert_eq!(system(&requests[1].body), system(&requests[0].body), "{provider}");
        assert_eq!(system(&requests[2].body), system(&requests[0].body), "{provider}: a reconnect");
        let second = requests[1].body.to_string();
        assert!(second.contains("I am Ada") && second.contains("Hello Ada."), "{provider}: {second}");
        assert!(requests[2].body.to_string().contains("Who am I?"), "{provider}");
    }
}

#[test]
fn the_system_prompt_begins_with_the_persons_files_in_their_order() {
    let server = ModelServer::scripted([Step::reply("Ahoy.")]);
    let home = with_model("openai", &server);
    let config = home.text("config.toml");
    let files = "base_prompt_files = [\"soul.md\", \"missing.md\", \"~/rules.md\"]\n";
    home.put("config.toml", &config.replacen("[memory]\n", &format!("[memory]\n{files}"), 1));
    home.put("soul.md", "You are a pirate.\n");
    std::fs::write(home.root().join("person/rules.md"), "Be brief.\n").unwrap();
    home.remember(&["--layer", "identity", "My name is Ada"]);
    home.run_with(&["chat", "--session", "main"], "hello\n");
    let system = string(&server.requests()[0].body["messages"][0]["content"]);
    assert!(system.starts_with("You are a pirate.\n\nBe brief.\n\n"), "{system}");
    assert!(system.contains("--- Who you're talking to ---\n- My name is Ada"), "{system}");
}

#[test]
fn a_model_that_fails_costs_the_reply_alone() {
    for provider in PROVIDERS {
        let steps = [
            Step::fail(401, "who are you?"),
            Step::Empty,
            Step::ResetAfter(vec!["I was about to ".to_owned()]),
            Step::reply("Here I am."),
        ];
        let server = ModelServer::scripted(steps);
        let home = with_model(provider, &server);
        let shown = chat(&home, "main", "one\ntwo\nthree\nfour\n");
        assert!(shown.contains("the model gave no reply:") && shown.contains("api_key_env"), "{provider}: {shown}");
        assert!(shown.contains("Here I am."), "{provider}: {shown}");
        let kept = turns(&home, "main");
        let said: Vec<&str> = kept.iter().filter(|(role, _)| role == "user").map(|(_, said)| said.as_str()).collect();
        assert_eq!(said, ["one", "two", "three", "four"], "{provider}");
        let replies: Vec<&str> =
            kept.iter().filter(|(role, _)| role != "user").map(|(_, said)| said.as_str()).collect();
        assert_eq!(replies, ["Here I am."], "{provider}: no half reply and no error is a turn");
    }
}

#[test]
fn commands_look_at_memory_without_asking_the_model() {
    let server = ModelServer::scripted([]);
    let home = with_model("openai", &server);
    let id = home.remember(&["We deploy on Fridays at noon"]);
    home.remember(&["--layer", "identity", "My name is Ada"]);
    let typed = format!(
        "/help\n/memory deploy\n/memory zebra\n/profile\n/working\n/forget {id}\n/memory deploy\n/nope\n\n/quit\nnot read\n"
    );
    let shown = chat(&home, "main", &typed);
    for expected in [
        "/memory WORDS",
        "We deploy on Fridays at noon",
        "My name is Ada",
        "nothing lately",
        "`throughline undo` brings it back",
        "there is no /nope; /help shows what there is",
    ] {
        assert!(shown.contains(expected), "no {expected:?} in {shown}");
    }
    assert_eq!(shown.matches("We deploy on Fridays at noon").count(), 1, "{shown}");
    assert_eq!(shown.matches("nothing found").count(), 2, "{shown}");
    assert_eq!((server.requests().len(), turns(&home, "main").len()), (0, 0));
    home.run(&["undo"]).done();
    assert_eq!(home.found(&["deploy"]), ["We deploy on Fridays at noon"]);
}

#[test]
fn a_new_conversation_does_not_see_the_old_one() {
    let server = ModelServer::scripted([Step::reply("Noted."), Step::reply("Hello.")]);
    let home = with_model("openai", &server);
    let ran = home.run_with(&["chat"], "the word is zebra\n/new\nhello\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("a new conversation: cli:2026-03-01-1200-2"), "{ran:?}");
    assert_eq!(turns(&home, "cli:2026-03-01-1200"), exchange("the word is zebra", "Noted."));
    assert_eq!(turns(&home, "cli:2026-03-01-1200-2"), exchange("hello", "Hello."));
    let second = server.requests()[1].body.to_string();
    assert!(!second.contains("zebra"), "{second}");
    home.run(&["session", "consolidate", "cli:2026-03-01-1200"]);
    until_quiet(&home);
}

#[test]
fn without_a_model_it_says_how_to_get_one() {
    let mut home = Home::new();
    home.set("OLLAMA_HOST", "127.0.0.1:1");
    home.run_with(&["chat"], "hello\n").failed(2, "no chat model is configured", "provider = \"ollama\", model =");
    // An Ollama that runs is offered, and without a terminal nobody can agree.
    let server = ModelServer::scripted([]);
    home.set("OLLAMA_HOST", &server.url());
    home.run_with(&["chat"], "hello\n").failed(2, "no chat model is configured", "provider = \"ollama\", model =");
    assert_eq!(server.requests()[0].path, "/api/tags");
    assert_eq!(home.json(&["session", "list"]), json!({"sessions": [], "cursor": null}));
}

#[test]
fn a_model_that_is_not_set_up_is_an_error_with_a_hint() {
    let home = Home::with_config("config.toml", "[model]\nprovider = \"openai\"\n");
    home.run_with(&["chat"], "hello\n").failed(2, "no model is named for openai", "set `model`");
    home.put("config.toml", "[model]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"ftp://x\"\n");
    home.run_with(&["chat"], "hello\n").failed(2, "base URL", "base_url");
}

#[cfg(unix)]
#[test]
fn a_key_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let server = ModelServer::scripted([Step::reply("Hello.")]);
    let home = with_model("openai", &server);
    let config = home.text("config.toml") + "api_key_env = \"NO_SUCH_KEY\"\n";
    home.put("config.toml", &config);
    home.put("openai.key", "a-key-from-a-file\n");
    let set_mode = |mode| std::fs::set_permissions(home.path("openai.key"), PermissionsExt::from_mode(mode)).unwrap();
    set_mode(0o644);
    home.run_with(&["chat"], "hello\n").failed(2, "can be read by others", "chmod 600");
    set_mode(0o600);
    chat(&home, "main", "hello\n");
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer a-key-from-a-file"));
}

#[test]
fn what_is_off_the_record_is_said_and_answered_and_not_kept() {
    let replies = ["Noted.", "Good luck with Zebra.", "As I said: good luck.", "On Fridays."];
    let server = ModelServer::scripted(replies.map(Step::reply));
    let home = with_model("openai", &server);
    home.remember(&["We deploy on Fridays at noon"]);
    let confided = "Don't remember this: I am moving to Zebra.";
    let shown = chat(&home, "main", &format!("hello there\n{confided}\nwhat did you say?\n"));
    assert!(shown.contains("Good luck with Zebra."), "{shown}");
    assert_eq!(
        turns(&home, "main"),
        [exchange("hello there", "Noted."), exchange("what did you say?", "As I said: good luck.")].concat()
    );
    let asked = server.requests()[2].body.to_string();
    let places = ["hello there", confided, "Good luck with Zebra.", "what did you say?"].map(|text| asked.find(text));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "the model still sees it, in its place: {asked}");

    home.run(&["pause"]).done();
    let ran = home.run_with(&["chat", "--session", "quiet"], "when do we deploy?\n");
    assert!(
        ran.code == 0 && ran.stdout.contains("On Fridays.") && ran.stdout.contains("nothing of it is kept"),
        "{ran:?}"
    );
    assert!(!server.requests()[3].body.to_string().contains("Fridays at noon"), "nothing is given");
    assert_eq!(turns(&home, "quiet"), []);
}

#[test]
fn a_chat_on_an_excluded_channel_is_answered_and_leaves_no_trace() {
    let server = ModelServer::scripted([Step::reply("Noted."), Step::reply("Again.")]);
    let home = with_model("openai", &server);
    let config = home.text("config.toml").replacen("[memory]\n", "[memory]\nexclude = [\"cli\"]\n", 1);
    home.put("config.toml", &config);
    let ran = home.run_with(&["chat"], "hello there\nand again\n");
    assert!(ran.code == 0 && ran.stdout.contains("Noted.") && ran.stdout.contains("Again."), "{ran:?}");
    assert!(server.requests()[1].body.to_string().contains("hello there"), "the model sees what was said");
    assert_eq!(home.json(&["session", "list"])["sessions"], json!([]));
}
