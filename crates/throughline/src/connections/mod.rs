//! Connecting clients: plans what becomes of each of their files, and does it. All files are planned before the first
//! is touched, so that one that is not understood leaves the others as they are.

mod check;
mod file;
mod shown;

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use throughline_clients::Client;
use throughline_clients::connect::{self, Ask, Dirs, Found, Part, Plan, Platform, Scope, Target, Undo, Unfit};
use throughline_core::tools::{Tool, guidance};

use crate::world::{self, OpenError};
pub(crate) use check::remarks;
use file::{ClientFile, Wrote};
pub(crate) use shown::{change, states};

/// How often somebody else may be faster before we give up.
const ROUNDS: usize = 8;

/// Why a client could not be connected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error(transparent)]
    World(#[from] OpenError),
    #[error("cannot tell where this program is")]
    Program(#[source] io::Error),
    #[error("a path cannot be written into a config file: {}", .0.display())]
    Unwritable(PathBuf),
    #[error("{0} has no settings of its own in a project")]
    NoProject(Client),
    #[error("cannot find the current directory")]
    Directory(#[source] io::Error),
    #[error("cannot read or write {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is left as it is", path.display())]
    Unfit {
        path: PathBuf,
        #[source]
        source: Unfit,
    },
    #[error("{} leads out of the project", .0.display())]
    Outside(PathBuf),
    #[error("{} changes all the time", .0.display())]
    Busy(PathBuf),
}

impl ConnectError {
    /// What to try next.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::World(error) => return error.hint(),
            Self::Program(_) => "run it by its whole path",
            Self::Unwritable(_) => "put it where the path is plain text",
            Self::NoProject(_) => "leave out `--project`",
            Self::Directory(_) => "go to a directory that is there",
            Self::File { .. } => "check the path, and that you may read and write there",
            Self::Unfit { source, .. } => source.hint(),
            Self::Outside(_) => "replace the link by a file of the project, or leave out `--project`",
            Self::Busy(_) => "close the client, then try again",
        };
        Some(hint.to_owned())
    }
}

/// What of a client's guidance is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guidance {
    /// None.
    No,
    /// In files of our own.
    Own,
    /// Also in files that the person writes.
    Everywhere,
}

/// What to enter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) mcp: bool,
    pub(crate) hooks: bool,
    pub(crate) guidance: Guidance,
}

impl Wanted {
    /// What is entered unless the person says otherwise.
    pub(crate) const USUAL: Self = Self { mcp: true, hooks: true, guidance: Guidance::Own };
}

/// Whether it is done or only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Do,
    Show,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Written,
    /// Once more what it was before it was first connected.
    Restored,
    Removed,
    Unchanged,
}

impl Outcome {
    /// The one spelling that is shown.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Restored => "restored",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// A file, and what became of it.
#[derive(Debug, Serialize)]
pub(crate) struct Step {
    pub(crate) path: PathBuf,
    pub(crate) outcome: Outcome,
    pub(crate) parts: Vec<&'static str>,
    #[serde(skip)]
    pub(crate) before: String,
    #[serde(skip)]
    pub(crate) after: String,
}

/// Whether anything was written.
pub(crate) fn is_changed(steps: &[Step]) -> bool {
    steps.iter().any(|step| step.outcome != Outcome::Unchanged)
}

/// This machine, as far as clients go.
pub(crate) struct Machine {
    dirs: Dirs,
    platform: Platform,
    program: String,
    guidance: String,
    /// What `THROUGHLINE_HOME` says, if it is set.
    home: Option<String>,
}

impl Machine {
    /// Looks where everything is.
    pub(crate) fn here() -> Result<Self, ConnectError> {
        let program = world::program().map_err(ConnectError::Program)?;
        let text = program.to_str().ok_or_else(|| ConnectError::Unwritable(program.clone()))?.to_owned();
        let guidance = format!("# Your memory of this person (Throughline)\n\n{}", guidance(&Tool::USUAL).text);
        let home = world::home_variable();
        let home =
            home.map(|home| home.into_os_string().into_string().map_err(|home| ConnectError::Unwritable(home.into())));
        let (dirs, platform) = (world::client_dirs()?, Platform::here());
        Ok(Self { dirs, platform, program: text, guidance, home: home.transpose()? })
    }

