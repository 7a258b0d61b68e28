//! One writer for each way in: the daemon's HTTP API, the command line, the MCP server and an assistant's hook.
//!
//! Each write is wished for until it is confirmed. A wish that is repeated is the same wish: a host that was not answered
//! sends its memory, its turn or its transcript again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use throughline::synthetic::Dice;

use super::promises::Promise;
use crate::Failure;
use crate::daemon::{Daemon, Program, signal};

/// No consolidation by itself: what is stored is what the writers wrote.
pub(crate) const CONFIG: &str = "[memory]\nuser_namespace = \"user\"\ntools = \"all\"\nconsolidation_turn_threshold = 0\n\
    flush_every_prompts = 0\nidle_consolidation_minutes = 0\n\n[server]\nbackup_every_hours = 0\n";

/// Lines of the profile that one writer writes at most: identity has a limit.
const MOST_LINES: u64 = 3;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(300);
/// A hook whose time is up says nothing, as one that kept everything does.
const HOOK_PATIENCE: &str = "300000";

const SIGKILL: i32 = 9;

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// `throughline serve`, over HTTP.
    Daemon,
    /// `throughline remember`.
    CommandLine,
    /// `throughline mcp`.
    Mcp,
    /// `throughline hook stop`, with a transcript.
    Hook,
    /// `throughline session observe`.
    Observe,
    /// `throughline hook prompt`, of a client without a transcript.
    Prompt,
}

impl Surface {
    /// Those into a memory on this machine.
    pub const ALL: [Self; 4] = [Self::Daemon, Self::CommandLine, Self::Mcp, Self::Hook];

    /// Those into a memory on a server: also those whose turns wait here while it is away.
    pub const ON_A_SERVER: [Self; 6] =
        [Self::Daemon, Self::CommandLine, Self::Mcp, Self::Hook, Self::Observe, Self::Prompt];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::CommandLine => "command line",
            Self::Mcp => "mcp",
            Self::Hook => "hook",
            Self::Observe => "observe",
            Self::Prompt => "prompt",
        }
    }

    /// Whether a process serves many writes.
    pub fn is_lasting(self) -> bool {
        matches!(self, Self::Daemon | Self::Mcp)
    }
}

/// What became of a write.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It is stored.
    Confirmed,
    /// It was refused, in these words.
    Refused(String),
    /// The process ended without an answer.
    Ended(ExitStatus),
}

impl Outcome {
    /// Whether somebody killed the process.
    pub(crate) fn is_killed(&self) -> bool {
        matches!(self, Self::Ended(status) if signal(status) == Some(SIGKILL))
    }
}

enum Serving {
    Daemon(Daemon),
    Mcp(Mcp),
}

/// One writer on one home.
pub(crate) struct Writer {
    pub(crate) surface: Surface,
    home: PathBuf,
    transcript: PathBuf,
    name: String,
    nth: u64,
    lines: u64,
    /// Turns that are in the transcript.
    told: u64,
    dice: Dice,
    serving: Option<Serving>,
}

impl Writer {
    pub(crate) fn new(surface: Surface, home: &Path, transcripts: &Path, name: String, seed: u64) -> Self {
        let transcript = transcripts.join(format!("{name}.jsonl"));
        let (home, dice) = (home.to_owned(), Dice::new(seed));
        Self { surface, home, transcript, name, nth: 0, lines: 0, told: 0, dice, serving: None }
    }

    /// Something new to be stored.
    pub(crate) fn wish(&mut self) -> Promise {
        self.nth += 1;
        let text = format!("{} w{:x} writes w{:x}n{}", self.name, self.dice.roll(), self.dice.roll(), self.nth);
        let share = self.dice.below(6);
        match self.surface {
            Surface::Hook => Promise::Turn { session: format!("claude-code:{}", self.name), text },
            Surface::Observe => Promise::Turn { session: format!("cli:{}", self.name), text },
            Surface::Prompt => Promise::Turn { session: format!("codex:{}", self.name), text },
            Surface::Daemon if share < 2 => Promise::Turn { session: format!("web:{}", self.name), text },
            Surface::Daemon | Surface::CommandLine if share == 5 && self.lines < MOST_LINES => {
                self.lines += 1;
                Promise::Line { text: format!("line {} w{:x}", self.name, self.dice.roll()) }
            }
            _ => Promise::Memory { text },
        }
    }

