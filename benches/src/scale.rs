//! What a day of one person costs a PostgreSQL server, and a model of many people, checked against a measured run.
//!
//! Measured: bytes, write-ahead log, round trips and processor time of made-up days, each person in a space of their own; then the
//! rate of one verb with more and more clients at once. The model knows only what one client took, predicts the other rates, and the
//! table says how far it is off. From the same seed and measurements, it gives the same figures.

mod model;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::Args;
use throughline::synthetic::Dice;
use throughline_testkit::postgres::Server;

use crate::Failure;
use crate::daemon::cpu_of_this_process;
use crate::shared::{Crowd, VERBS, crowd, open, server};
use crate::table::{markdown, ms};
use model::{Machine, Plan, imbalance};

/// What somebody does in a day, by the names of the verbs: thirty messages and their replies in six conversations.
const DAY: [(&str, usize); 4] = [("context", 30), ("observe", 60), ("remember", 5), ("recall", 5)];

#[derive(Args)]
pub(crate) struct Scale {
    /// How many people there are
    #[arg(long, default_value_t = 8)]
    people: usize,
    /// How many days each of them lives through
    #[arg(long, default_value_t = 10)]
    days: usize,
    /// Seconds for each measured rate
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// What one person costs in one day.
struct Cost {
    round_trips: f64,
    transactions: f64,
    stored: f64,
    log: f64,
    /// Processor time of the server, in milliseconds.
    processor: f64,
}

impl Scale {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let (server, url) = server()?;
        let cost = self.lived(&server, &url)?;
        let Cost { round_trips, transactions, stored, log, processor } = cost;
        let figures = [
            ("round trips", format!("{round_trips:.0}")),
            ("transactions", format!("{transactions:.0}")),
            ("stored, in kB", format!("{:.0}", stored / 1e3)),
            ("write-ahead log, in kB", format!("{:.0}", log / 1e3)),
            ("processor time of the server, in ms", format!("{processor:.0}")),
        ];
        let rows: Vec<Vec<String>> = figures.into_iter().map(|(name, figure)| vec![name.to_owned(), figure]).collect();
        let mut told = markdown(&["a person and day", "measured"], &rows);
        for (name, _) in DAY {
            told.push_str(&format!("\n{}", self.modelled(&server, &url, name)?));
        }
        Ok(told + "\n" + &projected(&cost))
    }

    /// Days of people, one after the other.
    fn lived(&self, server: &Server, url: &str) -> Result<Cost, Failure> {
        let people = (0..self.people).map(|nth| open(url, &format!("person-{nth}"))).collect::<Result<Vec<_>, _>>()?;
        // What a space has from the start is no part of a day.
        let (before, worked_before) = (counters(server)?, server.processor_time());
        let trips = || people.iter().map(|person| (person.round_trips)()).sum::<u64>();
        let trips_before = trips();
        let mut dice = Dice::new(11);
        for day in 0..self.days {
            for person in &people {
                for (name, count) in DAY {
                    let Some((_, verb)) = VERBS.into_iter().find(|(known, _)| *known == name) else { continue };
                    (0..count).try_for_each(|at| verb(&person.engine, &mut dice, day * 120 + at))?;
                }
            }
        }
        let (after, person_days) = (counters(server)?, (self.people * self.days) as f64);
        let processor = (server.processor_time() - worked_before).as_secs_f64() * 1000.0 / person_days;
        let each = |at: usize| (after[at] - before[at]) / person_days;
        let round_trips = (trips() - trips_before) as f64 / person_days;
        Ok(Cost { round_trips, stored: each(0), log: each(1), transactions: each(2), processor })
    }

