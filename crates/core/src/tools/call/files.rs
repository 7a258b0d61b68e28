//! Tools that write by key, into memory files, and into the archive.

use serde_json::json;

use crate::documents::record::headings;
use crate::error::{Done, EngineError};
use crate::memories::place::{Placement, Statement, Wanted};
use crate::memories::{Correction, NewMemory};
use crate::model::{DocumentName, Entry, Importance, Layer, MemorySection, Namespace, Significance, Source, Verb};
use crate::ports::Pass;
use crate::text::bullets;
use crate::tools::parameters::{Distill, Forget, ProjectMemory, RecordFact, Store, Summarise};

use super::{Caller, ToolAnswer};

impl Caller<'_> {
    pub(super) fn store(&self, wanted: Store) -> Done<ToolAnswer> {
        let layer = wanted.category.layer();
        let importance = wanted.importance.map(Importance::new).transpose();
        let importance = importance.map_err(|error| EngineError::invalid("the importance", error.to_string()))?;
        self.check_key(&wanted.key)?;
        if let Some(known) =
            self.engine.store.keyed(&self.engine.kernel.facts(), self.project.as_deref(), &wanted.key)?
        {
            if known.layer != layer {
                let problem = format!("is another than that of `{}`, which is kept as {}", wanted.key, known.layer);
                return Err(EngineError::invalid("the category", problem));
            }
            if known.source == Source::User {
                return self.correct_keyed(&known, wanted.content);
            }
        }
        let stored = self.engine.memories().remember(&NewMemory {
            key: Some(wanted.key),
            layer,
            importance,
            project: self.project.clone(),
            source: self.engine.kernel.actor.who,
            session: Some(self.session.clone()),
            provenance: self.said()?,
            ..NewMemory::fact(wanted.content)
        })?;
        let id = stored.memory.entry.id;
        let receipt = json!({
            "id": id, "key": stored.memory.entry.key, "outcome": stored.outcome, "superseded": stored.superseded,
            "recallable": self.is_found(&id)?,
        });
        Ok(ToolAnswer::new(format!("stored {}", stored.memory.entry.key.unwrap_or_default()), receipt))
    }

    /// What the person stored is not overwritten but corrected: their words, their weight and the link stay.
    fn correct_keyed(&self, known: &Entry, content: String) -> Done<ToolAnswer> {
        let replaced = self.engine.memories().correct(
            known.id.as_str(),
            &Correction {
                content,
                source: self.engine.kernel.actor.who,
                tags: Vec::new(),
                session: Some(self.session.clone()),
                provenance: self.said()?,
            },
        )?;
        let (id, key) = (replaced.memory.entry.id, replaced.memory.entry.key.unwrap_or_default());
        let superseded: Vec<_> = replaced.superseded.iter().map(|memory| &memory.entry.id).collect();
        let receipt = json!({
            "id": id, "key": key, "outcome": replaced.outcome, "superseded": superseded,
            "recallable": self.is_found(&id)?,
        });
        Ok(ToolAnswer::new(format!("stored {key}"), receipt))
    }

    pub(crate) fn forget(&self, wanted: &Forget) -> Done<ToolAnswer> {
        let memory = self.engine.memories().show(&wanted.key)?;
        let entry = memory.entry;
        if entry.layer == Layer::Archive
            && !self.engine.kernel.settings.agent_erases
            && entry.source != self.engine.kernel.actor.who
        {
            let problem = format!("`{}` belongs to the archive (L2), which only the person removes", wanted.key);
            return Err(EngineError::invalid("the target", problem));
        }
        self.check_forgettable(&entry)?;
        let outcome = if self.engine.kernel.settings.agent_erases {
            self.engine.memories().erase(entry.id.as_str(), false)?;
            "erased"
        } else {
            let forgotten = self.engine.memories().forget(entry.id.as_str())?;
            if forgotten.already { "forgotten already" } else { "forgotten" }
        };
        Ok(ToolAnswer::new(format!("{outcome} {}", wanted.key), json!({ "id": entry.id, "outcome": outcome })))
    }

    /// Lines of identity and of memory files are written by assistants too; other documents are the person's alone.
    fn check_forgettable(&self, entry: &Entry) -> Done<()> {
        let Namespace::Document(name) = &entry.namespace else { return Ok(()) };
        let own = self.engine.kernel.settings.namespace.as_ref();
        let is_shared = name.as_project().is_some()
            || own.is_some_and(|own| *name == DocumentName::profile(own) || *name == DocumentName::memory(own));
        if is_shared {
            return Ok(());
        }
        let problem = format!("`{}` is a line of {name}, which the person edits", entry.id);
        Err(EngineError::invalid("the target", problem))
    }

    pub(crate) fn record_fact(&self, wanted: RecordFact) -> Done<ToolAnswer> {
        let significance = wanted.significance.map(i64::from).map(Significance::new).transpose();
        let significance = significance.map_err(|error| EngineError::invalid("the significance", error.to_string()))?;
        let section = wanted.section.unwrap_or_default();
        self.record(
            wanted.project,
            &[(wanted.fact, significance.unwrap_or(Importance::default().significance()))],
            section,
        )
    }

    pub(crate) fn project_memory(&self, wanted: ProjectMemory) -> Done<ToolAnswer> {
        let lines = wanted.content.lines().map(|line| without_marker(line.trim()));
        // A heading is no fact: where the lines belong is said by `section`.
        let facts = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
            let (weight, text) = bullets::weight(line);
            (text.into_owned(), weight.unwrap_or_default().significance())
        });
        self.record(wanted.project, &facts.collect::<Vec<_>>(), wanted.section.unwrap_or_default())
    }

    /// Adds facts to a memory file; about a project that has none, to what is known about it.
    fn record(
        &self,
        project: Option<String>,
        facts: &[(String, Significance)],
        section: MemorySection,
    ) -> Done<ToolAnswer> {
        let project = project.or_else(|| self.project.clone());
        // A directory that is a project by itself gets its memory file with the first record; one that was removed, none.
        if let Some(here) = project.as_deref().and_then(|name| self.engine.projects().named(name).ok()) {
            match here.dir.as_ref().map(|_| self.engine.projects().settle(&here)) {
                Some(Err(EngineError::ProjectRemoved { .. })) | None => {}
                Some(settled) => drop(settled?),
            }
        }
        let (file, project) = match (self.engine.documents().memory_file(project.as_deref())?, project) {
            (None, Some(project)) => return self.record_about(&project, facts, section),
            (file, project) => (file, project),
        };
        let file = file.ok_or(EngineError::NoNamespace)?;
        let recorded = self.engine.memories().record(&file, facts, section)?;
        let receipt = json!({
            "ids": recorded.ids, "file": recorded.file, "project": project, "outcome": "recorded",
            "recallable": !recorded.ids.is_empty(),
        });
        Ok(ToolAnswer::new(format!("recorded in {file}"), receipt))
    }

    fn record_about(
        &self,
        project: &str,
        facts: &[(String, Significance)],
        section: MemorySection,
    ) -> Done<ToolAnswer> {
        if facts.is_empty() {
            return Err(EngineError::invalid("the text", "is empty"));
        }
        let label = headings(section).first().map(|title| title.to_lowercase().replace(' ', "-")).unwrap_or_default();
        let provenance = self.said()?;
        let statement = |(fact, significance): &(String, Significance)| -> Done<Statement> {
            let new = NewMemory {
                tags: vec![label.clone()],
                project: Some(project.to_owned()),
                source: self.engine.kernel.actor.who,
                session: Some(self.session.clone()),
                provenance: provenance.clone(),
                ..NewMemory::fact(fact.clone())
            };
            let importance = Importance::from(*significance);
            let entry = Entry { importance, ..self.engine.memories().draft(&new)?.0 };
            Ok(Statement { weight: Some(importance), ..Statement::new(entry, Wanted::Knowledge) })
        };
        let statements = facts.iter().map(statement).collect::<Done<Vec<_>>>()?;
        let memories = self.engine.memories();
        let place = |placement: &mut Placement| {
            statements.iter().map(|statement| memories.place(statement, placement)).collect::<Done<Vec<_>>>()
        };
        let (placed, stored) = memories.write_placed(Verb::Remember, &place)?;
        let ids: Vec<_> = placed.iter().map(|placed| stored.id(&placed.id).clone()).collect();
        let recallable =
            ids.iter().map(|id| self.is_found(id)).collect::<Done<Vec<_>>>()?.into_iter().all(|found| found);
        let receipt = json!({ "ids": ids, "project": project, "outcome": "recorded", "recallable": recallable });
        Ok(ToolAnswer::new(format!("recorded about {project}"), receipt))
    }

    pub(crate) fn summarise(&self, wanted: &Summarise) -> Done<ToolAnswer> {
        let kept = match &wanted.summary {
            Some(summary) => self.engine.consolidation_by_caller().keep_summary(self.session, summary)?,
            None => self.tool_models.summarise(self.session)?,
        };
        let (summary, outcome) = match kept {
            Some(_) => ("kept a summary", "stored"),
            None => ("nothing was said", "nothing"),
        };
        Ok(ToolAnswer::new(summary, json!({ "id": kept, "outcome": outcome })))
    }

    /// Looks back on memory. There is one person: another name is refused.
    pub(crate) fn distill(&self, wanted: &Distill) -> Done<ToolAnswer> {
        let own = self.engine.kernel.settings.namespace.as_ref().ok_or(EngineError::NoNamespace)?;
        if let Some(other) = wanted.user.as_deref().filter(|user| *user != own.as_str()) {
            return Err(EngineError::invalid(
                "the user",
                format!("`{other}` is not known here; this memory is `{own}`"),
            ));
        }
        let busy = || EngineError::invalid("reflection", "is under way already; try again in a moment");
        let Pass { outcome, reason, applied, dropped, .. } =
            self.tool_models.distill(wanted.agent.as_deref())?.ok_or_else(busy)?.pass;
        let content =
            json!({ "outcome": outcome, "reason": reason, "applied": applied.len(), "dropped": dropped.len() });
        Ok(ToolAnswer::new(format!("{} changes", applied.len()), content))
    }

    /// What the archive keeps under a key is the system's or the person's, unless an assistant put it there.
    fn check_key(&self, key: &str) -> Done<()> {
        let known = self.engine.store.keyed(&self.engine.kernel.facts(), self.project.as_deref(), key.trim())?;
        match known {
            Some(entry) if entry.layer == Layer::Archive && entry.source != self.engine.kernel.actor.who => {
                let problem = format!("`{key}` names what the archive (L2) keeps; use another one");
                Err(EngineError::invalid("the key", problem))
            }
            _ => Ok(()),
        }
    }
}

/// A line without the marker that makes it an item of a list.
fn without_marker(line: &str) -> &str {
    ["- ", "* ", "+ "].iter().find_map(|marker| line.strip_prefix(marker)).unwrap_or(line).trim()
}
