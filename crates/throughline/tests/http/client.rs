//! A daemon that runs, and somebody who asks it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::common::Home;
use crate::common::daemon::Daemon;

/// A daemon on a free port; ends with its test.
pub(crate) struct Served {
    daemon: Daemon,
    host: String,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) text: String,
}

impl Served {
    /// Starts the daemon of a home and waits until it says where it is.
    pub(crate) fn on(home: &Home) -> Self {
        let daemon = Daemon::start(home);
        Self { host: daemon.host(), daemon }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], None)
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path, &[], None)
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        self.ask("POST", path, &[], Some(&body.to_string()))
    }

    /// Asks with the token, and with JSON where there is a body.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let body = body.unwrap_or_default();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n",
            self.host, self.daemon.token
        );
        if !body.is_empty() {
            head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        // A body that is too large is refused before all of it was sent.
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, text) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer to {method} {path}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_lowercase(), text: text.to_owned() }
    }

    /// Asks it to stop, and waits.
    #[cfg(unix)]
    pub(crate) fn stop(self) -> crate::common::Ran {
        self.daemon.stop()
    }
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It has this status; gives its body.
    #[track_caller]
    pub(crate) fn with(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }

    /// It is a problem with this status and word, a message and a hint.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, word: &str) -> Value {
        let body = self.with(status);
        assert_eq!(body["error"]["code"], word, "{body}");
        assert!(body["error"]["message"].is_string() && body["error"]["hint"].is_string(), "{body}");
        body
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}
