//! A stand-in for Telegram's Bot API on loopback, in its true wire format: an update is given again until one behind it is
//! asked for, polls wait, messages have a limit, and errors have the codes and words of the real one.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Like no token that anything would recognise and take out.
pub(crate) const TOKEN: &str = "7731:correct-horse_battery";

/// As long as a message may be.
const MOST: usize = 4096;

/// What goes wrong with a call, once.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// It is refused.
    Refuse(u16, &'static str),
    /// It is refused for so many seconds.
    Busy(u64),
    /// The connection closes without an answer, and nothing is done.
    Drop,
    /// Nothing is done or answered while the server lives.
    Hang,
    /// Something else answers.
    Garbage,
}

/// A message of the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Posted {
    pub(crate) chat: i64,
    pub(crate) id: i64,
    pub(crate) text: String,
    /// The message that it is a reply to.
    pub(crate) reply_to: Option<i64>,
    pub(crate) edits: usize,
}

#[derive(Default)]
struct State {
    updates: VecDeque<Value>,
    next_update: i64,
    next_message: i64,
    posted: Vec<Posted>,
    calls: Vec<(String, Value)>,
    faults: Vec<(String, Fault)>,
    /// The poll that waits; an older one is told to go.
    poll: u64,
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// A server that runs until it is dropped.
pub(crate) struct BotApi {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl BotApi {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, shared) = (listener.local_addr().unwrap(), Arc::new(Shared::default()));
        (shared.state().next_update, shared.state().next_message) = (500, 100);
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.state().is_over {
                    return;
                }
                let serving = Arc::clone(&serving);
                // A client that goes away in the middle of anything is its own business.
                std::thread::spawn(move || stream.and_then(|stream| serve(stream, &serving)));
            }
        });
        Self { address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Somebody writes to the bot, in a private chat; gives the id of the message.
    pub(crate) fn say(&self, chat: i64, text: &str) -> i64 {
        self.send(json!({"text": text, "chat": {"id": chat, "type": "private", "first_name": "Ada"},
            "from": {"id": chat, "is_bot": false, "first_name": "Ada", "language_code": "en"}}))
    }

    /// A message arrives; its id and date are given here.
    pub(crate) fn send(&self, mut message: Value) -> i64 {
        let mut state = self.shared.state();
        (state.next_update, state.next_message) = (state.next_update + 1, state.next_message + 1);
        let id = state.next_message;
        (message["message_id"], message["date"]) = (json!(id), json!(1_772_366_400));
        let update = json!({"update_id": state.next_update, "message": message});
        state.updates.push_back(update);
        self.shared.changed.notify_all();
        id
    }

    /// This goes wrong with the next call of a method.
    pub(crate) fn fault(&self, method: &str, fault: Fault) {
        self.shared.state().faults.push((method.to_owned(), fault));
    }

    /// Nothing goes wrong from now on.
    pub(crate) fn forgive(&self) {
        self.shared.state().faults.clear();
    }

    /// Whether every fault has happened.
    pub(crate) fn is_through(&self) -> bool {
        self.shared.state().faults.is_empty()
    }

    /// Every message of the bot in a chat.
    pub(crate) fn posted(&self, chat: i64) -> Vec<Posted> {
        self.shared.state().posted.iter().filter(|posted| posted.chat == chat).cloned().collect()
    }

    /// What the bot says in a chat.
    pub(crate) fn shown(&self, chat: i64) -> Vec<String> {
        self.posted(chat).into_iter().map(|posted| posted.text).collect()
    }

    /// Every call of a method, with what it was given.
    pub(crate) fn calls(&self, method: &str) -> Vec<Value> {
        let state = self.shared.state();
        state.calls.iter().filter(|(called, _)| called == method).map(|(_, body)| body.clone()).collect()
    }

    /// How many updates are not confirmed.
    pub(crate) fn unconfirmed(&self) -> usize {
        self.shared.state().updates.len()
    }
}

impl Drop for BotApi {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        // Whoever waits for a client gets one.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let (path, body) = read(&mut stream)?;
    let Some(method) = path.strip_prefix(&format!("/bot{TOKEN}/")) else {
        return answer(&mut stream, &refusal(401, "Unauthorized", None));
    };
    let fault = {
        let mut state = shared.state();
        state.calls.push((method.to_owned(), body.clone()));
        let at = state.faults.iter().position(|(faulty, _)| faulty == method);
        at.map(|at| state.faults.remove(at).1)
    };
    shared.changed.notify_all();
    match fault {
        None => answer(&mut stream, &call(method, &body, shared)),
        Some(Fault::Refuse(code, why)) => answer(&mut stream, &refusal(code, why, None)),
        Some(Fault::Busy(seconds)) => {
            answer(&mut stream, &refusal(429, &format!("Too Many Requests: retry after {seconds}"), Some(seconds)))
        }
        Some(Fault::Drop) => Ok(()),
        Some(Fault::Hang) => {
            let _ = stream.read(&mut [0]);
            Ok(())
        }
        Some(Fault::Garbage) => {
            write!(stream, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>")
        }
    }
}

fn read(stream: &mut TcpStream) -> io::Result<(String, Value)> {
    stream.set_read_timeout(Some(Duration::from_secs(300)))?;
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).ok_or(io::ErrorKind::InvalidData)?.to_owned();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((path, serde_json::from_slice(&body).unwrap_or_default()))
}

