//! Channels: Telegram against a stand-in for its Bot API, and messages from other programs. The daemon is the real one, the
//! model a scripted server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "channels/bot_api.rs"]
mod bot_api;
mod common;
#[path = "channels/faults.rs"]
mod faults;
#[path = "channels/kills.rs"]
mod kills;
#[path = "channels/telegram.rs"]
mod telegram;
#[path = "channels/webhook.rs"]
mod webhook;

use common::daemon::Daemon;
use common::{Home, string, until};
use serde_json::Value;
use throughline_testkit::model_server::ModelServer;

use bot_api::{BotApi, TOKEN};

/// The person's own chat.
const ADA: i64 = 7;

/// A machine whose model is the server and whose bot is the stand-in; what is said is summarised without the model.
fn machine(model: &ModelServer, bot: &BotApi) -> Home {
    let mut home = Home::with_config("config.toml", &config(model, bot, "allow = [7, 8, -100]"));
    home.set("BOT", TOKEN);
    home
}

fn config(model: &ModelServer, bot: &BotApi, more: &str) -> String {
    format!(
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nconsolidation_provider = \"offline\"\n\n\
         [model]\nprovider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n\n[embeddings]\nprovider = \"none\"\n\n\
         [channels.telegram]\ntoken_env = \"BOT\"\nbase_url = \"{}\"\n{more}\n",
        model.url(),
        bot.url()
    )
}

/// Who said what, summaries left out; nothing where there is no such conversation.
fn turns(home: &Home, session: &str) -> Vec<(String, String)> {
    let ran = home.run(&["--json", "session", "show", session]);
    let shown = serde_json::from_str::<Value>(&ran.stdout).unwrap_or_default();
    let said = shown["turns"].as_array().into_iter().flatten().filter(|turn| turn["role"] != "summary");
    said.map(|turn| (string(&turn["role"]), string(&turn["content"]))).collect()
}

fn exchange(said: &str, reply: &str) -> [(String, String); 2] {
    [("user".to_owned(), said.to_owned()), ("assistant".to_owned(), reply.to_owned())]
}

/// Waits until the bot says exactly this in a chat, and nothing is left to confirm.
#[track_caller]
fn until_shown(bot: &BotApi, chat: i64, expected: &[&str]) {
    until(|| (bot.shown(chat).len() >= expected.len() && bot.unconfirmed() == 0).then_some(()));
    assert_eq!(bot.shown(chat), expected);
}

/// What the model was asked, the last time.
fn last_prompt(model: &ModelServer) -> String {
    model.requests().last().expect("the model was asked").body.to_string()
}

/// How Telegram is, by `GET /api/channels`.
fn state(daemon: &Daemon) -> Value {
    daemon.get("/api/channels")["channels"]["telegram"].clone()
}
