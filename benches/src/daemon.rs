//! The real daemon, on a free port, until it is dropped.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Failure, start};

pub(crate) struct Daemon {
    process: Child,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Daemon {
    pub(crate) fn start(home: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(start::program()?);
        command.args(["serve", "--port", "0"]).env("THROUGHLINE_HOME", home).stdout(Stdio::null());
        let process = command.spawn()?;
        let mut daemon = Self { process, url: String::new(), token: String::new() };
        let began = Instant::now();
        while daemon.url.is_empty() {
            if began.elapsed() > Duration::from_secs(60) {
                return Err("the daemon does not say where it listens".into());
            }
            std::thread::sleep(Duration::from_millis(20));
            let said = std::fs::read_to_string(home.join("daemon.json")).unwrap_or_default();
            let url = said.split("\"url\":\"").nth(1).and_then(|rest| rest.split('"').next());
            daemon.url = url.unwrap_or_default().to_owned();
        }
        daemon.token = std::fs::read_to_string(home.join("token"))?.trim().to_owned();
        Ok(daemon)
    }

    /// The processor time that it has had.
    pub(crate) fn cpu(&self) -> Result<Duration, Failure> {
        cpu_of(&self.process.id().to_string())
    }

    /// Waits until its own jobs are done: those that begin with it, and the consolidation of conversations that ended.
    pub(crate) fn wait_until_idle(&self) -> Result<(), Failure> {
        const LOOKS: u32 = 300;
        const IDLE: Duration = Duration::from_millis(20);
        let (mut before, mut calm) = (self.cpu()?, 0);
        for _ in 0..LOOKS {
            std::thread::sleep(Duration::from_secs(1));
            let now = self.cpu()?;
            calm = if now - before <= IDLE { calm + 1 } else { 0 };
            if calm == 3 {
                return Ok(());
            }
            before = now;
        }
        Err("the daemon does not come to rest".into())
    }

    /// In megabytes.
    pub(crate) fn resident(&self) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kilobytes / 1024)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The processor time that this process has had.
pub(crate) fn cpu_of_this_process() -> Result<Duration, Failure> {
    cpu_of("self")
}

/// User and system time, in the hundredths of a second that the system counts in.
fn cpu_of(process: &str) -> Result<Duration, Failure> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name of the program stands in brackets and may have blanks.
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks: u64 = [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 10))
}
