//! An embedder on loopback that does as it is told, in the wire formats of Ollama and OpenAI.
//!
//! Its vectors know a little about meaning: words of one group count as the same word.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::http::{self, Request};

/// Words that mean the same to this embedder.
const GROUPS: [&[&str]; 3] =
    [&["car", "automobile", "vehicle"], &["doctor", "physician"], &["holiday", "vacation", "leave"]];

/// What the server does with requests, until it is told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Embeds {
    /// Answers with vectors of so many numbers.
    Well(usize),
    /// Answers the first request with so many numbers, and every further one with one more each.
    Growing(usize),
    /// Says nothing at all.
    Hang,
    /// Answers with this status.
    Fails(u16),
    /// Sends what is no number.
    NotNumbers,
    /// Leaves the last vector out.
    OneShort,
    /// Sends what is no answer.
    Garbage,
    /// Refuses every request with [`BAD`] in it with this status, and answers the others with 16 numbers each.
    Refuses(u16),
    /// Answers with 16 numbers each, but for a text with [`BAD`] in it, which gets one that is none.
    SpoilsOne,
    /// Answers with 16 numbers each, but for a text with [`BAD`] in it, which gets one more.
    StretchesOne,
}

/// The word that some embedders cannot stand.
pub const BAD: &str = "zebra";

#[derive(Debug)]
struct Shared {
    embeds: Mutex<Embeds>,
    by_model: Mutex<Vec<(String, Embeds)>>,
    requests: Mutex<Vec<Request>>,
    is_over: AtomicBool,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct EmbedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl EmbedServer {
    /// Begins to listen.
    pub fn start(embeds: Embeds) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            embeds: Mutex::new(embeds),
            by_model: Mutex::default(),
            requests: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let serving = Arc::clone(&serving);
                thread::spawn(move || stream.map(|stream| serve(stream, &serving)));
            }
        });
        Self { address, shared }
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on it does this.
    pub fn now(&self, embeds: Embeds) {
        *self.shared.embeds.lock().unwrap() = embeds;
    }

    /// From now on it does this with requests for one model, whatever it does with others.
    pub fn now_for(&self, model: &str, embeds: Embeds) {
        let mut by_model = self.shared.by_model.lock().unwrap();
        by_model.retain(|(known, _)| known != model);
        by_model.push((model.to_owned(), embeds));
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }
}

impl Drop for EmbedServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let request = http::read(&mut stream)?;
    let (embeds, nth) = {
        let mut requests = shared.requests.lock().unwrap();
        requests.push(request.clone());
        let by_model = shared.by_model.lock().unwrap();
        let own = by_model.iter().find(|(model, _)| request.body["model"] == json!(model));
        (own.map_or_else(|| *shared.embeds.lock().unwrap(), |(_, embeds)| *embeds), requests.len())
    };
    let texts: Vec<&str> = request.body["input"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let dimension = match embeds {
        Embeds::Hang => {
            http::wait_until_closed(&mut stream);
            return Ok(());
        }
        Embeds::Fails(status) => {
            return http::whole(&mut stream, status, "application/json", br#"{"error":"no"}"#, &[]);
        }
        Embeds::Refuses(status) if texts.iter().any(|text| text.contains(BAD)) => {
            return http::whole(&mut stream, status, "application/json", br#"{"error":"I will not"}"#, &[]);
        }
        Embeds::Garbage => return http::whole(&mut stream, 200, "application/json", b"<html>", &[]),
        Embeds::Growing(dimension) => dimension + nth - 1,
        Embeds::Well(dimension) => dimension,
        Embeds::NotNumbers | Embeds::OneShort | Embeds::Refuses(_) | Embeds::SpoilsOne | Embeds::StretchesOne => 16,
    };
    let json_vector = |text: &&str| vector(text, dimension).into_iter().map(|number| json!(number)).collect();
    let mut vectors: Vec<Vec<Value>> = texts.iter().map(json_vector).collect();
    match embeds {
        // As close as JSON comes to infinity.
        Embeds::NotNumbers => vectors.iter_mut().for_each(|vector| vector[0] = json!(1e300)),
        Embeds::OneShort => drop(vectors.pop()),
        Embeds::SpoilsOne | Embeds::StretchesOne => {
            for (vector, _) in vectors.iter_mut().zip(&texts).filter(|(_, text)| text.contains(BAD)) {
                if embeds == Embeds::SpoilsOne { vector[0] = Value::Null } else { vector.push(json!(0.5)) }
            }
        }
        _ => {}
    }
    let answer = if request.path.ends_with("/api/embed") {
        json!({ "embeddings": vectors })
    } else {
        // In no order: the index says which is whose.
        let data: Vec<Value> = vectors
            .iter()
            .enumerate()
            .rev()
            .map(|(index, vector)| json!({"index": index, "embedding": vector}))
            .collect();
        json!({ "data": data })
    };
    http::whole(&mut stream, 200, "application/json", answer.to_string().as_bytes(), &[])
}

/// One number for each group of words and for each word's letters.
pub(crate) fn vector(text: &str, dimension: usize) -> Vec<f64> {
    let mut numbers = vec![0.01; dimension];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2) {
        let group = GROUPS.iter().position(|group| group.contains(&word));
        let at = group.unwrap_or_else(|| GROUPS.len() + word.bytes().map(usize::from).sum::<usize>());
        numbers[at % dimension] += if group.is_some() { 3.0 } else { 0.2 };
    }
    numbers
}
