//! Erase: leave no byte, and name what could not be reached.

use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::memories::MemoryService;
use crate::model::{DocumentName, EntryId, Kind, Namespace, Position, Role, Status, TurnId, Verb};
use crate::ports::{Erased, Erasure, Op};
use crate::recall::{Filter, similarity};
use crate::text::bullets;

/// Lines of a document that share this much are likely two wordings of one.
const OTHER_WORDING: f64 = 0.3;

/// Shorter texts stand in too many places by chance.
const SHORTEST_TRACE: usize = 12;

/// How many places of a kind are named.
const MOST_TRACES: usize = 20;

/// The receipt for a memory that was erased.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ErasedMemory {
    /// Which.
    pub id: EntryId,
    /// The turns that it came from.
    pub sources: Vec<TurnId>,
    /// What was removed, and what could not be reached.
    #[serde(flatten)]
    pub erased: Erased,
}

/// What erasing a memory would remove; nothing was changed.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ErasurePreview {
    /// Which.
    pub id: EntryId,
    /// Versions of the memory, or of its document, that hold it.
    pub versions: u64,
    /// Recalls that returned it.
    pub recalls: u64,
    /// The turns that it came from: they go too where that is asked for.
    pub sources: Vec<TurnId>,
    /// The documents that change.
    pub documents: Vec<DocumentName>,
    /// Copies that it is searched for and taken out of: backups and exports.
    pub copies: Vec<String>,
    /// Places that hold the very words and stay as they are.
    pub unreached: Vec<String>,
}

