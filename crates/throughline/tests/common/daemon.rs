//! The real daemon on a free port, over a home of its own; killed when the test is over.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use throughline_testkit::raw_http::{Connection, Request, Response};

use super::{Home, Ran};

/// A daemon that runs.
pub(crate) struct Daemon {
    process: Child,
    /// What it said once it listened.
    pub(crate) ready: Value,
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
        let args = [&["--json", "serve"], port, more].concat();
        let mut command = home.throughline(&args);
        command.stderr(Stdio::inherit());
        Self::of(command, home)
    }

    /// The same by a command of the test's own.
    #[track_caller]
    pub(crate) fn of(mut command: Command, home: &Home) -> Self {
        let mut process = command.spawn().unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        process.stdout = Some(out.into_inner());
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("no daemon: {error}: {line}"));
        let port = ready["url"].as_str().unwrap().rsplit(':').next().unwrap().parse().unwrap();
        Self { process, ready, port, token: home.text("token").trim().to_owned() }
    }

    /// Its number among the processes.
    pub(crate) fn process(&self) -> u32 {
        self.process.id()
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
        self.pass().0
    }

    /// What a one-time link gives a browser: the cookie as `name=value`, and the key that the page keeps.
    #[track_caller]
    pub(crate) fn pass(&self) -> (String, String) {
        let url = super::string(&self.post("/api/links", &serde_json::json!({}))["url"]);
        let target = url.split_once(&self.host()).unwrap().1;
        let opened = self.send(&Request::new("GET", target).with("Host", &self.host()));
        let cookie = opened.header("set-cookie").expect("an opened link sets a cookie");
        let page = String::from_utf8(opened.body.clone()).unwrap();
        let key = page.split_once("name=\"throughline-key\" content=\"").expect("an opened link brings a key").1;
        (cookie.split(';').next().unwrap().to_owned(), key.split('"').next().unwrap().to_owned())
    }

    /// Asks it to stop, as the system would; gives how it ended, and what else it said.
    #[cfg(unix)]
    pub(crate) fn stop(mut self) -> Ran {
        let number = self.process.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
        let mut stdout = Vec::new();
        self.process.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        Ran::of(Output { status: self.process.wait().unwrap(), stdout, stderr: Vec::new() })
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
