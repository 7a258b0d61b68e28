//! A daemon of the real binary, and as much of an HTTP client as asking it takes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::common::{Home, Ran, string};

/// Longer than anything takes that is bound to happen.
const BOUND_TO_HAPPEN: Duration = Duration::from_secs(60);

/// A daemon that runs until it is dropped.
pub(crate) struct Daemon {
    child: Option<Child>,
    pub(crate) ready: Value,
    host: String,
    token: String,
}

impl Daemon {
    /// Starts one on a free port and waits until it listens.
    pub(crate) fn start(home: &Home) -> Self {
        Self::start_with(home, &[])
    }

    pub(crate) fn start_with(home: &Home, more: &[&str]) -> Self {
        let mut child = home.throughline(&[&["--json", "serve", "--port", "0"], more].concat()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        child.stdout = Some(out.into_inner());
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            let output = child.wait_with_output().unwrap();
            panic!("no daemon: {line}{}", String::from_utf8_lossy(&output.stderr));
        };
        let host = string(&ready["url"]).split_once("://").unwrap().1.to_owned();
        let token = home.text("token").trim().to_owned();
        Self { child: Some(child), ready, host, token }
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn port(&self) -> &str {
        self.host.rsplit_once(':').unwrap().1
    }

    /// Asks it to stop, as the system would; gives how it ended.
    pub(crate) fn stop(mut self) -> Ran {
        let child = self.child.take().unwrap();
        let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Sends a request; gives a stream that stands behind the head of the answer, and its status.
    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, BufReader<TcpStream>) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(BOUND_TO_HAPPEN)).unwrap();
        let body = body.map(Value::to_string).unwrap_or_default();
        let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n{kind}\
             Content-Length: {}\r\n\r\n",
            self.host,
            self.token,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        while line != "\r\n" {
            line.clear();
            assert!(reader.read_line(&mut line).unwrap() > 0, "the answer has no end of its head");
        }
        (status, reader)
    }

    /// Sends a request; gives the status and the whole answer.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let (status, mut reader) = self.send(method, path, body);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        (status, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, None);
        assert_eq!(status, 200, "{answer}");
        answer
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

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
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

/// Waits for something that is bound to happen.
#[track_caller]
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let pause = Duration::from_millis(20);
    let looks = BOUND_TO_HAPPEN.as_millis() / pause.as_millis();
    for _ in 0..looks {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(pause);
    }
    panic!("waited in vain");
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
