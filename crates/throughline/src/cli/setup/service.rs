//! The daemon as a service of the person's own: systemd where it answers, a launch agent on macOS.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use super::plan::Done;
use crate::cli::failure::Failure;
use crate::cli::service::Service;
use crate::daemon;
use crate::models::available::on_path;
use crate::world::{self, Home, home_variable};

/// The unit's name.
const UNIT: &str = "throughline";

/// Lines that differ from one machine to the next.
const OWN_LINES: [&str; 2] = ["ExecStart=", "Environment="];

/// What starts services here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Manager {
    Systemd,
    Launchd,
    /// None, and why.
    Missing(String),
}

/// The service as it is.
pub(in crate::cli) struct Seen {
    manager: Manager,
    file: PathBuf,
    /// What the file says.
    current: Option<String>,
    /// What it should say.
    wanted: String,
    is_enabled: bool,
    is_active: bool,
    /// Whether a daemon runs on this memory, by whomever it was started.
    daemon_runs: bool,
}

/// What becomes of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct Step {
    pub(in crate::cli) action: Action,
    pub(in crate::cli) file: PathBuf,
    /// Why it cannot be installed, or is left as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) reason: Option<String>,
    #[serde(skip)]
    wanted: String,
    #[serde(skip)]
    is_systemd: bool,
    /// Whether it can be started at once: not beside a daemon that a person started.
    #[serde(skip)]
    starts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum Action {
    Install,
    /// It is installed already.
    Installed,
    /// The person does not want it, or changed the file.
    Leave,
    /// Nothing here starts services.
    Missing,
    /// With uninstall.
    Remove,
    /// With uninstall: there is none.
    Absent,
}

/// Looks; asks systemd, changes nothing.
pub(in crate::cli) fn look(home: &Home) -> Result<Seen, Failure> {
    let dirs = world::client_dirs()?;
    let manager = manager();
    let (service, file) = match manager {
        Manager::Launchd => (Service::Launchd, dirs.home.join("Library/LaunchAgents/throughline.plist")),
        _ => (Service::Systemd, dirs.config.join("systemd/user/throughline.service")),
    };
    let program = world::program().map_err(|error| Failure::io("tell where this program is", &error))?;
    let current = match std::fs::read_to_string(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        read => Some(read.map_err(|error| Failure::io(&format!("read {}", file.display()), &error))?),
    };
    let is = |state: &str| manager == Manager::Systemd && systemctl(&[state, UNIT]).is_ok();
    let (is_enabled, is_active) = (is("is-enabled"), is("is-active"));
    let wanted = service.text(&program, home_variable().as_deref())?;
    let daemon_runs = daemon::is_running(home);
    Ok(Seen { file, current, wanted, is_enabled, is_active, daemon_runs, manager })
}

fn manager() -> Manager {
    if cfg!(target_os = "macos") {
        return Manager::Launchd;
    }
    if !cfg!(target_os = "linux") {
        return Manager::Missing("services of this system are not known".to_owned());
    }
    if on_path("systemctl").is_none() {
        return Manager::Missing("this system has no systemd".to_owned());
    }
    match systemctl(&["show-environment"]) {
        Ok(()) => Manager::Systemd,
        Err(problem) => Manager::Missing(format!("systemd does not answer for you ({problem})")),
    }
}

/// Runs it for the person's own units; says what it said where it failed.
fn systemctl(args: &[&str]) -> Result<(), String> {
    succeeds(Command::new("systemctl").arg("--user").args(args))
}

/// Runs a command; says what it said where it failed.
fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty());
    Err(line.map_or_else(|| output.status.to_string(), str::to_owned))
}

impl Seen {
    /// Whether there is something to decide.
    pub(super) fn is_open(&self) -> bool {
        self.decided(true).0 == Action::Install
    }

    fn decided(&self, is_wanted: bool) -> (Action, Option<String>) {
        if let Manager::Missing(why) = &self.manager {
            return (Action::Missing, Some(format!("{why}; `throughline serve` starts the daemon by hand")));
        }
        let is_enabled = self.manager == Manager::Launchd || self.is_enabled && (self.is_active || self.daemon_runs);
        match &self.current {
            Some(text) if *text == self.wanted && is_enabled => (Action::Installed, None),
            Some(text) if !is_ours(text, &self.wanted) => {
                (Action::Leave, Some("its file was changed by hand, and stays as it is".to_owned()))
            }
            _ if is_wanted => (Action::Install, None),
            _ => (Action::Leave, None),
        }
    }

