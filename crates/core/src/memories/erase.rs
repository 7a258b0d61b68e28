//! Erase: leave no byte, and name what could not be reached.

use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::lineage::Trace;
use crate::memories::MemoryService;
use crate::model::{
    Bullet, DocumentName, EntryId, Kind, Layer, Namespace, Position, Role, Status, Thread, TurnId, Verb,
};
use crate::ports::{Erased, Erasure, Op};
use crate::recall::analysis::Terms;
use crate::recall::{Filter, similarity};
use crate::text::bullets;

/// Lines of a document that share this much are likely two wordings of one.
const OTHER_WORDING: f64 = 0.3;

/// Shorter texts stand in too many places by chance.
const SHORTEST_TRACE: usize = 12;

/// How many texts are looked for at once.
const MOST_NEEDLES: usize = 64;

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
        let mut unreached = self.traces(&entry.content, &[])?;
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

    /// What erasing a memory takes with it; with `sources`, the turns that it came from too. A line that no longer stands in its
    /// document is known by its history alone.
    pub fn erasure_of(&self, reference: &str, sources: bool) -> Done<Erasure> {
        let at = self.kernel.now;
        let id = match self.resolve(reference) {
            Err(EngineError::NotFound { .. }) => {
                let (name, line) = self.former_line(reference)?;
                let texts = vec![line.content.clone()];
                let bullets = vec![(name, line.content)];
                return Ok(Erasure { memories: vec![line.id], bullets, texts, at, ..Erasure::default() });
            }
            id => id?,
        };
        let entry = self.memory(&id)?.entry;
        let mut texts = vec![entry.content.clone()];
        // What the archive keeps is made of what others say, and stays theirs.
        if entry.layer == Layer::Archive {
            texts.clear();
        } else if entry.kind == Kind::Entry {
            let versions = self.history.entry_versions(&id)?;
            texts.extend(versions.into_iter().map(|version| version.entry.content));
            texts.sort();
            texts.dedup();
        }
        let bullets = match (entry.kind, entry.namespace) {
            (Kind::Bullet, Namespace::Document(name)) => vec![(name, entry.content)],
            _ => Vec::new(),
        };
        let turns = if sources { entry.provenance } else { Vec::new() };
        Ok(Erasure { memories: vec![id], turns, bullets, texts, at, ..Erasure::default() })
    }

    /// Removes a memory for good, with its history; with `sources`, the turns it came from too.
    pub fn erase(&self, reference: &str, sources: bool) -> Done<ErasedMemory> {
        self.with_room(|| self.erase_one(reference, sources))
    }

    fn erase_one(&self, reference: &str, sources: bool) -> Done<ErasedMemory> {
        let erasure = self.erasure_of(reference, sources)?;
        let id = erasure.memories.first().cloned();
        let id = id.ok_or_else(|| EngineError::NotFound { reference: reference.to_owned() })?;
        let entry = match self.memory(&id) {
            Err(EngineError::NotFound { .. }) => None,
            memory => Some(memory?.entry),
        };
        for (name, content) in &erasure.bullets {
            self.documents.rewrite(name, Verb::Forget, &|current| {
                Ok(Some(bullets::without_content(name, &current.text, content)))
            })?;
        }
        let mut erased = self.erase_all(&erasure)?;
        for (name, _) in &erasure.bullets {
            if self.has_other_wordings(name, &erasure.bullets)? {
                erased.unreached.push(format!("other wordings of this line in earlier versions of {name}"));
            }
        }
        if let Some(entry) = entry.as_ref().filter(|entry| entry.layer == Layer::Archive) {
            erased.unreached.extend(self.traces(&entry.content, &[])?);
        }
        let sources = entry.map(|entry| entry.provenance).unwrap_or_default();
        Ok(ErasedMemory { id, sources, erased })
    }

    /// Removes what an erasure names, and what the program made that repeats it; names where its words still stand.
    pub(super) fn erase_all(&self, erasure: &Erasure) -> Done<Erased> {
        self.take_out_of_working(&Trace::all_of(erasure))?;
        let mut erased = self.eraser.erase(erasure)?;
        self.note_erasing()?;
        let texts: Vec<String> = erasure.texts.iter().chain(&erasure.topic).cloned().collect();
        erased.unreached.extend(self.places_of(&texts)?);
        Ok(erased)
    }

    /// Where the very words of these still stand, or words of them that hardly anything else has.
    pub(super) fn places_of(&self, texts: &[String]) -> Done<Vec<String>> {
        let mut needles: Vec<String> =
            texts.iter().flat_map(|text| needles(text, Trace::of(text).rare_words())).collect();
        needles.sort();
        needles.dedup();
        let mut places = Vec::new();
        for some in needles.chunks(MOST_NEEDLES) {
            places.extend(self.places_with(some)?);
        }
        places.sort();
        places.dedup();
        Ok(places)
    }

    /// Takes threads that are called after an erased text, and lines that say it and little else, out of working memory.
    fn take_out_of_working(&self, traces: &[Trace]) -> Done<()> {
        let is_named = |thread: &Thread| traces.iter().any(|trace| trace.is_repeated_by(&thread.title));
        if self.threads.list()?.iter().any(is_named) {
            self.threads.close_all(Verb::Forget, &is_named)?;
        }
        let names = self.history.known_documents()?.into_iter().map(|known| known.name);
        for name in names.filter(DocumentName::is_working) {
            for trace in traces {
                let without = |text: &str| trace.taken_out_of_lines(&name, text);
                self.documents.rewrite(&name, Verb::Forget, &|current| Ok(without(&current.text)))?;
            }
        }
        Ok(())
    }

    /// A line that no longer stands in its document, by its id.
    fn former_line(&self, reference: &str) -> Done<(DocumentName, Bullet)> {
        let is_meant = |id: &EntryId| reference.len() >= 6 && id.as_str().starts_with(reference);
        for known in self.history.known_documents()? {
            for version in self.history.document_versions(&known.name)? {
                let lines = bullets::parse(&known.name, version.text.as_deref().unwrap_or_default());
                if let Some(line) = lines.into_iter().find(|line| is_meant(&line.id)) {
                    return Ok((known.name, line));
                }
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

    /// Where the very words still stand, or a word that hardly anything else has: what was said or written elsewhere is
    /// somebody's own, and is named instead of taken away.
    fn traces(&self, content: &str, rare_words: &[String]) -> Done<Vec<String>> {
        self.places_with(&needles(content, rare_words))
    }

    /// Where one of these still stands.
    fn places_with(&self, needles: &[String]) -> Done<Vec<String>> {
        if needles.is_empty() {
            return Ok(Vec::new());
        }
        let is_left_in = |text: &str| {
            let lower = text.to_lowercase();
            needles.iter().any(|needle| lower.contains(&needle.to_lowercase()))
        };
        let mut traces = self.entry_traces(needles)?;
        for task in self.task_store.tasks()? {
            let versions = self.task_store.task_versions(&task.id)?;
            if versions.iter().any(|version| is_left_in(&version.task.state) || is_left_in(&version.task.title)) {
                traces.push(format!("the task {}, now or earlier", task.id));
            }
        }
        for name in self.history.known_documents()?.into_iter().map(|known| known.name) {
            let versions = self.history.document_versions(&name)?;
            if versions.iter().any(|version| version.text.as_deref().is_some_and(is_left_in)) {
                traces.push(format!("kept versions of {name}"));
            }
        }
        for state in self.session_store.sessions()? {
            let turns = self.turns.turns_after(&state.session.id, Position::default())?;
            let mut summaries = turns.iter().filter(|(_, turn)| turn.role == Role::Summary);
            if summaries.any(|(_, turn)| is_left_in(&turn.content)) {
                traces.push(format!("a summary in the conversation {}", state.session.id));
            }
            if state.session.title.as_deref().is_some_and(is_left_in) {
                traces.push(format!("the title of the conversation {}", state.session.id));
            }
        }
        let threads = self.threads.list()?.into_iter();
        let threads = threads.filter(|thread| is_left_in(&thread.title) || is_left_in(&thread.content));
        traces.extend(threads.map(|thread| format!("the thread of the conversation {}", thread.session)));
        traces.extend(self.vault_traces(needles, &is_left_in)?);
        Ok(traces)
    }

    /// Files of the vault that have one of these.
    fn vault_traces(&self, needles: &[String], is_left_in: &dyn Fn(&str) -> bool) -> Done<Vec<String>> {
        let mut traces = Vec::new();
        for needle in needles {
            let passages = self.candidates.search_passages(&Terms::of_query(needle), MOST_TRACES)?;
            let left = passages.into_iter().map(|(passage, _)| passage).filter(|passage| {
                let chunk = &passage.chunk;
                is_left_in(&chunk.content) || chunk.titles.iter().chain([&passage.path]).any(|text| is_left_in(text))
            });
            traces.extend(left.map(|passage| format!("the file {} of the vault", passage.path)));
        }
        Ok(traces)
    }

    /// Entries, lines and turns that have one of these.
    fn entry_traces(&self, needles: &[String]) -> Done<Vec<String>> {
        let mut traces = Vec::new();
        for (kind, status) in [(Kind::Entry, None), (Kind::Bullet, None), (Kind::Turn, Some(Status::Active))] {
            let filter = Filter { kinds: vec![kind], status, ..Filter::default() };
            let found = self.candidates.contains(needles, &filter, MOST_TRACES)?;
            traces.extend(found.into_iter().map(|candidate| {
                let entry = candidate.memory.entry;
                match (kind, &entry.namespace) {
                    (Kind::Bullet, Namespace::Document(name)) => format!("a line of {name} ({})", entry.id),
                    (Kind::Turn, place) => format!("what was said in {place} ({})", entry.id),
                    _ => format!("the {} memory {}", entry.status, entry.id),
                }
            }));
        }
        Ok(traces)
    }
}

/// What a text is looked for by: itself, unless it is short, and its rare words.
fn needles(content: &str, rare_words: &[String]) -> Vec<String> {
    let needle = content.trim();
    let whole = (needle.chars().count() >= SHORTEST_TRACE).then(|| needle.to_owned());
    whole.into_iter().chain(rare_words.iter().cloned()).collect()
}
