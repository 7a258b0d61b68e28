//! Which requests belong together, what is kept of them, and what stays the same from one to the next.

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

use crate::common::daemon::Daemon;
use crate::common::until;
use crate::place::{Place, WIRES, Wire, session};

fn always(reply: &str) -> Place {
    Place::with(ModelServer::always(Step::reply(reply)), "", |_| {})
}

fn turn(role: &str, text: &str) -> (String, String) {
    (role.to_owned(), text.to_owned())
}

#[test]
fn turns_are_kept_raw_and_a_history_that_is_sent_again_is_kept_once() {
    for (wire, stream) in WIRES.into_iter().flat_map(|wire| [(wire, true), (wire, false)]) {
        let place = always("Noted, Ada.");
        place.home.remember(&["Tea is served at four"]);
        let first = place.ask(wire, &wire.body(&["When is tea served?"], stream));
        let id = session(&first);
        let expected = [turn("user", "When is tea served?"), turn("assistant", "Noted, Ada.")];
        assert_eq!(place.turns(&id, 2), expected, "{wire:?}, streamed: {stream}");
        let again = wire.body(&["When is tea served?", "Noted,  Ada.\n", "And supper?"], stream);
        let second = place.ask(wire, &again);
        assert_eq!(session(&second), id);
        // Asked again, as a client does that lost the answer.
        assert_eq!(session(&place.ask(wire, &again)), id);
        let more = wire.body(
            &["When is tea served?", "Noted, Ada.", "And supper?", "Noted, Ada.", "Thanks, that is all."],
            stream,
        );
        place.ask(wire, &more);
        let turns = place.turns(&id, 6);
        let users: Vec<&str> = turns.iter().filter(|(role, _)| role == "user").map(|(_, text)| text.as_str()).collect();
        assert_eq!(users, ["When is tea served?", "And supper?", "Thanks, that is all."], "{wire:?}: {turns:?}");
    }
}

#[test]
fn edited_and_branched_histories_are_followed() {
    let place = Place::new(["One.", "Two.", "Another two.", "Three."].map(Step::reply));
    let wire = Wire::Chat;
    let id = session(&place.ask(wire, &wire.body(&["Let us plan the trip to Porto."], false)));
    let branch = |said: &[&str]| {
        let answer = place.ask(wire, &wire.body(&[&["Let us plan the trip to Porto.", "One."], said].concat(), true));
        assert_eq!(session(&answer), id, "{said:?}");
    };
    branch(&["By train, please."]);
    place.turns(&id, 4);
    branch(&["By boat, please."]);
    place.turns(&id, 6);
    branch(&["By boat, please.", "Another two.", "In May."]);
    let turns = place.turns(&id, 8);
    let said: Vec<&str> = turns.iter().map(|(_, text)| text.as_str()).collect();
    let expected = [
        "Let us plan the trip to Porto.",
        "One.",
        "By train, please.",
        "Two.",
        "By boat, please.",
        "Another two.",
        "In May.",
        "Three.",
    ];
    assert_eq!(said, expected);
}

#[test]
fn conversations_are_recognised_by_header_body_and_beginning() {
    let place = always("Yes.");
    let id = |wire: Wire, body: &Value| session(&place.ask(wire, body));
    let with = |wire: Wire, field: &str, value: Value| {
        let mut body = wire.body(&["Hello there"], false);
        body[field] = value;
        body
    };
    let named =
        place.request(Wire::Chat, &with(Wire::Chat, "user", json!("ignored"))).with("X-Throughline-Session", "web:a1");
    assert_eq!(session(&place.daemon.send(&named)), "web:a1", "a header says it first");
    assert_eq!(id(Wire::Chat, &with(Wire::Chat, "user", json!("ada-7"))), "proxy:ada-7");
    let metadata = json!({"conversation_id": "c-9", "user_id": "u"});
    assert_eq!(id(Wire::Chat, &with(Wire::Chat, "metadata", metadata)), "proxy:c-9");
    let user = json!({"user_id": "user_ab_account_cd_session_0aa1-22"});
    assert_eq!(id(Wire::Messages, &with(Wire::Messages, "metadata", user)), "proxy:0aa1-22");
    assert_eq!(id(Wire::Responses, &with(Wire::Responses, "conversation", json!({"id": "conv_1"}))), "proxy:conv_1");
    let odd = id(Wire::Chat, &with(Wire::Chat, "user", json!("../ odd: name")));
    assert!(odd.starts_with("proxy:") && !odd.contains(['/', ' ']), "{odd}");
    // Neither says anything: by what was said.
    let begun = id(Wire::Chat, &Wire::Chat.body(&["Hello there"], false));
    assert_eq!(id(Wire::Chat, &Wire::Chat.body(&["Hello there"], true)), begun, "asked again");
    let other = id(Wire::Chat, &Wire::Chat.body(&["Good evening"], false));
    assert_ne!(other, begun);
}

