//! The daemon in this process, with a host that can be made to wait and to break: what only load and damage show.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use throughline_core::clock_trust::Trust;
use throughline_core::engine::{
    Consolidation, Ended, Engine, ErasedMemory, Health, MemoryStatus, Reflection, VaultListing, VaultRemoved,
};
use throughline_core::model::{EntryId, Name, Project, SessionId};
use throughline_core::ports::{Job, SamplingClient};
use throughline_core::vault::VaultAnswer;
use throughline_providers::{Api, Upstream};
use throughline_server::access::Token;
use throughline_server::{
    ChannelHost, ChannelSettings, ChatEvent, ChatMessage, ChatModel, Chores, Code, Daemon, Host, Incoming, Listening,
    ModelWork, Problem, ProxySettings, Rhythm, Settings, Talks, Upstreams, VaultAdded, VaultFiles, Worked,
};
use throughline_sqlite::{Durability, SqliteStore};
use throughline_testkit::World;
use throughline_testkit::model_server::{ModelServer, Step};
use throughline_testkit::raw_http::{Connection, Request};

/// A host whose consolidations wait for a word, and whose erasing is broken.
struct Waiting {
    world: World,
    /// Where the proxies lead.
    server: ModelServer,
    /// Whether the memory answers nobody for now.
    is_stuck: Mutex<bool>,
    waiting: Mutex<(usize, bool)>,
    changed: Condvar,
    unstuck: Condvar,
}

impl Waiting {
    fn wait_for(&self, count: usize) {
        let waiting = self.waiting.lock().unwrap();
        drop(self.changed.wait_while(waiting, |(waiting, _)| *waiting < count).unwrap());
    }

    fn go_on(&self) {
        self.waiting.lock().unwrap().1 = true;
        self.changed.notify_all();
    }
}

fn not_here<T>() -> Result<T, Problem> {
    Err(Problem::new(Code::NoModel, "not in this test", "none"))
}

impl Chores for Waiting {
    fn uptime(&self) -> Duration {
        Duration::ZERO
    }
    fn rhythm(&self) -> Rhythm {
        Rhythm { backup_every_hours: 0, retains: false }
    }
    fn needed(&self, _: Job) -> Result<Option<Timestamp>, Problem> {
        Ok(None)
    }
    fn work(&self, _: Job, _: Trust, _: &dyn Fn() -> bool) -> Result<Option<Worked>, Problem> {
        Ok(None)
    }
    fn backup(&self) -> Result<String, Problem> {
        not_here()
    }
}

impl Talks for Waiting {
    fn chat_model(&self) -> ChatModel {
        ChatModel { available: false, provider: "none".to_owned(), model: None, why: None }
    }
    fn chat(&self, _: &ChatMessage, _: &mut dyn FnMut(ChatEvent) -> bool) -> Result<(), Problem> {
        not_here()
    }
}

impl ChannelHost for Waiting {
    fn channels(&self) -> ChannelSettings {
        ChannelSettings::default()
    }
    fn hear(&self, _: &Incoming, _: &mut dyn FnMut(ChatEvent) -> bool) -> Result<(), Problem> {
        not_here()
    }
    fn channel_marks(&self, _: &str) -> Result<Option<String>, Problem> {
        Ok(None)
    }
    fn keep_channel_marks(&self, _: &str, _: &str) -> Result<(), Problem> {
        Ok(())
    }
}

impl Upstreams for Waiting {
    fn upstream(&self, api: Api) -> Result<Upstream, Problem> {
        Upstream::new(api, Some(&self.server.url()), None).or_else(|_| not_here())
    }
    fn proxy_settings(&self) -> ProxySettings {
        ProxySettings { deadline: Duration::from_millis(250), compacts: false }
    }
}

impl Host for Waiting {
    fn engine(&self) -> &Engine {
        drop(self.unstuck.wait_while(self.is_stuck.lock().unwrap(), |is_stuck| *is_stuck).unwrap());
        &self.world.engine
    }
    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }
    fn secret(&self) -> Result<[u8; 32], Problem> {
        Ok([7; 32])
    }
    fn status(&self) -> Result<MemoryStatus, Problem> {
        not_here()
    }
    fn settings(&self) -> Settings {
        Settings { path: None, settings: Vec::new() }
    }
    fn health(&self) -> Health {
        Health::default()
    }
    fn copies(&self) -> Result<Vec<String>, Problem> {
        Ok(Vec::new())
    }
    fn erase(&self, _: &str, _: bool) -> Result<ErasedMemory, Problem> {
        panic!("broken on purpose")
    }
    fn add_project(&self, _: &str, _: Option<&str>) -> Result<Project, Problem> {
        not_here()
    }
}

impl ModelWork for Waiting {
    fn compact(&self, _: &SessionId, _: Option<&str>) -> Result<Consolidation, Problem> {
        let mut waiting = self.waiting.lock().unwrap();
        waiting.0 += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(waiting, |(_, may_go_on)| !*may_go_on).unwrap());
        Ok(Consolidation::Nothing)
    }

    fn end(&self, _: &SessionId) -> Result<Ended, Problem> {
        not_here()
    }

    fn reflect(&self, _: Option<&str>, _: bool) -> Result<Option<Reflection>, Problem> {
        Ok(None)
    }

    fn reflect_for(&self, _: &str, _: bool) -> Result<Option<Reflection>, Problem> {
        Ok(None)
    }

    fn summarise(&self, _: &SessionId, _: Option<&str>) -> Result<Option<EntryId>, Problem> {
        not_here()
    }

    fn offer_sampling(&self, _: Arc<dyn SamplingClient>) {}
}

impl VaultFiles for Waiting {
    fn vault_add(&self, _: &[String], _: Option<Name>) -> Result<VaultAdded, Problem> {
        not_here()
    }

    fn vault_documents(&self) -> Result<VaultListing, Problem> {
        not_here()
    }

    fn vault_search(&self, _: &str, _: usize) -> Result<VaultAnswer, Problem> {
        not_here()
    }

    fn vault_remove(&self, _: &[String]) -> Result<VaultRemoved, Problem> {
        not_here()
    }
}

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
        let store = SqliteStore::open(&directory.join("memory.db"), &directory.join("backups"), Durability::Full);
        let world = World::around(Arc::new(store.unwrap()));
        let server = ModelServer::always(Step::reply("Hello."));
        let (waiting, is_stuck, changed) = (Mutex::default(), Mutex::default(), Condvar::new());
        let host = Arc::new(Waiting { world, server, is_stuck, waiting, changed, unstuck: Condvar::new() });
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listening = Listening { address, hosts: Vec::new(), tls: None };
        let daemon = runtime.block_on(Daemon::bind(Arc::clone(&host) as _, &listening, token())).unwrap();
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
