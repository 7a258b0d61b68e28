//! `throughline project add|list|show|read|record|log|done|remove`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;
use serde::Serialize;
use throughline_core::engine::{EngineError, LineOutcome, Nearest, Recorded, RegisteredProjects};
use throughline_core::model::MemorySection;
use throughline_core::model::{Document, DocumentName, Importance, Name, Project, Significance};

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style, task};
use crate::directory;
use crate::world::World;

/// Where the second column begins: behind the beginning of an id, as with memories.
const COLUMN: usize = 10;

/// Register the places where you work
#[derive(Subcommand)]
pub(super) enum ProjectCommand {
    /// Register a project, or move it to another directory
    Add(Add),
    /// List projects
    List,
    /// Show a project and its open tasks
    Show(One),
    /// Print a project's memory file
    Read(Here),
    /// Record how things stand, in a project's memory file
    Record(Record),
    /// Record what happened, with today's date
    Log(Log),
    /// Record what is completed; a fact that stands there is moved
    Done(Log),
    /// Take a project out of the register; what links to it keeps its link
    Remove(One),
}

/// Register a project
#[derive(Args)]
pub(super) struct Add {
    /// Its name
    name: String,
    /// Its directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// A project
#[derive(Args)]
pub(super) struct One {
    /// Its name
    name: String,
}

/// The project of the current directory, or another
#[derive(Args)]
pub(super) struct Here {
    /// Its name; without it, the project that the current directory belongs to
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

/// Record a fact
#[derive(Args)]
pub(super) struct Record {
    /// The fact
    #[arg(required = true)]
    text: Vec<String>,
    /// Significance, 1 to 5; 4 and 5 are never pruned
    #[arg(long, value_name = "1..5", default_value = "3", allow_negative_numbers = true)]
    sig: i64,
    /// is, happened or done
    #[arg(long, value_name = "SECTION", default_value = "is")]
    section: MemorySection,
    #[command(flatten)]
    here: Here,
}

/// Record what happened or is completed
#[derive(Args)]
pub(super) struct Log {
    /// What; for what is completed, the id of a line will do
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    here: Here,
}

/// A project to write to, and whether it was registered for that.
struct Chosen {
    file: DocumentName,
    registered: Option<Name>,
}

impl Here {
    /// The memory file to write to. A directory that has one, and is no project yet, becomes one.
    fn to_write(&self, world: &World) -> Result<Chosen, Failure> {
        let (name, is_new) = match &self.project {
            Some(name) => (world.engine.projects().get(name)?.project.name, false),
            None => match nearest(world)? {
                Nearest::Registered(name) => (name, false),
                Nearest::Unregistered(dir) => (register(world, &dir)?, true),
            },
        };
        let file = memory_file(world, &name)?;
        Ok(Chosen { file, registered: is_new.then_some(name) })
    }

