//! A client that knows no more of the protocol than that a message is a line of JSON.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything takes on the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Peer {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    next: u64,
}

impl Peer {
    /// Starts a server. Every line on its standard output must be a message of the protocol.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines() {
                let _ = sender.send(line.expect("the protocol is UTF-8"));
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let input = child.stdin.take();
        Self { child, input, lines, errors: Some(errors), next: 0 }
    }

    /// Starts one and shakes hands.
    pub(crate) fn greeted(command: Command) -> Self {
        let mut peer = Self::start(command);
        let answer = peer.initialize("2025-06-18");
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        peer
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let client = json!({ "name": "Peer", "version": "1" });
        let answer =
            self.ask("initialize", json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client }));
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.say_bytes(format!("{message}\n").as_bytes());
    }

    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Asks, and gives the answer to it.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.message();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// What a tool answers.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// The next message, which is nothing else.
    #[track_caller]
    pub(crate) fn message(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
        message(&line)
    }

    /// Hangs up.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Waits for the end; gives how it ended, what else was said, and what was on standard error.
    #[track_caller]
    pub(crate) fn end(mut self) -> (ExitStatus, Vec<Value>, String) {
        self.hang_up();
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        };
        let rest = self.lines.iter().map(|line| message(&line)).collect();
        (status, rest, self.errors.take().unwrap().join().unwrap())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}
