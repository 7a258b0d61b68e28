//! A client of one stream: when its first byte came, when its end, and how long each piece took from the server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::server::epoch;
use crate::Failure;

/// Where to ask, and as whom.
pub(super) struct Target {
    pub(super) address: String,
    pub(super) token: String,
}

/// A connection that is kept.
pub(super) struct Connection<'t> {
    target: &'t Target,
    stream: BufReader<TcpStream>,
}

/// One reply.
pub(super) struct Streamed {
    pub(super) first: Duration,
    pub(super) total: Duration,
    pub(super) delays: Vec<Duration>,
}

impl Target {
    pub(super) fn connect(&self) -> Result<Connection<'_>, Failure> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        Ok(Connection { target: self, stream: BufReader::new(stream) })
    }
}

impl Connection<'_> {
    /// Asks in a conversation of this name, and reads the reply to its end.
    pub(super) fn stream(&mut self, name: &str, question: &str) -> Result<Streamed, Failure> {
        let body = format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":{question:?}}}]}}"#);
        let Target { address, token } = self.target;
        let began = Instant::now();
        write!(
            self.stream.get_mut(),
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             X-Throughline-Session: {name}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let status = self.line()?;
        if !status.contains(" 200 ") {
            return Err(format!("the answer is {status}").into());
        }
        while !self.line()?.is_empty() {}
        let (mut first, mut delays) = (None, Vec::new());
        loop {
            let size = usize::from_str_radix(&self.line()?, 16)?;
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk)?;
            let (now, elapsed) = (epoch().elapsed(), began.elapsed());
            if size == 0 {
                return Ok(Streamed { first: first.unwrap_or(elapsed), total: elapsed, delays });
            }
            let sent = sent_at(&chunk).into_iter().map(|sent| now.saturating_sub(sent));
            // The first piece waits for the head.
            delays.extend(sent.skip(usize::from(first.is_none())));
            first.get_or_insert(elapsed);
        }
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err("the connection was closed".into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// When the pieces in a chunk were sent.
fn sent_at(chunk: &[u8]) -> Vec<Duration> {
    let text = String::from_utf8_lossy(chunk);
    let numbers = text.split("\"content\":\"").skip(1).filter_map(|rest| rest.split(' ').next()?.parse().ok());
    numbers.map(Duration::from_nanos).collect()
}
