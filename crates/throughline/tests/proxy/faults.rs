//! Whatever goes wrong at the server reaches the client as it is: the same status, the same headers, the same bytes, and the same
//! end.

use std::io::Read as _;

use throughline_testkit::model_server::{ModelServer, Step, scripted};
use throughline_testkit::raw_http::{Connection, Request};

use crate::place::{Place, Wire};

/// What a client sees.
#[derive(Debug, PartialEq)]
struct Seen {
    status: u16,
    content_type: Option<String>,
    retry_after: Option<String>,
    request_id: Option<String>,
    body: Vec<u8>,
    is_whole: bool,
}

/// The modes of failing, by name.
fn faults() -> Vec<(&'static str, Step)> {
    let failing = |status| Step::fail(status, "no luck");
    let with = |status: u16, body: &str, headers: &[(&str, &str)]| Step::Fail {
        status,
        body: body.to_owned(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    let pieces = || vec!["half ".to_owned(), "a re".to_owned()];
    let call = || scripted(&[("find", r#"{"what": "kestrel"}"#)]);
    vec![
        ("bad request", failing(400)),
        ("wrong key", failing(401)),
        ("no permission", failing(403)),
        ("no such model", failing(404)),
        ("wrong method", failing(405)),
        ("conflict", failing(409)),
        ("too large", failing(413)),
        ("unprocessable", failing(422)),
        ("too many requests", Step::busy("7")),
        ("too many requests, with an id", with(429, "{}", &[("x-request-id", "req_1"), ("Retry-After", "1")])),
        ("server error", failing(500)),
        ("bad gateway", with(502, "<html>bad gateway</html>", &[])),
        ("unavailable", failing(503)),
        ("gateway timeout", failing(504)),
        ("overloaded", failing(529)),
        ("redirect", with(307, "", &[("Location", "https://elsewhere.example/")])),
        ("a login page", Step::Html),
        ("no JSON", Step::Malformed(b"data: {\"choices\": [\n\n{{{".to_vec())),
        ("bytes that are no text", Step::Malformed(vec![0, 159, 146, 150])),
        ("nothing", Step::Malformed(Vec::new())),
        ("an empty reply", Step::Empty),
        ("cut off", Step::CutOff("as long as".to_owned())),
        ("refused", Step::Refusal),
        ("wrong type", Step::WrongContentType("hello".to_owned())),
        ("an error within the stream", Step::ErrorInStream(pieces())),
        ("reset within the reply", Step::ResetAfter(pieces())),
        ("reset within a call", Step::ResetInCall(call())),
        ("cut off within a call", Step::CutOffInCall(call())),
        ("five megabytes", Step::Huge(5 << 20)),
    ]
}

fn seen(port: u16, request: &Request) -> Seen {
    let (head, mut stream) = Connection::open(port).unwrap().stream_with_head(request).unwrap();
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw).unwrap_or_default();
    let (body, is_whole) = match head.header("transfer-encoding") {
        Some(_) => unchunked(&raw),
        None => {
            let length: usize = head.header("content-length").map_or(raw.len(), |length| length.parse().unwrap());
            let is_whole = raw.len() == length;
            (raw, is_whole)
        }
    };
    let header = |name: &str| head.header(name).map(str::to_owned);
    // An id of ours where the server gives none.
    let request_id = header("x-request-id").filter(|id| id.starts_with("req_"));
    let (content_type, retry_after) = (header("content-type"), header("retry-after"));
    Seen { status: head.status, content_type, retry_after, request_id, body, is_whole }
}

/// The body, and whether its end was said.
fn unchunked(mut raw: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = raw.windows(2).position(|two| two == b"\r\n") else { return (body, false) };
        let size = usize::from_str_radix(std::str::from_utf8(&raw[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.extend_from_slice(&raw[end + 2..end + 2 + size]);
        raw = &raw[end + 2 + size + 2..];
    }
}

#[test]
fn faults_of_the_server_reach_the_client_as_they_are() {
    let place = Place::with(ModelServer::scripted([]), "", |home| {
        home.remember(&["--layer", "identity", "The person is called Ada"]);
    });
    let port_there = place.server.url().rsplit(':').next().unwrap().parse().unwrap();
    for wire in [Wire::Chat, Wire::Responses, Wire::Messages] {
        for stream in [true, false] {
            for (name, step) in faults() {
                // A reply that comes whole cannot break in the middle of a stream.
                let body = wire.body(&[name], stream);
                let straight =
                    Request::new("POST", wire.path()).with("Host", "server").with("Connection", "close").json(&body);
                let proxied = place.request(wire, &body).with("Connection", "close");
                place.server.then(step.clone());
                let expected = seen(port_there, &straight);
                place.server.then(step);
                let got = seen(place.daemon.port, &proxied);
                // The scripted server numbers the calls of its replies.
                let same_ids = |seen: Seen| Seen { body: without_digits(&seen.body), ..seen };
                assert_eq!(same_ids(got), same_ids(expected), "{name} on {wire:?}, streamed: {stream}");
            }
        }
    }
}

fn without_digits(body: &[u8]) -> Vec<u8> {
    body.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect()
}

#[test]
fn a_server_that_hangs_up_or_is_gone_is_a_bad_gateway_in_the_clients_format() {
    let place = Place::new([Step::Drop, Step::Drop, Step::Drop, Step::Drop]);
    for wire in [Wire::Chat, Wire::Messages] {
        let answer = place.ask(wire, &wire.body(&["Hello?"], true));
        assert_eq!(answer.status, 502);
        assert!(answer.json()["error"]["message"].as_str().unwrap().contains("cannot reach"), "{:?}", answer.json());
    }
    let Place { server, daemon, home } = place;
    drop(server);
    let request = daemon.request("POST", Wire::Chat.path()).json(&Wire::Chat.body(&["Hello?"], true));
    assert_eq!(daemon.send(&request).status, 502);
    drop(home);
}