    /// Tries to store it once. `outside` is when the process is killed from outside, if at all.
    pub(crate) fn attempt(
        &mut self,
        program: &Program,
        wish: &Promise,
        outside: Option<Duration>,
    ) -> Result<Outcome, Failure> {
        match self.surface {
            Surface::CommandLine => {
                let (Promise::Memory { text } | Promise::Line { text } | Promise::Turn { text, .. }) = wish;
                let layer = if matches!(wish, Promise::Line { .. }) { "identity" } else { "knowledge" };
                let mut command = program.command(&self.home, &["--json", "remember", "--layer", layer, text]);
                let output = run(command.spawn()?, outside)?;
                Ok(outcome(&output, |_| true))
            }
            Surface::Hook => self.stop(program, wish, outside),
            Surface::Observe => self.observe(program, wish, outside),
            Surface::Prompt => self.prompt(program, wish, outside),
            Surface::Daemon | Surface::Mcp => {
                if self.serving.is_none()
                    && let Some(ended) = self.serve(program)?
                {
                    return Ok(Outcome::Ended(ended));
                }
                let outcome = self.ask(wish, outside)?;
                if !matches!(outcome, Outcome::Confirmed | Outcome::Refused(_)) {
                    self.serving = None;
                }
                Ok(outcome)
            }
        }
    }

    /// The assistant's hook reads its transcript, which has the turn already.
    fn stop(&mut self, program: &Program, wish: &Promise, outside: Option<Duration>) -> Result<Outcome, Failure> {
        let Promise::Turn { text, .. } = wish else { return Err("a hook keeps turns".into()) };
        if self.told < self.nth {
            let row = json!({ "type": "user", "uuid": format!("u-{}", self.nth), "sessionId": self.name, "message":
                { "role": "user", "content": text } });
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.transcript)?;
            writeln!(file, "{row}")?;
            self.told = self.nth;
        }
        let args = ["hook", "stop", "--client", "claude-code", "--deadline-ms", HOOK_PATIENCE];
        let event = json!({ "session_id": self.name, "transcript_path": self.transcript, "cwd": "/",
            "hook_event_name": "Stop", "stop_hook_active": false });
        let output = run_with(program.command(&self.home, &args), &event, outside)?;
        // It never fails; whether it kept anything is in its log.
        Ok(outcome(&output, |output| output.stderr.is_empty()))
    }

    /// The words are in the event alone: they wait on this machine, should the server not take them.
    fn prompt(&self, program: &Program, wish: &Promise, outside: Option<Duration>) -> Result<Outcome, Failure> {
        let Promise::Turn { text, .. } = wish else { return Err("a hook keeps turns".into()) };
        let args = ["hook", "prompt", "--client", "codex", "--deadline-ms", HOOK_PATIENCE];
        let event = json!({ "session_id": self.name, "turn_id": last_word(text), "prompt": text, "cwd": "/",
            "hook_event_name": "UserPromptSubmit" });
        let output = run_with(program.command(&self.home, &args), &event, outside)?;
        let is_lost = |output: &Output| String::from_utf8_lossy(&output.stderr).contains("cannot wait for the server");
        Ok(outcome(&output, |output| !is_lost(output)))
    }

    fn observe(&self, program: &Program, wish: &Promise, outside: Option<Duration>) -> Result<Outcome, Failure> {
        let Promise::Turn { session, text } = wish else { return Err("it keeps turns".into()) };
        let command = program.command(&self.home, &["session", "observe", "--session", session]);
        let turn = json!({ "role": "user", "content": text, "id": last_word(text) });
        Ok(outcome(&run_with(command, &turn, outside)?, |_| true))
    }

    /// Starts the process that serves; gives how it ended, should it end at once.
    fn serve(&mut self, program: &Program) -> Result<Option<ExitStatus>, Failure> {
        let started = match self.surface {
            Surface::Daemon => Daemon::try_start(program, &self.home)?.map(Serving::Daemon),
            _ => Mcp::start(program, &self.home)?.map(Serving::Mcp),
        };
        match started {
            Ok(serving) => {
                self.serving = Some(serving);
                Ok(None)
            }
            Err(status) => Ok(Some(status)),
        }
    }

    fn ask(&mut self, wish: &Promise, outside: Option<Duration>) -> Result<Outcome, Failure> {
        let Some(serving) = &mut self.serving else { return Err("nobody serves".into()) };
        let number = match serving {
            Serving::Daemon(daemon) => daemon.process(),
            Serving::Mcp(mcp) => mcp.process.id(),
        };
        std::thread::scope(|scope| {
            if let Some(moment) = outside {
                scope.spawn(move || {
                    std::thread::sleep(moment);
                    // The process is not waited for before this thread ends, so the number is still its own.
                    Pid::from_raw(number as i32).map(|number| kill_process(number, Signal::KILL))
                });
            }
            match serving {
                Serving::Daemon(daemon) => ask_daemon(daemon, &self.name, wish),
                Serving::Mcp(mcp) => mcp.store(wish),
            }
        })
        .map_or_else(|| self.ended().map(Outcome::Ended), Ok)
    }

    /// How the process that served has ended.
    fn ended(&mut self) -> Result<ExitStatus, Failure> {
        match self.serving.take() {
            Some(Serving::Daemon(mut daemon)) => daemon.ended(),
            Some(Serving::Mcp(mut mcp)) => Ok(mcp.process.wait()?),
            None => Err("nobody serves".into()),
        }
    }

    /// Kills the process that serves, if there is one.
    pub(crate) fn kill(&mut self) {
        self.serving = None;
    }

    /// Whether the process that serves is alive.
    pub(crate) fn is_serving(&mut self) -> bool {
        match &mut self.serving {
            Some(Serving::Daemon(daemon)) => daemon.is_alive().is_ok(),
            Some(Serving::Mcp(mcp)) => mcp.process.try_wait().is_ok_and(|ended| ended.is_none()),
            None => false,
        }
    }
}

