//! What a project says of itself: its rules, its state, and the lines of its memory file that nobody accepted yet.
//!
//! A line counts as the person's or as ours once the person accepted it, or this memory wrote it. Anything else in the file
//! came with the repository: it is shown as a quotation, and never given as a memory.

use std::collections::HashSet;

use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::{fold_blanks, without_secrets};
use crate::error::{Done, EngineError};
use crate::model::{
    Bullet, Document, DocumentName, EntryId, Kind, Layer, Memory, Name, Namespace, Project, Significance,
};
use crate::ports::Page;
use crate::recall::{Filter, Hit, Projects, Question};
use crate::text::{bullets, redact::redact, sections};

use super::{ProjectAt, ProjectService};

/// Rules of one project that are looked at.
const MOST_RULES: usize = 200;

/// Something that is known of a project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProjectLine {
    /// Its id, as `show`, `edit` and `forget` take it.
    pub id: EntryId,
    /// An entry, or a line of the memory file.
    pub kind: Kind,
    /// What it says.
    pub content: String,
    /// How much it matters, 1 to 5.
    pub significance: Significance,
}

/// The rules of a project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProjectRules {
    /// The project.
    pub project: Name,
    /// What has a significance of 4 or 5, the highest first.
    pub rules: Vec<ProjectLine>,
    /// Lines of its memory file that are quoted until the person accepts them.
    pub quoted: Vec<ProjectLine>,
}

/// A memory file that was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AcceptedFile {
    /// The project, its fields at the same level.
    #[serde(flatten)]
    pub project: Project,
    /// Its lines that are accepted now and were not before.
    pub accepted: Vec<ProjectLine>,
}

/// What a session in a project is told.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ProjectBrief {
    /// Significance 4 and 5, the highest first.
    pub(crate) rules: Vec<ProjectLine>,
    /// Other lines on how things stand, in the order of the file.
    pub(crate) state: Vec<ProjectLine>,
    /// The repository's words.
    pub(crate) quoted: Vec<ProjectLine>,
}

