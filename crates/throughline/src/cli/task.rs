//! `throughline task add|list|show|update|done|remove`

use clap::{Args, Subcommand};
use owo_colors::OwoColorize as _;
use throughline_core::engine::{NewTask, TaskEdit, Tasks};
use throughline_core::model::{Task, TaskStatus};

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Keep track of what you mean to get done
#[derive(Subcommand)]
pub(super) enum TaskCommand {
    /// Add a task
    Add(Add),
    /// List tasks, the latest changed first
    List(List),
    /// Show a task and where it stands
    Show(One),
    /// Change a task, or say where it stands
    Update(Update),
    /// Complete a task: where it stands goes to the archive
    Done(Finish),
    /// Take a task away; what links to it keeps its link
    Remove(One),
}

/// A task
#[derive(Args)]
pub(super) struct One {
    /// Its id, the beginning of it, or its whole title
    #[arg(value_name = "ID")]
    task: String,
}

/// Add a task
#[derive(Args)]
pub(super) struct Add {
    /// What is to be done
    #[arg(required = true)]
    title: Vec<String>,
    /// The project it belongs to
    #[arg(long)]
    project: Option<String>,
    /// Where it stands
    #[arg(long, default_value = "", hide_default_value = true)]
    state: String,
}

/// List tasks
#[derive(Args)]
pub(super) struct List {
    /// open, done, removed, or all
    #[arg(long, default_value = "open", value_parser = status)]
    status: Wanted,
    /// Those of one project
    #[arg(long)]
    project: Option<String>,
}

#[derive(Clone)]
struct Wanted(Option<TaskStatus>);

fn status(text: &str) -> Result<Wanted, String> {
    if text == "all" {
        Ok(Wanted(None))
    } else {
        text.parse().map(|status| Wanted(Some(status))).map_err(|_| "expected open, done, removed or all".to_owned())
    }
}

/// Change a task
#[derive(Args)]
pub(super) struct Update {
    #[command(flatten)]
    one: One,
    /// Where it stands, in place of what was there
    #[arg(long, value_name = "TEXT")]
    state: Option<String>,
    /// What is to be done
    #[arg(long)]
    title: Option<String>,
    /// The project it belongs to
    #[arg(long)]
    project: Option<String>,
    /// Open a task again that was done or removed
    #[arg(long)]
    reopen: bool,
}

impl Update {
    fn is_empty(&self) -> bool {
        self.state.is_none() && self.title.is_none() && self.project.is_none() && !self.reopen
    }
}

/// Complete a task
#[derive(Args)]
pub(super) struct Finish {
    #[command(flatten)]
    one: One,
    /// What was concluded, for the archive
    #[arg(long, value_name = "TEXT")]
    conclusion: Option<String>,
}

impl TaskCommand {
    pub(super) fn run(self, world: &World) -> Answer {
        let engine = &world.engine;
        match self {
            Self::Add(add) => {
                let new = NewTask { title: add.title.join(" "), state: add.state, project: add.project };
                let task = engine.tasks().add(&new)?;
                let text = format!("{}\n{}", "added".green(), line(&task, world));
                Ok(Reply::new(&task, text))
            }
            Self::List(list) => {
                let tasks = engine.tasks().list(list.status.0, list.project.as_deref())?;
                let text = if tasks.is_empty() { "no tasks\n".to_owned() } else { table(&tasks, world) };
                let nothing = tasks.is_empty();
                Ok(Reply::new(&Tasks { tasks }, text).or_nothing(nothing))
            }
            Self::Show(one) => {
                let task = engine.tasks().get(&one.task)?;
                let mut text = line(&task, world);
                if !task.state.is_empty() {
                    text.push_str(&format!("\n{}\n", style::plain(&task.state)));
                }
                if let Some(archive) = &task.archive {
                    text.push_str(&format!("\nwhat was done: throughline show {}\n", style::short(archive.as_str())));
                }
                Ok(Reply::new(&task, text))
            }
            Self::Update(update) => {
                if update.is_empty() {
                    return Err(Failure::new(
                        "nothing to change was given",
                        "say --state, --title, --project or --reopen",
                    ));
                }
                let edit = TaskEdit {
                    title: update.title,
                    state: update.state,
                    project: update.project.map(Some),
                    status: update.reopen.then_some(TaskStatus::Open),
                    expected_version: None,
                };
                let task = engine.tasks().update(&update.one.task, &edit)?;
                let text = format!("{}\n{}", "updated".green(), line(&task, world));
                Ok(Reply::new(&task, text))
            }
            Self::Done(finish) => {
                let finished = engine.tasks().finish(&finish.one.task, finish.conclusion.as_deref())?;
                let mut text = format!("{}\n{}", "done".green(), line(&finished.task, world));
                if let Some(archived) = &finished.archived {
                    text.push_str(&format!("in the archive as {}\n", style::short(archived.entry.id.as_str())));
                }
                Ok(Reply::new(&finished, text))
            }
            Self::Remove(one) => {
                let edit = TaskEdit { status: Some(TaskStatus::Removed), ..TaskEdit::default() };
                let task = engine.tasks().update(&one.task, &edit)?;
                Ok(Reply::new(&task, format!("{}\n{}", "removed".green(), line(&task, world))))
            }
        }
    }
}

fn line(task: &Task, world: &World) -> String {
    let project = task.project.as_ref().map(|project| format!(" · {project}")).unwrap_or_default();
    let when = style::date(task.updated_at, &world.now());
    let notes = format!("{}{} · {when}", task.status, style::plain(&project));
    format!("{}  {}\n          {}\n", style::short(task.id.as_str()).bold(), style::plain(&task.title), notes.dimmed())
}

/// Tasks as a table.
pub(super) fn table(tasks: &[Task], world: &World) -> String {
    let now = world.now();
    let row = |task: &Task| {
        let project = task.project.clone().unwrap_or_default();
        let title = style::one_line(&task.title, 60);
        vec![
            style::short(task.id.as_str()),
            title,
            task.status.to_string(),
            project,
            style::date(task.updated_at, &now),
        ]
    };
    style::table(&["id", "task", "status", "project", "changed"], tasks.iter().map(row).collect())
}
