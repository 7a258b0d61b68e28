//! A home in a temporary directory, and what is done to it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;

use super::Way;
use crate::Failure;
use crate::daemon::{Daemon, Program, succeeded};

const CONFIG: &str = "[memory]\nuser_namespace = \"user\"\n\n[server]\nbackup_every_hours = 0\n";

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
