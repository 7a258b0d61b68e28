//! `throughline bench speed --entries N [--turns M]`

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use serde_json::json;
use throughline_core::engine::{ContextRequest, NewMemory, Said};
use throughline_core::model::{Role, SessionId};
use throughline_core::recall::{Filter, RecallRequest};

use super::{Laboratory, elapsed_ms, percentile};
use crate::cli::failure::Failure;
use crate::cli::reply::Reply;
use crate::cli::{Answer, keep, style};
use crate::synthetic::{self, Dice};
use crate::world::{self, Durability};

/// Questions per measurement, and how many of them only warm up.
const QUESTIONS: usize = 300;
const WARM_UP: usize = 30;
const INSERTS: usize = 100;

/// Processes of each sort.
const HOOKS: usize = 100;

/// Turns of one made-up conversation.
const TURNS: u64 = 40;

/// Measure latencies at a size of your choice
#[derive(Args)]
pub(in crate::cli) struct SpeedBench {
    /// How many memories to fill it with
    #[arg(long, default_value_t = 10_000)]
    entries: u64,
    /// How many turns of conversations to add
    #[arg(long, default_value_t = 0)]
    turns: u64,
}

/// The sorted times of each verb, in milliseconds.
type Verbs = Vec<(&'static str, Vec<f64>)>;

impl SpeedBench {
    pub(in crate::cli) fn run(self) -> Answer {
        let laboratory = Laboratory::open(Durability::Full)?;
        laboratory.clock.set(fill_until());
        fill(&laboratory, self.entries)?;
        converse(&laboratory, self.turns)?;
        let mut verbs = vec![
            ("recall", measure(QUESTIONS, |dice| recall(&laboratory, dice))?),
            ("context", measure(QUESTIONS, |dice| context(&laboratory, dice))?),
            ("remember", measure(INSERTS, |dice| remember(&laboratory, dice))?),
            ("observe", measure(INSERTS, |dice| observe(&laboratory, dice))?),
        ];
        // Nobody else has the memory open when a hook begins.
        let Laboratory { engine, store, directory, .. } = laboratory;
        drop((engine, store));
        let hooks = Hooks::new(directory.path())?;
        verbs.push(("hook", measure(HOOKS, |dice| hooks.prompt(&synthetic::question(dice)))?));
        verbs.push(("version", measure(HOOKS, |_| hooks.version())?));
        Ok(self.told(&verbs))
    }

    fn told(&self, verbs: &Verbs) -> Reply {
        let milliseconds = |value: f64| format!("{value:.3}");
        let rows = verbs.iter().map(|(verb, times)| {
            let shares = [0.5, 0.9, 0.99].map(|share| milliseconds(percentile(times, share)));
            std::iter::once((*verb).to_owned()).chain(shares).collect()
        });
        let text = format!(
            "{}, {}; a hook is a whole process, and so is `--version`\n{}",
            style::count(self.entries, "memory", "memories"),
            style::count(self.turns, "turn", "turns"),
            style::table(&["verb", "p50 ms", "p90 ms", "p99 ms"], rows.collect())
        );
        let body: serde_json::Map<String, serde_json::Value> = verbs
            .iter()
            .map(|(verb, times)| {
                let value = json!({ "p50_ms": percentile(times, 0.5), "p99_ms": percentile(times, 0.99) });
                ((*verb).to_owned(), value)
            })
            .collect();
        Reply::new(&json!({ "entries": self.entries, "turns": self.turns, "verbs": body }), text)
    }
}

/// Runs this program as an assistant does, on a memory that nobody has open.
struct Hooks<'a> {
    program: PathBuf,
    home: &'a Path,
}

impl<'a> Hooks<'a> {
    fn new(home: &'a Path) -> Result<Self, Failure> {
        let program = world::program().map_err(|error| Failure::io("tell where this program is", &error))?;
        Ok(Self { program, home })
    }

