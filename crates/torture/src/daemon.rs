//! The real program and its daemon, as processes.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use throughline_testkit::raw_http::{Connection, Request, Response};

use crate::Failure;

/// Longer than anything takes that is bound to happen.
const BOUND_TO_HAPPEN: Duration = Duration::from_secs(60);

/// Waits for something that is bound to happen.
pub(crate) fn until(what: &str, mut look: impl FnMut() -> bool) -> Result<(), Failure> {
    let began = Instant::now();
    while !look() {
        if began.elapsed() > BOUND_TO_HAPPEN {
            return Err(format!("waited in vain until {what}").into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// How the program is started.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    first: Option<&'static str>,
    /// A program that runs it.
    runner: Option<PathBuf>,
    environment: Vec<(&'static str, String)>,
}

impl Program {
    /// The program itself.
    pub fn itself(path: PathBuf) -> Self {
        Self { path, first: None, runner: None, environment: Vec::new() }
    }

    /// As a command of the hammer.
    pub fn within(hammer: PathBuf) -> Self {
        Self { path: hammer, first: Some("throughline"), runner: None, environment: Vec::new() }
    }

    /// The same with one more variable in its environment.
    pub fn with(&self, name: &'static str, value: String) -> Self {
        let mut program = self.clone();
        program.environment.push((name, value));
        program
    }

    /// The same, run by another program.
    pub fn within_another(&self, runner: PathBuf) -> Self {
        Self { runner: Some(runner), ..self.clone() }
    }

    /// A command on the memory in a home.
    pub(crate) fn command(&self, home: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(self.runner.as_ref().unwrap_or(&self.path));
        command.args(self.runner.is_some().then_some(&self.path));
        command.args(self.first).args(args).stdin(Stdio::null()).stderr(Stdio::piped()).stdout(Stdio::piped());
        command.env("THROUGHLINE_HOME", home).env_remove("THROUGHLINE_NOW").env("HOME", home);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Memories that [`Daemon::fill`] stores.
const FIRST: usize = 40;

/// An error where a process did not succeed.
pub(crate) fn succeeded(what: &str, output: &Output) -> Result<(), Failure> {
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{what}: {} {}", output.status, String::from_utf8_lossy(&output.stderr).trim()).into())
}

/// A daemon that runs; killed when it is dropped.
pub(crate) struct Daemon {
    process: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Daemon {
    pub(crate) fn start(program: &Program, home: &Path) -> Result<Self, Failure> {
        Self::try_start(program, home)?.map_err(|status| format!("the daemon ended at once: {status}").into())
    }

    /// Starts it; gives how it ended, should it end before it is ready.
    pub(crate) fn try_start(program: &Program, home: &Path) -> Result<Result<Self, ExitStatus>, Failure> {
        let mut command = program.command(home, &["--json", "serve", "--port", "0"]);
        let mut process = command.stderr(Stdio::null()).spawn()?;
        let (mut line, mut rest) = (String::new(), String::new());
        let mut output = BufReader::new(process.stdout.take().ok_or("a daemon has no output")?);
        output.read_line(&mut line)?;
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            output.read_to_string(&mut rest)?;
            return Ok(Err(process.wait()?));
        };
        let port = ready["url"].as_str().and_then(|url| url.rsplit(':').next()?.parse().ok());
        let token = std::fs::read_to_string(home.join("token"))?.trim().to_owned();
        Ok(Ok(Self { process, port: port.ok_or("a daemon without a port")?, token }))
    }

    pub(crate) fn request(&self, method: &str, target: &str) -> Request {
        let request = Request::new(method, target).with("Host", &format!("127.0.0.1:{}", self.port));
        request.with("Authorization", &format!("Bearer {}", self.token))
    }

    pub(crate) fn send(&self, method: &str, target: &str, body: Option<&Value>) -> Result<Response, Failure> {
        let request = body.into_iter().fold(self.request(method, target), Request::json);
        Ok(Connection::open(self.port)?.ask(&request)?)
    }

    /// Stores some memories.
    pub(crate) fn fill(&self, what: &str) -> Result<(), Failure> {
        for n in 0..FIRST {
            let response = self.send("POST", "/api/memories", Some(&json!({ "content": format!("{what} {n}") })))?;
            if response.status != 201 {
                return Err(format!("{} {}", response.status, response.json()).into());
            }
        }
        Ok(())
    }

    /// Writes a backup; gives its name.
    pub(crate) fn backup(&self) -> Result<String, Failure> {
        let written = self.send("POST", "/api/backup", None)?.json();
        let path = written["path"].as_str().ok_or_else(|| format!("no backup: {written}"))?;
        Ok(path.rsplit('/').next().unwrap_or_default().to_owned())
    }

    /// It says that it has lost its database, and not where that was.
    pub(crate) fn is_lost(&self) -> Result<(), Failure> {
        let health = self.send("GET", "/healthz", None)?;
        let said = health.json();
        let is_told = health.status == 503 && said["problem"].as_str().is_some_and(|problem| !problem.contains('/'));
        if is_told { Ok(()) } else { Err(format!("health is silent: {} {said}", health.status).into()) }
    }

    /// It is the same process still.
    pub(crate) fn is_alive(&mut self) -> Result<(), Failure> {
        match self.process.try_wait()? {
            None => Ok(()),
            Some(status) => Err(format!("the daemon ended: {status}").into()),
        }
    }

    /// Its number.
    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }

    /// Waits until it has ended.
    pub(crate) fn ended(&mut self) -> Result<ExitStatus, Failure> {
        let (process, mut status) = (&mut self.process, None);
        until("the daemon ends", || {
            status = process.try_wait().ok().flatten();
            status.is_some()
        })?;
        status.ok_or_else(|| "the daemon runs on".into())
    }

    /// Whether the system ended it, because a file that was mapped into memory was cut.
    pub(crate) fn is_ended_by_bus_error(&mut self) -> Result<bool, Failure> {
        Ok(self.process.try_wait()?.and_then(|status| signal(&status)) == Some(SIGBUS))
    }

    /// Asks it to stop, and waits.
    pub(crate) fn stop(&mut self) -> Result<(), Failure> {
        let number = self.process.id().to_string();
        succeeded("kill", &Command::new("kill").args(["-TERM", &number]).output()?)?;
        let process = &mut self.process;
        until("the daemon stops", || process.try_wait().is_ok_and(|ended| ended.is_some()))
    }
}

/// The signal of a process that reads behind the end of a file that is mapped into memory.
const SIGBUS: i32 = if cfg!(target_os = "linux") { 7 } else { 10 };

#[cfg(unix)]
pub(crate) fn signal(status: &ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(status)
}

#[cfg(not(unix))]
pub(crate) fn signal(_: &ExitStatus) -> Option<i32> {
    None
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