/// What is different in each text of a writer.
fn last_word(text: &str) -> Option<&str> {
    text.rsplit(' ').next()
}

/// Runs a command with something on its standard input.
fn run_with(mut command: Command, input: &Value, outside: Option<Duration>) -> Result<Output, Failure> {
    let mut process = command.env("THROUGHLINE_LOG", "warn").stdin(Stdio::piped()).spawn()?;
    // One that was killed at once does not read it.
    let _ = process.stdin.take().ok_or("a process has no input")?.write_all(input.to_string().as_bytes());
    run(process, outside)
}

/// Waits for a process, or kills it at some moment.
fn run(mut process: Child, outside: Option<Duration>) -> Result<Output, Failure> {
    if let Some(moment) = outside {
        std::thread::sleep(moment);
        process.kill()?;
    }
    Ok(process.wait_with_output()?)
}

fn outcome(output: &Output, is_done: impl Fn(&Output) -> bool) -> Outcome {
    match output.status.code() {
        None => Outcome::Ended(output.status),
        Some(0) if is_done(output) => Outcome::Confirmed,
        Some(_) => Outcome::Refused(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// Nothing where the daemon did not answer.
fn ask_daemon(daemon: &Daemon, name: &str, wish: &Promise) -> Option<Outcome> {
    let memory = |text: &str, layer: &str| ("/api/memories".to_owned(), json!({ "content": text, "layer": layer }));
    let (target, body) = match wish {
        Promise::Memory { text } => memory(text, "knowledge"),
        Promise::Line { text } => memory(text, "identity"),
        Promise::Turn { text, .. } => {
            let session = format!("/api/sessions/web:{name}");
            (format!("{session}/turns"), json!({ "role": "user", "content": text, "id": last_word(text) }))
        }
    };
    if matches!(wish, Promise::Turn { .. }) {
        daemon.send("POST", "/api/sessions", Some(&json!({ "id": format!("web:{name}") }))).ok()?;
    }
    let response = daemon.send("POST", &target, Some(&body)).ok()?;
    Some(match response.status {
        // 202: it waits on this machine for the server.
        200..=202 => Outcome::Confirmed,
        status => Outcome::Refused(format!("{status} {}", response.json())),
    })
}

/// An MCP server over its standard input and output.
struct Mcp {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    next: u64,
}

impl Mcp {
    fn start(program: &Program, home: &Path) -> Result<Result<Self, ExitStatus>, Failure> {
        let mut process = program.command(home, &["mcp"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = process.stdin.take().ok_or("a server has no input")?;
        let output = BufReader::new(process.stdout.take().ok_or("a server has no output")?);
        let (sender, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut mcp = Self { process, input, lines, next: 0 };
        let client = json!({ "name": "torture", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        if mcp.ask("initialize", &hello).is_none() {
            return Ok(Err(mcp.process.wait()?));
        }
        let _ = writeln!(mcp.input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        Ok(Ok(mcp))
    }

    /// Nothing where the server did not answer.
    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.next += 1;
        let id = self.next;
        writeln!(self.input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).ok()?;
        loop {
            let message: Value = serde_json::from_str(&self.lines.recv_timeout(PATIENCE).ok()?).ok()?;
            if message["id"] == id {
                return Some(message);
            }
        }
    }

    fn store(&mut self, wish: &Promise) -> Option<Outcome> {
        let Promise::Memory { text } = wish else { return None };
        let arguments = json!({ "key": last_word(text), "content": text, "category": "knowledge" });
        let answer = self.ask("tools/call", &json!({ "name": "memory_store", "arguments": arguments }))?;
        let is_done = answer.get("error").is_none() && answer["result"]["isError"] != true;
        Some(if is_done { Outcome::Confirmed } else { Outcome::Refused(answer.to_string()) })
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
