//! Export and import: everything, as data that imports back identical, and as Markdown for reading.

mod checked;
pub mod formats;
mod import;
mod incoming;
mod markdown;
mod repeats;
mod scoped;
mod withheld;

use std::collections::HashSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::documents::DocumentService;
use crate::documents::commit::FileStep;
use crate::error::Done;
use crate::kernel::Kernel;
use crate::lineage::{LineageService, Trace};
use crate::memories::MemoryService;
use crate::model::{Change, ContentHash, Document, DocumentName, Entry, Task, TaskId, Verb};
use crate::ports::{self, Adopted, Bundle, Documents, Erasure, ErasureMark};
use crate::text::bullets;

use checked::checked;
use incoming::Incoming;

pub use import::{ImportPreview, ImportReport, Tally};

/// The newest format that is written and read.
pub const EXPORT_VERSION: u32 = 1;

/// A document, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExportedDocument {
    /// Its address.
    pub name: DocumentName,
    /// Its text.
    pub text: String,
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Export {
    /// The format.
    pub version: u32,
    /// When it was made.
    pub exported_at: Timestamp,
    /// What the store holds, its fields at the same level.
    #[serde(flatten)]
    pub bundle: Bundle,
    /// The documents as they are now.
    #[serde(default)]
    pub documents: Vec<ExportedDocument>,
}

/// A document that differs here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SetAside {
    /// The document, which stayed as it is.
    pub name: DocumentName,
    /// Where the imported text stands.
    pub aside: DocumentName,
}

/// The receipt for an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Imported {
    /// What the store took in, its fields at the same level.
    #[serde(flatten)]
    pub adopted: Adopted,
    /// Documents that are new here.
    pub documents: Vec<DocumentName>,
    /// Documents that differ here: yours stayed, the imported text stands under the second name.
    pub set_aside: Vec<SetAside>,
    /// Memory files of projects whose text is another one here, or is not here: they belong to their projects, and no
    /// import writes them.
    pub left_out: Vec<DocumentName>,
    /// Memories, lines and turns that were forgotten or erased here: they stay so.
    pub withheld: u64,
}

/// Export and import.
#[derive(Clone, Copy)]
pub struct TransferService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) bundles: &'e dyn ports::Transfer,
    pub(crate) entries: &'e dyn ports::Entries,
    pub(crate) history: &'e dyn ports::History,
    pub(crate) session_store: &'e dyn ports::Sessions,
    pub(crate) turns: &'e dyn ports::Turns,
    pub(crate) files: &'e dyn Documents,
    pub(crate) documents: DocumentService<'e>,
    pub(crate) memories: MemoryService<'e>,
    pub(crate) lineage: LineageService<'e>,
}

impl TransferService<'_> {
    /// Everything that this memory holds.
    pub fn export(&self) -> Done<Export> {
        self.documents.notice_all()?;
        let mut documents = Vec::new();
        for known in self.history.known_documents()? {
            match self.files.read(&known.name) {
                Ok(None) => {}
                Ok(Some(Document { name, text, .. })) => documents.push(ExportedDocument { name, text }),
                Err(error) => tracing::warn!(%error, "a document is not in the export"),
            }
        }
        let bundle = self.bundles.bundle()?;
        Ok(Export { version: EXPORT_VERSION, exported_at: self.kernel.now, bundle, documents })
    }

    /// Takes an export in, as one change. What is here already stays.
    pub fn import(&self, export: &Export) -> Done<Imported> {
        let change = self.kernel.change(Verb::Import);
        let mut done = None;
        let imported = self.kernel.unless_erased(|since| {
            let (export, withheld) = self.without_withdrawn(export)?;
            let incoming = self.incoming(&change, &export)?;
            // The second attempt may have the history of projects left to do.
            let imported = match done.take() {
                Some(imported) => imported,
                None => self.take_in(&change, &incoming, withheld, since)?,
            };
            done = Some(imported.clone());
            self.adopt_project_history(&change, incoming.of_projects, since)?;
            Ok(imported)
        })?;
        self.documents.notice_all()?;
        Ok(imported)
    }

    /// Takes in all but the history of projects' memory files.
    fn take_in(&self, change: &Change, incoming: &Incoming<'_>, withheld: u64, since: &ErasureMark) -> Done<Imported> {
        let Incoming { bundle, to_write, imported, .. } = incoming;
        let new = |(name, text): &(DocumentName, &str)| FileStep {
            name: name.clone(),
            expected: ContentHash::missing(),
            before: None,
            after: Some((*text).to_owned()),
        };
        let steps: Vec<FileStep> = to_write.iter().map(new).collect();
        let adopted =
            self.documents.with_files(&steps, |last| self.bundles.adopt(change, bundle, since, &mut |_| last()))?;
        Ok(Imported { adopted, withheld, ..imported.clone() })
    }

    /// Where an export was written, so that erasing can reach it.
    pub fn note_export(&self, path: &str) -> Done<()> {
        Ok(self.bundles.note_export(path)?)
    }

    /// Where exports were written.
    pub fn exports(&self) -> Done<Vec<String>> {
        Ok(self.bundles.exports()?)
    }
}

impl Export {
    /// The export without what is erased: memories with their history, turns, lines in every text of their document, what
    /// the archive keeps of a task together with the task's working states, and what repeats any of it. `entry` is the one
    /// that is erased, where it is one: an export may have its task and not itself.
    pub fn without(mut self, erasure: &Erasure, entry: Option<&Entry>) -> Self {
        if let Some(archive) = entry {
            self.blank_tasks(archive);
        }
        self.bundle.turns.retain(|turn| !erasure.turns.contains(&turn.id));
        for id in &erasure.memories {
            self.bundle.memories.retain(|known| known.entry.id != *id);
            self.bundle.mutes.retain(|mute| mute.memory != *id);
            self.bundle.history.retain(|version| version.entry.id != *id);
        }
        let without_lines =
            erasure.bullets.iter().fold(self, |export, (name, content)| export.without_line(name, content));
        without_lines.without_repeats(&Trace::all_of(erasure))
    }

    /// The export without a line of a document, in every text of it.
    pub fn without_line(mut self, name: &DocumentName, content: &str) -> Self {
        for document in self.documents.iter_mut().filter(|document| document.name == *name) {
            document.text = bullets::without_content(name, &document.text, content);
        }
        for version in self.bundle.document_history.iter_mut().filter(|version| version.name == *name) {
            if let Some(text) = &mut version.text {
                *text = bullets::without_content(name, text, content);
                version.hash = ContentHash::of(text);
            }
        }
        self
    }

    /// An export that was made before a task was done does not link to its archive yet: the archive links back.
    fn blank_tasks(&mut self, archive: &Entry) {
        let is_its = |task: &&Task| {
            task.archive.as_ref() == Some(&archive.id)
                || archive.key.as_deref() == Some(&crate::tasks::archive_key(&task.id))
        };
        let bundle = &mut self.bundle;
        let versions = bundle.task_history.iter().map(|version| &version.task);
        let blanked: HashSet<TaskId> =
            bundle.tasks.iter().chain(versions).filter(is_its).map(|task| task.id.clone()).collect();
        let versions = bundle.task_history.iter_mut().map(|version| &mut version.task);
        for task in bundle.tasks.iter_mut().chain(versions).filter(|task| blanked.contains(&task.id)) {
            task.state.clear();
        }
    }
}
