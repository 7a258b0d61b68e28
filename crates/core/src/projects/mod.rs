//! Projects: a name, a directory, and the memory file in it.

mod checkouts;
mod memory;
mod naming;

use std::path::Path;

use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::DocumentService;
use crate::error::{Done, EngineError};
use crate::input;
use crate::kernel::{Kernel, Race as _, conflict, retry};
use crate::model::{ContentHash, Document, DocumentName, Name, Project, Source, Status, Task, TaskStatus, Verb};
use crate::ports::{self, Documents, Op, ProjectRoot, StoreError};
use crate::tasks::TaskService;

pub use checkouts::ProjectAt;
pub(crate) use memory::ProjectBrief;
pub use memory::{AcceptedFile, ProjectLine, ProjectRules};

/// A project and how much is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ProjectOverview {
    /// The project, its fields at the same level.
    #[serde(flatten)]
    pub project: Project,
    /// Its tasks that are open.
    pub tasks: Vec<Task>,
}

/// Projects.
#[derive(Clone, Copy)]
pub struct ProjectService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) history: &'e dyn ports::History,
    pub(crate) project_store: &'e dyn ports::Projects,
    pub(crate) files: &'e dyn Documents,
    pub(crate) documents: DocumentService<'e>,
    pub(crate) tasks: TaskService<'e>,
}

/// Every project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProjectListing {
    /// Those that are registered, by name.
    pub projects: Vec<Project>,
    /// Directories that are projects by themselves and where a session took place, by name.
    pub roots: Vec<ProjectRoot>,
}

