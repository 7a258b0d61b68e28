//! The daemon under load on loopback, driven by `wrk`, against the same verbs called in this process by as many threads.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline::world::Durability;
use throughline_core::engine::{Engine, NewMemory};
use throughline_core::recall::{Filter, RecallRequest};

use crate::daemon::{Daemon, cpu_of_this_process};
use crate::homes::{self, Size};
use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

/// What `wrk` does with each connection.
const SCRIPT: &str = include_str!("load.lua");

/// Different requests, asked over and over.
const BODIES: usize = 60_000;

/// How long the daemon has to give memory back, in seconds.
const REST: u64 = 90;

#[derive(Args)]
pub(crate) struct Load {
    /// How many memories there are
    #[arg(long, default_value_t = 100_000)]
    entries: u64,
    /// How many clients ask at once
    #[arg(long, default_value_t = 32)]
    clients: usize,
    /// Seconds for each figure
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Minutes of both verbs at once, to see whether memory stays flat
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// With vectors and the built-in embedder, instead of words alone
    #[arg(long)]
    vectors: bool,
}

/// A verb, over HTTP and in this process.
struct Verb {
    name: &'static str,
    path: &'static str,
    body: fn(&mut Dice) -> String,
    call: fn(&Engine, &mut Dice) -> Result<(), Failure>,
}

const VERBS: [Verb; 2] = [
    Verb { name: "recall", path: "/api/recall", body: |dice| json("query", &synthetic::question(dice)), call: recall },
    Verb { name: "remember", path: "/api/memories", body: |dice| json("content", &unique(dice)), call: remember },
];

fn json(field: &str, text: &str) -> String {
    format!("{{{field:?}:{text:?}}}")
}

fn unique(dice: &mut Dice) -> String {
    format!("{} {}", synthetic::memory(dice), dice.roll())
}

fn recall(engine: &Engine, dice: &mut Dice) -> Result<(), Failure> {
    let filter = Filter::recallable(engine.now());
    engine.recall().recall(&RecallRequest { query: synthetic::question(dice), limit: 10, filter })?;
    Ok(())
}

fn remember(engine: &Engine, dice: &mut Dice) -> Result<(), Failure> {
    engine.memories().remember(&NewMemory::fact(unique(dice)))?;
    Ok(())
}

/// What came of some seconds of load.
struct Figures {
    rate: f64,
    p50: f64,
    p99: f64,
    errors: u64,
    /// Processor time of one call, in milliseconds.
    cpu: f64,
}

impl Load {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let home = self.home()?;
        let engine = laboratory::open(home.path(), Durability::Full)?;
        let driven = Driven::start(home.path())?;
        let idle = driven.rested()?;
        let seconds = Duration::from_secs(self.seconds);
        let (mut rows, mut told) = (Vec::new(), String::new());
        for verb in &VERBS {
            let mut rates = Vec::new();
            for clients in [1, self.clients] {
                let inside = in_process(&engine, verb, clients, seconds)?;
                let outside = driven.wrk(verb, clients, self.seconds)?;
                rows.push(row(verb, clients, &inside, &outside));
                rates.push(outside.rate);
            }
            let (name, clients) = (verb.name, self.clients);
            told.push_str(&format!(
                "\n{name}: {} as many with {clients} clients as with one",
                ratio(rates[1], rates[0])
            ));
        }
        let head = [
            "verb",
            "clients",
            "over HTTP",
            "p50 ms",
            "p99 ms",
            "errors",
            "in process",
            "p50 ms",
            "p99 ms",
            "rate",
            "p50",
            "CPU over HTTP ms",
            "in process ms",
            "CPU",
        ];
        let flat = self.flat(&driven)?;
        let after = driven.rested()?;
        Ok(format!(
            "{}{told}\n{flat}resident memory in MB: idle {idle}, {REST} s after the load {after}\n",
            markdown(&head, &rows)
        ))
    }

    /// A memory of the size that is asked for.
    fn home(&self) -> Result<tempfile::TempDir, Failure> {
        if self.vectors {
            return homes::copy(Size { memories: self.entries, turns: 0 });
        }
        let home = tempfile::tempdir()?;
        std::fs::write(
            home.path().join("config.toml"),
            "[memory]\nuser_namespace = \"user\"\n[embeddings]\nprovider = \"none\"\n",
        )?;
        laboratory::fill(&laboratory::open(home.path(), Durability::Process)?, self.entries)?;
        Ok(home)
    }

    /// Both verbs at once for minutes; how much memory the daemon has after each.
    fn flat(&self, driven: &Driven) -> Result<String, Failure> {
        let [recall, remember] = &VERBS;
        let (mut resident, mut errors) = (vec![driven.daemon.resident()?], 0);
        for _ in 0..self.minutes {
            let half = self.clients.div_ceil(2);
            let (one, other) = std::thread::scope(|scope| {
                let one = scope.spawn(|| driven.wrk(recall, half, 60));
                (driven.wrk(remember, half, 60), one.join())
            });
            let other = other.map_err(|_| "wrk was lost")??;
            errors += one?.errors + other.errors;
            resident.push(driven.daemon.resident()?);
        }
        let resident: Vec<String> = resident.iter().map(u64::to_string).collect();
        Ok(format!("\nresident memory in MB, minute by minute: {}; errors: {errors}\n", resident.join(" ")))
    }
}

