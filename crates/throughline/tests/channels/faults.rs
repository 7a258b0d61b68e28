//! What goes wrong between the daemon and the Bot API.

use std::process::Stdio;

use serde_json::json;
use throughline_testkit::model_server::{ModelServer, Step};

use super::bot_api::{BotApi, Fault, TOKEN};
use super::common::daemon::Daemon;
use super::common::{Home, string, tree, until};
use super::{ADA, config, machine, state, turns, until_shown};

#[test]
fn a_service_that_is_busy_or_away_gets_the_reply_later() {
    for fault in [Fault::Busy(2), Fault::Drop, Fault::Garbage, Fault::Refuse(502, "Bad Gateway")] {
        let model = ModelServer::scripted([Step::reply("Here."), Step::reply("never asked for")]);
        let bot = BotApi::start();
        let home = machine(&model, &bot);
        bot.fault("sendMessage", fault.clone());
        let _daemon = Daemon::start(&home);
        bot.say(ADA, "Where?");
        until_shown(&bot, ADA, &["Here."]);
        assert_eq!((model.requests().len(), bot.calls("sendMessage").len()), (1, 2), "{fault:?}");
    }
}

#[test]
fn polls_that_fail_are_tried_again_and_health_says_so_meanwhile() {
    let model = ModelServer::always(Step::reply("Here."));
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    for fault in [
        Fault::Drop,
        Fault::Garbage,
        Fault::Refuse(409, "Conflict: can't use getUpdates method while webhook is active"),
    ] {
        bot.fault("getUpdates", fault);
    }
    bot.fault("getMe", Fault::Refuse(500, "Internal Server Error"));
    let daemon = Daemon::start(&home);
    until(|| {
        state(&daemon)["problem"]
            .as_str()
            .is_some_and(|problem| problem.contains("while webhook is active"))
            .then_some(())
    });
    assert_eq!(state(&daemon)["state"], json!("waiting"));
    let remarks = daemon.get("/api/health")["remarks"].to_string();
    assert!(remarks.contains("Another program asks for the messages"), "{remarks}");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.code == 0 && doctor.stdout.contains("Another program asks for the messages"), "{doctor:?}");
    bot.say(ADA, "Where?");
    until_shown(&bot, ADA, &["Here."]);
    assert_eq!(state(&daemon), json!({"state": "listening", "account": "memo_bot"}));
    assert!(!daemon.get("/api/health")["remarks"].to_string().contains("telegram"));
}

#[test]
fn a_token_that_is_refused_or_missing_stops_the_channel_and_nothing_else() {
    let (model, bot) = (ModelServer::scripted([]), BotApi::start());
    for (token, problem) in [
        (Some("7731:revoked"), "does not know the bot"),
        (Some("not a token!"), "is not a bot's token"),
        (None, "BOT is not set"),
    ] {
        let mut home = Home::with_config("config.toml", &config(&model, &bot, "allow = [7]"));
        if let Some(token) = token {
            home.set("BOT", token);
        }
        let daemon = Daemon::start(&home);
        let said = until(|| (state(&daemon)["state"] == "stopped").then(|| string(&state(&daemon)["problem"])));
        assert!(said.contains(problem) && said.contains("BOT"), "{said}");
        assert!(token.is_none_or(|token| !said.contains(token)), "{said}");
        assert!(daemon.get("/api/health")["remarks"].to_string().contains(problem));
        assert_eq!(daemon.get("/healthz")["status"], json!("ok"));
    }
    assert!(bot.calls("getUpdates").is_empty());
}

#[test]
fn a_chat_that_takes_nothing_keeps_nobody_waiting() {
    let model = ModelServer::always(Step::reply("Here."));
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    bot.fault("sendMessage", Fault::Refuse(403, "Forbidden: bot was blocked by the user"));
    let _daemon = Daemon::start(&home);
    bot.say(ADA, "first");
    until(|| (bot.unconfirmed() == 0).then_some(()));
    assert!(bot.shown(ADA).is_empty());
    bot.say(ADA, "second");
    until_shown(&bot, ADA, &["Here."]);
    assert_eq!(turns(&home, "telegram:7").len(), 4);
}

#[test]
fn a_model_that_fails_is_said_and_the_next_message_is_answered() {
    let model = ModelServer::scripted([Step::fail(400, "no such model"), Step::reply("Better.")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let _daemon = Daemon::start(&home);
    bot.say(ADA, "Hello");
    until(|| (bot.shown(ADA).len() == 1 && bot.unconfirmed() == 0).then_some(()));
    assert!(bot.shown(ADA)[0].contains("no such model"), "{:?}", bot.shown(ADA));
    bot.say(ADA, "And now?");
    until(|| (bot.shown(ADA).get(1).map(String::as_str) == Some("Better.")).then_some(()));
}

/// Not in what is logged, not even in detail; not in a file; not in what is shown.
#[test]
fn the_token_is_nowhere() {
    let model = ModelServer::always(Step::reply("Here."));
    let bot = BotApi::start();
    let mut home = machine(&model, &bot);
    home.set("THROUGHLINE_LOG", "trace");
    for fault in [Fault::Drop, Fault::Garbage, Fault::Refuse(500, "no: /bot7731:correct-horse_battery/getUpdates")] {
        bot.fault("getUpdates", fault);
    }
    bot.fault("sendMessage", Fault::Drop);
    let log = std::fs::File::create(home.root().join("log")).unwrap();
    let mut serving = home.throughline(&["serve", "--port", "0"]).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    bot.say(ADA, "Where?");
    until_shown(&bot, ADA, &["Here."]);
    serving.kill().unwrap();
    serving.wait().unwrap();
    let log = std::fs::read_to_string(home.root().join("log")).unwrap();
    assert!(log.contains("telegram") && log.contains("***"), "{log}");
    for (path, bytes) in tree(home.root()) {
        let has_token = |part: &str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(!has_token(TOKEN) && !has_token("correct-horse_battery"), "the token is in {}", path.display());
    }
    let shown = home.run(&["config", "show"]).done();
    assert!(shown.contains("channels.telegram.token_env") && !shown.contains(TOKEN), "{shown}");
}
