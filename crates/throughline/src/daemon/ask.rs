//! Asks the daemon that runs on this home for something: a few lines of HTTP over loopback, with the token.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use throughline_server::access::Token;

use super::Running;

/// A daemon that does not answer within this is not waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// More than any answer to these questions.
const MOST: u64 = 1 << 16;

/// A fresh one-time link to the panel of a daemon; nothing where it does not give one.
pub(crate) fn fresh_link(running: &Running, token: &Token) -> Option<String> {
    Some(post(running, token, "/api/links")?.get("url")?.as_str()?.to_owned())
}

fn post(running: &Running, token: &Token, path: &str) -> Option<Value> {
    let host = running.url.strip_prefix("http://")?;
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n",
        token.as_str()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.take(MOST).read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.strip_prefix("HTTP/1.1 2")?;
    serde_json::from_str(body).ok()
}
