//! A server that streams replies of twenty pieces, one every two milliseconds, and says in each when it was sent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::Failure;

const PIECES: usize = 20;
const PAUSE: Duration = Duration::from_millis(2);

/// From when on times are counted, by server and clients alike.
pub(super) fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

pub(super) struct Server {
    pub(super) address: String,
}

impl Server {
    /// Serves until the process ends.
    pub(super) fn start() -> Result<Self, Failure> {
        epoch();
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || serve(stream));
            }
        });
        Ok(Self { address })
    }
}

fn serve(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut reader, mut writer) = (BufReader::new(stream.try_clone()?), stream);
    while take_request(&mut reader)? {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        writer.write_all(head.as_bytes())?;
        for at in 0..PIECES {
            if at > 0 {
                thread::sleep(PAUSE);
            }
            let sent = epoch().elapsed().as_nanos();
            let piece = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{sent} \"}}}}]}}\n\n");
            write!(writer, "{:x}\r\n{piece}\r\n", piece.len())?;
        }
        let end = "data: [DONE]\n\n";
        write!(writer, "{:x}\r\n{end}\r\n0\r\n\r\n", end.len())?;
    }
    Ok(())
}

/// Reads one request; says whether there was one.
fn take_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(false);
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
        if line == "\r\n" {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    Ok(true)
}
