//! A model server on loopback that does what a script says, in the true wire formats of OpenAI (chat completions and responses), Anthropic and
//! Ollama.
//!
//! Which wire is meant shows in the path, whether to stream in the request. Each request takes the next step of the
//! script and is recorded; Ollama's list of models takes none, and questions about the model itself are recorded apart.
//! Nothing here sleeps: what hangs, hangs until the client hangs up.

mod calls;
mod embeddings;
mod http;
mod responses;
mod wires;

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use calls::ScriptedCall;
use calls::{Calling, Reach};
pub(crate) use embeddings::vector;
pub use embeddings::{BAD, EmbedServer, Embeds};
pub use http::Request;
use serde_json::Value;
use wires::{Ending, Wire};

/// How long a test waits for something that is bound to happen.
const BOUND_TO_HAPPEN: Duration = Duration::from_secs(120);

/// What the server does with one request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Answers, in a few pieces.
    Reply(String),
    /// Answers, in these pieces.
    ReplyIn(Vec<String>),
    /// Answers with an error, or with a redirect.
    Fail {
        /// The status.
        status: u16,
        /// The body, as JSON where it looks like it.
        body: String,
        /// More headers, such as `Retry-After`.
        headers: Vec<(String, String)>,
    },
    /// Says nothing at all.
    Hang,
    /// Sends these pieces, then nothing.
    HangAfter(Vec<String>),
    /// Answers, and then neither says that this was all nor closes the connection.
    HangAtEnd(String),
    /// Sends these pieces, then closes the connection in the middle of the reply.
    ResetAfter(Vec<String>),
    /// Closes the connection without an answer.
    Drop,
    /// Sends these bytes as its reply.
    Malformed(Vec<u8>),
    /// A reply in the right format with no text in it.
    Empty,
    /// Runs out of tokens after this text.
    CutOff(String),
    /// So many bytes of text.
    Huge(usize),
    /// Declines, as the wire puts it; Ollama's has no way to say so but words.
    Refusal,
    /// Some proxy's page, with status 200.
    Html,
    /// Thinks aloud before it answers.
    ReasoningTags(String),
    /// A good reply that claims to be plain text.
    WrongContentType(String),
    /// Begins to answer and reports an error in the stream.
    ErrorInStream(Vec<String>),
    /// Says this, if anything, and calls these.
    Calls(String, Vec<ScriptedCall>),
    /// Runs out of tokens in the middle of the last call's arguments.
    CutOffInCall(Vec<ScriptedCall>),
    /// Closes the connection in the middle of the last call's arguments.
    ResetInCall(Vec<ScriptedCall>),
}

impl Step {
    /// A reply.
    pub fn reply(text: impl Into<String>) -> Self {
        Self::Reply(text.into())
    }

    /// A reply without words that calls this.
    pub fn call(name: &str, arguments: impl ToString) -> Self {
        Self::calls("", &[(name, &arguments.to_string())])
    }

    /// A reply that says something, or nothing, and calls these: names and arguments.
    pub fn calls(text: &str, calls: &[(&str, &str)]) -> Self {
        Self::Calls(text.to_owned(), scripted(calls))
    }

    /// An error with a message in the form that all three wires read.
    pub fn fail(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"type": "error", "error": {"type": "error", "message": message}}).to_string();
        Self::Fail { status, body, headers: Vec::new() }
    }

    /// "Too many requests", with a `Retry-After` in seconds or as a date.
    pub fn busy(retry_after: &str) -> Self {
        let Self::Fail { status, body, .. } = Self::fail(429, "slow down") else { unreachable!() };
        Self::Fail { status, body, headers: vec![("Retry-After".to_owned(), retry_after.to_owned())] }
    }
}

/// Calls by their names and arguments.
pub fn scripted(calls: &[(&str, &str)]) -> Vec<ScriptedCall> {
    let call = |(name, arguments): &(&str, &str)| ScriptedCall { name: (*name).into(), arguments: (*arguments).into() };
    calls.iter().map(call).collect()
}

#[derive(Debug, Default)]
struct Shared {
    script: Mutex<VecDeque<Step>>,
    /// What it does when the script has ended.
    otherwise: Option<Step>,
    requests: Mutex<Vec<Request>>,
    /// What it tells about itself, by the end of the path.
    known: Mutex<Vec<(String, Value)>>,
    looked_up: Mutex<Vec<Request>>,
    hung_up: Mutex<usize>,
    changed: Condvar,
    is_over: AtomicBool,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Does these steps, then answers every further request with status 500.
    pub fn scripted(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::start(Shared { script: Mutex::new(steps.into_iter().collect()), ..Shared::default() })
    }