    fn prompt(&self, question: &str) -> Result<(), Failure> {
        let event = json!({ "session_id": "bench", "cwd": self.home, "prompt": question,
            "transcript_path": self.home.join("none.jsonl") });
        // The limit would hide how long it takes.
        self.run(&["hook", "prompt", "--client", "claude-code", "--deadline-ms", "60000"], &event.to_string())
    }

    fn version(&self) -> Result<(), Failure> {
        self.run(&["--version"], "")
    }

    fn run(&self, args: &[&str], stdin: &str) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::io("run a hook", &error);
        let mut command = Command::new(&self.program);
        command.args(args).env("THROUGHLINE_HOME", self.home).env("THROUGHLINE_NOW", fill_until().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut input) = child.stdin.take() {
            // `--version` does not read what it is told.
            let _ = input.write_all(stdin.as_bytes());
        }
        child.wait_with_output().map(drop).map_err(failed)
    }
}

fn fill_until() -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_780_000_000).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// Fills the memory as an import does: many in one transaction.
fn fill(laboratory: &Laboratory, entries: u64) -> Result<(), Failure> {
    let bar = keep::bar("memories");
    bar.set_length(entries);
    let mut dice = Dice::new(1);
    let mut left = entries;
    while left > 0 {
        let batch = left.min(5_000);
        let news: Vec<NewMemory> = (0..batch).map(|_| NewMemory::fact(synthetic::memory(&mut dice))).collect();
        laboratory.engine.memories().remember_all(&news)?;
        bar.inc(batch);
        left -= batch;
    }
    bar.finish_and_clear();
    Ok(())
}

/// Adds conversations of as many turns as one transaction takes.
fn converse(laboratory: &Laboratory, turns: u64) -> Result<(), Failure> {
    let bar = keep::bar("turns");
    bar.set_length(turns);
    let mut dice = Dice::new(3);
    let mut left = turns;
    while left > 0 {
        let batch = left.min(TURNS);
        let said: Vec<Said> = (0..batch).map(|nth| said(nth, &mut dice)).collect();
        let session = SessionId::on_channel("made", &left.to_string())?;
        laboratory.engine.sessions().observe(&session, &said)?;
        bar.inc(batch);
        left -= batch;
    }
    bar.finish_and_clear();
    Ok(())
}

/// The person and the assistant take turns.
fn said(nth: u64, dice: &mut Dice) -> Said {
    let role = if nth.is_multiple_of(2) { Role::User } else { Role::Assistant };
    Said::now(role, synthetic::memory(dice))
}

/// The sorted times of `n` runs, after warming up.
fn measure(n: usize, mut run: impl FnMut(&mut Dice) -> Result<(), Failure>) -> Result<Vec<f64>, Failure> {
    let mut dice = Dice::new(2);
    let mut times = Vec::with_capacity(n);
    for at in 0..n + WARM_UP {
        let start = Instant::now();
        run(&mut dice)?;
        if at >= WARM_UP {
            times.push(elapsed_ms(start));
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

fn recall(laboratory: &Laboratory, dice: &mut Dice) -> Result<(), Failure> {
    let filter = Filter::recallable(laboratory.engine.now());
    laboratory.engine.recall().recall(&RecallRequest { query: synthetic::question(dice), limit: 10, filter })?;
    Ok(())
}

fn context(laboratory: &Laboratory, dice: &mut Dice) -> Result<(), Failure> {
    let message = Some(synthetic::question(dice));
    laboratory.engine.context().prepare(&ContextRequest { message, ..ContextRequest::default() })?;
    Ok(())
}

fn observe(laboratory: &Laboratory, dice: &mut Dice) -> Result<(), Failure> {
    let session = SessionId::on_channel("made", "observed")?;
    laboratory.engine.sessions().observe(&session, &[said(0, dice)])?;
    Ok(())
}

fn remember(laboratory: &Laboratory, dice: &mut Dice) -> Result<(), Failure> {
    laboratory.engine.memories().remember(&NewMemory::fact(synthetic::memory(dice)))?;
    Ok(())
}
