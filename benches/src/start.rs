//! From nothing to an answer: a new process for each, against `/bin/true`, which is what starting any process takes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use throughline::synthetic::{self, Dice};
use throughline_sqlite::Durability;

use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};

const WARM_UP: usize = 10;

#[derive(Args)]
pub(crate) struct Start {
    /// How many memories the homes have
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000])]
    sizes: Vec<u64>,
    /// How many processes of each sort
    #[arg(long, default_value_t = 200)]
    spawns: usize,
}

impl Start {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let program = program()?;
        let mut homes = Vec::new();
        for &size in &self.sizes {
            let home = tempfile::tempdir()?;
            laboratory::fill(&laboratory::open(home.path(), Durability::Process)?, size)?;
            homes.push((size, home));
        }
        let mut dice = Dice::new(4);
        let (mut truth, mut version) = (Times::default(), Times::default());
        let mut recalls = vec![Times::default(); homes.len()];
        for at in 0..self.spawns + WARM_UP {
            if at == WARM_UP {
                (truth, version) = (Times::default(), Times::default());
                recalls.fill(Times::default());
            }
            truth.time(|| run(&mut Command::new("/bin/true"), 0))?;
            version.time(|| run(Command::new(&program).arg("--version"), 0))?;
            let question = synthetic::question(&mut dice);
            for ((_, home), times) in homes.iter().zip(&mut recalls) {
                // 1 says that nothing was found, which is an answer too.
                times.time(|| run(recall(&program, home.path(), &question).arg("--json"), 1))?;
            }
        }
        let mut rows = vec![row("/bin/true", &truth, &truth), row("throughline --version", &version, &truth)];
        for ((size, _), times) in homes.iter().zip(&recalls) {
            rows.push(row(&format!("throughline recall, {size} memories"), times, &truth));
        }
        Ok(markdown(&["process", "p50 ms", "p99 ms", "ratio p50", "added p50 ms"], &rows))
    }
}

fn row(name: &str, times: &Times, truth: &Times) -> Vec<String> {
    let (ours, theirs) = (times.at(0.5), truth.at(0.5));
    vec![name.to_owned(), ms(ours), ms(times.at(0.99)), ratio(ours, theirs), ms(ours - theirs)]
}

fn recall(program: &Path, home: &Path, question: &str) -> Command {
    let mut command = Command::new(program);
    command.arg("recall").arg(question).env("THROUGHLINE_HOME", home);
    command
}

fn run(command: &mut Command, worst: i32) -> Result<(), Failure> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    match status.code() {
        Some(code) if code <= worst => Ok(()),
        _ => Err(format!("{command:?} ended with {status}").into()),
    }
}

/// The program that was built beside this one.
fn program() -> Result<PathBuf, Failure> {
    let beside = std::env::current_exe()?.with_file_name(format!("throughline{}", std::env::consts::EXE_SUFFIX));
    if beside.is_file() {
        return Ok(beside);
    }
    Err(format!("{} is missing: build it with `cargo build --release -p throughline`", beside.display()).into())
}
