//! The chat, with a scripted model and without any.

use serde_json::json;
use throughline_testkit::model_server::{ModelServer, Step};

use super::Panel;
use super::common::Home;

#[test]
fn a_message_gets_a_streamed_reply_with_what_memory_gave() {
    let write = json!({"action": "add", "layer": "L1", "content": "The person deploys on Fridays."}).to_string();
    let steps = [
        Step::ReplyIn(vec!["On ".to_owned(), "Friday ".to_owned(), "at noon.".to_owned()]),
        Step::call("memory_write", write),
        Step::reply("Noted."),
    ];
    let server = ModelServer::scripted(steps);
    let config = format!(
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nconsolidation_provider = \"offline\"\n\n\
         [model]\nprovider = \"ollama\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n",
        server.url()
    );
    let home = Home::with_config("config.toml", &config);
    home.remember(&["We deploy on Fridays at noon"]);
    let panel = Panel::of(home);
    panel.at("chat");
    panel.say("When do we deploy?");
    panel.reads(".turn[data-role=assistant] .turn-text", "On Friday at noon.");
    panel.reads(".given summary", "1 memory");
    panel.click(".given summary");
    panel.reads(".given-list", "We deploy on Fridays at noon");
    panel.replied();
    panel.say("Remember that.");
    panel.reads(".chat-tool", "memory_write");
    panel.reads(".turn[data-role=assistant] .turn-text", "Noted.");
    panel.replied();
    panel.keep("chat-talking");
    assert_eq!(panel.complaints(), Vec::<String>::new());
    assert!(panel.home.listed(&[]).contains(&"The person deploys on Fridays.".to_owned()));
    // The conversation is one like any other.
    panel.press("Details");
    panel.reads(".conversation .turn", "When do we deploy?");
    panel.reads(".conversation .given summary", "Given 1 memory");
    panel.keep("chat-as-conversation");
}

#[test]
fn without_a_model_the_page_calmly_says_how_to_have_one() {
    let panel = Panel::of(Home::new());
    panel.at("chat");
    panel.reads("main", "No model to talk to yet");
    panel.reads("pre", "provider = \"ollama\"");
    assert_eq!(panel.complaints(), Vec::<String>::new());
    assert_eq!(panel.run("return document.querySelectorAll('.toast.bad, .chat-text').length", &[]), json!(0));
}
