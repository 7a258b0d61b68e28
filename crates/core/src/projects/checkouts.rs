//! Directories that are projects by themselves: under version control, or with a memory file.

use std::path::Path;

use crate::error::{Done, EngineError};
use crate::kernel::{Race as _, conflict, retry};
use crate::model::{Name, Project};
use crate::ports::ProjectRoot;

use super::{ProjectService, is_at, naming};

/// The project that a directory belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectAt {
    /// What it is called.
    pub name: Name,
    /// Its own directory; nothing for one that is registered without.
    pub dir: Option<String>,
    /// Whether the person registered it.
    pub is_registered: bool,
    /// Whether its name is kept.
    is_named: bool,
}

impl ProjectAt {
    fn registered(project: &Project) -> Self {
        Self { name: project.name.clone(), dir: project.dir.clone(), is_registered: true, is_named: true }
    }

    fn root(root: ProjectRoot, is_named: bool) -> Self {
        Self { name: root.name, dir: Some(root.dir), is_registered: false, is_named }
    }
}

impl ProjectService<'_> {
    /// The project that a directory, given without links in its path, belongs to: the innermost that is registered or
    /// under version control. Looking registers and names nothing.
    pub fn at(&self, dir: &Path) -> Done<Option<ProjectAt>> {
        let projects = self.list()?;
        let registered = dir.ancestors().find_map(|dir| Some((dir, projects.iter().find(|one| is_at(one, dir))?)));
        match (registered, self.files.checkout(dir)) {
            (Some((dir, project)), Some(checkout)) if dir.starts_with(&checkout.top) => {
                Ok(Some(ProjectAt::registered(project)))
            }
            (_, Some(checkout)) => self.by_itself(&checkout.project, &projects),
            (Some((_, project)), None) => Ok(Some(ProjectAt::registered(project))),
            (None, None) => Ok(None),
        }
    }

    /// The same for a session that takes place there: a directory that is a project by itself keeps its name from then on.
    pub fn enter(&self, dir: &Path) -> Done<Option<ProjectAt>> {
        retry(
            || conflict(dir.display()),
            || {
                let Some(found) = self.at(dir)? else { return Ok(Some(None)) };
                let Some(root) = found.dir.clone().filter(|_| !found.is_named) else { return Ok(Some(Some(found))) };
                let root = ProjectRoot { name: found.name.clone(), dir: root };
                let named = self.project_store.name_root(&root).unless_outrun()?;
                Ok(named.map(|()| Some(ProjectAt { is_named: true, ..found })))
            },
        )
    }

    /// The project of this name: registered, or a directory that is one by itself.
    pub fn named(&self, name: &str) -> Done<ProjectAt> {
        match super::registered(self.project_store, name) {
            Err(EngineError::NoProject { .. }) => {}
            outcome => return outcome.map(|project| ProjectAt::registered(&project)),
        }
        let root = self.project_store.roots()?.into_iter().find(|root| root.name.as_str() == name);
        let unknown = || EngineError::NoProject { name: name.to_owned() };
        root.map(|root| ProjectAt::root(root, true)).ok_or_else(unknown)
    }

    /// Registers a project whose memory file is about to be written, unless it was removed. What the file says is not
    /// accepted by that.
    pub fn settle(&self, project: &ProjectAt) -> Done<Name> {
        if project.is_registered {
            return Ok(project.name.clone());
        }
        let is_here = |known: &&Project| known.dir.is_some() && known.dir == project.dir;
        if let Some(removed) = self.project_store.projects()?.iter().find(is_here) {
            let dir = project.dir.clone().unwrap_or_default();
            return Err(EngineError::ProjectRemoved { name: removed.name.clone(), dir });
        }
        Ok(self.place(project.name.as_str(), project.dir.as_deref())?.name)
    }

    /// Registers a directory by the name that it has or gets.
    pub fn add_directory(&self, dir: &str) -> Done<Project> {
        let found = self.by_itself(Path::new(dir), &self.project_store.projects()?)?;
        // A directory after which nothing can be named is refused as a name.
        self.add(found.as_ref().map_or(dir, |found| found.name.as_str()), Some(dir))
    }

    /// The project in this directory: registered, else by the name that it has or gets.
    fn by_itself(&self, dir: &Path, projects: &[Project]) -> Done<Option<ProjectAt>> {
        if let Some(project) = projects.iter().find(|project| is_at(project, dir)) {
            return Ok(Some(ProjectAt::registered(project)));
        }
        let Some(path) = dir.to_str().map(str::to_owned) else { return Ok(None) };
        let roots = self.project_store.roots()?;
        // A project that is registered elsewhere has its name; one without a directory is the one in this directory.
        let elsewhere =
            |name: &Name| projects.iter().any(|other| other.name.folded() == name.folded() && other.dir.is_some());
        if let Some(own) = roots.iter().find(|root| root.dir == path && !elsewhere(&root.name)) {
            return Ok(Some(ProjectAt::root(own.clone(), true)));
        }
        let is_taken = |name: &Name| {
            elsewhere(name) || roots.iter().any(|root| root.dir != path && root.name.folded() == name.folded())
        };
        let name = naming::name_for(dir, is_taken);
        Ok(name.map(|name| ProjectAt::root(ProjectRoot { name, dir: path }, false)))
    }
}
