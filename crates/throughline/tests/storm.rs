//! Thirty-two clients at one daemon, which is killed again and again: what was acknowledged is there, and everything is sound.
//!
//! `scripts/torture` runs it with fifty kills.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use common::daemon::Daemon;
use common::{Home, string};
use serde_json::json;
use throughline::synthetic::{self, Dice};
use throughline_testkit::raw_http::{Connection, Request};

const CLIENTS: u64 = 32;

/// At most this many acknowledged writes lie between two kills.
const PACE: u64 = 200;

/// How often the daemon is killed.
#[allow(clippy::disallowed_methods, reason = "the full figure is asked for by the environment")]
fn kills() -> usize {
    std::env::var("THROUGHLINE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4)
}

/// What the clients share.
#[derive(Default)]
struct Field {
    /// Where the daemon is now, and its token; nothing while there is none.
    daemon: Mutex<Option<(u16, String)>>,
    /// Every write that was acknowledged: its id and its text.
    acknowledged: Mutex<BTreeMap<String, String>>,
    written: AtomicU64,
    recalled: AtomicU64,
    refused: AtomicU64,
    wrong: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

impl Field {
    fn daemon(&self) -> Option<(u16, String)> {
        self.daemon.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn client(&self, number: u64) {
        let mut dice = Dice::new(number + 1);
        while !self.is_over.load(Ordering::SeqCst) {
            let Some((port, token)) = self.daemon() else {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            };
            let Ok(mut connection) = Connection::open(port) else { continue };
            let mut goes_on = true;
            while goes_on && !self.is_over.load(Ordering::SeqCst) {
                goes_on = self.ask(&mut connection, &mut dice, port, &token).is_ok();
            }
        }
    }

    /// One request. A daemon that was killed in the middle is no error, and acknowledges nothing.
    fn ask(&self, connection: &mut Connection, dice: &mut Dice, port: u16, token: &str) -> std::io::Result<()> {
        let request = |target: &str| {
            let request = Request::new("POST", target).with("Host", &format!("127.0.0.1:{port}"));
            request.with("Authorization", &format!("Bearer {token}"))
        };
        let is_write = dice.below(3) > 0;
        let text = format!("{} {}", synthetic::memory(dice), dice.roll());
        let response = if is_write {
            connection.ask(&request("/api/memories").json(&json!({ "content": text })))?
        } else {
            connection.ask(&request("/api/recall").json(&json!({ "query": synthetic::question(dice) })))?
        };
        match (response.status, is_write) {
            (201, true) => {
                let id = string(&response.json()["id"]);
                self.acknowledged.lock().unwrap().insert(id, text);
                self.written.fetch_add(1, Ordering::SeqCst);
            }
            (200, false) => {
                self.recalled.fetch_add(1, Ordering::SeqCst);
            }
            (429, _) => {
                self.refused.fetch_add(1, Ordering::SeqCst);
            }
            _ => self.wrong.lock().unwrap().push(format!("{} {}", response.status, response.json())),
        }
        Ok(())
    }

    /// Starts the daemon, lets it work until so much was acknowledged, and kills it.
    fn life(&self, home: &Home, until: u64) {
        let daemon = Daemon::start(home);
        *self.daemon.lock().unwrap() = Some((daemon.port, daemon.token.clone()));
        let (began, patience) = (Instant::now(), Duration::from_secs(300));
        while self.written.load(Ordering::SeqCst) < until {
            if began.elapsed() > patience {
                // The clients end too, or the test would wait for them.
                self.is_over.store(true, Ordering::SeqCst);
                panic!("nothing is acknowledged any more");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        *self.daemon.lock().unwrap() = None;
        daemon.kill();
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_daemon_is_killed_under_load() {
    let (home, field, kills) = (Home::new(), Field::default(), kills());
    let mut dice = Dice::new(7);
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let field = &field;
            scope.spawn(move || field.client(number));
        }
        for _ in 0..kills {
            let until = field.written.load(Ordering::SeqCst) + 1 + dice.below(PACE);
            field.life(&home, until);
        }
        field.is_over.store(true, Ordering::SeqCst);
    });
    let wrong = field.wrong.into_inner().unwrap();
    assert_eq!(wrong, Vec::<String>::new());
    let acknowledged = field.acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() >= kills);
    home.run(&["doctor"]).done();
    let export = home.json(&["export", "--format", "json"]);
    let stored: BTreeMap<String, String> =
        export["memories"].as_array().unwrap().iter().map(|m| (string(&m["id"]), string(&m["content"]))).collect();
    let lost: Vec<_> = acknowledged.iter().filter(|(id, text)| stored.get(*id) != Some(*text)).collect();
    println!(
        "clients {CLIENTS} · kills {kills} · acknowledged {} · recalls {} · refused {} · stored {} · lost {} · checks clean",
        acknowledged.len(),
        field.recalled.into_inner(),
        field.refused.into_inner(),
        stored.len(),
        lost.len()
    );
    assert_eq!(lost, [], "acknowledged, and not there");
}
