//! A home in a temporary directory, and the real daemon on it.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use throughline_testkit::raw_http::{Connection, Request, Response};

use super::{Way, until};
use crate::Failure;

const CONFIG: &str = "[memory]\nuser_namespace = \"user\"\n\n[server]\nbackup_every_hours = 0\n";

/// Memories in a home before anything happens to it.
const FIRST: usize = 40;

/// How the program is started.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    first: Option<&'static str>,
}

impl Program {
    /// The program itself.
    pub fn itself(path: PathBuf) -> Self {
        Self { path, first: None }
    }

    /// As a command of the hammer.
    pub fn within(hammer: PathBuf) -> Self {
        Self { path: hammer, first: Some("throughline") }
    }

    fn command(&self, home: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(self.first).args(args).stdin(Stdio::null()).stderr(Stdio::piped()).stdout(Stdio::piped());
        command.env("THROUGHLINE_HOME", home).env_remove("THROUGHLINE_NOW").env("HOME", home);
        command
    }
}

/// A home with some memories, an older state of it, and the database of another memory.
pub(super) struct Home {
    directory: TempDir,
    program: Program,
}

impl Home {
    pub(super) fn new(program: &Program) -> Result<Self, Failure> {
        let home = Self { directory: tempfile::tempdir()?, program: program.clone() };
        for name in ["home", "other"] {
            std::fs::create_dir(home.path(name))?;
            std::fs::write(home.path(name).join("config.toml"), CONFIG)?;
        }
        home.fill("other", "elsewhere")?;
        home.fill("home", "at first")?;
        home.shell("cp -a . \"$OLD\"; rm -rf \"$OLD\"/backups")?;
        // The file itself goes on from here: stopping copies the log into it.
        home.fill("home", "later")?;
        Ok(home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts a daemon, stores some memories, and stops it.
    fn fill(&self, name: &str, what: &str) -> Result<(), Failure> {
        let mut daemon = Daemon::start(&self.program, &self.path(name))?;
        daemon.fill(what)?;
        daemon.stop()
    }

    /// Starts the daemon, and copies the home while it runs.
    pub(super) fn start(&self) -> Result<Daemon, Failure> {
        let daemon = Daemon::start(&self.program, &self.path("home"))?;
        daemon.fill("while it runs")?;
        self.shell("cp -a . \"$LIVE\"; rm -rf \"$LIVE\"/backups \"$LIVE\"/daemon*")?;
        Ok(daemon)
    }

    fn shell(&self, line: &str) -> Result<(), Failure> {
        let mut shell = Command::new("sh");
        shell.args(["-ec", line]).current_dir(self.path("home"));
        shell.env("OLD", self.path("old")).env("LIVE", self.path("live"));
        shell.env("OTHER", self.path("other").join("memory.db"));
        succeeded(line, &shell.output()?)
    }

    /// Does it; gives when it began and when it was over.
    pub(super) fn event(&self, way: Way) -> Result<(Instant, Instant), Failure> {
        let began = Instant::now();
        self.shell(way.event())?;
        Ok((began, Instant::now()))
    }

    /// Brings the database back while the daemon runs.
    pub(super) fn recover(&self, way: Way, backup: &str) -> Result<(), Failure> {
        match way.undone() {
            Some(line) => self.shell(line),
            None => {
                let restored = self.program.command(&self.path("home"), &["backup", "--restore", backup]).output()?;
                succeeded("backup --restore", &restored)
            }
        }
    }

    /// The texts of all memories in the database at the path, as a process of its own reads them.
    pub(super) fn stored(&self) -> Result<HashSet<String>, Failure> {
        let output = self.program.command(&self.path("home"), &["export", "--format", "json"]).output()?;
        succeeded("export", &output)?;
        let export: Value = serde_json::from_slice(&output.stdout)?;
        let memories = export["memories"].as_array().ok_or("an export without memories")?;
        Ok(memories.iter().filter_map(|memory| memory["content"].as_str().map(str::to_owned)).collect())
    }
}

fn succeeded(what: &str, output: &Output) -> Result<(), Failure> {
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{what}: {} {}", output.status, String::from_utf8_lossy(&output.stderr).trim()).into())
}

/// A daemon that runs; killed when it is dropped.
pub(super) struct Daemon {
    process: Child,
    pub(super) port: u16,
    pub(super) token: String,
}

impl Daemon {
    fn start(program: &Program, home: &Path) -> Result<Self, Failure> {
        let mut command = program.command(home, &["--json", "serve", "--port", "0"]);
        let mut process = command.stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("a daemon has no output")?).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line)?;
        let port = ready["url"].as_str().and_then(|url| url.rsplit(':').next()?.parse().ok());
        let token = std::fs::read_to_string(home.join("token"))?.trim().to_owned();
        Ok(Self { process, port: port.ok_or("a daemon without a port")?, token })
    }

    pub(super) fn request(&self, method: &str, target: &str) -> Request {
        let request = Request::new(method, target).with("Host", &format!("127.0.0.1:{}", self.port));
        request.with("Authorization", &format!("Bearer {}", self.token))
    }

    fn send(&self, method: &str, target: &str, body: Option<&Value>) -> Result<Response, Failure> {
        let request = body.into_iter().fold(self.request(method, target), Request::json);
        Ok(Connection::open(self.port)?.ask(&request)?)
    }

    /// Stores some memories.
    fn fill(&self, what: &str) -> Result<(), Failure> {
        for n in 0..FIRST {
            let response = self.send("POST", "/api/memories", Some(&json!({ "content": format!("{what} {n}") })))?;
            if response.status != 201 {
                return Err(format!("{} {}", response.status, response.json()).into());
            }
        }
        Ok(())
    }

    /// Writes a backup; gives its name.
    pub(super) fn backup(&self) -> Result<String, Failure> {
        let written = self.send("POST", "/api/backup", None)?.json();
        let path = written["path"].as_str().ok_or_else(|| format!("no backup: {written}"))?;
        Ok(path.rsplit('/').next().unwrap_or_default().to_owned())
    }

    /// It says that it has lost its database, and not where that was.
    pub(super) fn is_lost(&self) -> Result<(), Failure> {
        let health = self.send("GET", "/healthz", None)?;
        let said = health.json();
        let is_told = health.status == 503 && said["problem"].as_str().is_some_and(|problem| !problem.contains('/'));
        if is_told { Ok(()) } else { Err(format!("health is silent: {} {said}", health.status).into()) }
    }

    /// It is the same process still.
    pub(super) fn is_alive(&mut self) -> Result<(), Failure> {
        match self.process.try_wait()? {
            None => Ok(()),
            Some(status) => Err(format!("the daemon ended: {status}").into()),
        }
    }

    /// Whether the system ended it, because a file that was mapped into memory was cut.
    pub(super) fn is_ended_by_bus_error(&mut self) -> Result<bool, Failure> {
        Ok(self.process.try_wait()?.and_then(|status| signal(&status)) == Some(SIGBUS))
    }

    /// Asks it to stop, and waits.
    fn stop(&mut self) -> Result<(), Failure> {
        let number = self.process.id().to_string();
        succeeded("kill", &Command::new("kill").args(["-TERM", &number]).output()?)?;
        let process = &mut self.process;
        until("the daemon stops", || process.try_wait().is_ok_and(|ended| ended.is_some()))
    }
}

const SIGBUS: i32 = if cfg!(target_os = "linux") { 7 } else { 10 };

#[cfg(unix)]
fn signal(status: &std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(status)
}

#[cfg(not(unix))]
fn signal(_: &std::process::ExitStatus) -> Option<i32> {
    None
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