#[test]
fn conversations_that_begin_alike_are_told_apart_and_shortened_ones_are_found() {
    let place = Place::new(["First reply.", "Second reply.", "Other reply.", "Fourth.", "Fifth."].map(Step::reply));
    let wire = Wire::Messages;
    let ask = |said: &[&str], kept: usize| {
        let id = session(&place.ask(wire, &wire.body(said, false)));
        place.turns(&id, kept);
        id
    };
    let first = ask(&["hi"], 2);
    assert_eq!(ask(&["hi", "First reply.", "What is on today?"], 4), first);
    let second = ask(&["hi"], 2);
    assert_ne!(second, first, "the first went on; this is another");
    assert_eq!(ask(&["hi", "Other reply.", "And tomorrow?"], 4), second);
    // A client that leaves out the oldest messages.
    assert_eq!(ask(&["What is on today?", "Second reply.", "Anything else?"], 6), first);
}

#[test]
fn a_reply_that_the_server_keeps_is_gone_on_from() {
    let place = always("Kept there.");
    let wire = Wire::Responses;
    let first = session(&place.ask(wire, &json!({"model": "m", "input": "Where is the kestrel plan?"})));
    place.turns(&first, 2);
    place.home.remember(&["The kestrel plan is in the green folder"]);
    let body = json!({"model": "m", "input": "And its green folder?", "previous_response_id": "resp_1"});
    let answer = place.ask(wire, &body);
    assert_eq!(session(&answer), first);
    let sent = place.server.requests().pop().unwrap();
    let input = sent.body["input"].as_str().unwrap();
    assert!(input.contains("green folder") && input.contains("<memory-context>"), "{input}");
    place.turns(&first, 3);
    // What was given with an earlier message stands in the server's history.
    let again = place.ask(wire, &body);
    assert_eq!(session(&again), first);
    until(|| {
        place.ask(wire, &json!({"model": "m", "input": "Which green folder again?", "previous_response_id": "resp_1"}));
        let sent = place.server.requests().pop().unwrap();
        (!sent.body["input"].as_str().unwrap().contains("The kestrel plan is in")).then_some(())
    });
}

#[test]
fn what_was_sent_stays_the_same_byte_for_byte() {
    for wire in WIRES {
        let place = always("I see.");
        place.home.remember(&["--layer", "identity", "The person is called Ada"]);
        place.home.remember(&["The kestrel deploy is on Friday at noon"]);
        let first = "When is the kestrel deploy?";
        let one = place.exchange(wire, &wire.body(&[first], false));
        // What is learnt meanwhile is for other conversations, and for later messages.
        place.home.remember(&["--layer", "identity", "The person lives in Lisbon"]);
        place.home.remember(&["The kestrel deploy needs two approvals"]);
        let two = place.exchange(wire, &wire.body(&[first, "I see.", "Who approves the kestrel deploy?"], false));
        let field = if wire == Wire::Responses { "input" } else { "messages" };
        let (was, is) = (messages(&one.body[field]), messages(&two.body[field]));
        assert_eq!(is[..was.len()], was, "{wire:?}: a cache of the prompt holds");
        for name in ["system", "instructions"] {
            assert_eq!(one.body[name], two.body[name]);
        }
        let text = String::from_utf8(two.bytes).unwrap();
        for (memory, times) in [
            ("The person is called Ada", 1),
            ("The kestrel deploy is on Friday at noon", 1),
            ("The kestrel deploy needs two approvals", 1),
            ("The person lives in Lisbon", 0),
        ] {
            assert_eq!(text.matches(memory).count(), times, "{wire:?}: {memory} in {text}");
        }
    }
}

fn messages(value: &Value) -> Vec<Value> {
    value.as_array().unwrap().clone()
}

#[test]
fn a_tool_loop_searches_once_and_an_opening_survives_a_restart() {
    let place = always("I see.");
    place.home.remember(&["--layer", "identity", "The person is called Ada"]);
    place.home.remember(&["The kestrel deploy is on Friday at noon"]);
    let body = |more: &[Value]| {
        let mut messages =
            vec![json!({"role": "user", "content": [{"type": "text", "text": "When is the kestrel deploy?"}]})];
        messages.extend_from_slice(more);
        json!({"model": "m", "max_tokens": 9, "messages": messages})
    };
    let calls = [
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Friday"}]}),
    ];
    let one = place.exchange(Wire::Messages, &body(&[]));
    place.home.remember(&["The kestrel deploy needs two approvals"]);
    let two = place.exchange(Wire::Messages, &body(&calls));
    assert_eq!(one.body["messages"][0], two.body["messages"][0], "the message keeps what it had");
    assert_eq!(two.body["messages"][2], calls[1], "a result of a tool is no message");
    let id = session(&place.ask(Wire::Messages, &body(&calls)));
    place.turns(&id, 2);
    place.home.remember(&["--layer", "identity", "The person lives in Lisbon"]);
    let Place { home, server, daemon } = place;
    assert_eq!(daemon.stop().code, 0);
    let daemon = crate::common::daemon::Daemon::start(&home);
    let place = Place { home, server, daemon };
    let after = place.exchange(Wire::Messages, &body(&calls));
    assert_eq!(after.body["system"], one.body["system"]);
}

