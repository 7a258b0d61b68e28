//! One question to a daemon of this machine, over loopback.

use std::io::{Error, Read as _, Result, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use throughline_server::access::Token;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// More than any answer to this is not read.
const LONGEST: u64 = 64 * 1024;

/// Posts nothing to a path of the daemon at `url`; gives the status and the body.
pub(crate) fn post(url: &str, path: &str, token: &Token) -> Result<(u16, String)> {
    let not_here = || Error::other("it is not on this machine, or speaks TLS");
    let host = url.strip_prefix("http://").ok_or_else(not_here)?;
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()).ok_or_else(not_here)?;
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let bearer = token.as_str();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {bearer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(LONGEST).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| Error::other("it does not speak HTTP"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.ok_or_else(|| Error::other("it does not speak HTTP"))?, body.to_owned()))
}
