//! Who may use a proxy, and what the server learns of it.

use serde_json::json;
use throughline_testkit::model_server::{ModelServer, Request as Sent, Step};
use throughline_testkit::raw_http::Request;

use crate::place::{ANTHROPIC_KEY, OPENAI_KEY, Place, Wire};

fn place() -> Place {
    Place::with(ModelServer::always(Step::reply("Hello.")), "", |_| {})
}

/// A request without any credential.
fn bare(place: &Place, target: &str, wire: Wire) -> Request {
    Request::new("POST", target).with("Host", &place.daemon.host()).json(&wire.body(&["Hello?"], false))
}

#[test]
fn the_token_is_taken_from_the_path_the_bearer_or_the_key() {
    let place = place();
    let token = place.daemon.token.clone();
    let bearer = format!("Bearer {token}");
    let in_path = |path: &str| format!("/t/{token}{path}");
    let (chat, messages) = (Wire::Chat, Wire::Messages);
    let cases = [
        (bare(&place, chat.path(), chat).with("Authorization", &bearer), format!("Bearer {OPENAI_KEY}")),
        (bare(&place, &in_path(chat.path()), chat), format!("Bearer {OPENAI_KEY}")),
        (
            bare(&place, &in_path(chat.path()), chat).with("Authorization", "Bearer sk-client"),
            "Bearer sk-client".into(),
        ),
        (bare(&place, messages.path(), messages).with("x-api-key", &token), ANTHROPIC_KEY.into()),
        (bare(&place, messages.path(), messages).with("Authorization", &bearer), ANTHROPIC_KEY.into()),
        (
            bare(&place, messages.path(), messages).with("Authorization", &bearer).with("x-api-key", "sk-client"),
            "sk-client".into(),
        ),
        (
            bare(&place, &in_path("/v1/messages?beta=true"), messages).with("Authorization", "Bearer oauth"),
            "Bearer oauth".into(),
        ),
    ];
    for (request, key) in cases {
        let target = request.target.replace(&token, "TOKEN");
        assert_eq!(place.daemon.send(&request).status, 200, "{target}");
        let sent = place.server.requests().pop().unwrap();
        let shown = sent.header("x-api-key").or(sent.header("authorization")).unwrap_or_default();
        assert_eq!(shown, key, "{target}");
        assert!(!holds(&sent, &token), "the token stays here: {target}");
    }
    assert!(place.server.requests().last().unwrap().path.ends_with("?beta=true"), "a query goes on");
}

/// Whether something of ours stands anywhere in what the server got.
fn holds(sent: &Sent, secret: &str) -> bool {
    let headers = sent.headers.iter().any(|(_, value)| value.contains(secret));
    headers || sent.path.contains(secret) || String::from_utf8_lossy(&sent.bytes).contains(secret)
}

#[test]
fn strangers_and_pages_are_refused() {
    let place = place();
    let (token, cookie) = (place.daemon.token.clone(), place.daemon.cookie());
    let wrong = "0".repeat(64);
    let with_bearer = |request: Request| request.with("Authorization", &format!("Bearer {token}"));
    let target = Wire::Chat.path();
    let origin = format!("http://{}", place.daemon.host());
    let cases = [
        (bare(&place, target, Wire::Chat), 401),
        (bare(&place, target, Wire::Chat).with("Authorization", "Bearer sk-client"), 401),
        (bare(&place, target, Wire::Chat).with("x-api-key", &wrong), 401),
        (bare(&place, &format!("/t/{wrong}{target}"), Wire::Chat), 401),
        // A wrong token in the path is not mended by a right one elsewhere.
        (with_bearer(bare(&place, &format!("/t/{wrong}{target}"), Wire::Chat)), 401),
        (bare(&place, target, Wire::Chat).with("Cookie", &cookie).with("Origin", &origin), 401),
        (with_bearer(bare(&place, target, Wire::Chat)).with("Origin", "https://elsewhere.example"), 403),
        (with_bearer(bare(&place, target, Wire::Chat)).with("Sec-Fetch-Site", "cross-site"), 403),
        (with_bearer(Request::new("POST", target).with("Host", "elsewhere.example").json(&json!({}))), 403),
        // A token in the path opens the proxies and nothing else.
        (Request::new("GET", &format!("/t/{token}/api/memories")).with("Host", &place.daemon.host()), 401),
        (
            with_bearer(
                Request::new("POST", target).with("Host", &place.daemon.host()).with("Content-Type", "text/plain"),
            ),
            415,
        ),
    ];
    for (request, status) in cases {
        let answer = place.daemon.send(&request);
        assert_eq!(answer.status, status, "{}", request.target.replace(&token, "TOKEN"));
        assert!(answer.json()["error"]["message"].is_string(), "SDKs show what is wrong");
    }
    assert!(place.server.requests().is_empty(), "none of it reached the server");
}

#[test]
fn what_is_between_client_and_daemon_stays_there() {
    let place = place();
    let request = place
        .request(Wire::Messages, &Wire::Messages.body(&["Hello?"], false))
        .with("Cookie", &place.daemon.cookie())
        .with("Origin", &format!("http://{}", place.daemon.host()))
        .with("X-Throughline-Session", "work")
        .with("Connection", "keep-alive, X-Hop")
        .with("X-Hop", "1")
        .with("anthropic-version", "2023-06-01")
        .with("anthropic-beta", "tools-2030")
        .with("x-stainless-lang", "python")
        .with("User-Agent", "Anthropic/Python 2.9.0");
    assert_eq!(place.daemon.send(&request).header("x-throughline-session"), Some("proxy:work"));
    let sent = place.server.requests().pop().unwrap();
    let mut names: Vec<&str> = sent.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let expected = [
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-length",
        "content-type",
        "host",
        "user-agent",
        "x-api-key",
        "x-stainless-lang",
    ];
    assert_eq!(names, expected);
    assert_eq!(sent.header("host"), place.server.url().strip_prefix("http://"), "the server's own name");
    assert_eq!(sent.header("user-agent"), Some("Anthropic/Python 2.9.0"));
}

#[test]
fn a_mistake_in_our_own_headers_is_said() {
    let place = place();
    let body = Wire::Chat.body(&["Hello?"], false);
    for (name, value) in [("x-throughline-memory", "none"), ("x-throughline-session", ":")] {
        let answer = place.daemon.send(&place.request(Wire::Chat, &body).with(name, value));
        assert_eq!(answer.status, 400, "{name}");
    }
    assert!(place.server.requests().is_empty());
}

#[test]
fn keys_and_tokens_are_not_logged() {
    let mut place = place();
    place.home.set("THROUGHLINE_LOG", "trace");
    let mut command = place.home.throughline(&["--json", "serve", "--port", "0"]);
    let log = place.home.root().join("log");
    command.stderr(std::fs::File::create(&log).unwrap());
    place.daemon.kill();
    let daemon = crate::common::daemon::Daemon::of(command, &place.home);
    let token = daemon.token.clone();
    let body = Wire::Chat.body(&["Hello?"], false);
    let path = format!("/t/{token}/v1/chat/completions");
    let own =
        Request::new("POST", &path).with("Host", &daemon.host()).with("Authorization", "Bearer sk-client").json(&body);
    assert_eq!(daemon.send(&own).status, 200);
    assert_eq!(daemon.send(&daemon.request("POST", "/v1/chat/completions").json(&body)).status, 200);
    // A server that is gone is logged, too.
    drop(place.server);
    assert_eq!(daemon.send(&own).status, 502);
    daemon.kill();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("gives no answer"), "{log}");
    for secret in [token.as_str(), OPENAI_KEY, "sk-client"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
