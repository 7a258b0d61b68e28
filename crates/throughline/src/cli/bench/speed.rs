//! `throughline bench speed --entries N [--turns M]`

use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use throughline_core::engine::{ContextRequest, NewMemory, Said};
use throughline_core::model::{Role, SessionId, Turn, TurnId};
use throughline_core::recall::{Filter, RecallRequest, Terms};

use super::{Laboratory, Place, elapsed_ms, percentile};
use crate::cli::failure::Failure;
use crate::cli::reply::Reply;
use crate::cli::{Answer, keep, style};
use crate::synthetic::{self, Dice};
use crate::world::{self, Durability, PlainFts5};

/// Questions per measurement, and how many of them only warm up.
const QUESTIONS: usize = 300;
const WARM_UP: usize = 30;
const INSERTS: usize = 100;

/// Questions for FTS5, which takes seconds for some at a million, and how many hits it is asked for.
const COMPARED: usize = 100;
const HITS: usize = 20;

/// Processes of each sort, and the conversations that the hooks belong to: each sees about ten messages.
const HOOKS: usize = 100;
const SESSIONS: u64 = 12;

/// How often to look whether the word index is merged.
const PAUSE: Duration = Duration::from_millis(50);

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
    /// Keep the memory in this directory and use it again: filling takes minutes
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Sorted times in milliseconds: by the clock, and of the processor where it is this thread that works.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

