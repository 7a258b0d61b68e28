//! As much of HTTP/1.1 as a model server needs: one request per connection, replies whole or in chunks.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// A thread that waits for a client must not outlive the tests.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// What a client asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// `POST` or `GET`.
    pub method: String,
    /// With the query, if any.
    pub path: String,
    /// In order, the names in lower case.
    pub headers: Vec<(String, String)>,
    /// The JSON in the body; null if there is none.
    pub body: Value,
    /// The body as it came.
    pub bytes: Vec<u8>,
}

impl Request {
    /// A header's value, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

pub(super) fn read(stream: &mut TcpStream) -> io::Result<Request> {
    stream.set_read_timeout(Some(LONGEST_WAIT))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let headers = read_headers(&mut reader)?;
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut body)?;
    Ok(Request { method, path, headers, body: serde_json::from_slice(&body).unwrap_or_default(), bytes: body })
}

fn read_headers(reader: &mut BufReader<&mut TcpStream>) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(headers) };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

pub(super) fn whole(
    stream: &mut TcpStream,
    status: u16,
    kind: &str,
    body: &[u8],
    headers: &[(String, String)],
) -> io::Result<()> {
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}Connection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat())
}

pub(super) fn stream_head(stream: &mut TcpStream, kind: &str) -> io::Result<()> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())
}

pub(super) fn chunk(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    stream.write_all(&[format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat())
}

pub(super) fn last_chunk(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")
}

/// A client that has asked says nothing more: whatever can be read is its good-bye.
pub(super) fn wait_until_closed(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0]);
}
