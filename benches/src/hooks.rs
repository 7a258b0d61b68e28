//! What an assistant waits for: a new process for every hook, its event on standard input, against `/bin/true`.
//!
//! Clients wait for the end of the process, so that is what counts.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use serde_json::json;
use tempfile::TempDir;
use throughline::synthetic::{self, Dice};

use crate::Failure;
use crate::daemon::Daemon;
use crate::homes::{self, Size, Tier};
use crate::start::program;
use crate::table::{Times, markdown, ms, ratio};

const WARM_UP: usize = 10;

#[derive(Args)]
pub(crate) struct Hooks {
    #[command(flatten)]
    tier: Tier,
    /// How many processes of each sort
    #[arg(long, default_value_t = 200)]
    spawns: usize,
}

/// A memory, and what hooks took there.
struct Place {
    name: String,
    home: TempDir,
    /// Runs as long as the place is measured, where it does.
    _daemon: Option<Daemon>,
    starts: Times,
    prompts: Times,
}

impl Place {
    fn new(size: Size, with_daemon: bool) -> Result<Self, Failure> {
        let home = homes::copy(size)?;
        let daemon = if with_daemon { Some(Daemon::start(home.path())?) } else { None };
        let name = format!("{size}, {} daemon", if with_daemon { "a" } else { "no" });
        Ok(Self { name, home, _daemon: daemon, starts: Times::default(), prompts: Times::default() })
    }

    fn round(&mut self, program: &Path, at: usize, question: &str) -> Result<(), Failure> {
        let (home, session) = (self.home.path(), format!("s{at}"));
        let start = json!({ "session_id": session, "cwd": home, "source": "startup" });
        time(&mut self.starts, &mut hook(program, home, "session-start"), &start.to_string())?;
        let prompt = json!({ "session_id": session, "cwd": home, "prompt": question,
            "transcript_path": home.join("none.jsonl") });
        time(&mut self.prompts, &mut hook(program, home, "prompt"), &prompt.to_string())
    }
}

impl Hooks {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let program = program()?;
        let mut places = Vec::new();
        for size in self.tier.sizes()? {
            places.extend([Place::new(size, false)?, Place::new(size, true)?]);
        }
        let mut dice = Dice::new(5);
        let mut truth = Times::default();
        for at in 0..self.spawns + WARM_UP {
            if at == WARM_UP {
                truth = Times::default();
                places.iter_mut().for_each(|place| (place.starts, place.prompts) = Default::default());
            }
            time(&mut truth, &mut Command::new("/bin/true"), "")?;
            let question = synthetic::question(&mut dice);
            places.iter_mut().try_for_each(|place| place.round(&program, at, &question))?;
        }
        let row = |name: String, times: &Times| {
            let p50 = times.at(0.5);
            vec![name, ms(p50), ms(times.at(0.99)), ratio(p50, truth.at(0.5))]
        };
        let mut rows = vec![row("/bin/true".to_owned(), &truth)];
        for place in &places {
            rows.push(row(format!("hook session-start, {}", place.name), &place.starts));
            rows.push(row(format!("hook prompt, {}", place.name), &place.prompts));
        }
        Ok(markdown(&["process", "to end p50 ms", "p99 ms", "ratio p50"], &rows))
    }
}

fn hook(program: &Path, home: &Path, event: &str) -> Command {
    let mut command = Command::new(program);
    // The limit would hide how long it takes.
    command.args(["hook", event, "--client", "claude-code", "--deadline-ms", "60000"]).env("THROUGHLINE_HOME", home);
    command
}

fn time(times: &mut Times, command: &mut Command, stdin: &str) -> Result<(), Failure> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    // `/bin/true` does not read what it is told.
    let _ = child.stdin.take().ok_or("no input to write")?.write_all(stdin.as_bytes());
    let mut output = Vec::new();
    child.stdout.take().ok_or("no output to read")?.read_to_end(&mut output)?;
    let status = child.wait()?;
    times.push(start.elapsed());
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}
