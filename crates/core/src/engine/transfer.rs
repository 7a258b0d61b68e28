//! Export and import: everything, as data that imports back identical, and as Markdown for reading.

mod checked;
mod markdown;

use std::collections::HashSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{
    Change, ContentHash, Document, DocumentName, DocumentVersion, Entry, Kind, Namespace, Task, TaskId, TurnId, Verb,
};
use crate::ports::{Adopted, Bundle, DocumentError};
use crate::text::{bullets, redact::redact};

use super::{Done, Engine, EngineError};

pub(super) use checked::checked;

/// The newest format that is written and read.
pub const EXPORT_VERSION: u32 = 1;

/// A document, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedDocument {
    /// Its address.
    pub name: DocumentName,
    /// Its text.
    pub text: String,
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetAside {
    /// The document, which stayed as it is.
    pub name: DocumentName,
    /// Where the imported text stands.
    pub aside: DocumentName,
}

/// The receipt for an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Imported {
    /// What the store took in, its fields at the same level.
    #[serde(flatten)]
    pub adopted: Adopted,
    /// Documents that are new here.
    pub documents: Vec<DocumentName>,
    /// Documents that differ here: yours stayed, the imported text stands under the second name.
    pub set_aside: Vec<SetAside>,
}

impl Engine {
    /// Everything that this memory holds.
    pub fn export(&self) -> Done<Export> {
        self.notice_all()?;
        let mut documents = Vec::new();
        for known in self.store.known_documents()? {
            match self.documents.read(&known.name) {
                Ok(None) => {}
                Ok(Some(Document { name, text, .. })) => documents.push(ExportedDocument { name, text }),
                Err(error) => tracing::warn!(%error, "a document is not in the export"),
            }
        }
        let bundle = self.store.bundle()?;
        Ok(Export { version: EXPORT_VERSION, exported_at: self.clock.now(), bundle, documents })
    }

    /// Takes an export in, as one change. What is here already stays.
    pub fn import(&self, export: &Export) -> Done<Imported> {
        if export.version != EXPORT_VERSION {
            let problem = format!("format {} is not known here (this program knows {EXPORT_VERSION})", export.version);
            return Err(EngineError::BadExport { problem });
        }
        self.notice_all()?;
        let change = self.change(Verb::Import);
        let mut imported = Imported::default();
        let mut bundle = checked(&export.bundle)?;
        let to_write = self.incoming_documents(export, &change, &mut bundle, &mut imported)?;
        let mut failure = None;
        let mut write_all = || match self.write_new(&to_write) {
            Ok(()) => true,
            Err(error) => {
                failure = Some(error);
                false
            }
        };
        let adopted = self.store.adopt(&change, &bundle, &mut write_all);
        if let Some(error) = failure {
            return Err(error.into());
        }
        imported.adopted = adopted?;
        self.notice_all()?;
        Ok(imported)
    }

    /// Decides what becomes of the documents: gives those to write, and leaves their new versions in the bundle.
    fn incoming_documents<'a>(
        &self,
        export: &'a Export,
        change: &Change,
        bundle: &mut Bundle,
        imported: &mut Imported,
    ) -> Done<Vec<(DocumentName, &'a str)>> {
        let here: HashSet<DocumentName> = self.store.known_documents()?.into_iter().map(|known| known.name).collect();
        let mut to_write = Vec::new();
        for ExportedDocument { name, text } in &export.documents {
            self.check_namespace(name)?;
            match self.documents.read(name)? {
                Some(here) if here.text == *text => {}
                None => {
                    imported.documents.push(name.clone());
                    to_write.push((name.clone(), text.as_str()));
                }
                Some(_) => {
                    let aside = self.aside(name, text)?;
                    if self.documents.read(&aside)?.is_none() {
                        to_write.push((aside.clone(), text.as_str()));
                    }
                    imported.set_aside.push(SetAside { name: name.clone(), aside });
                }
            }
        }
        // What is known here has a history of its own, even if its file was removed.
        bundle.document_history.retain(|version| {
            let is_current = export.documents.iter().any(|document| document.name == version.name);
            !here.contains(&version.name) && (imported.documents.contains(&version.name) || !is_current)
        });
        for (name, text) in &to_write {
            let versions = self.store.document_versions(name)?;
            let last = versions.iter().chain(&bundle.document_history).rfind(|version| version.name == *name);
            if last.is_none_or(|version| version.hash != ContentHash::of(text)) {
                let number = last.map_or(1, |version| version.version + 1);
                bundle.document_history.push(version_of(name, text, number, change));
            }
        }
        Ok(to_write)
    }

    /// A name beside `name` that is free, or holds this very text already.
    fn aside(&self, name: &DocumentName, text: &str) -> Done<DocumentName> {
        let mut nth = 1;
        loop {
            let suffix = if nth == 1 { String::new() } else { format!("-{nth}") };
            let aside: DocumentName = format!("{name}-imported{suffix}").parse()?;
            if self.documents.read(&aside)?.is_none_or(|there| there.text == text) {
                return Ok(aside);
            }
            nth += 1;
        }
    }

    /// Writes documents that do not exist yet; if one fails, takes the others back.
    fn write_new(&self, documents: &[(DocumentName, &str)]) -> Result<(), DocumentError> {
        for (at, (name, text)) in documents.iter().enumerate() {
            if let Err(error) = self.documents.write(name, text, &ContentHash::missing()) {
                for (name, text) in &documents[..at] {
                    if let Err(error) = self.documents.remove(name, &ContentHash::of(text)) {
                        tracing::warn!(%error, "a document of a failed import stays behind");
                    }
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Where an export was written, so that erasing can reach it.
    pub fn note_export(&self, path: &str) -> Done<()> {
        Ok(self.store.note_export(path)?)
    }

    /// Where exports were written.
    pub fn exports(&self) -> Done<Vec<String>> {
        Ok(self.store.exports()?)
    }
}

fn version_of(name: &DocumentName, text: &str, version: u32, change: &Change) -> DocumentVersion {
    let hash = ContentHash::of(text);
    let text = redact(text).text.into_owned();
    DocumentVersion { name: name.clone(), version, text: Some(text), hash, change: change.clone() }
}

impl Export {
    /// The export without a memory, its history and these turns. A bullet also leaves every text of its document; what
    /// the archive keeps of a task also leaves the task's working states, which it came from.
    pub fn without(mut self, entry: &Entry, turns: &[TurnId]) -> Self {
        self.bundle.turns.retain(|turn| !turns.contains(&turn.id));
        self.bundle.memories.retain(|known| known.entry.id != entry.id);
        self.bundle.history.retain(|version| version.entry.id != entry.id);
        self.blank_tasks(entry);
        if let (Kind::Bullet, Namespace::Document(name)) = (entry.kind, &entry.namespace) {
            for document in self.documents.iter_mut().filter(|document| document.name == *name) {
                document.text = bullets::without_content(name, &document.text, &entry.content);
            }
            for version in self.bundle.document_history.iter_mut().filter(|version| version.name == *name) {
                if let Some(text) = &mut version.text {
                    *text = bullets::without_content(name, text, &entry.content);
                    version.hash = ContentHash::of(text);
                }
            }
        }
        self
    }

    /// An export that was made before a task was done does not link to its archive yet: the archive links back.
    fn blank_tasks(&mut self, archive: &Entry) {
        let is_its = |task: &&Task| {
            task.archive.as_ref() == Some(&archive.id)
                || archive.key.as_deref() == Some(&super::work::archive_key(&task.id))
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
