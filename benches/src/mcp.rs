//! An assistant's start: from nothing to the first answer of `throughline mcp`, and to the first answer of a tool, against
//! `/bin/true`, which is what starting any process takes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use throughline::synthetic::{self, Dice};

use crate::start::program;
use crate::table::{Times, markdown, ms, ratio};
use crate::{Failure, laboratory};
use throughline::world::Durability;

const WARM_UP: usize = 10;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

#[derive(Args)]
pub(crate) struct Mcp {
    /// How many memories the homes have
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000])]
    sizes: Vec<u64>,
    /// How many processes of each sort
    #[arg(long, default_value_t = 200)]
    spawns: usize,
}

/// How long servers took.
#[derive(Default, Clone)]
struct Servers {
    hello: Times,
    tool: Times,
    end: Times,
}

impl Mcp {
    pub(crate) fn run(self) -> Result<String, Failure> {
        let program = program()?;
        let mut homes = Vec::new();
        for &size in &self.sizes {
            let home = tempfile::tempdir()?;
            laboratory::fill(&laboratory::open(home.path(), Durability::Process)?, size)?;
            std::fs::write(home.path().join("config.toml"), "[memory]\nuser_namespace = \"user\"\n")?;
            homes.push((size, home));
        }
        let mut dice = Dice::new(5);
        let mut truth = Times::default();
        let mut servers = vec![Servers::default(); homes.len()];
        for at in 0..self.spawns + WARM_UP {
            if at == WARM_UP {
                truth = Times::default();
                servers.fill(Servers::default());
            }
            let start = Instant::now();
            Command::new("/bin/true").status()?;
            truth.push(start.elapsed());
            let question = synthetic::question(&mut dice);
            for ((_, home), times) in homes.iter().zip(&mut servers) {
                times.time(&program, home.path(), &question)?;
            }
        }
        let p50 = truth.at(0.5);
        let mut rows =
            vec![vec!["/bin/true".to_owned(), String::new(), String::new(), ms(p50), String::new(), String::new()]];
        for ((size, _), times) in homes.iter().zip(&servers) {
            let (hello, tool) = (times.hello.at(0.5), times.tool.at(0.5));
            let name = format!("throughline mcp, {size} memories");
            rows.push(vec![name, ms(hello), ms(tool), ms(times.end.at(0.5)), ratio(hello, p50), ratio(tool, p50)]);
        }
        let head = [
            "process",
            "to hello p50 ms",
            "to first tool p50 ms",
            "to end p50 ms",
            "ratio, hello",
            "ratio, first tool",
        ];
        Ok(markdown(&head, &rows))
    }
}

impl Servers {
    /// One server: hello, a recall, and the end after its client hung up.
    fn time(&mut self, program: &Path, home: &Path, question: &str) -> Result<(), Failure> {
        let start = Instant::now();
        let mut command = Command::new(program);
        command.arg("mcp").env("THROUGHLINE_HOME", home);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut input = child.stdin.take().ok_or("no input to write")?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no output to read")?);
        let mut answer = String::new();
        writeln!(input, "{HELLO}")?;
        output.read_line(&mut answer)?;
        self.hello.push(start.elapsed());
        check(&answer, "\"protocolVersion\"")?;
        answer.clear();
        let words: String = question.chars().filter(|c| !matches!(c, '"' | '\\')).collect();
        writeln!(
            input,
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"memory_recall","arguments":{{"query":"{words}"}}}}}}"#
        )?;
        output.read_line(&mut answer)?;
        self.tool.push(start.elapsed());
        check(&answer, "\"isError\":false")?;
        drop(input);
        let status = child.wait()?;
        self.end.push(start.elapsed());
        if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
    }
}

fn check(answer: &str, expected: &str) -> Result<(), Failure> {
    if answer.contains(expected) { Ok(()) } else { Err(format!("the server answered: {answer}").into()) }
}
