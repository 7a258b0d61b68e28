//! The real daemon on a free port, over a home of its own; killed when the test is over.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use throughline_testkit::raw_http::{Connection, Request, Response};

use super::Home;

/// How long a daemon may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(30);

/// A daemon that runs.
pub(crate) struct Daemon {
    process: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Daemon {
    /// Starts it and waits until it listens.
    #[track_caller]
    pub(crate) fn start(home: &Home) -> Self {
        Self::start_with(home, &[])
    }

    #[track_caller]
    pub(crate) fn start_with(home: &Home, more: &[&str]) -> Self {
        let port: &[&str] = if more.contains(&"--port") { &[] } else { &["--port", "0"] };
        let args = [&["serve"], port, more].concat();
        let process = home.throughline(&args).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut daemon = Self { process, port: 0, token: String::new() };
        let started = Instant::now();
        while daemon.port == 0 {
            assert!(started.elapsed() < PATIENCE, "the daemon does not say where it listens");
            std::thread::sleep(Duration::from_millis(10));
            daemon.port = daemon.announced(home).unwrap_or(0);
        }
        daemon.token = home.text("token").trim().to_owned();
        daemon
    }

    /// Where it says that it listens.
    fn announced(&self, home: &Home) -> Option<u16> {
        let said = std::fs::read_to_string(home.path("daemon.json")).ok()?;
        let said: Value = serde_json::from_str(&said).ok()?;
        let is_ours = said["process"].as_u64() == Some(u64::from(self.process.id()));
        said["url"].as_str().filter(|_| is_ours)?.rsplit(':').next()?.parse().ok()
    }

    /// The name by which it is called.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A request with the right `Host` and the token.
    pub(crate) fn request(&self, method: &str, target: &str) -> Request {
        let bearer = format!("Bearer {}", self.token);
        Request::new(method, target).with("Host", &self.host()).with("Authorization", &bearer)
    }

    #[track_caller]
    pub(crate) fn send(&self, request: &Request) -> Response {
        Connection::open(self.port).unwrap().ask(request).unwrap()
    }

    /// What a request with the token is answered, which must be a success.
    #[track_caller]
    pub(crate) fn get(&self, target: &str) -> Value {
        let response = self.send(&self.request("GET", target));
        assert!(response.status < 300, "{target}: {response:?}");
        response.json()
    }

    #[track_caller]
    pub(crate) fn post(&self, target: &str, body: &Value) -> Value {
        let response = self.send(&self.request("POST", target).json(body));
        assert!(response.status < 300, "{target}: {} {}", response.status, response.json());
        response.json()
    }

    /// The cookie that a one-time link gives a browser: `name=value`.
    #[track_caller]
    pub(crate) fn cookie(&self) -> String {
        let url = super::string(&self.post("/api/links", &serde_json::json!({}))["url"]);
        let target = url.split_once(&self.host()).unwrap().1;
        let opened = self.send(&Request::new("GET", target).with("Host", &self.host()));
        let cookie = opened.header("set-cookie").expect("an opened link sets a cookie");
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Asks it to stop, and waits until it has.
    #[cfg(unix)]
    pub(crate) fn stop(mut self) -> std::process::ExitStatus {
        let number = self.process.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
        self.process.wait().unwrap()
    }

    /// `kill -9`
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
