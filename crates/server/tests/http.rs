//! The daemon in this process, with a host that can be made to wait and to break: what only load and damage show.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "http/host.rs"]
mod host;

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use throughline_server::access::Token;
use throughline_server::{Daemon, Listening};
use throughline_testkit::raw_http::{Connection, Request};

use host::Waiting;

/// A daemon that serves until `stop` is dropped.
struct Served {
    host: Arc<Waiting>,
    port: u16,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    runtime: tokio::runtime::Runtime,
    serving: tokio::task::JoinHandle<()>,
}

impl Served {
    fn begin(directory: &std::path::Path) -> Self {
        Self::begin_with(directory, |daemon| daemon)
    }

    fn begin_with(directory: &std::path::Path, change: impl FnOnce(Daemon) -> Daemon) -> Self {
        let host = Arc::new(Waiting::on(directory));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listening = Listening { address, hosts: Vec::new(), tls: None };
        let daemon = runtime.block_on(Daemon::bind(Arc::clone(&host) as _, &listening, token())).unwrap();
        let daemon = change(daemon);
        let port = daemon.url().rsplit(':').next().unwrap().parse().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let serving = runtime.spawn(async move {
            daemon.serve(async { drop(stopped.await) }).await.unwrap();
        });
        Self { host, port, stop: Some(stop), runtime, serving }
    }

    fn ask(&self, method: &str, path: &str) -> (u16, String) {
        ask(self.port, method, path)
    }
}

fn token() -> Token {
    Token::of([1; 32])
}

fn ask(port: u16, method: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let (token, length) = (token(), if method == "GET" { "" } else { "Content-Length: 0\r\n" });
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {}\r\n", token.as_str());
    stream.write_all(format!("{head}{length}Connection: close\r\n\r\n").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    (text.split(' ').nth(1).unwrap().parse().unwrap(), text)
}

#[test]
fn what_breaks_is_answered_in_the_shape_of_every_problem_and_the_daemon_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::begin(directory.path());
    let (status, text) = served.ask("DELETE", "/api/memories/x?erase=true");
    assert_eq!(status, 500);
    assert!(text.contains("\"code\":\"failed\"") && !text.contains("on purpose"), "{text}");
    assert_eq!(served.ask("GET", "/healthz").0, 200);
    let (status, text) = served.ask("POST", "/api/reflect");
    assert!(status == 429 && text.contains("\"code\":\"busy\"") && text.contains("retry-after: 1"), "{text}");
}

#[test]
fn beyond_sixty_four_at_once_others_are_told_to_come_again_and_a_stop_waits_for_all_that_began() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::begin(directory.path());
    let port = served.port;
    let waiting: Vec<_> = (0..64)
        .map(|n| std::thread::spawn(move || ask(port, "POST", &format!("/api/sessions/web:{n}/compact")).0))
        .collect();
    served.host.wait_for(64);
    let (status, text) = served.ask("GET", "/api/stats");
    assert!(status == 429 && text.contains("\"code\":\"busy\""), "{text}");
    drop(served.stop.take());
    served.host.go_on();
    for one in waiting {
        assert_eq!(one.join().unwrap(), 200);
    }
    let Served { runtime, serving, .. } = served;
    runtime.block_on(serving).unwrap();
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err(), "nobody listens any more");
}

/// An import may take hundreds of megabytes: one is done at a time, a few wait without having sent theirs, and others are told
/// to come again. One that nobody waits for any more is still one.
#[test]
fn imports_are_done_one_at_a_time_and_few_wait() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::begin(directory.path());
    let port = served.port;
    let import = move |n: usize| {
        let notes = serde_json::json!({ "name": "MEMORY.md", "text": format!("- Likes tea number {n}\n") });
        Request::new("POST", "/api/import")
            .with("Host", &format!("127.0.0.1:{port}"))
            .with("Authorization", &format!("Bearer {}", token().as_str()))
            .json(&notes)
    };
    let first = Connection::open(port).unwrap().send(&import(0)).unwrap();
    served.host.wait_for(1);
    // It is still its turn when nobody waits for the answer any more.
    drop(first);
    let (sender, answers) = std::sync::mpsc::channel();
    for n in 1..=4 {
        let sender = sender.clone();
        std::thread::spawn(move || sender.send(Connection::open(port).unwrap().ask(&import(n)).unwrap()));
    }
    let refused = answers.recv().unwrap();
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (429, Some("busy")), "{refused:?}");
    assert_eq!(served.ask("GET", "/api/stats").0, 200, "nothing else is kept out");
    served.host.go_on();
    for _ in 0..3 {
        let answer = answers.recv().unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    assert_eq!(served.host.most_imports.load(Ordering::SeqCst), 1);
}

/// Longer than anything takes that is bound to happen.
const BOUND_TO_HAPPEN: Duration = Duration::from_secs(120);

/// A connection that says nothing.
fn silent(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(BOUND_TO_HAPPEN)).unwrap();
    stream
}

