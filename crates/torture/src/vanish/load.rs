//! Clients that write as fast as they are answered, and keep what they were told.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::json;
use throughline::synthetic::{self, Dice};
use throughline_testkit::raw_http::{Connection, Request};

use crate::Failure;
use crate::daemon::{Daemon, until};

/// A write, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) content: String,
    pub(super) sent: Instant,
    pub(super) answered: Instant,
    pub(super) outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Confirmed,
    Refused {
        /// The message and the hint.
        said: String,
    },
}

/// What the clients share.
pub(super) struct Load {
    port: u16,
    request: Request,
    name: String,
    seed: u64,
    confirmed: AtomicU64,
    refused: AtomicU64,
    attempts: Mutex<Vec<Attempt>>,
    wrong: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

/// Ends the load when it is dropped, so that nobody waits for clients that go on for ever.
pub(super) struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Load {
    pub(super) fn new(daemon: &Daemon, name: String, seed: u64) -> Self {
        Self {
            port: daemon.port,
            request: daemon.request("POST", "/api/memories"),
            name,
            seed,
            confirmed: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            attempts: Mutex::default(),
            wrong: Mutex::default(),
            is_over: AtomicBool::new(false),
        }
    }

    pub(super) fn over_at_the_end(&self) -> Over<'_> {
        Over(&self.is_over)
    }

    /// One client, until it is over.
    pub(super) fn write(&self, client: usize) {
        let mut dice = Dice::new(self.seed.wrapping_add(client as u64));
        let mut nth = 0;
        while !self.is_over.load(Ordering::SeqCst) {
            let written = Connection::open(self.port).and_then(|mut connection| {
                while !self.is_over.load(Ordering::SeqCst) {
                    nth += 1;
                    let content = format!("{} client {client} write {nth} {}", self.name, synthetic::memory(&mut dice));
                    self.attempt(&mut connection, content)?;
                }
                Ok(())
            });
            if let Err(error) = written {
                self.note_wrong(format!("client {client}: {error}"));
                return;
            }
        }
    }

    fn attempt(&self, connection: &mut Connection, content: String) -> std::io::Result<()> {
        let sent = Instant::now();
        let response = connection.ask(&self.request.clone().json(&json!({ "content": content })))?;
        let (answered, answer) = (Instant::now(), response.json());
        let outcome = match response.status {
            201 => {
                self.confirmed.fetch_add(1, Ordering::SeqCst);
                Outcome::Confirmed
            }
            503 => {
                self.refused.fetch_add(1, Ordering::SeqCst);
                Outcome::Refused { said: format!("{} {}", answer["error"]["message"], answer["error"]["hint"]) }
            }
            status => {
                self.note_wrong(format!("{status} {answer}"));
                return Ok(());
            }
        };
        let attempt = Attempt { content, sent, answered, outcome };
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).push(attempt);
        Ok(())
    }

    /// Waits while the clients go on; fails as soon as one of them met something that must not be.
    pub(super) fn until(&self, what: &str, look: impl Fn(&Self) -> bool) -> Result<(), Failure> {
        until(what, || look(self) || self.is_wrong())?;
        self.wrong_so_far().map_or(Ok(()), |wrong| Err(wrong.into()))
    }

    pub(super) fn confirmed(&self) -> u64 {
        self.confirmed.load(Ordering::SeqCst)
    }

    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::SeqCst)
    }

    pub(super) fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers that must not be.
    pub(super) fn wrong(&self) -> Vec<String> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_wrong(&self) -> bool {
        self.wrong_so_far().is_some()
    }

    fn wrong_so_far(&self) -> Option<String> {
        self.wrong().into_iter().next()
    }

    fn note_wrong(&self, what: String) {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }
}