    /// Does the same each time, until it is told otherwise.
    pub fn always(step: Step) -> Self {
        Self::start(Shared { otherwise: Some(step), ..Shared::default() })
    }

    fn start(shared: Shared) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, shared) = (listener.local_addr().unwrap(), Arc::new(shared));
        let serving = Arc::clone(&shared);
        let accepting = Some(thread::spawn(move || accept(&listener, &serving)));
        Self { address, shared, accepting }
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a step to the script.
    pub fn then(&self, step: Step) {
        self.shared.script.lock().unwrap().push_back(step);
    }

    /// Tells this to whoever asks for a path with this end, such as `/models` or `/api/show`. Unasked, it knows nothing.
    pub fn knows(&self, path: &str, answer: Value) {
        self.shared.known.lock().unwrap().push((path.to_owned(), answer));
    }

    /// Every question about the model itself so far.
    pub fn looked_up(&self) -> Vec<Request> {
        self.shared.looked_up.lock().unwrap().clone()
    }

    /// Every request so far, without the questions about the model itself.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The number of steps that nobody asked for yet.
    pub fn steps_left(&self) -> usize {
        self.shared.script.lock().unwrap().len()
    }

    /// Waits until so many clients have hung up on a server that was not done.
    pub fn wait_for_hung_up(&self, clients: usize) -> bool {
        let hung_up = self.shared.hung_up.lock().unwrap();
        let waited = self.shared.changed.wait_timeout_while(hung_up, BOUND_TO_HAPPEN, |hung_up| *hung_up < clients);
        !waited.unwrap().1.timed_out()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Whoever waits for a client gets one.
        if TcpStream::connect(self.address).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        // A client that goes away in the middle of anything is its own business.
        thread::spawn(move || stream.map(|stream| serve(stream, &shared)));
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let request = http::read(&mut stream)?;
    let is_known = shared.known.lock().unwrap().iter().any(|(end, _)| request.path.ends_with(end));
    if is_known || request.path.ends_with("/api/show") || request.path.contains("/models") {
        return look_up(&mut stream, shared, request);
    }
    let nth = {
        let mut requests = shared.requests.lock().unwrap();
        requests.push(request.clone());
        requests.len()
    };
    if request.path == "/api/tags" {
        return http::whole(&mut stream, 200, "application/json", &wires::ollama_tags(), &[]);
    }
    let Some(wire) = Wire::of(&request.path) else {
        return http::whole(&mut stream, 404, "application/json", b"{\"error\":\"no such path\"}", &[]);
    };
    let next = shared.script.lock().unwrap().pop_front().or_else(|| shared.otherwise.clone());
    let step = next.unwrap_or_else(|| Step::fail(500, "the script has ended"));
    let hangs = matches!(step, Step::Hang | Step::HangAfter(_) | Step::HangAtEnd(_));
    let mut answer = Answer { stream: &mut stream, wire, streams: wire.streams(&request.body), nth };
    let sent = answer.perform(step);
    if hangs || sent.is_err() {
        http::wait_until_closed(&mut stream);
        *shared.hung_up.lock().unwrap() += 1;
        shared.changed.notify_all();
    }
    sent
}

/// Tells what is known of the model.
fn look_up(stream: &mut TcpStream, shared: &Shared, request: Request) -> std::io::Result<()> {
    let known = shared.known.lock().unwrap().iter().find(|(end, _)| request.path.ends_with(end)).cloned();
    shared.looked_up.lock().unwrap().push(request);
    match known {
        Some((_, answer)) => http::whole(stream, 200, "application/json", answer.to_string().as_bytes(), &[]),
        None => http::whole(stream, 404, "application/json", b"{\"error\":\"not found\"}", &[]),
    }
}

/// One answer.
struct Answer<'a> {
    stream: &'a mut TcpStream,
    wire: Wire,
    streams: bool,
    /// Which request this is.
    nth: usize,
}

