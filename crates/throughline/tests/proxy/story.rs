//! One memory for all: told through OpenAI's proxy, asked through every other, in the chat, on Telegram and in the real Claude
//! Code. Each prompt holds it once.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use throughline_testkit::model_server::{ModelServer, Step};

use crate::bot_api::{BotApi, TOKEN};
use crate::common::{Home, until};
use crate::place::{Place, Wire, session};

/// The person's chat with the bot.
const ADA: i64 = 7;

const ALLERGY: &str = "I am allergic to walnuts";
const DEPLOY: &str = "we deploy the kestrel project on Fridays at noon";

/// How often something stands in a prompt, over all its parts.
fn times(bytes: &[u8], what: &str) -> usize {
    String::from_utf8_lossy(bytes).matches(what).count()
}

/// What a model is asked that is not behind a proxy, the last time that this was said.
fn asked(model: &ModelServer, question: &str) -> Vec<u8> {
    model.requests().into_iter().rfind(|sent| times(&sent.bytes, question) > 0).unwrap().bytes
}

/// What Claude Code asks its model with each question, on the same memory; nothing where it cannot be tried.
#[track_caller]
fn asked_by_claude_code(home: &Home, questions: &[&str]) -> Option<Vec<String>> {
    if Command::new("npm").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("SKIPPED: Claude Code was not tried: no npm here");
        return None;
    }
    let mut command = home.command("python3");
    command.arg("-B").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/story.py"));
    command.arg(env!("CARGO_BIN_EXE_throughline")).arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("assistants"));
    let output = command.arg(home.path("")).arg(home.root().join("claude")).args(questions).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.starts_with("SKIPPED") {
        println!("{errors}");
        return None;
    }
    assert!(output.status.success(), "{errors}");
    Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}")))
}

#[test]
fn what_is_told_through_one_proxy_is_known_to_all() {
    let facts = json!({"facts": [{"text": ALLERGY, "kind": "preference"}, {"text": DEPLOY, "kind": "decision"}]});
    // Consolidates first, and then talks.
    let own = ModelServer::scripted([Step::reply("NOTHING"), Step::reply(facts.to_string())]);
    let bot = BotApi::start();
    let config = format!(
        "[model]\nprovider = \"ollama\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n[hooks]\nprompt_deadline_ms = 60000\n\
         [channels.telegram]\ntoken_env = \"BOT\"\nbase_url = \"{}\"\nallow = [{ADA}]\n",
        own.url(),
        bot.url()
    );
    let place = Place::with(ModelServer::always(Step::reply("I will remember that.")), &config, |home| {
        home.set("BOT", TOKEN);
        let text = home.text("config.toml").replace("[memory]\n", "[memory]\nconsolidation_turn_threshold = 0\n");
        home.put("config.toml", &text);
    });
    let told = [&format!("By the way, {ALLERGY}."), "I will remember that.", &format!("Also, {DEPLOY}.")];
    let id = session(&place.ask(Wire::Chat, &Wire::Chat.body(&told[..1], true)));
    assert_eq!(session(&place.ask(Wire::Chat, &Wire::Chat.body(&told, false))), id);
    place.turns(&id, 3);
    place.home.run(&["session", "consolidate", &id]).done();
    let questions = [("What am I allergic to?", ALLERGY), ("When do we deploy the kestrel project?", DEPLOY)];
    for wire in [Wire::Messages, Wire::Responses, Wire::Chat] {
        for (question, answer) in questions {
            let sent = place.exchange(wire, &wire.body(&[question], false));
            assert_eq!(times(&sent.bytes, answer), 1, "{wire:?}: {}", String::from_utf8_lossy(&sent.bytes));
        }
    }
    for (at, (question, answer)) in questions.into_iter().enumerate() {
        own.then(Step::reply("You told me."));
        place.home.run_with(&["chat", "--session", "cli:story"], &format!("{question}\n")).done();
        let sent = asked(&own, question);
        assert_eq!(times(&sent, answer), 1, "chat: {}", String::from_utf8_lossy(&sent));

        own.then(Step::reply("You told me that."));
        bot.say(ADA, question);
        until(|| (bot.shown(ADA).len() > at && bot.unconfirmed() == 0).then_some(()));
        let sent = asked(&own, question);
        assert_eq!(times(&sent, answer), 1, "Telegram: {}", String::from_utf8_lossy(&sent));
    }
    let Some(prompts) = asked_by_claude_code(&place.home, &questions.map(|(question, _)| question)) else { return };
    for (prompt, (question, answer)) in prompts.iter().zip(questions) {
        assert!(prompt.contains(question), "{prompt}");
        assert_eq!(prompt.matches(answer).count(), 1, "Claude Code: {prompt}");
    }
}
