//! One memory for all: told through OpenAI's proxy, asked through Anthropic's, Ollama's and the chat. Each prompt holds it once.

use throughline_testkit::model_server::{ModelServer, Step};

use crate::place::{Place, Wire, session};

/// What a model sees of something, over all parts of a prompt.
fn times(bytes: &[u8], what: &str) -> usize {
    String::from_utf8_lossy(bytes).matches(what).count()
}

#[test]
fn what_is_told_through_one_proxy_is_known_to_all() {
    let server = ModelServer::always(Step::reply("I will remember that."));
    let url = server.url();
    let config = format!("[model]\nprovider = \"ollama\"\nmodel = \"scripted\"\nbase_url = \"{url}\"\n");
    let offline = "[memory]\nconsolidation_provider = \"offline\"\n";
    let place = Place::with(server, &config, |home| {
        let text = home.text("config.toml").replace("[memory]\n", offline);
        home.put("config.toml", &text);
    });
    let told = [
        "My name is Ada Quince and I am allergic to walnuts.",
        "For the kestrel project we decided to deploy on Fridays at noon.",
    ];
    let id = session(&place.ask(Wire::Chat, &Wire::Chat.body(&told[..1], true)));
    place.turns(&id, 2);
    let more = [told[0], "I will remember that.", told[1]];
    assert_eq!(session(&place.ask(Wire::Chat, &Wire::Chat.body(&more, false))), id);
    place.turns(&id, 3);
    place.home.run(&["session", "consolidate", &id]).done();
    assert!(place.home.run(&["profile"]).stdout.contains("walnuts"), "{}", place.home.run(&["profile"]).stdout);

    for wire in [Wire::Messages, Wire::Responses, Wire::Ollama, Wire::Chat] {
        for (question, answer) in
            [("What am I allergic to?", "walnuts"), ("When do we deploy kestrel?", "Fridays at noon")]
        {
            let sent = place.exchange(wire, &wire.body(&[question], false));
            assert_eq!(times(&sent.bytes, answer), 1, "{wire:?}: {}", String::from_utf8_lossy(&sent.bytes));
        }
    }
    for (question, answer) in [("What am I allergic to?", "walnuts"), ("When do we deploy kestrel?", "Fridays at noon")]
    {
        place.home.run_with(&["chat", "--session", "cli:story"], &format!("{question}\n")).done();
        let sent = place.server.requests().into_iter().rfind(|sent| times(&sent.bytes, question) > 0).unwrap();
        assert_eq!(times(&sent.bytes, answer), 1, "chat: {}", String::from_utf8_lossy(&sent.bytes));
    }
}