#[test]
fn a_client_may_read_and_keep_nothing() {
    let place = always("I see.");
    place.home.remember(&["The kestrel deploy is on Friday at noon"]);
    let body = Wire::Chat.body(&["When is the kestrel deploy?"], false);
    let answer = place.daemon.send(&place.request(Wire::Chat, &body).with("X-Throughline-Memory", "read"));
    assert_eq!(answer.header("x-throughline-memory"), Some("read"));
    assert!(String::from_utf8(place.server.requests().pop().unwrap().bytes).unwrap().contains("Friday at noon"));
    // A message off the record, with its reply, is kept by nobody.
    let private = place.ask(Wire::Chat, &Wire::Chat.body(&["Off the record: the safe is behind the clock."], false));
    assert_eq!(private.status, 200);
    let kept = session(&place.ask(Wire::Chat, &Wire::Chat.body(&["And this may be kept."], false)));
    place.turns(&kept, 2);
    assert!(place.home.found(&["safe behind the clock"]).iter().all(|text| !text.contains("clock")));
    let sessions = place.home.json(&["session", "list"]);
    let with_turns = sessions["sessions"].as_array().unwrap().iter().filter(|session| session["turns"] != 0).count();
    assert_eq!(with_turns, 1, "{sessions}");
}

#[test]
fn memories_that_the_client_sends_itself_are_not_added_again() {
    let place = always("I see.");
    place.home.remember(&["--layer", "identity", "The person is called Ada"]);
    place.home.remember(&["The kestrel deploy is on Friday at noon"]);
    let given = place.home.json(&["context", "--message", "When is the kestrel deploy?"]);
    let (system, message) = (&given["system_prompt"], &given["message"]);
    assert!(message.as_str().unwrap().contains("Friday"), "{given}");
    let body = json!({"model": "m", "messages": [{"role": "system", "content": system}, {"role": "user", "content": message}]});
    let sent = place.exchange(Wire::Chat, &body);
    assert_eq!(sent.body, body, "a hook gave it before the proxy");
}

#[test]
fn other_speakers_keep_their_names() {
    let place = always("Hello, both.");
    let body = json!({"model": "m", "messages": [{"role": "user", "name": "Bo", "content": "I prefer coffee."}]});
    let id = session(&place.ask(Wire::Chat, &body));
    place.turns(&id, 2);
    let shown = place.daemon.get(&format!("/api/sessions/{id}"));
    assert_eq!(shown["turns"][0]["speaker"], "Bo", "{shown}");
}

#[test]
fn memories_go_to_the_system_prompt_where_that_is_set() {
    let server = ModelServer::always(Step::reply("I see."));
    let place = Place::with(server, "[inject]\nrecall = \"system_prompt\"\n", |home| {
        home.remember(&["--layer", "identity", "The person is called Ada"]);
        home.remember(&["The kestrel deploy is on Friday at noon"]);
    });
    for (wire, field) in [(Wire::Messages, "system"), (Wire::Responses, "instructions")] {
        let mut body = wire.body(&["When is the kestrel deploy?"], false);
        body[field] = json!("Be kind.");
        let sent = place.exchange(wire, &body);
        let prompt = sent.body[field].as_str().unwrap();
        let parts = ["Be kind.\n\n--- Who you're talking to ---", "The person is called Ada", "Friday at noon"];
        let places: Vec<usize> = parts.iter().map(|part| prompt.find(part).unwrap()).collect();
        assert!(places.is_sorted() && places[0] == 0, "{prompt}");
        assert!(!String::from_utf8_lossy(&sent.bytes).contains("<memory-context>"), "{prompt}");
    }
}

/// The rest of an exchange was lost with one such turn, and came again with every request of the client.
#[test]
fn a_turn_over_the_limit_or_with_nul_is_kept_in_part() {
    const LIMIT: usize = 1 << 20;
    let mut place = always("Not\u{0}ed.");
    let log = place.home.root().join("log");
    let mut command = place.home.throughline(&["--json", "serve", "--port", "0"]);
    command.stderr(std::fs::File::create(&log).unwrap());
    place.daemon.kill();
    place.daemon = Daemon::of(command, &place.home);
    let (wire, long) = (Wire::Chat, "l".repeat(LIMIT + 1000));
    let id = session(&place.ask(wire, &wire.body(&["Read this log.", "Send it.", &long], false)));
    let turns = place.turns(&id, 4);
    let kept: Vec<(usize, &str)> = turns.iter().map(|(_, text)| (text.len(), &text[..4])).collect();
    assert_eq!(kept, [(14, "Read"), (8, "Send"), (LIMIT, "llll"), (6, "Note")]);
    place.daemon.kill();
    let told = std::fs::read_to_string(log).unwrap();
    assert!(told.contains("are kept in part"), "{told}");
}
