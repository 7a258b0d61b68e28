//! One memory for all: told through OpenAI's proxy, asked through every other and in the chat. Each prompt holds it once.

use serde_json::json;
use throughline_testkit::model_server::{ModelServer, Step};

use crate::place::{Place, Wire, session};

const ALLERGY: &str = "I am allergic to walnuts";
const DEPLOY: &str = "we deploy the kestrel project on Fridays at noon";

/// How often something stands in a prompt, over all its parts.
fn times(bytes: &[u8], what: &str) -> usize {
    String::from_utf8_lossy(bytes).matches(what).count()
}

#[test]
fn what_is_told_through_one_proxy_is_known_to_all() {
    let facts = json!({"facts": [{"text": ALLERGY, "kind": "preference"}, {"text": DEPLOY, "kind": "decision"}]});
    // Consolidates first, and then talks.
    let own = ModelServer::scripted([Step::reply("NOTHING"), Step::reply(facts.to_string())]);
    let model = format!("[model]\nprovider = \"ollama\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n", own.url());
    let place = Place::with(ModelServer::always(Step::reply("I will remember that.")), &model, |home| {
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
    for (question, answer) in questions {
        own.then(Step::reply("You told me."));
        place.home.run_with(&["chat", "--session", "cli:story"], &format!("{question}\n")).done();
        let sent = own.requests().into_iter().rfind(|sent| times(&sent.bytes, question) > 0).unwrap();
        assert_eq!(times(&sent.bytes, answer), 1, "chat: {}", String::from_utf8_lossy(&sent.bytes));
    }
}