impl MemoryService<'_> {
    /// What [`MemoryService::erase`] would remove. Copies are known to whoever keeps them.
    pub fn preview_erase(&self, reference: &str) -> Done<ErasurePreview> {
        let memory = self.memory(&self.resolve(reference)?)?;
        let entry = memory.entry;
        let is_itself = format!("memory {}", entry.id);
        let mut unreached = self.traces(&entry.content)?;
        let (versions, documents) = match (entry.kind, &entry.namespace) {
            (Kind::Bullet, Namespace::Document(name)) => {
                let holds = |text: &str| bullets::parse(name, text).iter().any(|line| line.id == entry.id);
                let versions = self.history.document_versions(name)?;
                let count = versions.iter().filter(|version| version.text.as_deref().is_some_and(holds)).count();
                let own = [format!("a line of {name} ({})", entry.id), format!("kept versions of {name}")];
                unreached.retain(|place| !own.contains(place));
                (count, vec![name.clone()])
            }
            _ => (self.history.entry_versions(&entry.id)?.len(), Vec::new()),
        };
        unreached.retain(|place| !place.ends_with(&is_itself));
        Ok(ErasurePreview {
            id: entry.id,
            versions: versions as u64,
            recalls: memory.recall_count,
            sources: entry.provenance,
            documents,
            copies: self.bundles.exports()?,
            unreached,
        })
    }

    /// Removes a memory for good, with its history; with `sources`, the turns it came from too.
    pub fn erase(&self, reference: &str, sources: bool) -> Done<ErasedMemory> {
        let id = match self.resolve(reference) {
            Err(EngineError::NotFound { .. }) => return self.erase_former_line(reference),
            id => id?,
        };
        let entry = self.memory(&id)?.entry;
        let content = entry.content.clone();
        let mut erasure = Erasure { memories: vec![id.clone()], at: self.kernel.now, ..Erasure::default() };
        if sources {
            erasure.turns.clone_from(&entry.provenance);
        }
        let document = match (entry.kind, entry.namespace) {
            (Kind::Bullet, Namespace::Document(name)) => Some(name),
            _ => None,
        };
        if let Some(name) = &document {
            self.documents.rewrite(name, Verb::Forget, &|current| {
                Ok(Some(bullets::without_content(name, &current.text, &entry.content)))
            })?;
            erasure.bullets.push((name.clone(), entry.content));
        }
        let mut erased = self.eraser.erase(&erasure)?;
        if let Some(name) = document
            && self.has_other_wordings(&name, &erasure.bullets)?
        {
            erased.unreached.push(format!("other wordings of this line in earlier versions of {name}"));
        }
        self.note_erasing()?;
        erased.unreached.extend(self.traces(&content)?);
        Ok(ErasedMemory { id, sources: entry.provenance, erased })
    }

    /// Removes a line that no longer stands in its document from every kept version of it.
    fn erase_former_line(&self, reference: &str) -> Done<ErasedMemory> {
        let is_meant = |id: &EntryId| reference.len() >= 6 && id.as_str().starts_with(reference);
        for known in self.history.known_documents()? {
            for version in self.history.document_versions(&known.name)? {
                let lines = bullets::parse(&known.name, version.text.as_deref().unwrap_or_default());
                let Some(line) = lines.into_iter().find(|line| is_meant(&line.id)) else { continue };
                let erasure =
                    Erasure { bullets: vec![(known.name, line.content)], at: self.kernel.now, ..Erasure::default() };
                let erased = self.eraser.erase(&erasure)?;
                self.note_erasing()?;
                return Ok(ErasedMemory { id: line.id, sources: Vec::new(), erased });
            }
        }
        Err(EngineError::NotFound { reference: reference.to_owned() })
    }

    /// Whether an earlier version of a document has a line that is no longer there and much like an erased one.
    fn has_other_wordings(&self, name: &DocumentName, erased: &[(DocumentName, String)]) -> Done<bool> {
        let now = self.files.read(name)?.map(|document| document.text).unwrap_or_default();
        let current: Vec<String> = bullets::parse(name, &now).into_iter().map(|bullet| bullet.content).collect();
        let versions = self.history.document_versions(name)?;
        let lines =
            versions.iter().filter_map(|version| version.text.as_deref()).flat_map(|text| bullets::parse(name, text));
        let is_alike = |line: &str| erased.iter().any(|(_, content)| similarity(line, content) >= OTHER_WORDING);
        Ok(lines.into_iter().any(|line| !current.contains(&line.content) && is_alike(&line.content)))
    }

    /// An erasure leaves no text in the history, but that it happened: whoever undoes must know.
    pub(super) fn note_erasing(&self) -> Done<()> {
        self.kernel.apply(Verb::Erase, &[Op::Erased])?;
        Ok(())
    }

    /// Where the very words still stand: what was said, summed up or written elsewhere is somebody's own, and is named
    /// instead of taken away.
    fn traces(&self, content: &str) -> Done<Vec<String>> {
        let needle = content.trim();
        if needle.chars().count() < SHORTEST_TRACE {
            return Ok(Vec::new());
        }
        let mut traces = Vec::new();
        for (kind, status) in [(Kind::Entry, None), (Kind::Bullet, None), (Kind::Turn, Some(Status::Active))] {
            let filter = Filter { kinds: vec![kind], status, ..Filter::default() };
            let found = self.candidates.contains(&[needle.to_owned()], &filter, MOST_TRACES)?;
            traces.extend(found.into_iter().map(|candidate| {
                let entry = candidate.memory.entry;
                match (kind, &entry.namespace) {
                    (Kind::Bullet, Namespace::Document(name)) => format!("a line of {name} ({})", entry.id),
                    (Kind::Turn, place) => format!("what was said in {place} ({})", entry.id),
                    _ => format!("the {} memory {}", entry.status, entry.id),
                }
            }));
        }
        for task in self.task_store.tasks()? {
            if self.task_store.task_versions(&task.id)?.iter().any(|version| version.task.state.contains(needle)) {
                traces.push(format!("the state of the task {}, now or earlier", task.id));
            }
        }
        for name in self.history.known_documents()?.into_iter().map(|known| known.name) {
            let versions = self.history.document_versions(&name)?;
            if versions.iter().any(|version| version.text.as_deref().is_some_and(|text| text.contains(needle))) {
                traces.push(format!("kept versions of {name}"));
            }
        }
        for state in self.session_store.sessions()? {
            let turns = self.turns.turns_after(&state.session.id, Position::default())?;
            let mut summaries = turns.iter().filter(|(_, turn)| turn.role == Role::Summary);
            if summaries.any(|(_, turn)| turn.content.contains(needle)) {
                traces.push(format!("a summary in the conversation {}", state.session.id));
            }
        }
        Ok(traces)
    }
}
