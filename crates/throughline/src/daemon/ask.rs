//! Asks the daemon that runs on this home for something: a few lines of HTTP, with the token; over TLS where it speaks that.

use std::io::{Error, ErrorKind, Read as _, Result};
use std::net::TcpStream;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use throughline_server::access::Token;

use super::Running;
use super::tls::{Stream, encrypted};

/// A daemon that does not answer within this is not waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// More than any answer to these questions.
const MOST: u64 = 64 * 1024;

/// A one-time link to the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Link {
    /// Where it leads.
    pub(crate) url: String,
}

/// A fresh one-time link to the panel of a daemon.
pub(crate) fn fresh_link(running: &Running, token: &Token) -> Result<Link> {
    let (status, body) = ask(running, "POST /api/links", Some(token))?;
    let body: serde_json::Value = serde_json::from_str(&body)?;
    if status == 201 {
        return Ok(serde_json::from_value(body)?);
    }
    Err(Error::other(body["error"]["message"].as_str().unwrap_or_default().to_owned()))
}

/// What a daemon says about a database that it has lost; nothing where it has it, or says nothing.
pub(crate) fn lost_by(running: &Running) -> Option<String> {
    let (_, body) = ask(running, "GET /healthz", None).ok()?;
    let body: serde_json::Value = serde_json::from_str(&body).ok()?;
    body["problem"].as_str().map(str::to_owned)
}

/// What is wrong with the channels of a daemon, one line each.
pub(crate) fn channel_remarks(running: &Running, token: &Token) -> Vec<String> {
    let body = ask(running, "GET /api/channels", Some(token)).ok().filter(|(status, _)| *status == 200);
    let body = body.and_then(|(_, body)| serde_json::from_str::<serde_json::Value>(&body).ok()).unwrap_or_default();
    let channels = body["channels"].as_object().into_iter().flatten();
    channels.filter_map(|(name, state)| Some(format!("{name}: {}", state["problem"].as_str()?))).collect()
}

/// Asks a daemon without a body; gives the status and the body of its answer.
fn ask(running: &Running, what: &str, token: Option<&Token>) -> Result<(u16, String)> {
    let no_address = || Error::other("where it listens cannot be told");
    let (_, host) = running.url.split_once("://").ok_or_else(no_address)?;
    let stream = match running.address {
        Some(address) => TcpStream::connect_timeout(&address, PATIENCE)?,
        None => TcpStream::connect(host)?,
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let bearer = token.map(|token| format!("Authorization: Bearer {}\r\n", token.as_str())).unwrap_or_default();
    let asked = format!("{what} HTTP/1.1\r\nHost: {host}\r\n{bearer}Content-Length: 0\r\nConnection: close\r\n\r\n");
    let answer = match &running.certificate {
        Some(certificate) => said(encrypted(stream, certificate)?, &asked)?,
        None => said(stream, &asked)?,
    };
    let no_http = || Error::other("it does not speak HTTP");
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(no_http)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(no_http)?;
    Ok((status, body.to_owned()))
}

/// Sends a request and reads until the other end closes.
fn said(mut stream: impl Stream, asked: &str) -> Result<String> {
    stream.write_all(asked.as_bytes())?;
    let mut answer = String::new();
    match stream.take(MOST).read_to_string(&mut answer) {
        // TLS was ended by ending the connection.
        Err(error) if error.kind() != ErrorKind::UnexpectedEof || answer.is_empty() => Err(error),
        _ => Ok(answer),
    }
}
