//! Each update once, whatever happens to the daemon.

use throughline_testkit::model_server::{ModelServer, Step};

use super::bot_api::{BotApi, Fault};
use super::common::daemon::Daemon;
use super::common::until;
use super::{ADA, exchange, last_prompt, machine, turns, until_shown};

#[test]
fn a_message_of_a_time_without_a_daemon_is_answered_once_and_not_again() {
    let model = ModelServer::scripted([Step::reply("One."), Step::reply("Two.")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    bot.say(ADA, "first");
    let daemon = Daemon::start(&home);
    until_shown(&bot, ADA, &["One."]);
    assert_eq!(daemon.stop().code, 0);
    bot.say(ADA, "second");
    for _ in 0..2 {
        let daemon = Daemon::start(&home);
        until_shown(&bot, ADA, &["One.", "Two."]);
        assert_eq!(daemon.stop().code, 0);
    }
    assert_eq!(turns(&home, "telegram:7"), [exchange("first", "One."), exchange("second", "Two.")].concat());
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn killed_in_the_middle_of_a_reply_it_goes_on_in_the_same_message() {
    let model = ModelServer::scripted([Step::HangAfter(vec!["I was about".to_owned()]), Step::reply("Here it is.")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let daemon = Daemon::start(&home);
    bot.say(ADA, "What is the parking code?");
    // The message is known to be ours as soon as it is noted.
    until(|| (bot.shown(ADA) == ["I was about"] && home.path("channel-telegram.json").exists()).then_some(()));
    daemon.kill();
    let _daemon = Daemon::start(&home);
    until(|| (bot.shown(ADA) == ["Here it is."] && bot.unconfirmed() == 0).then_some(()));
    assert_eq!(turns(&home, "telegram:7"), exchange("What is the parking code?", "Here it is."));
    // The second time it was asked as it was the first time.
    assert_eq!(last_prompt(&model).matches("What is the parking code?").count(), 1, "{}", last_prompt(&model));
}

#[test]
fn stopped_in_the_middle_of_a_reply_it_is_answered_by_the_next_daemon() {
    let model = ModelServer::scripted([Step::Hang, Step::reply("Sorry for the wait.")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let daemon = Daemon::start(&home);
    bot.say(ADA, "Are you there?");
    until(|| (model.requests().len() == 1).then_some(()));
    assert_eq!(daemon.stop().code, 0);
    assert!(bot.shown(ADA).is_empty(), "nobody was told of it");
    let _daemon = Daemon::start(&home);
    until_shown(&bot, ADA, &["Sorry for the wait."]);
    assert_eq!(turns(&home, "telegram:7"), exchange("Are you there?", "Sorry for the wait."));
}

#[test]
fn killed_between_the_reply_and_its_delivery_it_is_delivered_without_asking_again() {
    let model = ModelServer::scripted([Step::reply("On Friday."), Step::reply("never asked for")]);
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    bot.fault("sendMessage", Fault::Hang);
    let daemon = Daemon::start(&home);
    bot.say(ADA, "When do we deploy?");
    until(|| (turns(&home, "telegram:7").len() == 2 && bot.is_through()).then_some(()));
    daemon.kill();
    assert!(bot.shown(ADA).is_empty() && bot.unconfirmed() == 1);
    let _daemon = Daemon::start(&home);
    until_shown(&bot, ADA, &["On Friday."]);
    assert_eq!(model.requests().len(), 1);
    assert_eq!(turns(&home, "telegram:7"), exchange("When do we deploy?", "On Friday."));
}

#[test]
fn killed_between_the_delivery_and_its_confirmation_nothing_is_said_twice() {
    let model = ModelServer::always(Step::reply("On Friday."));
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let daemon = Daemon::start(&home);
    until(|| bot.calls("getUpdates").iter().any(|poll| poll["timeout"] != 0).then_some(()));
    // From here on, no poll confirms anything.
    for _ in 0..50 {
        bot.fault("getUpdates", Fault::Refuse(409, "Conflict: terminated by other getUpdates request"));
    }
    bot.say(ADA, "When do we deploy?");
    until(|| (bot.shown(ADA).len() == 1).then_some(()));
    let is_noted = || {
        std::fs::read_to_string(home.path("channel-telegram.json")).is_ok_and(|marks| marks.contains("\"next\":502"))
    };
    until(|| is_noted().then_some(()));
    assert_eq!(bot.unconfirmed(), 1);
    daemon.kill();
    bot.forgive();
    let _daemon = Daemon::start(&home);
    until_shown(&bot, ADA, &["On Friday."]);
    bot.say(ADA, "Really?");
    until_shown(&bot, ADA, &["On Friday.", "On Friday."]);
    assert_eq!(model.requests().len(), 2);
}

/// Kills at any moment: what was said is stored once, each reply too, and everything is answered.
#[test]
fn ten_kills_at_any_moment_store_everything_once() {
    const MESSAGES: usize = 20;
    let model = ModelServer::always(Step::reply("Noted."));
    let bot = BotApi::start();
    let home = machine(&model, &bot);
    let messages: Vec<String> = (0..MESSAGES).map(|number| format!("fact number {number}")).collect();
    let mut said = messages.iter();
    for kill in 0..10_u64 {
        let daemon = Daemon::start(&home);
        for message in said.by_ref().take(MESSAGES / 10) {
            bot.say(ADA, message);
        }
        // The moment is chosen so that each kill comes a little later than the one before.
        std::thread::sleep(std::time::Duration::from_millis(37 * kill));
        daemon.kill();
    }
    let _daemon = Daemon::start(&home);
    until(|| (bot.unconfirmed() == 0).then_some(()));
    let turns = turns(&home, "telegram:7");
    let of = |wanted: &str| {
        turns.iter().filter(|(role, _)| role == wanted).map(|(_, text)| text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("user"), messages);
    assert_eq!(of("assistant").len(), MESSAGES, "{turns:?}");
    let shown = bot.shown(ADA).len();
    // A message that was sent and not noted is the only one that can be sent again.
    assert!((MESSAGES..=MESSAGES + 10).contains(&shown), "{shown}");
}
