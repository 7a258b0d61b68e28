//! `throughline project add|list|show|rules|trust|read|record|log|done|remove`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;
use serde::Serialize;
use throughline_core::engine::{EngineError, LineOutcome, ProjectAt, ProjectLine, Recorded};
use throughline_core::model::MemorySection;
use throughline_core::model::{DocumentName, Importance, Name, Project, Significance};
use throughline_core::ports::ProjectRoot;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style, task};
use crate::directory;
use crate::world::World;

/// Where the second column begins: behind the beginning of an id, as with memories.
const COLUMN: usize = 10;

/// See and set up the places where you work
#[derive(Subcommand)]
pub(super) enum ProjectCommand {
    /// Register a project, or move it to another directory, and accept its memory file
    Add(Add),
    /// List projects
    List,
    /// Show a project and its open tasks
    Show(One),
    /// List a project's rules: what has a significance of 4 or 5
    Rules(Here),
    /// Accept a project's memory file as it is now: what others wrote in it is no longer quoted
    Trust(Here),
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
    /// Its name; or its directory, such as `.`, after which it is named
    #[arg(value_name = "NAME|DIR")]
    name: String,
    /// Its directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Add {
    fn run(&self, world: &World) -> Result<Project, Failure> {
        let projects = world.engine.projects();
        // No name has a separator, and none begins with a dot.
        if self.dir.is_none() && (self.name.starts_with('.') || self.name.contains(std::path::is_separator)) {
            return Ok(projects.add_directory(&directory::of_project(Path::new(&self.name))?)?);
        }
        let dir = self.dir.as_deref().map(directory::of_project).transpose()?;
        Ok(projects.add(&self.name, dir.as_deref())?)
    }
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
    /// The project that is meant. Looking registers nothing.
    fn project(&self, world: &World) -> Result<ProjectAt, Failure> {
        let projects = world.engine.projects();
        if let Some(name) = &self.project {
            return Ok(projects.named(name)?);
        }
        let current = std::env::current_dir().and_then(|dir| dir.canonicalize());
        let current = current.map_err(|error| Failure::io("find the current directory", &error))?;
        let hint = "`throughline project add .` registers it; or name one with --project";
        projects.at(&current)?.ok_or_else(|| Failure::new("the current directory belongs to no project", hint))
    }

    /// The memory file to write to. A directory that is a project by itself is registered for that.
    fn to_write(&self, world: &World) -> Result<Chosen, Failure> {
        let project = self.project(world)?;
        if project.dir.is_none() {
            return Err(EngineError::NoDirectory { project: project.name }.into());
        }
        let name = world.engine.projects().settle(&project)?;
        let registered = (!project.is_registered).then(|| name.clone());
        Ok(Chosen { file: DocumentName::project(&name), registered })
    }
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
                let project = add.run(world)?;
                Ok(Reply::new(&project, format!("{}\n{}", "registered".green(), line(&project, world))))
            }
            Self::List => list(world),
            Self::Show(one) => {
                let overview = engine.projects().get(&one.name)?;
                let mut text = line(&overview.project, world);
                if !overview.tasks.is_empty() {
                    text.push_str(&format!("\n{}", task::table(&overview.tasks, world)));
                }
                Ok(Reply::new(&overview, text))
            }
            Self::Rules(here) => rules(&here.project(world)?, world),
            Self::Trust(here) => trust(&here.project(world)?, world),
            Self::Read(here) => {
                let document = engine.projects().file(&here.project(world)?)?;
                let text = document.as_ref().map(|document| document.text.clone()).unwrap_or_default();
                Ok(Reply::new(&document, "").with_data(text).or_nothing(document.is_none()))
            }
            Self::Record(wanted) => {
                let fact = (wanted.text.join(" "), Significance::new(wanted.sig)?);
                recorded(&wanted.here, world, |file| engine.memories().record(file, &[fact], wanted.section))
            }
            Self::Log(log) => {
                let fact = (log.text.join(" "), Importance::default().significance());
                recorded(&log.here, world, |file| engine.memories().record(file, &[fact], MemorySection::Happened))
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

fn list(world: &World) -> Answer {
    let listing = world.engine.projects().listing()?;
    let registered = |project: &Project| {
        let added = style::date(project.created_at, &world.now());
        vec![project.name.to_string(), project.dir.clone().unwrap_or_default(), added]
    };
    let by_itself = |root: &ProjectRoot| vec![root.name.to_string(), root.dir.clone(), "by itself".to_owned()];
    let rows: Vec<_> = listing.projects.iter().map(registered).chain(listing.roots.iter().map(by_itself)).collect();
    let nothing = rows.is_empty();
    let text = if nothing {
        "no projects yet; a directory under version control becomes one with its first session\n".to_owned()
    } else {
        style::table(&["project", "directory", "added"], rows)
    };
    Ok(Reply::new(&listing, text).or_nothing(nothing))
}

fn rules(project: &ProjectAt, world: &World) -> Answer {
    let found = world.engine.projects().rules(project)?;
    let row = |rule: &ProjectLine| {
        let significance = rule.significance.value().to_string();
        vec![style::short(rule.id.as_str()), significance, style::plain(&rule.content)]
    };
    let nothing = found.rules.is_empty();
    let mut text = if nothing {
        format!("no rules of {}; `throughline project record TEXT --sig 4` adds one\n", found.project)
    } else {
        style::table(&["id", "sig", "rule"], found.rules.iter().map(row).collect())
    };
    if !found.quoted.is_empty() {
        let lines = style::count(found.quoted.len() as u64, "line", "lines");
        text.push_str(&format!(
            "{lines} of memory.md came from others and are only quoted; `throughline project trust` accepts them\n"
        ));
    }
    Ok(Reply::new(&found, text).or_nothing(nothing))
}

fn trust(project: &ProjectAt, world: &World) -> Answer {
    let trusted = world.engine.projects().trust(project)?;
    let lines = style::count(trusted.accepted.len() as u64, "line", "lines");
    let mut text = format!("{} {lines} of {}\n", "accepted".green(), trusted.project.name);
    for line in &trusted.accepted {
        text.push_str(&format!("{}  {}\n", style::short(line.id.as_str()).yellow(), style::plain(&line.content)));
    }
    Ok(Reply::new(&trusted, text))
}