impl ProjectService<'_> {
    /// The rules of a project, and what its memory file says that nobody accepted.
    pub fn rules(&self, project: &ProjectAt) -> Done<ProjectRules> {
        let ProjectBrief { rules, quoted, .. } = self.brief(project.name.as_str(), Some(project))?;
        Ok(ProjectRules { project: project.name.clone(), rules, quoted })
    }

    /// Registers a project where it is not, and accepts every line of its memory file as it is now.
    pub fn trust(&self, project: &ProjectAt) -> Done<AcceptedFile> {
        let placed = self.place(project.name.as_str(), project.dir.as_deref())?;
        let accepted = self.accept_file(&placed.name)?;
        Ok(AcceptedFile { project: placed, accepted })
    }

    /// The memory file of a project. Reading registers nothing.
    pub fn file(&self, project: &ProjectAt) -> Done<Option<Document>> {
        let name = DocumentName::project(&project.name);
        if project.is_registered {
            self.documents.check_namespace(&name)?;
            return self.documents.get(&name);
        }
        let no_directory = || EngineError::NoDirectory { project: project.name.clone() };
        Ok(self.files.read_in(&name, project.dir.as_deref().ok_or_else(no_directory)?)?)
    }

    /// Accepts every line of a project's memory file; gives those that were not.
    pub(super) fn accept_file(&self, project: &Name) -> Done<Vec<ProjectLine>> {
        let accepted = self.project_store.accepted_lines(project)?;
        let known = super::registered(self.project_store, project.as_str())?;
        let Some(text) = known.dir.map(|dir| self.file_in(project, &dir)).transpose()?.flatten() else {
            return Ok(Vec::new());
        };
        let new: Vec<ProjectLine> =
            lines(project, &text).into_iter().filter(|line| !accepted.contains(&line.id)).collect();
        let ids: Vec<EntryId> = new.iter().map(|line| line.id.clone()).collect();
        self.project_store.accept_lines(project, &ids)?;
        Ok(new)
    }

    /// Whether every line of a project's memory file is accepted.
    pub(crate) fn is_accepted(&self, project: &ProjectAt, text: &str) -> Done<bool> {
        let accepted = self.accepted(project)?;
        Ok(lines(&project.name, text).iter().all(|line| accepted.contains(&line.id)))
    }

    /// The lines of a project that are accepted; none where the person did not register it.
    fn accepted(&self, project: &ProjectAt) -> Done<HashSet<EntryId>> {
        if !project.is_registered {
            return Ok(HashSet::new());
        }
        Ok(self.project_store.accepted_lines(&project.name)?)
    }

    /// What a session is told of a project, by its name; `at` says where it is, if that is not kept yet.
    pub(crate) fn brief(&self, name: &str, at: Option<&ProjectAt>) -> Done<ProjectBrief> {
        let mut brief = ProjectBrief { rules: self.entry_rules(name)?, ..ProjectBrief::default() };
        let known = match self.named(name) {
            Err(EngineError::NoProject { .. }) => at.cloned(),
            outcome => Some(outcome?),
        };
        if let Some((project, dir)) = known.as_ref().and_then(|known| Some((known, known.dir.as_deref()?))) {
            self.add_file(&mut brief, project, dir)?;
        }
        brief.rules.sort_by_key(|rule| std::cmp::Reverse(rule.significance));
        Ok(brief)
    }

    /// Entries of a project that are rules, the latest first.
    fn entry_rules(&self, project: &str) -> Done<Vec<ProjectLine>> {
        let filter = Filter {
            kinds: vec![Kind::Entry],
            layers: vec![Layer::Knowledge],
            projects: Projects::Only(project.to_owned()),
            significance: Some(Significance::RULE),
            ..Filter::recallable(self.kernel.now)
        };
        let found = self.entries.list(&filter, &Page { limit: MOST_RULES, cursor: None })?;
        let line = |memory: Memory| ProjectLine {
            id: memory.entry.id,
            kind: Kind::Entry,
            content: memory.entry.content,
            significance: memory.entry.importance.significance(),
        };
        Ok(found.memories.into_iter().map(line).collect())
    }

    /// Adds what the memory file says on how things stand.
    fn add_file(&self, brief: &mut ProjectBrief, project: &ProjectAt, dir: &str) -> Done<()> {
        let Some(text) = self.file_in(&project.name, dir)? else { return Ok(()) };
        let accepted = self.accepted(project)?;
        let said: HashSet<String> = brief.rules.iter().map(|rule| rule.content.clone()).collect();
        for line in state_lines(&project.name, &text).into_iter().filter(|line| !said.contains(&line.content)) {
            match accepted.contains(&line.id) {
                false => brief.quoted.push(line),
                true if line.significance >= Significance::RULE => brief.rules.push(line),
                true => brief.state.push(line),
            }
        }
        Ok(())
    }

    fn file_in(&self, project: &Name, dir: &str) -> Done<Option<String>> {
        Ok(self.files.read_in(&DocumentName::project(project), dir)?.map(|file| file.text))
    }

    /// The projects in reach of a conversation: its own and those that a question names; all of them for one without.
    pub(crate) fn reach(&self, project: Option<&str>, question: &Question) -> Done<Projects> {
        let Some(own) = project else { return Ok(Projects::Any) };
        let named = self.project_store.project_names()?.into_iter().filter(|name| question.names(name));
        Ok(Projects::NoneOr(std::iter::once(own.to_owned()).chain(named).collect()))
    }

    /// Hits without lines of memory files that nobody accepted: those are quoted at the beginning of a session, and are
    /// no memories.
    pub(crate) fn without_quoted(&self, hits: &mut Vec<Hit>) -> Done<()> {
        let file = |hit: &Hit| match &hit.memory.entry.namespace {
            Namespace::Document(name) => name.as_project().cloned(),
            _ => None,
        };
        let projects: HashSet<Name> = hits.iter().filter_map(file).collect();
        let mut accepted = HashSet::new();
        for project in &projects {
            accepted.extend(self.project_store.accepted_lines(project)?);
        }
        hits.retain(|hit| file(hit).is_none() || accepted.contains(&hit.memory.entry.id));
        Ok(())
    }
}

/// Every line of a memory file, without secrets.
fn lines(project: &Name, text: &str) -> Vec<ProjectLine> {
    said(text, bullets::parse(&DocumentName::project(project), text))
}

/// The lines on how things stand: those of What Is; where there is no such section, all but what happened or is done.
fn state_lines(project: &Name, text: &str) -> Vec<ProjectLine> {
    let section = |headings| sections::section(text, headings);
    let (is, happened, done) = (section(sections::IS), section(sections::HAPPENED), section(sections::DONE));
    let mut found = bullets::parse(&DocumentName::project(project), text);
    found.retain(|line| {
        let is_in =
            |section: &Option<std::ops::Range<usize>>| section.as_ref().map(|one| one.contains(&line.span.start));
        is_in(&is).unwrap_or(is_in(&happened) != Some(true) && is_in(&done) != Some(true))
    });
    said(text, found)
}

fn said(text: &str, bullets: Vec<Bullet>) -> Vec<ProjectLine> {
    let safe = fold_blanks(&redact(&text.replace('\0', "")).text);
    let line = |bullet: Bullet| ProjectLine {
        id: bullet.id,
        kind: Kind::Bullet,
        content: without_secrets(&bullet.content, &safe),
        significance: bullet.importance.significance(),
    };
    bullets.into_iter().map(line).collect()
}