impl Answer<'_> {
    fn perform(&mut self, step: Step) -> std::io::Result<()> {
        let kind = self.wire.content_type(self.streams);
        match step {
            Step::Reply(text) => self.reply(&in_pieces(&text), Ending::Done),
            Step::ReplyIn(pieces) => self.reply(&pieces, Ending::Done),
            Step::CutOff(text) => self.reply(&in_pieces(&text), Ending::CutOff),
            Step::Empty => self.reply(&[], Ending::Done),
            Step::Refusal => self.reply(&["I cannot ".to_owned(), "help with that.".to_owned()], Ending::Refused),
            Step::Huge(bytes) => self.reply(&vec!["0123456789abcdef".repeat(512); bytes.div_ceil(8192)], Ending::Done),
            Step::ReasoningTags(text) => {
                let mut pieces = in_pieces("<think>\nThe person wants something. I wonder…\n</think>\n\n");
                pieces.extend(in_pieces(&text));
                self.reply(&pieces, Ending::Done)
            }
            Step::WrongContentType(text) => self.reply_as("text/plain", &in_pieces(&text), Ending::Done),
            Step::Fail { status, body, headers } => {
                let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
                http::whole(self.stream, status, kind, body.as_bytes(), &headers)
            }
            Step::Html => {
                http::whole(self.stream, 200, "text/html; charset=utf-8", b"<!doctype html><p>Please log in", &[])
            }
            Step::Malformed(bytes) => http::whole(self.stream, 200, kind, &bytes, &[]),
            Step::Hang | Step::Drop => Ok(()),
            Step::HangAfter(pieces) | Step::ResetAfter(pieces) => self.begin(kind, &pieces, Ending::Done),
            Step::HangAtEnd(text) => {
                self.begin(kind, &in_pieces(&text), Ending::Done)?;
                let ending = self.wire.ending(&text, Ending::Done);
                http::chunk(self.stream, &ending[..1.max(ending.len() - 1)].concat())
            }
            Step::ErrorInStream(pieces) => {
                self.begin(kind, &pieces, Ending::Done)?;
                http::chunk(self.stream, &self.wire.error_frame())?;
                http::last_chunk(self.stream)
            }
            Step::Calls(text, calls) => self.call(&in_pieces(&text), &calls, Reach::Whole),
            Step::CutOffInCall(calls) => self.call(&[], &calls, Reach::CutOff),
            Step::ResetInCall(calls) => self.call(&[], &calls, Reach::Broken),
        }
    }

    fn call(&mut self, text: &[String], calls: &[ScriptedCall], reach: Reach) -> std::io::Result<()> {
        let (wire, kind) = (self.wire, self.wire.content_type(self.streams));
        let calling = Calling { text, calls, nth: self.nth, reach };
        if !self.streams {
            return http::whole(self.stream, 200, kind, calling.whole(wire).to_string().as_bytes(), &[]);
        }
        http::stream_head(self.stream, kind)?;
        for frame in calling.frames(wire) {
            http::chunk(self.stream, &frame)?;
        }
        let ending = match reach {
            Reach::Whole => Ending::Calls,
            Reach::CutOff => Ending::CutOff,
            Reach::Broken => return Ok(()),
        };
        let end = if wire == Wire::Responses { calling.responses_ending(ending) } else { wire.ending_of_calls(ending) };
        http::chunk(self.stream, &end)?;
        http::last_chunk(self.stream)
    }

    fn reply(&mut self, pieces: &[String], ending: Ending) -> std::io::Result<()> {
        self.reply_as(self.wire.content_type(self.streams), pieces, ending)
    }

    fn reply_as(&mut self, kind: &str, pieces: &[String], ending: Ending) -> std::io::Result<()> {
        if !self.streams {
            return http::whole(self.stream, 200, kind, &self.wire.whole(&pieces.concat(), ending), &[]);
        }
        self.begin(kind, pieces, ending)?;
        http::chunk(self.stream, &self.wire.ending(&pieces.concat(), ending).concat())?;
        http::last_chunk(self.stream)
    }

    /// A reply without its end.
    fn begin(&mut self, kind: &str, pieces: &[String], ending: Ending) -> std::io::Result<()> {
        http::stream_head(self.stream, kind)?;
        for frame in self.wire.beginning().into_iter().chain(self.wire.pieces(pieces, ending)) {
            http::chunk(self.stream, &frame)?;
        }
        Ok(())
    }
}

/// Text in pieces of a few characters, as models send it.
fn in_pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(5).map(|piece| piece.iter().collect()).collect()
}