fn row(verb: &Verb, clients: usize, inside: &Figures, outside: &Figures) -> Vec<String> {
    let each = |rate: f64| format!("{rate:.0}/s");
    vec![
        verb.name.to_owned(),
        clients.to_string(),
        each(outside.rate),
        ms(outside.p50),
        ms(outside.p99),
        outside.errors.to_string(),
        each(inside.rate),
        ms(inside.p50),
        ms(inside.p99),
        ratio(outside.rate, inside.rate),
        ratio(outside.p50, inside.p50),
        ms(outside.cpu),
        ms(inside.cpu),
        ratio(outside.cpu, inside.cpu),
    ]
}

/// The verb itself, by as many threads as there would be clients.
fn in_process(engine: &Engine, verb: &Verb, clients: usize, lasting: Duration) -> Result<Figures, Failure> {
    let (all, began) = (Mutex::new((Times::default(), 0_u64)), Instant::now());
    let before = cpu_of_this_process()?;
    std::thread::scope(|scope| {
        let work = |number: usize| {
            let (mut dice, mut times, mut errors) = (Dice::new(100 + number as u64), Times::default(), 0);
            while began.elapsed() < lasting {
                errors += u64::from(times.time(|| (verb.call)(engine, &mut dice)).is_err());
            }
            if let Ok(mut all) = all.lock() {
                all.0.join(times);
                all.1 += errors;
            }
        };
        for number in 0..clients {
            scope.spawn(move || work(number));
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    let (times, errors) = all.into_inner().map_err(|_| "a thread was lost")?;
    let cpu = (cpu_of_this_process()? - before).as_secs_f64() * 1000.0 / times.len().max(1) as f64;
    Ok(Figures { rate: times.len() as f64 / seconds, p50: times.at(0.5), p99: times.at(0.99), errors, cpu })
}

/// A daemon, and what `wrk` asks it.
struct Driven {
    daemon: Daemon,
    scratch: tempfile::TempDir,
    runs: AtomicU64,
}

impl Driven {
    fn start(home: &Path) -> Result<Self, Failure> {
        let driven = Self { daemon: Daemon::start(home)?, scratch: tempfile::tempdir()?, runs: AtomicU64::new(0) };
        std::fs::write(driven.scratch.path().join("load.lua"), SCRIPT)?;
        Ok(driven)
    }

    /// What is asked: every run has bodies of its own, so that nothing is remembered twice.
    fn bodies(&self, verb: &Verb) -> Result<std::path::PathBuf, Failure> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let (path, mut dice) = (self.scratch.path().join(format!("{}{run}", verb.name)), Dice::new(9 + run));
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
        for _ in 0..BODIES {
            writeln!(file, "{}", (verb.body)(&mut dice))?;
        }
        file.flush()?;
        Ok(path)
    }

    /// The resident memory after some rest.
    fn rested(&self) -> Result<u64, Failure> {
        std::thread::sleep(Duration::from_secs(REST));
        self.daemon.resident()
    }

    fn wrk(&self, verb: &Verb, clients: usize, seconds: u64) -> Result<Figures, Failure> {
        let mut command = Command::new("wrk");
        command.args(["-t", &clients.min(2).to_string(), "-c", &clients.to_string(), "-d", &seconds.to_string()]);
        command.args(["--timeout", "60s", "-s"]).arg(self.scratch.path().join("load.lua"));
        command.arg(format!("{}{}", self.daemon.url, verb.path));
        let (bodies, before) = (self.bodies(verb)?, self.daemon.cpu()?);
        let output = command.env("BODIES", bodies).env("TOKEN", &self.daemon.token).output();
        let output = output.map_err(|error| format!("wrk cannot be started ({error}): apt-get install wrk"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let result = text.lines().find_map(|line| line.strip_prefix("RESULT "));
        let numbers: Vec<f64> = result.unwrap_or_default().split(' ').filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [calls, rate, p50, p99, errors] => {
                let cpu = (self.daemon.cpu()? - before).as_secs_f64() * 1000.0 / calls.max(1.0);
                Ok(Figures { rate, p50, p99, errors: errors as u64, cpu })
            }
            _ => Err(format!("wrk says: {text}{}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }
}
