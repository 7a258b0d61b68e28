//! Who is let in: every combination of name, origin, method, content and credential, judged by rules that are written down
//! here once more, independently.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod common;

use std::collections::BTreeSet;

use common::daemon::Daemon;
use common::{Home, string};
use serde_json::json;
use throughline_testkit::raw_http::{Connection, Request};

/// What the gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Accepted,
    Unknown,
    Forbidden,
    NotJson,
}

impl Verdict {
    fn of(status: u16) -> Self {
        match status {
            401 => Self::Unknown,
            403 => Self::Forbidden,
            415 => Self::NotJson,
            _ => Self::Accepted,
        }
    }
}

/// A value to send, and whether it is right.
type Choice = (Vec<String>, bool);

fn right(value: impl Into<String>) -> Choice {
    (vec![value.into()], true)
}

fn wrong(value: impl Into<String>) -> Choice {
    (vec![value.into()], false)
}

fn hosts(port: u16) -> Vec<Choice> {
    let other = if port == 80 { 81 } else { 80 };
    vec![
        right(format!("127.0.0.1:{port}")),
        right(format!("localhost:{port}")),
        right(format!("LocalHost:{port}")),
        right(format!("[::1]:{port}")),
        wrong("127.0.0.1"),
        wrong("localhost"),
        wrong(format!("127.0.0.1:{other}")),
        wrong(format!("127.0.0.2:{port}")),
        wrong(format!("0.0.0.0:{port}")),
        wrong(format!("memory.example:{port}")),
        wrong(format!("localhost.memory.example:{port}")),
        wrong(format!("localhost:{port}.memory.example")),
        wrong(format!("user@localhost:{port}")),
        wrong(""),
        (vec![], false),
        (vec![format!("127.0.0.1:{port}"), "memory.example".to_owned()], false),
    ]
}

fn origins(port: u16) -> Vec<Choice> {
    vec![
        (vec![], true),
        right(format!("http://127.0.0.1:{port}")),
        right(format!("http://localhost:{port}")),
        wrong("null"),
        wrong("http://memory.example"),
        wrong(format!("https://127.0.0.1:{port}")),
        wrong("http://127.0.0.1"),
        wrong(format!("http://127.0.0.1:{port}/")),
        wrong(format!("http://127.0.0.1:{port}.memory.example")),
        wrong(format!("http://memory.example:{port}")),
        wrong(""),
        (vec![format!("http://127.0.0.1:{port}"), "http://memory.example".to_owned()], false),
    ]
}

/// Who asks. A token is judged alone: with a wrong one, a good cookie does not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asker {
    Nobody,
    Program,
    Browser,
}

