//! What these tests ask of a daemon, beyond what all do.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;
use throughline_testkit::raw_http::{Connection, Request};

pub(crate) use super::common::daemon::Daemon;
use super::common::{Home, Ran, string};

impl Daemon {
    fn with_body(&self, method: &str, path: &str, body: Option<&Value>) -> Request {
        let request = self.request(method, path).with("Connection", "close");
        body.into_iter().fold(request, Request::json)
    }

    /// Sends a request; gives a stream that stands behind the head of the answer, and its status.
    pub(crate) fn stream(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, BufReader<TcpStream>) {
        Connection::open(self.port).unwrap().stream(&self.with_body(method, path, body)).unwrap()
    }

    /// Sends a request; gives the status and the whole answer.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let response = self.send(&self.with_body(method, path, body));
        (response.status, response.json())
    }

    /// Runs a job; gives its outcome and what it did.
    #[track_caller]
    pub(crate) fn run(&self, job: &str) -> (String, String) {
        loop {
            match self.ask("POST", &format!("/api/jobs/{job}/run"), None) {
                (200, run) => return (string(&run["outcome"]), string(&run["what"])),
                // It began by itself.
                (429, _) => std::thread::yield_now(),
                (status, answer) => panic!("{status} {answer}"),
            }
        }
    }

    /// The log of a job, the newest first: outcomes and what was done.
    #[track_caller]
    pub(crate) fn log(&self, job: &str) -> Vec<(String, String)> {
        let jobs = self.get("/api/jobs");
        let found = jobs["jobs"].as_array().unwrap().iter().find(|shown| shown["name"] == job).unwrap();
        let runs = found["log"].as_array().unwrap().iter();
        runs.map(|run| (string(&run["outcome"]), string(&run["what"]))).collect()
    }
}

/// The next event of a stream: its name and its data; nothing at the end.
pub(crate) fn next_event(stream: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let (mut name, mut line) = (String::new(), String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        if let Some(event) = line.strip_prefix("event: ") {
            name = event.trim().to_owned();
        }
        if let Some(data) = line.strip_prefix("data: ") {
            return Some((name, serde_json::from_str(data.trim()).unwrap()));
        }
    }
}

/// A port that somebody else listens on, while the listener lives.
pub(crate) fn taken_port() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    (listener, port)
}

/// Runs a command that is expected to end by itself.
pub(crate) fn run_serve(home: &Home, args: &[&str]) -> Ran {
    let mut command = home.throughline(&[&["serve"], args].concat());
    Ran::of(command.stdin(Stdio::null()).output().unwrap())
}
