//! The chat of the panel, against a scripted model.

use serde_json::{Value, json};
use throughline_testkit::model_server::{ModelServer, Step};

use super::client::{Daemon, next_event};
use super::common::{Home, string, until};

fn with_model(server: &ModelServer) -> Home {
    let config = format!(
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nconsolidation_provider = \"offline\"\n\n\
         [model]\nprovider = \"ollama\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n",
        server.url()
    );
    Home::with_config("config.toml", &config)
}

/// Says something; gives what came back, the pieces of the reply as one.
fn say(daemon: &Daemon, said: &Value) -> Vec<(String, Value)> {
    let (status, mut stream) = daemon.stream("POST", "/api/chat", Some(said));
    assert_eq!(status, 200);
    let mut events: Vec<(String, Value)> = Vec::new();
    while let Some((name, data)) = next_event(&mut stream) {
        match events.last_mut() {
            Some((last, before)) if *last == name && name == "delta" => {
                before["text"] = json!(string(&before["text"]) + data["text"].as_str().unwrap());
            }
            _ => events.push((name, data)),
        }
    }
    events
}

/// Who said what, as the transcript has it.
fn turns(home: &Home, session: &str) -> Vec<(String, String)> {
    let shown = home.json(&["session", "show", session]);
    let said = shown["turns"].as_array().unwrap().iter().filter(|turn| turn["role"] != "summary");
    said.map(|turn| (string(&turn["role"]), string(&turn["content"]))).collect()
}

#[test]
fn a_reply_comes_as_a_stream_with_the_memories_and_tools_behind_it() {
    let write = json!({"action": "add", "layer": "L1", "content": "The person deploys on Fridays."}).to_string();
    let server =
        ModelServer::scripted([Step::reply("On Friday."), Step::call("memory_write", write), Step::reply("Noted.")]);
    let home = with_model(&server);
    let id = home.remember(&["We deploy on Fridays at noon"]);
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.get("/api/chat"), json!({"available": true, "provider": "ollama", "model": "scripted"}));
    let events = say(&daemon, &json!({"message": "When do we deploy?"}));
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["session", "injected", "delta", "done"]);
    let session = string(&events[0].1["session"]);
    assert!(session.starts_with("web:2026-03-01-1200"), "{session}");
    assert_eq!(events[1].1["parts"][0]["id"], json!(id));
    assert_eq!((&events[2].1["text"], &events[3].1["reply"]), (&json!("On Friday."), &json!("On Friday.")));
    let events = say(&daemon, &json!({"session": session, "message": "Remember that."}));
    let tool = events.iter().find(|(name, _)| name == "tool").unwrap();
    assert_eq!(tool.1["name"], json!("memory_write"));
    assert_eq!(events.last().unwrap(), &("done".to_owned(), json!({"reply": "Noted."})));
    let said: Vec<String> = turns(&home, &session).into_iter().map(|(role, _)| role).collect();
    assert_eq!(said, ["user", "assistant", "user", "tool", "assistant"]);
    assert!(home.listed(&[]).contains(&"The person deploys on Fridays.".to_owned()));
}

#[test]
fn whoever_goes_away_stops_the_reply_and_what_was_said_is_kept() {
    let server = ModelServer::scripted([Step::HangAfter(vec!["On ".to_owned()]), Step::Hang]);
    let home = with_model(&server);
    let daemon = Daemon::start(&home);
    for (nth, message) in ["When do we deploy?", "Well?"].into_iter().enumerate() {
        let said = json!({"session": "main", "message": message});
        let (status, mut stream) = daemon.stream("POST", "/api/chat", Some(&said));
        assert_eq!(status, 200);
        let last = if nth == 0 { "delta" } else { "injected" };
        while next_event(&mut stream).expect("it goes on").0 != last {}
        until(|| (server.requests().len() > nth).then_some(()));
        drop(stream);
        assert!(server.wait_for_hung_up(nth + 1), "the model was not left alone");
    }
    let kept = ["When do we deploy?", "Well?"].map(|said| ("user".to_owned(), said.to_owned()));
    assert_eq!(turns(&home, "web:main"), kept);
    // Neither does a reply that hangs keep the daemon.
    server.then(Step::Hang);
    let (_, _stream) = daemon.stream("POST", "/api/chat", Some(&json!({"message": "Hello?"})));
    until(|| (server.requests().len() == 3).then_some(()));
    assert_eq!(daemon.stop().code, 0);
}

#[test]
fn people_who_begin_at_once_each_have_their_own_conversation_and_too_many_are_told_to_wait() {
    let server = ModelServer::scripted((0..8).map(|_| Step::Hang));
    let home = with_model(&server);
    let daemon = Daemon::start(&home);
    let mut streams: Vec<_> = std::thread::scope(|scope| {
        let says = || daemon.stream("POST", "/api/chat", Some(&json!({"message": "Hello?"})));
        let saying: Vec<_> = (0..8).map(|_| scope.spawn(says)).collect();
        saying.into_iter().map(|saying| saying.join().unwrap()).collect()
    });
    let sessions: std::collections::BTreeSet<String> = streams
        .iter_mut()
        .map(|(status, stream)| {
            assert_eq!(*status, 200);
            string(&next_event(stream).unwrap().1["session"])
        })
        .collect();
    assert_eq!(sessions.len(), 8, "{sessions:?}");
    let (status, answer) = daemon.ask("POST", "/api/chat", Some(&json!({"message": "And me?"})));
    assert_eq!((status, &answer["error"]["code"]), (429, &json!("busy")));
    until(|| (server.requests().len() == 8).then_some(()));
    drop(streams);
    assert!(server.wait_for_hung_up(8));
    server.then(Step::reply("Hello."));
    let place = || (daemon.stream("POST", "/api/chat", Some(&json!({"message": "And now?"}))).0 == 200).then_some(());
    until(place);
}

#[test]
fn a_model_that_fails_is_said_to_and_one_that_is_missing_is_not_asked() {
    let server = ModelServer::scripted([Step::fail(400, "no such model")]);
    let home = with_model(&server);
    let daemon = Daemon::start(&home);
    let events = say(&daemon, &json!({"message": "hello"}));
    let (name, data) = events.last().unwrap();
    assert_eq!(name, "failed");
    assert!(string(&data["error"]["message"]).contains("no such model"), "{data}");
    for bad in [json!({"message": " "}), json!({}), json!({"message": "x", "extra": 1})] {
        let (status, answer) = daemon.ask("POST", "/api/chat", Some(&bad));
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid")), "{bad}");
    }
    let daemon = Daemon::start(&Home::new());
    let model = daemon.get("/api/chat");
    assert_eq!((&model["available"], &model["provider"]), (&json!(false), &json!("offline")));
    assert!(string(&model["why"]).contains("no chat model"), "{model}");
    let (status, answer) = daemon.ask("POST", "/api/chat", Some(&json!({"message": "hello"})));
    assert_eq!((status, &answer["error"]["code"]), (409, &json!("no_model")));
}