fn credentials(token: &str, cookie: &str) -> Vec<(Vec<(&'static str, String)>, Asker)> {
    let bearer = |token: &str| ("Authorization", format!("Bearer {token}"));
    let forged = |change: &dyn Fn(&str) -> String| ("Cookie", change(cookie));
    let almost = format!("{}{}", &token[..63], if token.ends_with('0') { '1' } else { '0' });
    vec![
        (vec![], Asker::Nobody),
        (vec![bearer(token)], Asker::Program),
        (vec![("Authorization", format!("bearer {token}"))], Asker::Program),
        (vec![("Cookie", cookie.to_owned())], Asker::Browser),
        (vec![("Cookie", format!("theme=dark; {cookie}; x=y"))], Asker::Browser),
        (vec![bearer(token), ("Cookie", "throughline=1.00".to_owned())], Asker::Program),
        (vec![bearer(&almost)], Asker::Nobody),
        (vec![bearer(&token[..63])], Asker::Nobody),
        (vec![bearer("")], Asker::Nobody),
        (vec![("Authorization", token.to_owned())], Asker::Nobody),
        (vec![("Authorization", format!("Basic {token}"))], Asker::Nobody),
        (vec![bearer(token), bearer(&almost)], Asker::Nobody),
        (vec![bearer(&almost), ("Cookie", cookie.to_owned())], Asker::Nobody),
        (vec![("Cookie", format!("throughline={token}"))], Asker::Nobody),
        (vec![forged(&|cookie| cookie.replace("throughline=1", "throughline=2"))], Asker::Nobody),
        (vec![forged(&|cookie| cookie.replace("throughline=", "Throughline="))], Asker::Nobody),
        (vec![forged(&|cookie| cookie[..cookie.len() - 2].to_owned())], Asker::Nobody),
    ]
}

/// How a write comes, and whether that is as JSON.
type Content = (Option<&'static str>, bool);

const CONTENTS: [Content; 6] = [
    (Some("application/json"), true),
    (Some("Application/JSON; charset=utf-8"), true),
    (Some("text/plain"), false),
    (Some("application/x-www-form-urlencoded"), false),
    (Some("multipart/form-data; boundary=x"), false),
    (None, false),
];

/// The rules, in the order in which they are told to a person.
fn rule(host: bool, origin: &Choice, asker: Asker, is_write: bool, is_json: bool) -> Verdict {
    if !host || !origin.1 {
        return Verdict::Forbidden;
    }
    match asker {
        Asker::Nobody => Verdict::Unknown,
        Asker::Browser if is_write && origin.0.is_empty() => Verdict::Forbidden,
        _ if is_write && !is_json => Verdict::NotJson,
        _ => Verdict::Accepted,
    }
}

#[test]
fn every_combination_is_judged_as_the_rules_say() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let (hosts, origins) = (hosts(daemon.port), origins(daemon.port));
    let cookie = daemon.cookie();
    let credentials = credentials(&daemon.token, &cookie);
    let (mut cells, mut seen, mut kept) = (0, BTreeSet::new(), BTreeSet::new());
    let mut connection = Connection::open(daemon.port).unwrap();
    for (names, host) in &hosts {
        for origin in &origins {
            for (shown, asker) in &credentials {
                for (method, target, content) in requests() {
                    let mut request = Request::new(method, target);
                    let headers = names.iter().map(|name| ("Host", name));
                    let headers = headers.chain(origin.0.iter().map(|origin| ("Origin", origin)));
                    for (name, value) in headers.chain(shown.iter().map(|(name, value)| (*name, value))) {
                        request = request.with(name, value);
                    }
                    let is_write = method == "POST";
                    if is_write {
                        request.body = json!({ "content": format!("cell {cells} was here") }).to_string().into_bytes();
                    }
                    if let Some(kind) = content.0 {
                        request = request.with("Content-Type", kind);
                    }
                    let expected = rule(*host, origin, *asker, is_write, content.1);
                    // A request without a name, or with two, may end the connection: HTTP itself forbids it.
                    let answer = connection.ask(&request).or_else(|_| {
                        connection = Connection::open(daemon.port)?;
                        connection.ask(&request)
                    });
                    let status = answer.map_or(403, |answer| answer.status);
                    // HTTP's own answer to a malformed `Host`.
                    let status = if status == 400 && !host { 403 } else { status };
                    if status == 403 && names.len() != 1 {
                        connection = Connection::open(daemon.port).unwrap();
                    }
                    assert_eq!(Verdict::of(status), expected, "{request:?} was answered with {status}");
                    if is_write && expected == Verdict::Accepted {
                        assert_eq!(status, 201, "{request:?}");
                        kept.insert(format!("cell {cells} was here"));
                    }
                    seen.insert(expected);
                    cells += 1;
                }
            }
        }
    }
    assert!(cells >= 300, "{cells}");
    assert_eq!(seen.len(), 4, "every verdict was met");
    // What was refused changed nothing.
    let stored = home.json(&["list", "--limit", "1000"]);
    let stored: BTreeSet<String> =
        stored["memories"].as_array().unwrap().iter().map(|m| string(&m["content"])).collect();
    assert_eq!(stored, kept);
}

/// A read and writes in every form.
fn requests() -> Vec<(&'static str, &'static str, Content)> {
    let writes = CONTENTS.map(|content| ("POST", "/api/memories", content));
    [vec![("GET", "/api/memories?limit=1", (None, true))], writes.to_vec()].concat()
}

#[test]
fn no_route_but_health_and_the_link_is_open() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let bare = |target: &str| daemon.send(&Request::new("GET", target).with("Host", &daemon.host()));
    assert_eq!(bare("/healthz").status, 200);
    let wrong_link = bare("/open?code=abc");
    assert_eq!((wrong_link.status, wrong_link.header("set-cookie")), (403, None));
    for target in [
        "/",
        "/assets/js/main.js",
        "/assets/nothing",
        "/api/openapi.json",
        "/api/nothing",
        "/mcp",
        "/x",
        "//healthz",
        "/healthz/",
    ] {
        assert_eq!(bare(target).status, 401, "{target}");
    }
    let document = daemon.get("/api/openapi.json");
    for path in document["paths"].as_object().unwrap().keys().filter(|path| *path != "/healthz" && *path != "/open") {
        assert_eq!(bare(&path.replace(['{', '}'], "")).status, 401, "{path}");
    }
}

#[test]
fn a_link_opens_the_panel_once_and_its_cookie_is_for_this_browser_alone() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let url = string(&daemon.post("/api/links", &json!({}))["url"]);
    let target = url.split_once(&daemon.host()).unwrap().1;
    let open = || daemon.send(&Request::new("GET", target).with("Host", &daemon.host()));
    let opened = open();
    let cookie = opened.header("set-cookie").unwrap();
    for word in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    assert_eq!(open().status, 403);
    let pass = cookie.split(';').next().unwrap();
    let page = daemon.send(&Request::new("GET", "/").with("Host", &daemon.host()).with("Cookie", pass));
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").unwrap();
    for word in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"] {
        assert!(policy.contains(word), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    // No page elsewhere is told anything.
    let origin = format!("http://127.0.0.1:{}", daemon.port);
    let shared = daemon.send(&daemon.request("OPTIONS", "/api/memories").with("Origin", &origin));
    assert!(shared.headers.iter().all(|(name, _)| !name.starts_with("access-control")), "{shared:?}");
}

#[test]
fn a_browser_says_where_a_request_comes_from() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let cookie = daemon.cookie();
    let from = |site: &str, mode: &str, dest: &str| {
        let request = Request::new("GET", "/api/memories").with("Host", &daemon.host()).with("Cookie", &cookie);
        let request = request.with("Sec-Fetch-Site", site).with("Sec-Fetch-Mode", mode).with("Sec-Fetch-Dest", dest);
        daemon.send(&request).status
    };
    assert_eq!(from("same-origin", "cors", "empty"), 200);
    assert_eq!(from("none", "navigate", "document"), 200);
    for (site, mode, dest) in
        [("cross-site", "no-cors", "image"), ("same-site", "no-cors", "script"), ("cross-site", "navigate", "iframe")]
    {
        assert_eq!(from(site, mode, dest), 403, "{site} {mode} {dest}");
    }
}

#[test]
fn the_token_is_long_random_and_its_owners_alone() {
    let (one, other) = (Home::new(), Home::new());
    let (first, second) = (Daemon::start(&one), Daemon::start(&other));
    assert_eq!(first.token.len(), 64);
    assert_ne!(first.token, second.token);
    #[cfg(unix)]
    for file in ["token", "daemon.json"] {
        assert_eq!(common::mode(&one.path(file)), 0o600, "{file}");
    }
    // The same token after a restart: scripts go on.
    let token = first.token.clone();
    first.kill();
    assert_eq!(Daemon::start(&one).token, token);
}
