//! From nothing to an answer: a new process for each, against `/bin/true`, which is what starting any process takes.
//!
//! A process answers before it ends: a person sees the answer, a script or a hook waits for the end. Both are measured.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use throughline::synthetic::{self, Dice};

use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};
use throughline::world::Durability;

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
        let (mut truth, mut version) = (Spawns::default(), Spawns::default());
        let mut recalls = vec![Spawns::default(); homes.len()];
        for at in 0..self.spawns + WARM_UP {
            if at == WARM_UP {
                (truth, version) = (Spawns::default(), Spawns::default());
                recalls.fill(Spawns::default());
            }
            truth.time(&mut Command::new("/bin/true"), 0)?;
            version.time(Command::new(&program).arg("--version"), 0)?;
            let question = synthetic::question(&mut dice);
            for ((_, home), spawns) in homes.iter().zip(&mut recalls) {
                // 1 says that nothing was found, which is an answer too.
                spawns.time(&mut recall(&program, home.path(), &question), 1)?;
            }
        }
        let mut rows = vec![truth.row("/bin/true", &truth), version.row("throughline --version", &truth)];
        for ((size, _), spawns) in homes.iter().zip(&recalls) {
            rows.push(spawns.row(&format!("throughline recall, {size} memories"), &truth));
        }
        let head = ["process", "to answer p50 ms", "to end p50 ms", "to end p99 ms", "ratio, answer", "ratio, end"];
        Ok(markdown(&head, &rows))
    }
}

/// How long processes took to answer and to end.
#[derive(Default, Clone)]
struct Spawns {
    answer: Times,
    end: Times,
}

impl Spawns {
    /// Runs a process, whose exit code is at most `worst`. One that says nothing answers by ending.
    fn time(&mut self, command: &mut Command, worst: i32) -> Result<(), Failure> {
        let start = Instant::now();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut output = child.stdout.take().ok_or("no output to read")?;
        let mut text = [0; 16 * 1024];
        let mut read = output.read(&mut text)?;
        self.answer.push(start.elapsed());
        while read > 0 {
            read = output.read(&mut text)?;
        }
        let status = child.wait()?;
        self.end.push(start.elapsed());
        match status.code() {
            Some(code) if code <= worst => Ok(()),
            _ => Err(format!("{command:?} ended with {status}").into()),
        }
    }

    fn row(&self, name: &str, truth: &Self) -> Vec<String> {
        let theirs = truth.end.at(0.5);
        let mut row = vec![name.to_owned()];
        row.extend([self.answer.at(0.5), self.end.at(0.5), self.end.at(0.99)].map(ms));
        row.extend([self.answer.at(0.5), self.end.at(0.5)].map(|ours| ratio(ours, theirs)));
        row
    }
}

fn recall(program: &Path, home: &Path, question: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["recall", "--json", question]).env("THROUGHLINE_HOME", home);
    command
}

/// The program that was built beside this one.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    let beside = std::env::current_exe()?.with_file_name(format!("throughline{}", std::env::consts::EXE_SUFFIX));
    if beside.is_file() {
        return Ok(beside);
    }
    Err(format!("{} is missing: build it with `cargo build --release -p throughline`", beside.display()).into())
}