    /// Decides what setup does.
    pub(super) fn plan(&self, is_wanted: bool) -> Step {
        let (action, reason) = self.decided(is_wanted);
        self.step(action, reason)
    }

    /// Decides what uninstall does: a file that a person changed stays.
    pub(in crate::cli) fn plan_removal(&self) -> Step {
        match &self.current {
            None => self.step(Action::Absent, None),
            Some(text) if is_ours(text, &self.wanted) => self.step(Action::Remove, None),
            Some(_) => self.step(Action::Leave, Some("its file was changed by hand, and stays as it is".to_owned())),
        }
    }

    /// Whether the daemon that runs, if one does, ends with the service.
    pub(in crate::cli) fn ends_the_daemon(&self) -> bool {
        self.is_active || !self.daemon_runs
    }

    fn step(&self, action: Action, reason: Option<String>) -> Step {
        Step {
            action,
            file: self.file.clone(),
            reason,
            wanted: self.wanted.clone(),
            is_systemd: self.manager == Manager::Systemd,
            starts: self.is_active || !self.daemon_runs,
        }
    }
}

impl Step {
    /// Whether the daemon is started by this.
    pub(super) fn starts(&self) -> bool {
        self.action == Action::Install && self.starts && (self.is_systemd || on_path("launchctl").is_some())
    }
}

/// Whether a file is one that this program wrote, on whatever machine.
fn is_ours(text: &str, wanted: &str) -> bool {
    let common = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !OWN_LINES.iter().any(|own| line.starts_with(own))).map(str::to_owned).collect()
    };
    let is_agent = text.trim_start().starts_with("<?xml") && text.contains("<string>throughline</string>");
    common(text) == common(wanted) || is_agent && wanted.starts_with("<?xml")
}

