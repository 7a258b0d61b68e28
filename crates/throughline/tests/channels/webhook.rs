//! Messages from other programs.

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use throughline_testkit::model_server::{ModelServer, Step};
use throughline_testkit::raw_http::{Connection, Request};

use super::common::daemon::Daemon;
use super::common::{Home, until};
use super::{exchange, last_prompt, turns};

fn machine(model: &ModelServer) -> Home {
    let config = format!(
        "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nconsolidation_provider = \"offline\"\n\n\
         [model]\nprovider = \"openai\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n\n[embeddings]\nprovider = \"none\"\n\n\
         [channels.webhook]\nnames = [\"shop\", \"door\"]\nsecret_env = \"HOOK\"\n",
        model.url()
    );
    let mut home = Home::with_config("config.toml", &config);
    home.set("HOOK", "hush-hush");
    home
}

fn ask(daemon: &Daemon, name: &str, body: &Value) -> (u16, Value) {
    let path = format!("/api/channels/webhook/{name}");
    let response = daemon.send(&daemon.request("POST", &path).json(body));
    (response.status, response.json())
}

fn sign(name: &str, body: &Value) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(b"hush-hush").unwrap();
    mac.update(format!("{name}.{body}").as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[test]
fn a_program_says_something_and_gets_the_reply_once_per_id() {
    let model = ModelServer::scripted([Step::reply("We open at nine."), Step::reply("At nine, as I said.")]);
    let home = machine(&model);
    home.remember(&["The shop opens at nine"]);
    let daemon = Daemon::start(&home);
    let body = json!({"conversation": "42", "message": "When does the shop open?", "id": "m1", "speaker": "Bob"});
    let expected = json!({"session": "shop:42", "reply": "We open at nine.", "tools": []});
    for _ in 0..3 {
        assert_eq!(ask(&daemon, "shop", &body), (200, expected.clone()));
    }
    assert_eq!(model.requests().len(), 1);
    assert!(last_prompt(&model).contains("The shop opens at nine"));
    assert_eq!(turns(&home, "shop:42"), exchange("When does the shop open?", "We open at nine."));
    // Without an id, twice is twice; after /new, an answered message is still known.
    let (status, reply) = ask(&daemon, "shop", &json!({"conversation": "42", "message": "/new"}));
    assert!(status == 200 && reply["reply"].as_str().unwrap().contains("a new conversation"), "{reply}");
    assert_eq!(ask(&daemon, "shop", &body), (200, expected));
    let again = ask(&daemon, "shop", &json!({"conversation": "42", "message": "When?"}));
    assert_eq!(again, (200, json!({"session": "shop:42-2", "reply": "At nine, as I said.", "tools": []})));
    daemon.post("/api/sessions", &json!({"channel": "web", "session": "web:1"}));
    let context = daemon.post("/api/sessions/web:1/context", &json!({"message": "What did Bob ask about the shop?"}));
    assert!(context["message"].as_str().unwrap().contains("When does the shop open?"), "{context}");
}

#[test]
fn a_message_that_is_sent_twice_at_once_is_answered_once() {
    let model = ModelServer::scripted([Step::reply("Once."), Step::reply("never asked for")]);
    let home = machine(&model);
    let daemon = Daemon::start(&home);
    let body = json!({"conversation": "1", "message": "hello", "id": "a"});
    let replies: Vec<Value> = std::thread::scope(|scope| {
        let sending: Vec<_> = (0..4).map(|_| scope.spawn(|| ask(&daemon, "shop", &body).1["reply"].clone())).collect();
        sending.into_iter().map(|sent| sent.join().unwrap()).collect()
    });
    assert_eq!((replies, model.requests().len()), (vec![json!("Once."); 4], 1));
    assert_eq!(turns(&home, "shop:1"), exchange("hello", "Once."));
}

#[test]
fn what_makes_no_sense_is_refused_and_a_failed_reply_is_asked_for_again() {
    let model = ModelServer::scripted([Step::fail(400, "no such model"), Step::reply("Better.")]);
    let home = machine(&model);
    let daemon = Daemon::start(&home);
    let refused = |name: &str, body: Value, status: u16, code: &str| {
        let (given, answer) = ask(&daemon, name, &body);
        assert_eq!((given, answer["error"]["code"].as_str()), (status, Some(code)), "{body}");
    };
    let good = json!({"conversation": "1", "message": "hello", "id": "a"});
    refused("nowhere", good.clone(), 404, "not_found");
    refused("shop", json!({"conversation": "1"}), 400, "invalid");
    refused("shop", json!({"conversation": "", "message": "x"}), 400, "invalid");
    refused("shop", json!({"conversation": "1", "message": " "}), 400, "invalid");
    refused("shop", json!({"conversation": "1", "message": "x", "extra": 1}), 400, "invalid");
    refused("shop", json!({"conversation": "a\u{0}b", "message": "x"}), 400, "invalid");
    assert!(model.requests().is_empty());
    refused("shop", good.clone(), 500, "failed");
    assert_eq!(ask(&daemon, "shop", &good).1["reply"], json!("Better."));
    assert_eq!(turns(&home, "shop:1"), exchange("hello", "Better."));
    // A conversation's name leads to no other channel.
    let model_reply = ask(&daemon, "shop", &json!({"conversation": "telegram:7", "message": "/session"}));
    assert_eq!(model_reply.1["reply"], json!("shop:telegram:7"));
    assert_eq!(daemon.get("/api/channels"), json!({"channels": {}}));
}

#[test]
fn a_signature_takes_the_place_of_the_token_here_and_nowhere_else() {
    let model = ModelServer::always(Step::reply("Come in."));
    let home = machine(&model);
    let daemon = Daemon::start(&home);
    let send = |path: &str, signature: &str, body: &Value| {
        let request =
            Request::new("POST", path).with("Host", &daemon.host()).with("X-Throughline-Signature", signature);
        let response = daemon.send(&request.json(body));
        (response.status, response.json())
    };
    let body = json!({"conversation": "1", "message": "hello", "id": "a"});
    let (door, good) = ("/api/channels/webhook/door", sign("door", &body));
    for _ in 0..2 {
        assert_eq!(send(door, &good, &body).1["reply"], json!("Come in."));
    }
    assert_eq!(model.requests().len(), 1, "sent again by whoever recorded it, it changes nothing");
    let unsigned = json!({"conversation": "1", "message": "hello"});
    assert_eq!(send(door, &sign("door", &unsigned), &unsigned).0, 400, "a signed message needs an id");
    for (path, signature) in [
        (door, "sha256=00"),
        (door, ""),
        ("/api/channels/webhook/shop", good.as_str()),
        ("/api/channels", good.as_str()),
        ("/api/memories", good.as_str()),
        ("/api/channels/webhook/../../memories", good.as_str()),
    ] {
        assert_eq!(send(path, signature, &body).0, 401, "{path} {signature}");
    }
    let named = Request::new("POST", door).with("Host", "evil.example").with("X-Throughline-Signature", &good);
    assert_eq!(daemon.send(&named.json(&body)).status, 403);
    let page = Request::new("POST", door).with("Host", &daemon.host()).with("Origin", "https://evil.example");
    assert_eq!(daemon.send(&page.with("X-Throughline-Signature", &good).json(&body)).status, 403);
}

/// A signature is over the body, so that is read before it is known who sends it.
#[test]
fn unfinished_signed_messages_keep_nobody_else_out() {
    let model = ModelServer::always(Step::reply("Come in."));
    let home = machine(&model);
    let daemon = Daemon::start(&home);
    let head = Request::new("POST", "/api/channels/webhook/door").with("Host", &daemon.host());
    let head = head.with("X-Throughline-Signature", "sha256=00").with("Content-Type", "application/json");
    let head = head.with("Content-Length", "1000");
    let open: Vec<_> = (0..100).map(|_| Connection::open(daemon.port).unwrap().send(&head).unwrap()).collect();
    open.iter().for_each(|stream| stream.set_nonblocking(true).unwrap());
    // Some are told to come again: as many as are waited for are there.
    let is_told = |stream: &std::net::TcpStream| stream.peek(&mut [0; 1]).is_ok_and(|count| count > 0);
    until(|| open.iter().any(is_told).then_some(()));
    daemon.get("/api/status");
    let body = json!({"conversation": "1", "message": "hello", "id": "a"});
    assert_eq!(ask(&daemon, "door", &body).1["reply"], json!("Come in."), "with the token");
    drop(open);
    until(|| {
        let signature = sign("door", &body);
        let signed = Request::new("POST", "/api/channels/webhook/door").with("Host", &daemon.host());
        (daemon.send(&signed.with("X-Throughline-Signature", &signature).json(&body)).status == 200).then_some(())
    });
}