impl ProjectService<'_> {
    /// Registers a project, or moves it to another directory, and accepts what the memory file there says.
    pub fn add(&self, name: &str, dir: Option<&str>) -> Done<Project> {
        let project = self.place(name, dir)?;
        self.accept_file(&project.name)?;
        Ok(project)
    }

    /// Every project that is registered, by name.
    pub fn list(&self) -> Done<Vec<Project>> {
        all_registered(self.project_store)
    }

    /// Every project: those that are registered, and directories that are projects by themselves.
    pub fn listing(&self) -> Done<ProjectListing> {
        let projects = self.list()?;
        let mut roots = self.project_store.roots()?;
        roots.retain(|root| {
            !projects.iter().any(|project| project.name == root.name || is_at(project, Path::new(&root.dir)))
        });
        Ok(ProjectListing { projects, roots })
    }

    /// One project with its open tasks.
    pub fn get(&self, name: &str) -> Done<ProjectOverview> {
        let project = registered(self.project_store, name)?;
        let tasks = self.tasks.list(Some(TaskStatus::Open), Some(project.name.as_str()))?;
        Ok(ProjectOverview { project, tasks })
    }

    /// Takes a project out of the register. What links to it keeps its link.
    pub fn remove(&self, name: &str) -> Done<Project> {
        let project = self.get(name)?.project;
        let next = Project { status: Status::Inactive, updated_at: self.kernel.now, ..project };
        self.kernel.apply(Verb::Project, &[Op::Project(next.clone())])?;
        Ok(Project { version: next.version + 1, ..next })
    }

    /// Every project that was ever registered, by name; those that were removed are inactive.
    pub fn all(&self) -> Done<Vec<Project>> {
        Ok(self.project_store.projects()?)
    }

    /// Registers a project, or moves it to another directory. The memory file of that directory is its own from then
    /// on, as part of the same change: nobody removed the other one, and an undo leaves both files alone. What it says is
    /// not accepted by that.
    pub(crate) fn place(&self, name: &str, dir: Option<&str>) -> Done<Project> {
        let name: Name = name.parse()?;
        input::no_secret("the name", name.as_str())?;
        let dir = dir.map(input::directory).transpose()?;
        if let Some(dir) = &dir {
            self.check_free(&name, dir)?;
        }
        retry(
            || conflict(&name),
            || {
                let known = self.project_store.project(&name)?;
                let next = self.placed(&name, dir.as_deref(), known.as_ref());
                if let Some(known) = known.filter(|known| known.dir == next.dir && known.status == next.status) {
                    return Ok(Some(known));
                }
                match self.move_project(&next, dir.as_deref()) {
                    // A person saved the file in between.
                    Err(EngineError::Store(StoreError::TakenBack)) => Ok(None),
                    outcome => {
                        let moved = outcome.unless_outrun()?;
                        Ok(moved.map(|()| Project { version: next.version + 1, ..next }))
                    }
                }
            },
        )
    }

    /// A project as it is to be.
    fn placed(&self, name: &Name, dir: Option<&str>, known: Option<&Project>) -> Project {
        let now = self.kernel.now;
        let (created_at, version) = known.map_or((now, 0), |known| (known.created_at, known.version));
        let dir = dir.map(str::to_owned).or_else(|| known.and_then(|known| known.dir.clone()));
        Project { name: name.clone(), dir, status: Status::Active, created_at, updated_at: now, version }
    }

    /// Registers a project as it is to be, with what the file in its new directory says.
    fn move_project(&self, next: &Project, to: Option<&str>) -> Done<()> {
        let file = DocumentName::project(&next.name);
        // What a person did to the file that is left behind belongs to its history, if it can be reached.
        match self.documents.notice(&file) {
            Err(EngineError::Document(error)) => tracing::debug!(%error, "the project leaves a directory unseen"),
            outcome => outcome?,
        }
        let mut ops = vec![Op::Project(next.clone())];
        let there = to.map(|dir| self.files.read_in(&file, dir)).transpose()?;
        if let Some(there) = &there {
            let known = self.history.known_documents()?.into_iter().find(|known| known.name == file);
            if known.map_or_else(ContentHash::missing, |known| known.hash) != hash_of(there.as_ref()) {
                ops.push(self.documents.versioned(
                    &file,
                    there.as_ref().map(|there| there.text.as_str()),
                    Source::User,
                ));
            }
        }
        let mut still = || match (to, &there) {
            (Some(dir), Some(there)) => {
                self.files.read_in(&file, dir).is_ok_and(|now| hash_of(now.as_ref()) == hash_of(there.as_ref()))
            }
            _ => true,
        };
        self.kernel.changes.apply(&self.kernel.change(Verb::Project), &ops, &mut still)?;
        Ok(())
    }

    /// Refuses a directory that another project has: both would write to one file, each with a history of its own.
    fn check_free(&self, name: &Name, dir: &str) -> Done<()> {
        let is_taken = |other: &&Project| other.name != *name && other.dir.as_deref() == Some(dir);
        match self.list()?.iter().find(is_taken) {
            None => Ok(()),
            Some(other) => {
                let problem = format!(
                    "{dir} belongs to the project `{0}`; use `--project {0}`, or `throughline project remove {0}` first",
                    other.name
                );
                Err(EngineError::invalid("the directory", problem))
            }
        }
    }
}

fn is_at(project: &Project, dir: &Path) -> bool {
    project.dir.as_deref().is_some_and(|own| Path::new(own) == dir)
}

fn hash_of(document: Option<&Document>) -> ContentHash {
    document.map_or_else(ContentHash::missing, |document| document.hash.clone())
}

/// Every project that is registered, by name.
pub(crate) fn all_registered(store: &dyn ports::Projects) -> Done<Vec<Project>> {
    let mut projects = store.projects()?;
    projects.retain(|project| project.status == Status::Active);
    Ok(projects)
}

/// One project that is registered.
pub(crate) fn registered(store: &dyn ports::Projects, name: &str) -> Done<Project> {
    let known = name.parse().ok().map(|name: Name| store.project(&name)).transpose()?.flatten();
    let known = known.filter(|project| project.status == Status::Active);
    known.ok_or_else(|| EngineError::NoProject { name: name.to_owned() })
}