/// Waits until the daemon closes a connection, with or without an answer.
fn closes(mut stream: &TcpStream) -> bool {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

/// Whether a connection is open and nothing came.
fn is_open(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0; 16]);
    stream.set_nonblocking(false).unwrap();
    matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn silent_connections_are_closed_after_a_while() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::begin_with(directory.path(), |daemon| daemon.with_head_patience(Duration::from_millis(300)));
    // Silent from the start; in the middle of what tells HTTP/1 from HTTP/2; in the middle of a head.
    let said = ["", "PRI * HTTP/2", "GET /healthz HTTP/1.1\r\nHost: 1"];
    let streams = said.map(|said| {
        let mut stream = silent(served.port);
        stream.write_all(said.as_bytes()).unwrap();
        stream
    });
    for (stream, said) in streams.iter().zip(said) {
        assert!(closes(stream), "{said:?}");
    }
    assert_eq!(served.ask("GET", "/healthz").0, 200);
}

#[test]
fn connections_are_capped_and_room_comes_back() {
    // So many of one peer.
    const CAP: usize = 256;
    let directory = tempfile::tempdir().unwrap();
    let served = Served::begin_with(directory.path(), |daemon| daemon.with_head_patience(BOUND_TO_HAPPEN * 4));
    let silent_ones: Vec<TcpStream> = (0..CAP + 40).map(|_| silent(served.port)).collect();
    let began = std::time::Instant::now();
    // Which of them are beyond the cap is chance: they are accepted by several threads.
    while silent_ones.iter().filter(|stream| is_open(stream)).count() > CAP {
        assert!(began.elapsed() < BOUND_TO_HAPPEN, "connections beyond the cap are closed");
        std::thread::yield_now();
    }
    assert_eq!(silent_ones.iter().filter(|stream| is_open(stream)).count(), CAP, "those within it are not touched");
    drop(silent_ones);
    let began = std::time::Instant::now();
    loop {
        // What was closed is noticed in a moment.
        let mut stream = silent(served.port);
        let asked = format!("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", served.port);
        let mut answer = String::new();
        let told = stream.write_all(asked.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        if told.is_ok() && answer.starts_with("HTTP/1.1 200") {
            return;
        }
        assert!(began.elapsed() < BOUND_TO_HAPPEN, "there is no room again: {answer}");
    }
}

#[test]
fn http_2_without_tls_is_not_spoken() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::begin(directory.path());
    let mut stream = silent(served.port);
    // The preface, and an empty SETTINGS frame: a server that speaks it answers with a frame of its own.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn streams_are_bounded_in_number_and_room_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::begin(directory.path());
    let request = |target: &str| {
        Request::new("GET", target)
            .with("Host", &format!("127.0.0.1:{}", served.port))
            .with("Authorization", &format!("Bearer {}", token().as_str()))
            .with("Accept", "text/event-stream")
    };
    let listen = || Connection::open(served.port).unwrap().stream(&request("/api/events")).unwrap();
    let listening: Vec<_> = (0..32).map(|_| listen()).collect();
    assert!(listening.iter().all(|(status, _)| *status == 200));
    assert_eq!(listen().0, 429, "one beyond them is told to come again");
    drop(listening);
    let began = std::time::Instant::now();
    while listen().0 != 200 {
        assert!(began.elapsed() < BOUND_TO_HAPPEN, "there is no room again");
    }
}

#[test]
fn mcp_streams_are_bounded_in_number() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::begin(directory.path());
    let request = |method: &str| {
        Request::new(method, "/mcp")
            .with("Host", &format!("127.0.0.1:{}", served.port))
            .with("Authorization", &format!("Bearer {}", token().as_str()))
            .with("Accept", "application/json, text/event-stream")
    };
    let hello = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let sessions: Vec<String> = (0..3)
        .map(|_| {
            let welcome = Connection::open(served.port).unwrap().ask(&request("POST").json(&hello)).unwrap();
            welcome.header("mcp-session-id").unwrap_or_else(|| panic!("{welcome:?}")).to_owned()
        })
        .collect();
    let listen = |session: &String| {
        let request = request("GET").with("Mcp-Session-Id", session);
        Connection::open(served.port).unwrap().stream(&request).unwrap()
    };
    // More of one client replace each other: several clients are needed.
    let listening: Vec<_> = sessions.iter().cycle().take(64).map(listen).collect();
    assert!(listening.iter().all(|(status, _)| *status == 200));
    assert_eq!(listen(&sessions[0]).0, 429);
    drop(listening);
    let began = std::time::Instant::now();
    while listen(&sessions[0]).0 != 200 {
        assert!(began.elapsed() < BOUND_TO_HAPPEN, "there is no room again");
    }
}

#[test]
fn a_request_does_not_wait_for_a_memory_that_is_stuck() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::begin(directory.path());
    let body = serde_json::json!({"model": "m", "messages": [{"role": "user", "content": "Hello?"}]});
    let request = Request::new("POST", "/v1/chat/completions")
        .with("Host", &format!("127.0.0.1:{}", served.port))
        .with("Authorization", &format!("Bearer {}", token().as_str()))
        .json(&body);
    *served.host.is_stuck.lock().unwrap() = true;
    let ask = || Connection::open(served.port).unwrap().ask(&request).unwrap();
    let answer = ask();
    assert_eq!((answer.status, answer.header("x-throughline-memory")), (200, Some("late")));
    assert_eq!(served.host.server.requests().pop().unwrap().bytes, request.body, "it goes on as it came");
    *served.host.is_stuck.lock().unwrap() = false;
    served.host.unstuck.notify_all();
    assert_ne!(ask().header("x-throughline-memory"), Some("late"), "and the next one has its memory again");
}