    /// The person's own settings, or those of the current directory.
    pub(crate) fn scope(in_project: bool) -> Result<Scope, ConnectError> {
        if !in_project {
            return Ok(Scope::User);
        }
        std::env::current_dir().map(Scope::Project).map_err(ConnectError::Directory)
    }

    /// Whether a client seems to be installed.
    pub(crate) fn has(&self, client: Client) -> bool {
        connect::root(client, self.platform, &self.dirs).is_dir()
    }

    /// The clients that are connected for this person, and those that are installed and are not.
    pub(crate) fn connected(&self) -> (Vec<Client>, Vec<Client>) {
        let is_ours =
            |found: &(PathBuf, Result<Found, Unread>)| found.1.as_ref().is_ok_and(|found| !found.is_nothing());
        let (connected, open): (Vec<Client>, Vec<Client>) =
            Client::ALL.into_iter().partition(|client| self.look(*client, &Scope::User).iter().any(is_ours));
        (connected, open.into_iter().filter(|client| self.has(*client)).collect())
    }

    /// Enters what is wanted.
    pub(crate) fn connect(
        &self,
        client: Client,
        scope: &Scope,
        wanted: Wanted,
        mode: Mode,
    ) -> Result<Vec<Step>, ConnectError> {
        let plan = |target: &Target, file: &ClientFile| {
            let parts = wanted.parts(target);
            let ask = Ask {
                program: &self.program,
                platform: self.platform,
                parts: &parts,
                guidance: &self.guidance,
                home: self.home.as_deref(),
            };
            connect::connect(target, file.text.as_deref(), &ask)
        };
        self.each(client, scope, mode, |target, file| plan(target, file).map_err(|source| unfit(target, source)))
    }

    /// Takes out what is ours.
    pub(crate) fn disconnect(&self, client: Client, scope: &Scope, mode: Mode) -> Result<Vec<Step>, ConnectError> {
        self.each(client, scope, mode, |target, file| {
            let Some(text) = &file.text else { return Ok(Plan::Unchanged) };
            let before = file.before().map_err(|source| failed(target, source))?;
            let hooks = target.hooks_beside().and_then(|path| ClientFile::read(&path).ok()?.text);
            let (platform, guidance) = (self.platform, self.guidance.as_str());
            let undo = Undo { before: before.as_deref(), platform, guidance, hooks: hooks.as_deref() };
            connect::disconnect(target, text, &undo).map_err(|source| unfit(target, source))
        })
    }

    /// What of ours is in the files of a client; files that are not there are left out.
    pub(crate) fn look(&self, client: Client, scope: &Scope) -> Vec<(PathBuf, Result<Found, Unread>)> {
        let look = |target: Target| {
            let found = match ClientFile::read(&target.path) {
                Ok(ClientFile { text: None, .. }) => return None,
                Ok(ClientFile { text: Some(text), .. }) => connect::look(&target, &text)
                    .map_err(|unfit| Unread { problem: unfit.to_string(), is_about_us: text.contains("throughline") }),
                Err(error) => Err(Unread { problem: error.to_string(), is_about_us: false }),
            };
            Some((target.path, found))
        };
        self.targets(client, scope).into_iter().filter_map(look).collect()
    }

    /// What the person should know or do after a client was connected.
    pub(crate) fn remarks_after(&self, client: Client, steps: &[Step], has_hooks: bool) -> Vec<String> {
        let mut remarks = Vec::new();
        let is_changed = is_changed(steps);
        if !self.has(client) {
            remarks.push(format!("{client} does not seem to be installed; it finds this once it is"));
        } else if is_changed {
            remarks.push("restart it, so that it reads its settings anew".to_owned());
        }
        if client == Client::Codex && has_hooks && is_changed {
            remarks.push("Codex runs new hooks once you trust them: type `/hooks` in it".to_owned());
        }
        remarks
    }

    fn targets(&self, client: Client, scope: &Scope) -> Vec<Target> {
        let mut targets = connect::targets(client, scope, self.platform, &self.dirs);
        for target in &mut targets {
            if let Some(or) = target.or.take().filter(|or| or.exists() && !target.path.exists()) {
                target.path = or;
            }
        }
        targets
    }

