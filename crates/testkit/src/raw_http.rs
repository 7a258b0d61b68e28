//! HTTP by hand: requests that no client library would send, over one connection after the other or one that is kept.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// A request, header by header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET` and so on.
    pub method: String,
    /// With its query.
    pub target: String,
    /// In order; a name may come twice.
    pub headers: Vec<(String, String)>,
    /// What it brings.
    pub body: Vec<u8>,
}

impl Request {
    /// Without a header, and with nothing to bring.
    pub fn new(method: &str, target: &str) -> Self {
        Self { method: method.to_owned(), target: target.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// With one more header.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a JSON body, and the header that says so.
    pub fn json(self, body: &serde_json::Value) -> Self {
        let mut request = self.with("Content-Type", "application/json");
        request.body = body.to_string().into_bytes();
        request
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        [head.into_bytes(), self.body.clone()].concat()
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// In order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// All of it.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` where it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A connection that is kept.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// Connects to a port of this machine.
    pub fn open(port: u16) -> std::io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(300)))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends a request and waits for the whole answer.
    pub fn ask(&mut self, request: &Request) -> std::io::Result<Response> {
        let mut response = self.head(request)?;
        if request.method != "HEAD" {
            response.body = self.body(&response)?;
        }
        Ok(response)
    }

    /// Sends a request whose answer need not end; gives its status, and what comes behind its head.
    pub fn stream(mut self, request: &Request) -> std::io::Result<(u16, BufReader<TcpStream>)> {
        let status = self.head(request)?.status;
        Ok((status, self.stream))
    }

    /// The same with the whole head.
    pub fn stream_with_head(mut self, request: &Request) -> std::io::Result<(Response, BufReader<TcpStream>)> {
        let head = self.head(request)?;
        Ok((head, self.stream))
    }

    /// Sends a request, and waits for nothing.
    pub fn send(mut self, request: &Request) -> std::io::Result<TcpStream> {
        self.stream.get_mut().write_all(&request.bytes())?;
        Ok(self.stream.into_inner())
    }

    /// Sends a request and waits for the head of the answer.
    fn head(&mut self, request: &Request) -> std::io::Result<Response> {
        self.stream.get_mut().write_all(&request.bytes())?;
        let status = self.line()?;
        let bad = || std::io::Error::other(format!("not an answer: {status}"));
        let number = status.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(bad)?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Response { status: number, headers, body: Vec::new() })
    }

    fn body(&mut self, head: &Response) -> std::io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if head.header("transfer-encoding").is_some() {
            loop {
                let size = self.line()?;
                let size = usize::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
                let mut chunk = vec![0; size + 2];
                self.stream.read_exact(&mut chunk)?;
                if size == 0 {
                    return Ok(body);
                }
                body.extend_from_slice(&chunk[..size]);
            }
        }
        let length = head.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        body.resize(length, 0);
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}
