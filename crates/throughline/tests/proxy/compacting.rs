//! Histories that outgrow the model's window, where the person asked for it.

use throughline_testkit::model_server::{ModelServer, Step};

use crate::common::until;
use crate::place::{Place, WIRES, Wire, session};

#[test]
fn a_summary_takes_the_place_of_older_messages() {
    for wire in WIRES {
        let place = Place::with(ModelServer::always(Step::reply("We decided that.")), "compact = true\n", |home| {
            let text = home.text("config.toml");
            let memory = "[memory]\ncontext_window = 1000\nkeep_recent_turns = 1\n";
            home.put("config.toml", &text.replace("[memory]\n", memory));
        });
        let told = |n: usize| {
            format!(
                "Decision {n}: we decided to move module {n} of the kestrel parser to the new scanner. {}",
                "It was discussed at length. ".repeat(20)
            )
        };
        let (mut said, mut id) = (Vec::new(), String::new());
        for n in 0..6 {
            said.push(told(n));
            let texts: Vec<&str> = said.iter().map(String::as_str).collect();
            id = session(&place.ask(wire, &wire.body(&texts, false)));
            said.push("We decided that.".to_owned());
        }
        said.push("What did we decide about the kestrel parser?".to_owned());
        let texts: Vec<&str> = said.iter().map(String::as_str).collect();
        let sent = until(|| {
            let sent = place.exchange(wire, &wire.body(&texts, false));
            String::from_utf8_lossy(&sent.bytes).contains("[Context Summary]").then_some(sent)
        });
        let field = if wire == Wire::Responses { "input" } else { "messages" };
        let messages: Vec<_> =
            sent.body[field].as_array().unwrap().iter().filter(|message| message["role"] != "system").collect();
        assert!(messages[0]["content"].as_str().unwrap().starts_with("[Context Summary]"), "{wire:?}: {messages:?}");
        assert!(messages.len() < texts.len() && messages[1]["role"] == "user", "{wire:?}: {messages:?}");
        let last = messages.last().unwrap()["content"].as_str().unwrap();
        assert!(last.ends_with("What did we decide about the kestrel parser?"), "{last}");
        // Nothing is shortened in the store; summaries are turns, too.
        until(|| {
            let turns = place.turns(&id, 13);
            let is_kept = |n: usize| turns.iter().any(|(_, text)| text.starts_with(&format!("Decision {n}:")));
            (0..6).all(is_kept).then_some(())
        });
    }
}