    /// Plans every file, then does what was planned.
    fn each(
        &self,
        client: Client,
        scope: &Scope,
        mode: Mode,
        plan: impl Fn(&Target, &ClientFile) -> Result<Plan, ConnectError>,
    ) -> Result<Vec<Step>, ConnectError> {
        let targets = self.targets(client, scope);
        if targets.is_empty() {
            return Err(ConnectError::NoProject(client));
        }
        let planned = |target: &Target| {
            let file = ClientFile::read(&target.path).map_err(|source| failed(target, source))?;
            if matches!(scope, Scope::Project(dir) if !file.is_within(dir)) {
                return Err(ConnectError::Outside(target.path.clone()));
            }
            let plan = plan(target, &file)?;
            Ok::<_, ConnectError>((file, plan))
        };
        let shown = targets.iter().map(|target| {
            planned(target).map(|(file, plan)| step(target, &file, &plan, file.before().ok().flatten().as_deref()))
        });
        let shown = shown.collect::<Result<Vec<Step>, _>>()?;
        if mode == Mode::Show {
            return Ok(shown);
        }
        let base = match scope {
            Scope::User => &self.dirs.home,
            Scope::Project(dir) => dir,
        };
        targets.iter().map(|target| apply(target, base, planned)).collect()
    }
}

impl Wanted {
    fn parts(self, target: &Target) -> Vec<Part> {
        let is_wanted = |part: &Part| match part {
            Part::Mcp => self.mcp,
            Part::Hooks => self.hooks,
            Part::Guidance => match self.guidance {
                Guidance::No => false,
                Guidance::Own => !target.is_personal(),
                Guidance::Everywhere => true,
            },
        };
        target.parts().filter(is_wanted).collect()
    }
}

/// Why nothing can be said about a file.
pub(crate) struct Unread {
    pub(crate) problem: String,
    /// Whether it speaks of us, as far as can be seen.
    pub(crate) is_about_us: bool,
}

/// Does what is planned for one file, and plans anew where somebody else was faster.
fn apply(
    target: &Target,
    base: &Path,
    planned: impl Fn(&Target) -> Result<(ClientFile, Plan), ConnectError>,
) -> Result<Step, ConnectError> {
    let failed = |source| failed(target, source);
    for _ in 0..ROUNDS {
        let (file, plan) = planned(target)?;
        let before = file.before().ok().flatten();
        let text = file.text.as_deref().unwrap_or_default();
        let is_first = connect::look(target, text).is_ok_and(|found| found.is_nothing());
        let is_last = |text: &str| connect::look(target, text).is_ok_and(|found| found.is_nothing());
        let wrote = match &plan {
            Plan::Unchanged => Wrote::Done,
            Plan::Write(new) => {
                if is_first {
                    file.keep().map_err(failed)?;
                }
                file.write(new).map_err(failed)?
            }
            Plan::Remove => file.remove(base).map_err(failed)?,
        };
        if wrote == Wrote::Changed {
            continue;
        }
        if matches!(&plan, Plan::Remove) || matches!(&plan, Plan::Write(new) if is_last(new)) {
            file.forget().map_err(failed)?;
        }
        return Ok(step(target, &file, &plan, before.as_deref()));
    }
    Err(ConnectError::Busy(target.path.clone()))
}

/// `kept` is the text from before the first change.
fn step(target: &Target, file: &ClientFile, plan: &Plan, kept: Option<&str>) -> Step {
    let before = file.text.clone().unwrap_or_default();
    let (outcome, after) = match plan {
        Plan::Unchanged => (Outcome::Unchanged, before.clone()),
        Plan::Write(new) if kept == Some(new) => (Outcome::Restored, new.clone()),
        Plan::Write(new) => (Outcome::Written, new.clone()),
        Plan::Remove => (Outcome::Removed, String::new()),
    };
    Step { path: target.path.clone(), outcome, parts: target.parts().map(Part::as_str).collect(), before, after }
}

fn failed(target: &Target, source: io::Error) -> ConnectError {
    ConnectError::File { path: target.path.clone(), source }
}

fn unfit(target: &Target, source: Unfit) -> ConnectError {
    ConnectError::Unfit { path: target.path.clone(), source }
}
