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

fn credentials(
    token: &str,
    (cookie, key): &(String, String),
    other: &str,
) -> Vec<(Vec<(&'static str, String)>, Asker)> {
    let bearer = |token: &str| ("Authorization", format!("Bearer {token}"));
    let forged = |change: &dyn Fn(&str) -> String| vec![("Cookie", change(cookie)), ("Throughline-Key", key.clone())];
    let with_key = |key: &str| vec![("Cookie", cookie.clone()), ("Throughline-Key", key.to_owned())];
    let seal = cookie.split('.').nth(1).unwrap();
    let almost = format!("{}{}", &token[..63], if token.ends_with('0') { '1' } else { '0' });
    vec![
        (vec![], Asker::Nobody),
        (vec![bearer(token)], Asker::Program),
        (vec![("Authorization", format!("bearer {token}"))], Asker::Program),
        (with_key(key), Asker::Browser),
        (forged(&|cookie| format!("theme=dark; throughline=1.2.3; {cookie}; x=y")), Asker::Browser),
        // What every server on this host can know.
        (vec![("Cookie", cookie.clone())], Asker::Nobody),
        (vec![("Throughline-Key", key.clone())], Asker::Nobody),
        (with_key(""), Asker::Nobody),
        (with_key(seal), Asker::Nobody),
        (with_key(token), Asker::Nobody),
        (with_key(other), Asker::Nobody),
        ([with_key(key), vec![("Throughline-Key", key.clone())]].concat(), Asker::Nobody),
        (vec![bearer(token), ("Cookie", "throughline=1.00".to_owned())], Asker::Program),
        (vec![bearer(&almost)], Asker::Nobody),
        (vec![bearer(&token[..63])], Asker::Nobody),
        (vec![bearer("")], Asker::Nobody),
        (vec![("Authorization", token.to_owned())], Asker::Nobody),
        (vec![("Authorization", format!("Basic {token}"))], Asker::Nobody),
        (vec![bearer(token), bearer(&almost)], Asker::Nobody),
        ([vec![bearer(&almost)], with_key(key)].concat(), Asker::Nobody),
        (forged(&|_| format!("throughline={token}")), Asker::Nobody),
        (forged(&|cookie| cookie.replace("throughline=1", "throughline=2")), Asker::Nobody),
        (forged(&|cookie| cookie.replace("throughline=", "Throughline=")), Asker::Nobody),
        (forged(&|cookie| cookie[..cookie.len() - 2].to_owned()), Asker::Nobody),
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
    let (pass, (_, other)) = (daemon.pass(), daemon.pass());
    let credentials = credentials(&daemon.token, &pass, &other);
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
    let pass = daemon.pass();
    let from = |site: &str, mode: &str, dest: &str| {
        let request = browser(&daemon, &pass, "GET", "/api/memories");
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

/// A request of the panel's own page, as a browser sends it.
fn browser(daemon: &Daemon, (cookie, key): &(String, String), method: &str, target: &str) -> Request {
    let request = Request::new(method, target).with("Host", &daemon.host()).with("Cookie", cookie);
    request.with("Throughline-Key", key).with("Origin", &format!("http://{}", daemon.host()))
}

/// Browsers send a cookie to every port of 127.0.0.1: another server there can use what it sees.
#[test]
fn the_cookie_that_other_ports_see_opens_the_panels_files_alone() {
    let home = Home::new();
    let secret = home.root().join("secret.txt");
    std::fs::write(&secret, "the launch code is 0000").unwrap();
    let daemon = Daemon::start(&home);
    let (cookie, _) = daemon.pass();
    let seen = |method: &str, target: &str| {
        let request = Request::new(method, target).with("Host", &daemon.host()).with("Cookie", &cookie);
        request.with("Origin", &format!("http://{}", daemon.host()))
    };
    assert_eq!(daemon.send(&seen("POST", "/api/vault").json(&json!({ "paths": [secret] }))).status, 401);
    assert_eq!(daemon.send(&seen("POST", "/api/vault/search").json(&json!({ "query": "launch code" }))).status, 401);
    for target in ["/api/memories", "/api/events", "/api/export", "/api/status", "/mcp"] {
        assert_eq!(daemon.send(&seen("GET", target)).status, 401, "{target}");
    }
    for target in ["/", "/assets/js/main.js"] {
        assert_eq!(daemon.send(&seen("GET", target)).status, 200, "{target}");
    }
}

#[test]
fn a_browser_names_no_file_and_no_directory_of_this_machine() {
    let home = Home::new();
    let secret = home.root().join("secret.txt");
    std::fs::write(&secret, "the launch code is 0000").unwrap();
    let daemon = Daemon::start(&home);
    let pass = daemon.pass();
    let refused = |target: &str, body: serde_json::Value, command: &str| {
        let answer = daemon.send(&browser(&daemon, &pass, "POST", target).json(&body));
        assert_eq!(answer.status, 403, "{target}: {}", answer.json());
        let hint = string(&answer.json()["error"]["hint"]);
        assert!(hint.contains(command), "{target}: {hint}");
    };
    refused("/api/vault", json!({ "paths": [secret] }), "throughline vault add");
    refused("/api/vault", json!({ "paths": [] }), "throughline vault add");
    refused("/api/projects", json!({ "name": "x", "dir": home.root() }), "throughline project add");
    refused("/api/projects/x/trust", json!({}), "throughline project");
    refused("/api/links", json!({}), "throughline open");
    let searched = daemon.post("/api/vault/search", &json!({ "query": "launch code" }));
    assert_eq!(searched["hits"], json!([]), "nothing was read");
    // Whoever has the token may.
    assert_eq!(daemon.post("/api/vault", &json!({ "paths": [secret] }))["indexed"], 1);
}

#[test]
fn a_pass_outlives_the_daemon_and_not_its_token() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let pass = daemon.pass();
    let reads = |daemon: &Daemon| daemon.send(&browser(daemon, &pass, "GET", "/api/memories")).status;
    assert_eq!(reads(&daemon), 200);
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(reads(&daemon), 200);
    daemon.kill();
    std::fs::remove_file(home.path("token")).unwrap();
    assert_eq!(reads(&Daemon::start(&home)), 401);
}

#[cfg(unix)]
#[test]
fn a_token_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    Daemon::start(&home).kill();
    let set = |mode| std::fs::set_permissions(home.path("token"), std::fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o640, 0o604, 0o660, 0o666] {
        set(mode);
        home.run(&["serve", "--port", "0"]).failed(2, "can be read by others", "chmod 600");
        assert_eq!(common::mode(&home.path("token")), mode, "nothing is changed unasked");
    }
    let doctor = home.run(&["doctor"]);
    assert!(doctor.stdout.contains("token can be read by others"), "{doctor:?}");
    set(0o400);
    Daemon::start(&home);
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
