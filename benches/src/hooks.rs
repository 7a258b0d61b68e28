//! What an assistant waits for: a new process for every hook, its event on standard input, against `/bin/true`.
//!
//! Clients wait for the end of the process, so that is what counts.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use serde_json::json;
use throughline::synthetic::{self, Dice};

use crate::start::program;
use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};
use throughline::world::Durability;

const WARM_UP: usize = 10;

#[derive(Args)]
pub(crate) struct Hooks {
    /// How many memories the homes have
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000])]
    sizes: Vec<u64>,
    /// How many processes of each sort
    #[arg(long, default_value_t = 200)]
    spawns: usize,
}

impl Hooks {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let program = program()?;
        let mut homes = Vec::new();
        for &size in &self.sizes {
            let home = tempfile::tempdir()?;
            laboratory::fill(&laboratory::open(home.path(), Durability::Process)?, size)?;
            std::fs::create_dir_all(home.path().join("user"))?;
            std::fs::write(home.path().join("user/profile.md"), "- My name is Ada. I like short answers.\n")?;
            homes.push((size, home));
        }
        let mut dice = Dice::new(5);
        let mut truth = Times::default();
        let mut ours = vec![(Times::default(), Times::default()); homes.len()];
        for at in 0..self.spawns + WARM_UP {
            if at == WARM_UP {
                truth = Times::default();
                ours.fill((Times::default(), Times::default()));
            }
            time(&mut truth, &mut Command::new("/bin/true"), "")?;
            let question = synthetic::question(&mut dice);
            for ((_, home), (starts, prompts)) in homes.iter().zip(&mut ours) {
                let session = format!("s{at}");
                let start = json!({ "session_id": session, "cwd": home.path(), "source": "startup" });
                time(starts, &mut hook(&program, home.path(), "session-start"), &start.to_string())?;
                let prompt = json!({ "session_id": session, "cwd": home.path(), "prompt": question,
                    "transcript_path": home.path().join("none.jsonl") });
                time(prompts, &mut hook(&program, home.path(), "prompt"), &prompt.to_string())?;
            }
        }
        let row = |name: String, times: &Times| {
            let p50 = times.at(0.5);
            vec![name, ms(p50), ms(times.at(0.99)), ratio(p50, truth.at(0.5))]
        };
        let mut rows = vec![row("/bin/true".to_owned(), &truth)];
        for ((size, _), (starts, prompts)) in homes.iter().zip(&ours) {
            rows.push(row(format!("hook session-start, {size} memories"), starts));
            rows.push(row(format!("hook prompt, {size} memories"), prompts));
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