fn answer(stream: &mut TcpStream, body: &Value) -> io::Result<()> {
    let (status, text) = (body["error_code"].as_u64().unwrap_or(200), body.to_string());
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )
}

fn done(result: Value) -> Value {
    json!({"ok": true, "result": result})
}

fn refusal(code: u16, why: &str, retry_after: Option<u64>) -> Value {
    let mut refusal = json!({"ok": false, "error_code": code, "description": why});
    if let Some(seconds) = retry_after {
        refusal["parameters"] = json!({"retry_after": seconds});
    }
    refusal
}

fn call(method: &str, body: &Value, shared: &Shared) -> Value {
    match method {
        "getMe" => done(json!({"id": 7731, "is_bot": true, "first_name": "Memo", "username": "memo_bot",
            "can_join_groups": true, "can_read_all_group_messages": false, "supports_inline_queries": false})),
        "getUpdates" => updates(body, shared),
        "sendMessage" => send(body, &mut shared.state()),
        "editMessageText" => edit(body, &mut shared.state()),
        "deleteMessage" => {
            let id = body["message_id"].as_i64();
            shared.state().posted.retain(|posted| Some(posted.id) != id);
            done(json!(true))
        }
        "sendChatAction" if body["action"] == "typing" && body["chat_id"].is_i64() => done(json!(true)),
        _ => refusal(404, "Not Found: method not found", None),
    }
}

/// Forgets what is before the offset, then waits for something to give.
fn updates(body: &Value, shared: &Shared) -> Value {
    assert_eq!(body["allowed_updates"], json!(["message"]));
    let (offset, seconds) = (body["offset"].as_i64().unwrap_or(0), body["timeout"].as_u64().unwrap_or(0));
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut state = shared.state();
    state.poll += 1;
    let poll = state.poll;
    shared.changed.notify_all();
    state.updates.retain(|update| update["update_id"].as_i64().unwrap() >= offset);
    loop {
        if state.poll != poll {
            return refusal(
                409,
                "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
                None,
            );
        }
        let left = until.saturating_duration_since(Instant::now());
        if !state.updates.is_empty() || left.is_zero() || state.is_over {
            return done(state.updates.iter().take(100).cloned().collect());
        }
        state = shared.changed.wait_timeout(state, left).unwrap().0;
    }
}

/// The text of a message, or why there cannot be one.
fn text(body: &Value) -> Result<String, Value> {
    assert!(body.get("parse_mode").is_none(), "what a model writes is no markup: {body}");
    let text = body["text"].as_str().unwrap_or_default().trim();
    match text.encode_utf16().count() {
        0 => Err(refusal(400, "Bad Request: message text is empty", None)),
        length if length > MOST => Err(refusal(400, "Bad Request: message is too long", None)),
        _ => Ok(text.to_owned()),
    }
}

fn send(body: &Value, state: &mut State) -> Value {
    let text = match text(body) {
        Ok(text) => text,
        Err(refusal) => return refusal,
    };
    state.next_message += 1;
    let (id, chat) = (state.next_message, body["chat_id"].as_i64().unwrap());
    let reply_to = body["reply_parameters"]["message_id"].as_i64();
    state.posted.push(Posted { chat, id, text: text.clone(), reply_to, edits: 0 });
    done(message(chat, id, &text))
}

fn edit(body: &Value, state: &mut State) -> Value {
    let text = match text(body) {
        Ok(text) => text,
        Err(refusal) => return refusal,
    };
    let (id, chat) = (body["message_id"].as_i64(), body["chat_id"].as_i64());
    let found = state.posted.iter_mut().find(|posted| Some(posted.id) == id && Some(posted.chat) == chat);
    let Some(posted) = found else { return refusal(400, "Bad Request: message to edit not found", None) };
    if posted.text == text {
        let why =
            "Bad Request: message is not modified: specified new message content and reply markup are exactly the same";
        return refusal(400, why, None);
    }
    (posted.text, posted.edits) = (text.clone(), posted.edits + 1);
    done(message(posted.chat, posted.id, &text))
}

fn message(chat: i64, id: i64, text: &str) -> Value {
    json!({"message_id": id, "date": 1_772_366_400, "chat": {"id": chat, "type": "private"}, "text": text,
        "from": {"id": 7731, "is_bot": true, "first_name": "Memo", "username": "memo_bot"}})
}