/// Writes the file, and has the service started with the session and, where nothing is in the way, now.
pub(super) fn act(step: &Step, done: &mut Done) {
    if step.action != Action::Install {
        return;
    }
    if let Err(error) = write(&step.file, &step.wanted) {
        return done.failed(format!("{} was not written: {error}", step.file.display()));
    }
    done.did(format!("wrote {}", step.file.display()));
    if !step.is_systemd {
        return load(step, on_path("launchctl").map(|_| &launchctl as Run<'_>), done);
    }
    let enable: &[&str] = if step.starts { &["enable", "--now", UNIT] } else { &["enable", UNIT] };
    match systemctl(&["daemon-reload"]).and_then(|()| systemctl(enable)) {
        Ok(()) if step.starts => done.did("the daemon runs as a service".to_owned()),
        Ok(()) => {
            done.did("the daemon starts as a service with your next session".to_owned());
            done.notes.push("a daemon that you started runs already, and goes on".to_owned());
        }
        Err(problem) => done.failed(format!("the service was not started: {problem}")),
    }
}

/// What runs `launchctl`.
type Run<'r> = &'r dyn Fn(&[&str]) -> Result<(), String>;

fn launchctl(args: &[&str]) -> Result<(), String> {
    succeeds(Command::new("launchctl").args(args))
}

/// Where the person's own agents run.
fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

/// Has launchd start the agent now: an earlier one of this name goes first. Without `launchctl` it starts at the next login.
fn load(step: &Step, launchctl: Option<Run<'_>>, done: &mut Done) {
    let (domain, file) = (domain(), step.file.display().to_string());
    let by_hand = format!("`launchctl bootstrap {domain} {file}` starts the service now");
    let Some(launchctl) = launchctl else { return done.notes.push(by_hand) };
    if !step.starts {
        done.did("the daemon starts as a service with your next session".to_owned());
        done.notes.push("a daemon that you started runs already, and goes on".to_owned());
        return;
    }
    // Where none is loaded this fails, and that is well.
    let _ = launchctl(&["bootout", &format!("{domain}/{UNIT}")]);
    match launchctl(&["bootstrap", &domain, &file]) {
        Ok(()) => done.did("the daemon runs as a service".to_owned()),
        Err(problem) => {
            done.failed(format!("the service was not started: {problem}"));
            done.notes.push(by_hand);
        }
    }
}

/// Has launchd stop the agent, where one is loaded.
fn unload(launchctl: Option<Run<'_>>, done: &mut Done) {
    let agent = format!("{}/{UNIT}", domain());
    match launchctl {
        Some(launchctl) if launchctl(&["print", &agent]).is_err() => {}
        Some(launchctl) if launchctl(&["bootout", &agent]).is_ok() => {}
        _ => done.notes.push(format!("`launchctl bootout {agent}` stops it now")),
    }
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    std::fs::write(file, text)
}

/// Stops the service and removes its file, with directories that are empty then.
pub(in crate::cli) fn remove(step: &Step, done: &mut Done) {
    if step.action != Action::Remove {
        return;
    }
    if step.is_systemd
        && let Err(problem) = systemctl(&["disable", "--now", UNIT])
    {
        return done.failed(format!("the service was not stopped: {problem}"));
    }
    if let Err(error) = std::fs::remove_file(&step.file) {
        return done.failed(format!("{} was not removed: {error}", step.file.display()));
    }
    let directory = step.file.parent();
    // Each goes only where it is empty.
    for empty in directory.iter().flat_map(|user| [user.join("default.target.wants"), user.to_path_buf()]) {
        let _ = std::fs::remove_dir(empty);
    }
    if let Some(systemd) = directory.and_then(Path::parent).filter(|_| step.is_systemd) {
        let _ = std::fs::remove_dir(systemd);
    }
    done.did(format!("removed {}", step.file.display()));
    if step.is_systemd
        && let Err(problem) = systemctl(&["daemon-reload"])
    {
        done.notes.push(format!("systemd was not told of it: {problem}"));
    } else if !step.is_systemd {
        unload(on_path("launchctl").map(|_| &launchctl as Run<'_>), done);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn seen(current: Option<&str>) -> Seen {
        let wanted = Service::Systemd.text(Path::new("/usr/bin/throughline"), None).unwrap_or_default();
        Seen {
            manager: Manager::Systemd,
            file: PathBuf::from("unit"),
            current: current.map(str::to_owned),
            wanted,
            is_enabled: true,
            is_active: true,
            daemon_runs: true,
        }
    }

    #[track_caller]
    fn check(seen: &Seen, set_up: Action, removed: Action) {
        assert_eq!((seen.plan(true).action, seen.plan_removal().action), (set_up, removed));
    }

    #[test]
    fn what_becomes_of_a_service() {
        let wanted = seen(None).wanted;
        check(&seen(None), Action::Install, Action::Absent);
        check(&seen(Some(&wanted)), Action::Installed, Action::Remove);
        let moved = wanted.replace("/usr/bin", "/opt/bin");
        check(&seen(Some(&moved)), Action::Install, Action::Remove);
        let changed = wanted.replace("MemoryMax=2G", "MemoryMax=4G");
        check(&seen(Some(&changed)), Action::Leave, Action::Leave);
        check(&Seen { is_enabled: false, ..seen(Some(&wanted)) }, Action::Install, Action::Remove);
        let missing = Manager::Missing("none".to_owned());
        check(&Seen { manager: missing, ..seen(None) }, Action::Missing, Action::Absent);
        assert_eq!(seen(None).plan(false).action, Action::Leave);
    }

    /// What is asked of launchctl, and what the person is told. The program is `works`, broken or missing.
    fn loaded(starts: bool, works: Option<bool>) -> (Vec<String>, Done) {
        let asked = RefCell::new(Vec::new());
        let run = |args: &[&str]| {
            asked.borrow_mut().push(args.join(" ").replace(&domain(), "gui/UID"));
            if works == Some(true) { Ok(()) } else { Err("Input/output error".to_owned()) }
        };
        let mut done = Done::begin(true);
        let step = Step { is_systemd: false, starts, ..seen(None).plan(true) };
        load(&step, works.map(|_| &run as Run<'_>), &mut done);
        (asked.into_inner(), done)
    }

    #[test]
    fn launchd_starts_the_agent_where_it_can() {
        let (asked, done) = loaded(true, Some(true));
        assert_eq!(asked, ["bootout gui/UID/throughline", "bootstrap gui/UID unit"]);
        assert_eq!((&done.done[..], done.notes.len()), (&["the daemon runs as a service".to_owned()][..], 0));
        let (_, done) = loaded(true, Some(false));
        assert!(done.problems[0].contains("Input/output error") && done.notes[0].contains("launchctl bootstrap"));
        let (asked, done) = loaded(false, Some(true));
        assert!(asked.is_empty() && done.done[0].contains("next session"), "beside a daemon by hand: {asked:?}");
        let (_, done) = loaded(true, None);
        assert!(done.problems.is_empty() && done.notes[0].contains("launchctl bootstrap"));
    }

    #[test]
    fn a_daemon_that_a_person_started_goes_on() {
        let by_hand = Seen { is_active: false, is_enabled: false, ..seen(None) };
        assert!(!by_hand.plan(true).starts && !by_hand.ends_the_daemon());
        assert!(Seen { daemon_runs: false, ..by_hand }.plan(true).starts);
    }
}
