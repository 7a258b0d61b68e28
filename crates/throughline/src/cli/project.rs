//! `throughline project add|list|show|read|record|log|done|remove`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_core::engine::{EngineError, Recorded};
use throughline_core::model::{DocumentName, Importance, Name, Project, Significance};
use throughline_core::tools::parameters::MemorySection;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style, task};
use crate::world::World;

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
    #[arg(long, value_name = "SECTION", default_value = "is", value_parser = section)]
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

fn section(text: &str) -> Result<MemorySection, String> {
    match text {
        "is" => Ok(MemorySection::Is),
        "happened" => Ok(MemorySection::Happened),
        "done" => Ok(MemorySection::Done),
        _ => Err("expected is, happened or done".to_owned()),
    }
}

impl Here {
    /// The memory file of the project that is meant.
    fn file(&self, world: &World) -> Result<DocumentName, Failure> {
        let name = match &self.project {
            Some(name) => world.engine.project(name)?.project.name,
            None => here(world)?,
        };
        let no_directory = || Failure::from(EngineError::NoDirectory { project: name.clone() });
        world.engine.memory_file(Some(name.as_str()))?.ok_or_else(no_directory)
    }
}

/// The project that the current directory belongs to: a registered one, the innermost first; else the innermost
/// directory with a memory file, which is registered under its name.
fn here(world: &World) -> Result<Name, Failure> {
    let current = std::env::current_dir().and_then(|dir| dir.canonicalize());
    let current = current.map_err(|error| Failure::io("find the current directory", &error))?;
    let projects = world.engine.projects()?;
    for dir in current.ancestors() {
        let is_at = |project: &&Project| project.dir.as_deref().is_some_and(|place| Path::new(place) == dir);
        if let Some(project) = projects.iter().find(is_at) {
            return Ok(project.name.clone());
        }
        if dir.join("memory.md").is_file()
            && let (Some(name), Some(path)) = (dir.file_name().and_then(|name| name.to_str()), dir.to_str())
            && !projects.iter().any(|project| project.name.as_str() == name)
        {
            return Ok(world.engine.add_project(name, Some(path))?.name);
        }
    }
    let hint = "`throughline project add NAME --dir DIR` registers one; or name one with --project";
    Err(Failure::new("the current directory belongs to no project", hint))
}

fn recorded(recorded: &Recorded) -> Reply {
    let ids = recorded.ids.iter().map(|id| style::short(id.as_str())).collect::<Vec<_>>().join(", ");
    Reply::new(recorded, format!("{} in {} as {ids}\n", "recorded".green(), recorded.file))
}

impl ProjectCommand {
    pub(super) fn run(self, world: &World) -> Answer {
        let engine = &world.engine;
        match self {
            Self::Add(add) => {
                let dir = add.dir.as_ref().map(directory).transpose()?;
                let project = engine.add_project(&add.name, dir.as_deref())?;
                Ok(Reply::new(&project, format!("{}\n{}", "registered".green(), line(&project))))
            }
            Self::List => {
                let projects = engine.projects()?;
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
                Ok(Reply::new(&json!({ "projects": projects }), text).or_nothing(projects.is_empty()))
            }
            Self::Show(one) => {
                let overview = engine.project(&one.name)?;
                let mut text = line(&overview.project);
                if !overview.tasks.is_empty() {
                    text.push_str(&format!("\n{}", task::table(&overview.tasks, world)));
                }
                Ok(Reply::new(&overview, text))
            }
            Self::Read(here) => {
                let file = here.file(world)?;
                let document = engine.document(&file)?;
                let text = document.as_ref().map(|document| document.text.clone()).unwrap_or_default();
                Ok(Reply::new(&document, "").with_data(text).or_nothing(document.is_none()))
            }
            Self::Record(record) => {
                let fact = (record.text.join(" "), Significance::new(record.sig)?);
                Ok(recorded(&engine.record(&record.here.file(world)?, &[fact], record.section)?))
            }
            Self::Log(log) => {
                let fact = (log.text.join(" "), Importance::default().significance());
                Ok(recorded(&engine.record(&log.here.file(world)?, &[fact], MemorySection::Happened)?))
            }
            Self::Done(log) => Ok(recorded(&engine.complete(&log.here.file(world)?, &log.text.join(" "))?)),
            Self::Remove(one) => {
                let project = engine.remove_project(&one.name)?;
                Ok(Reply::new(&project, format!("{}\n{}", "removed".green(), line(&project))))
            }
        }
    }
}

/// A directory that is there, by its absolute path.
fn directory(dir: &PathBuf) -> Result<String, Failure> {
    let absolute = dir.canonicalize().map_err(|error| {
        Failure::new(format!("cannot use {}: {error}", dir.display()), "give a directory that exists")
    })?;
    if !absolute.is_dir() {
        return Err(Failure::new(format!("{} is not a directory", dir.display()), "give a directory that exists"));
    }
    let not_text =
        || Failure::new("the directory's name is not UTF-8", "rename it, or register the project without one");
    Ok(absolute.to_str().ok_or_else(not_text)?.to_owned())
}

fn line(project: &Project) -> String {
    let dir = project.dir.as_deref().unwrap_or("no directory");
    format!("{}  {}\n", style::plain(project.name.as_str()).bold(), style::plain(dir).dimmed())
}