    /// The rates that were measured, those that the model predicts from the first, and what one call takes.
    fn modelled(&self, server: &Server, url: &str, name: &str) -> Result<String, Failure> {
        let Some((_, verb)) = VERBS.into_iter().find(|(known, _)| *known == name) else {
            return Err("no such verb".into());
        };
        let run = |clients: usize, options: &str| -> Result<(Crowd, f64), Failure> {
            let url = format!("{url}{options}");
            let running = Running::watch();
            let crowd = crowd(clients, Duration::from_secs(self.seconds), verb, |nth| {
                Ok(open(&url, &format!("person-{nth}"))?.engine)
            })?;
            Ok((crowd, running.mean()))
        };
        let (unsynced, ..) = run(1, "&options=-c%20synchronous_commit%3Doff")?;
        let (ours, its) = (cpu_of_this_process()?, server.processor_time());
        let (one, _) = run(1, "")?;
        let (ours, its) = (cpu_of_this_process()? - ours, server.processor_time() - its);
        let [client, on_server] = [ours, its].map(|time| time.as_secs_f64() * 1000.0 / one.times.len().max(1) as f64);
        let machine = Machine::of(&one, &unsynced, client + on_server);
        let mut rows = Vec::new();
        for clients in [1, 2, 4, 8, 16] {
            let (measured, running) = run(clients, "")?;
            // Those of ours that want to run are among them.
            let others = (running - clients.min(machine.processors) as f64).max(0.0);
            let predicted = Plan { clients, others, seed: 3 }.rate(&machine);
            let error = 100.0 * (predicted - measured.rate) / measured.rate;
            rows.push(vec![
                name.to_owned(),
                clients.to_string(),
                format!("{:.0}/s", measured.rate),
                format!("{predicted:.0}/s"),
                format!("{error:+.0} %"),
                format!("{running:.1}"),
            ]);
        }
        let head = ["verb", "clients", "measured", "model", "error", "processes that wanted to run"];
        let told = format!(
            "{}one call: {} ms of processor on the server, {} ms in the client, {} ms of waiting for the disk\n",
            markdown(&head, &rows),
            ms(on_server),
            ms(client),
            ms(machine.wait)
        );
        Ok(told)
    }
}

/// Bytes of the database, bytes of log and transactions so far.
fn counters(server: &Server) -> Result<[f64; 3], Failure> {
    let told = server.run(
        "CHECKPOINT; SELECT pg_database_size('throughline') || ' ' || (pg_current_wal_lsn() - '0/0') || ' ' || \
         (SELECT xact_commit FROM pg_stat_database WHERE datname = 'throughline')",
    );
    let numbers = told.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    numbers.try_into().map_err(|_| "the server says something else".into())
}

/// What a million people need, by the busy hour: a tenth of a day's calls.
fn projected(cost: &Cost) -> String {
    const PEOPLE: f64 = 1e6;
    let day = cost.processor;
    let busy = 0.1 * day / 1000.0;
    let people_a_core = 0.6 * 3600.0 / busy;
    let rows = [
        ("processor time of the server for a person and day", format!("{:.1} s", day / 1000.0)),
        ("people for each core, 60 % busy in an hour with a tenth of the day's calls", format!("{people_a_core:.0}")),
        ("cores for a million people", format!("{:.0}", PEOPLE / people_a_core)),
        (
            "stored for a million people in a year, before replicas",
            format!("{:.1} TB", cost.stored * 365.0 * PEOPLE / 1e12),
        ),
        (
            "round trips a second for a million people, in the busy hour",
            format!("{:.0}", PEOPLE * cost.round_trips * 0.1 / 3600.0),
        ),
        ("the busiest of 64 nodes, people spread by a hash", format!("{:.2} × the mean", imbalance(1_000_000, 64, 5))),
        ("the busiest of 512 nodes", format!("{:.2} × the mean", imbalance(1_000_000, 512, 5))),
    ];
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, figure)| vec![name.to_owned(), figure]).collect();
    markdown(&["projected", "figure"], &rows)
}

/// How many processes want to run, sampled while something is measured.
struct Running {
    is_over: Arc<AtomicBool>,
    samples: JoinHandle<Vec<f64>>,
}

impl Running {
    fn watch() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let samples = std::thread::spawn(move || {
            let mut samples = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                samples.extend(wanting());
            }
            samples
        });
        Self { is_over, samples }
    }

    fn mean(self) -> f64 {
        self.is_over.store(true, Ordering::Relaxed);
        let samples = self.samples.join().unwrap_or_default();
        samples.iter().sum::<f64>() / samples.len().max(1) as f64
    }
}

/// Processes that run or want to, without the one that asks.
fn wanting() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("procs_running "))?;
    Some((line.trim().parse::<f64>().ok()? - 1.0).max(0.0))
}