/// The times of each verb.
type Verbs = Vec<(&'static str, Times)>;

/// What a recall is compared with, in the same run.
struct Compared {
    /// FTS5 with every word of the questions, and without stop words.
    fts5: [(&'static str, Times); 2],
    /// What the word index takes for each memory and turn.
    bytes: f64,
}

impl SpeedBench {
    pub(in crate::cli) fn run(self) -> Answer {
        let laboratory = self.laboratory()?;
        let mut verbs = vec![
            ("recall", measure(QUESTIONS, |dice| recall(&laboratory, dice))?),
            ("context", measure(QUESTIONS, |dice| context(&laboratory, dice))?),
            ("remember", measure(INSERTS, |dice| remember(&laboratory, dice))?),
            ("observe", measure(INSERTS, |dice| observe(&laboratory, dice))?),
        ];
        let compared = self.compare(&laboratory)?;
        // Nobody else has the memory open when a hook begins.
        let Laboratory { engine, store, directory, .. } = laboratory;
        drop((engine, store));
        let hooks = Hooks::new(directory.path())?;
        for (verb, mut times) in [
            ("hook", measure(HOOKS, |dice| hooks.prompt(dice.below(SESSIONS), &synthetic::question(dice)))?),
            ("version", measure(HOOKS, |_| hooks.version())?),
        ] {
            // Another process does the work.
            times.cpu.clear();
            verbs.push((verb, times));
        }
        Ok(self.told(&verbs, &compared))
    }

    /// The bare search by FTS5, of the same texts for the same questions.
    fn compare(&self, laboratory: &Laboratory) -> Result<Compared, Failure> {
        let memory = laboratory.directory.path().join("memory.db");
        let beside = tempfile::tempdir().map_err(|error| Failure::io("make a temporary directory", &error))?;
        let fts5 = PlainFts5::of(&memory, &beside.path().join("fts5.db"))?;
        let searched = |has_every_word: bool| {
            measure(COMPARED, |dice| {
                let words = Terms::of_query(&synthetic::question(dice));
                let stopped = if has_every_word { words.clone().stopped() } else { Terms::default() };
                fts5.search(&[words.as_slice(), stopped.as_slice()].concat(), HITS).map(drop).map_err(Failure::from)
            })
        };
        let there = laboratory.engine.health().overview()?.store;
        Ok(Compared {
            fts5: [("fts5_every_word", searched(true)?), ("fts5_without_stop_words", searched(false)?)],
            bytes: world::index_bytes(&memory)? as f64 / ((there.knowledge + there.turns).max(1) as f64),
        })
    }

    /// A memory of the wanted size, its word index built and merged.
    fn laboratory(&self) -> Result<Laboratory, Failure> {
        let laboratory = match &self.keep {
            Some(directory) => {
                world::private_directory(directory)?;
                Laboratory::open_at(Place::Kept(directory.clone()), Durability::Full)?
            }
            None => Laboratory::open(Durability::Full)?,
        };
        laboratory.clock.set(fill_until());
        let there = laboratory.engine.health().overview()?.store;
        fill(&laboratory, self.entries.saturating_sub(there.knowledge))?;
        converse(&laboratory, there.turns..self.turns)?;
        while laboratory.engine.health().has_upkeep() {
            std::thread::sleep(PAUSE);
        }
        laboratory.store.keep_up()?;
        Ok(laboratory)
    }

    fn told(&self, verbs: &Verbs, compared: &Compared) -> Reply {
        let shares = |times: &[f64]| match times {
            [] => [const { String::new() }; 3],
            _ => [0.5, 0.9, 0.99].map(|share| format!("{:.3}", percentile(times, share))),
        };
        let all = verbs.iter().take(1).chain(&compared.fts5).chain(verbs.iter().skip(1));
        let rows = all.map(|(verb, times)| {
            let verb = std::iter::once((*verb).to_owned());
            verb.chain(shares(&times.wall)).chain(shares(&times.cpu)).collect()
        });
        let text = format!(
            "{}, {}; a hook is a whole process, and so is `--version`\n{}\n{:.0} bytes of word index for each\n{}",
            style::count(self.entries, "memory", "memories"),
            style::count(self.turns, "turn", "turns"),
            ratios(verbs, compared),
            compared.bytes,
            style::table(&["verb", "p50 ms", "p90 ms", "p99 ms", "CPU p50 ms", "p90 ms", "p99 ms"], rows.collect())
        );
        let body = json!({
            "entries": self.entries,
            "turns": self.turns,
            "verbs": told_times(verbs),
            "compared": told_times(&compared.fts5),
            "index_bytes_per_memory": compared.bytes,
        });
        Reply::new(&body, text)
    }
}

/// How a whole recall compares with the bare search of FTS5.
fn ratios(verbs: &Verbs, compared: &Compared) -> String {
    let Some((_, recall)) = verbs.iter().find(|(verb, _)| *verb == "recall") else { return String::new() };
    let [every, without] = compared.fts5.each_ref().map(|(_, fts5)| {
        [0.5, 0.99].map(|share| percentile(&recall.cpu, share) / percentile(&fts5.cpu, share).max(f64::MIN_POSITIVE))
    });
    format!(
        "recall takes {:.2} × (p99 {:.2} ×) of what FTS5 takes for every word, {:.2} × (p99 {:.2} ×) without stop words; CPU",
        every[0], every[1], without[0], without[1]
    )
}

fn told_times(times: &[(&'static str, Times)]) -> serde_json::Map<String, serde_json::Value> {
    let told = |(name, Times { wall, cpu }): &(&str, Times)| {
        let mut value = json!({ "p50_ms": percentile(wall, 0.5), "p99_ms": percentile(wall, 0.99) });
        if !cpu.is_empty() {
            value["cpu_p50_ms"] = percentile(cpu, 0.5).into();
            value["cpu_p99_ms"] = percentile(cpu, 0.99).into();
        }
        ((*name).to_owned(), value)
    };
    times.iter().map(told).collect()
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

    fn prompt(&self, session: u64, question: &str) -> Result<(), Failure> {
        let event = json!({ "session_id": session.to_string(), "cwd": self.home, "prompt": question,
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

/// Adds conversations that were read already, as an import does: a memory in use has hardly any that wait.
fn converse(laboratory: &Laboratory, turns: Range<u64>) -> Result<(), Failure> {
    let bar = keep::bar("turns");
    let mut dice = Dice::new(3);
    let all: Vec<u64> = turns.collect();
    bar.set_length(all.len() as u64);
    for batch in all.chunks(5_000) {
        let turns: Vec<Turn> = batch.iter().map(|nth| turn(*nth, &mut dice)).collect::<Result<_, Failure>>()?;
        laboratory.store.append_imported(&[], &turns)?;
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    Ok(())
}

fn turn(nth: u64, dice: &mut Dice) -> Result<Turn, Failure> {
    let session = SessionId::on_channel("made", &(nth / TURNS).to_string())?;
    let Said { role, content, .. } = said(nth, dice);
    let id = TurnId::of_host(&session, &nth.to_string());
    Ok(Turn { id, session, role, speaker: None, content, at: fill_until() })
}

/// The person and the assistant take turns.
fn said(nth: u64, dice: &mut Dice) -> Said {
    let role = if nth.is_multiple_of(2) { Role::User } else { Role::Assistant };
    Said::now(role, synthetic::memory(dice))
}

/// The sorted times of `n` runs, after warming up.
fn measure(n: usize, mut run: impl FnMut(&mut Dice) -> Result<(), Failure>) -> Result<Times, Failure> {
    let mut dice = Dice::new(2);
    let mut times = Times::default();
    for at in 0..n + WARM_UP {
        let (start, cpu) = (Instant::now(), cpu_ms());
        run(&mut dice)?;
        if at >= WARM_UP {
            times.wall.push(elapsed_ms(start));
            times.cpu.push(cpu_ms() - cpu);
        }
    }
    times.wall.sort_by(f64::total_cmp);
    times.cpu.sort_by(f64::total_cmp);
    Ok(times)
}

/// What this thread had of a processor: a busy machine changes it little.
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
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