    /// The memory file as it is. Reading registers nothing.
    fn read(&self, world: &World) -> Result<Option<Document>, Failure> {
        match &self.project {
            Some(name) => {
                let name = world.engine.projects().get(name)?.project.name;
                Ok(world.engine.documents().get(&memory_file(world, &name)?)?)
            }
            None => Ok(read_nearest(world, nearest(world)?)?.file),
        }
    }
}

/// The project that a directory belongs to.
pub(super) struct Around {
    /// Its name, or the one that its directory gives it.
    pub(super) name: Name,
    /// Whether somebody registered it.
    pub(super) is_registered: bool,
    /// Its memory file.
    pub(super) file: Option<Document>,
}

/// The project that a directory belongs to, if it belongs to any. Looking registers nothing.
pub(super) fn around(world: &World, dir: &Path) -> Result<Option<Around>, Failure> {
    world.engine.projects().at(dir)?.map(|nearest| read_nearest(world, nearest)).transpose()
}

fn read_nearest(world: &World, nearest: Nearest) -> Result<Around, Failure> {
    match nearest {
        Nearest::Registered(name) => {
            let file = world.engine.documents().get(&memory_file(world, &name)?)?;
            Ok(Around { name, is_registered: true, file })
        }
        Nearest::Unregistered(dir) => {
            let (name, path) = named(&dir)?;
            let file = world.engine.projects().memory_in(&name, &path)?;
            Ok(Around { name, is_registered: false, file })
        }
    }
}

fn memory_file(world: &World, name: &Name) -> Result<DocumentName, Failure> {
    let no_directory = || Failure::from(EngineError::NoDirectory { project: name.clone() });
    world.engine.documents().memory_file(Some(name.as_str()))?.ok_or_else(no_directory)
}

/// What the current directory belongs to.
fn nearest(world: &World) -> Result<Nearest, Failure> {
    let current = std::env::current_dir().and_then(|dir| dir.canonicalize());
    let current = current.map_err(|error| Failure::io("find the current directory", &error))?;
    let hint = "`throughline project add NAME --dir DIR` registers one; or name one with --project";
    world
        .engine
        .projects()
        .at(&current)?
        .ok_or_else(|| Failure::new("the current directory belongs to no project", hint))
}

fn is_at(project: &Project, dir: &Path) -> bool {
    project.dir.as_deref().is_some_and(|place| Path::new(place) == dir)
}

/// The name that a directory gives to its project, and its path.
fn named(dir: &Path) -> Result<(Name, String), Failure> {
    let name = dir.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    let no_name = || {
        let hint = format!("`throughline project add NAME --dir {}` registers it under another one", dir.display());
        Failure::new(format!("{} has a memory file, but its name cannot name a project", dir.display()), hint)
    };
    name.zip(dir.to_str().map(str::to_owned)).ok_or_else(no_name)
}

/// Registers a directory that has a memory file, by its name; never one that was taken out of the register, nor under a
/// name that means another one.
fn register(world: &World, dir: &Path) -> Result<Name, Failure> {
    let every = world.engine.projects().all()?;
    if let Some(removed) = every.iter().find(|project| is_at(project, dir)) {
        let (name, dir) = (&removed.name, dir.display());
        let hint = format!("`throughline project add {name} --dir {dir}` brings it back");
        return Err(Failure::new(format!("the project `{name}` in {dir} was removed"), hint));
    }
    let (name, path) = named(dir)?;
    if every.iter().any(|project| project.name == name) {
        let message = format!("{path} has a memory file, but another project is called `{name}`");
        let hint =
            format!("`throughline project add OTHER --dir {path}` registers it under another name; or use --project");
        return Err(Failure::new(message, hint));
    }
    Ok(world.engine.projects().place(name.as_str(), Some(&path))?.name)
}

/// What is answered to a record, with the project that was registered for it.
#[derive(Serialize)]
struct RecordedHere<'a> {
    #[serde(flatten)]
    recorded: &'a Recorded,
    #[serde(skip_serializing_if = "Option::is_none")]
    registered: Option<&'a Name>,
}

/// Records in the project that is meant, and says which one became one for that: also where nothing was recorded.
fn recorded(here: &Here, world: &World, record: impl FnOnce(&DocumentName) -> Result<Recorded, EngineError>) -> Answer {
    let Chosen { file, registered } = here.to_write(world)?;
    let done = record(&file).map_err(|error| match &registered {
        Some(name) => Failure::from(error).with_hint(format!("the directory is now registered as `{name}`")),
        None => Failure::from(error),
    })?;
    let mut text = registered.iter().map(|name| format!("registered as {name}\n")).collect::<String>();
    for line in &done.lines {
        let (said, outcome) = match line.outcome {
            LineOutcome::Created => ("recorded".green().to_string(), "created"),
            LineOutcome::Moved => ("moved".green().to_string(), "moved"),
            LineOutcome::Unchanged => ("unchanged".dimmed().to_string(), "stands there already"),
        };
        let id = style::short(line.id.as_str());
        let about = style::plain(&format!("{outcome} · {}", done.file));
        text.push_str(&format!("{said}\n{}", two_columns(&id.yellow(), id.len(), &line.content, &about)));
    }
    Ok(Reply::new(&RecordedHere { recorded: &done, registered: registered.as_ref() }, text))
}

/// Two lines as a memory has them: a name and what it stands for, and below that what is to be said about it.
fn two_columns(name: &dyn std::fmt::Display, width: usize, content: &str, about: &str) -> String {
    let indent = " ".repeat(COLUMN);
    let gap = " ".repeat(COLUMN.saturating_sub(width).max(2));
    let content = style::plain(content).replace('\n', &format!("\n{indent}"));
    format!("{name}{gap}{content}\n{indent}{}\n", about.dimmed())
}

impl ProjectCommand {
    pub(super) fn run(self, world: &World) -> Answer {
        let engine = &world.engine;
        match self {
            Self::Add(add) => {
                let dir = add.dir.as_deref().map(directory::of_project).transpose()?;
                let project = engine.projects().place(&add.name, dir.as_deref())?;
                Ok(Reply::new(&project, format!("{}\n{}", "registered".green(), line(&project, world))))
            }
            Self::List => {
                let projects = engine.projects().list()?;
                let row = |project: &Project| {
                    vec![
                        project.name.to_string(),
                        project.dir.clone().unwrap_or_default(),
                        style::date(project.created_at, &world.now()),
                    ]
                };
                let text = if projects.is_empty() {
                    "no projects; `throughline project add NAME --dir DIR` registers one\n".to_owned()
                } else {
                    style::table(&["project", "directory", "added"], projects.iter().map(row).collect())
                };
                let nothing = projects.is_empty();
                Ok(Reply::new(&RegisteredProjects { projects }, text).or_nothing(nothing))
            }
            Self::Show(one) => {
                let overview = engine.projects().get(&one.name)?;
                let mut text = line(&overview.project, world);
                if !overview.tasks.is_empty() {
                    text.push_str(&format!("\n{}", task::table(&overview.tasks, world)));
                }
                Ok(Reply::new(&overview, text))
            }
            Self::Read(here) => {
                let document = here.read(world)?;
                let text = document.as_ref().map(|document| document.text.clone()).unwrap_or_default();
                Ok(Reply::new(&document, "").with_data(text).or_nothing(document.is_none()))
            }
            Self::Record(wanted) => {
                let fact = (wanted.text.join(" "), Significance::new(wanted.sig)?);
                recorded(&wanted.here, world, |file| engine.documents().record(file, &[fact], wanted.section))
            }
            Self::Log(log) => {
                let fact = (log.text.join(" "), Importance::default().significance());
                recorded(&log.here, world, |file| engine.documents().record(file, &[fact], MemorySection::Happened))
            }
            Self::Done(log) => {
                recorded(&log.here, world, |file| engine.documents().complete(file, &log.text.join(" ")))
            }
            Self::Remove(one) => {
                let project = engine.projects().remove(&one.name)?;
                Ok(Reply::new(&project, format!("{}\n{}", "removed".green(), line(&project, world))))
            }
        }
    }
}

fn line(project: &Project, world: &World) -> String {
    let name = style::plain(project.name.as_str());
    let about = format!("added {}", style::date(project.created_at, &world.now()));
    two_columns(&name.bold(), name.chars().count(), project.dir.as_deref().unwrap_or("no directory"), &about)
}
