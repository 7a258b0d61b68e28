//! Export and import: everything, as data that imports back identical, and as Markdown for reading.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{
    Change, ContentHash, Document, DocumentName, DocumentVersion, Entry, EntryId, Kind, Layer, Memory, Namespace,
    Status, TurnId, Verb,
};
use crate::ports::{Adopted, Bundle, DocumentError};
use crate::text::{bullets, redact::redact};

use super::{Done, Engine, EngineError, prepare};

/// The newest format that is written and read.
pub const EXPORT_VERSION: u32 = 1;

/// No memory changes more often than this.
const MAX_VERSION: u32 = 1_000_000_000;

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
        let mut to_write = Vec::new();
        let mut new_versions = Vec::new();
        for ExportedDocument { name, text } in &export.documents {
            self.check_namespace(name)?;
            match self.documents.read(name)? {
                Some(here) if here.text == *text => {}
                None => {
                    imported.documents.push(name.clone());
                    to_write.push((name.clone(), text.as_str()));
                    let last = bundle.document_history.iter().rfind(|version| version.name == *name);
                    if last.is_none_or(|version| version.hash != ContentHash::of(text)) {
                        let number = last.map_or(1, |version| version.version + 1);
                        new_versions.push(version_of(name, text, number, &change));
                    }
                }
                Some(_) => {
                    let aside = self.aside(name, text)?;
                    if self.documents.read(&aside)?.is_none() {
                        new_versions.push(version_of(&aside, text, 1, &change));
                        to_write.push((aside.clone(), text.as_str()));
                    }
                    imported.set_aside.push(SetAside { name: name.clone(), aside });
                }
            }
        }
        let here = self.store.known_documents()?;
        bundle.document_history.retain(|version| {
            let is_known = here.iter().any(|known| known.name == version.name);
            let is_current = export.documents.iter().any(|document| document.name == version.name);
            imported.documents.contains(&version.name) || !is_known && !is_current
        });
        bundle.document_history.extend(new_versions);
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

/// What may be stored: an export that was edited, or made elsewhere, obeys the rules that new memories obey.
fn checked(bundle: &Bundle) -> Done<Bundle> {
    let mut bundle = bundle.clone();
    let memories = bundle.memories.iter_mut().map(|memory| &mut memory.entry);
    let versions = bundle.history.iter_mut().map(|version| &mut version.entry);
    for entry in memories.chain(versions) {
        let id = entry.id.clone();
        let problem = |error| EngineError::BadExport { problem: format!("memory `{id}`: {error}") };
        check_entry(entry).map_err(problem)?;
    }
    for turn in &mut bundle.turns {
        turn.content = redact(&turn.content).text.into_owned();
        turn.at = whole(turn.at);
    }
    for version in &mut bundle.document_history {
        version.text = version.text.as_deref().map(|text| redact(text).text.into_owned());
    }
    check_history(&bundle)?;
    Ok(bundle)
}

/// An id as ours are: nothing that could act on a terminal, a prompt or a path.
fn check_id(field: &'static str, id: &str) -> Done<()> {
    let is_fine = (6..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_fine { Ok(()) } else { Err(EngineError::invalid(field, "is not six or more letters and digits")) }
}

/// What an export says about the history of a memory must end where the memory is.
fn check_history(bundle: &Bundle) -> Done<()> {
    let current: BTreeMap<&EntryId, &Entry> =
        bundle.memories.iter().map(|memory| (&memory.entry.id, &memory.entry)).collect();
    for version in &bundle.history {
        let agrees = current.get(&version.entry.id).is_none_or(|entry| {
            version.entry.version < entry.version || version.entry.version == entry.version && version.entry == **entry
        });
        if !agrees {
            let problem = format!("memory `{}` is not what its history says", version.entry.id);
            return Err(EngineError::BadExport { problem });
        }
    }
    for version in &bundle.document_history {
        if version.version == 0 || version.version > MAX_VERSION {
            let problem = format!("`{}` has a version {}", version.name, version.version);
            return Err(EngineError::BadExport { problem });
        }
    }
    Ok(())
}

/// The rules that a new memory obeys, applied to one that comes whole.
fn check_entry(entry: &mut Entry) -> Done<()> {
    check_id("the id", entry.id.as_str())?;
    entry.supersedes.iter().try_for_each(|id| check_id("the id that it supersedes", id.as_str()))?;
    entry.project = entry.project.as_deref().map(prepare::project).transpose()?;
    entry.task = entry.task.as_deref().map(prepare::project).transpose()?;
    (entry.content, _) = prepare::content(&entry.content)?;
    entry.key = entry.key.as_deref().map(prepare::key).transpose()?;
    let labels = prepare::labels(&entry.tags)?;
    entry.tags = labels.tags;
    entry.project = entry.project.take().or(labels.project);
    entry.task = entry.task.take().or(labels.task);
    if entry.kind == Kind::Entry && entry.layer == Layer::Identity {
        return Err(EngineError::invalid("the layer", "identity is for lines of the profile"));
    }
    if entry.version == 0 || entry.version > MAX_VERSION {
        return Err(EngineError::invalid(
            "the version",
            format!("{} is not between 1 and {MAX_VERSION}", entry.version),
        ));
    }
    entry.created_at = whole(entry.created_at);
    entry.updated_at = whole(entry.updated_at);
    entry.expires_at = entry.expires_at.map(whole);
    Ok(())
}

/// A time in whole milliseconds, as stores keep it.
fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

impl Export {
    /// Everything, for reading. An entry is one list item that names its id.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("# Memory\n\nExported {}.\n", self.exported_at);
        for document in &self.documents {
            let _ = write!(out, "\n## {}\n\n{}\n", document.name, document.text.trim_end());
        }
        let mut sections: Vec<(String, Vec<String>)> = Vec::new();
        for memory in self.bundle.memories.iter().filter(|memory| memory.entry.kind == Kind::Entry) {
            let entry = &memory.entry;
            let forgotten = if entry.status == Status::Inactive { ", forgotten" } else { "" };
            let title = format!("{} ({}{forgotten})", entry.namespace, entry.layer);
            let line = markdown_item(memory);
            match sections.iter_mut().find(|(known, _)| *known == title) {
                Some((_, lines)) => lines.push(line),
                None => sections.push((title, vec![line])),
            }
        }
        for (title, lines) in sections {
            let _ = write!(out, "\n## {title}\n\n{}", lines.concat());
        }
        for session in &self.bundle.sessions {
            let _ = write!(out, "\n## sessions/{}\n\n", session.id);
            for turn in self.bundle.turns.iter().filter(|turn| turn.session == session.id) {
                let who = turn.speaker.as_deref().unwrap_or(turn.role.as_str());
                let _ = writeln!(out, "- **{who}** ({}): {}", turn.at, turn.content.replace('\n', "\n  "));
            }
        }
        out
    }

    /// The export without a memory, its history and these turns; a bullet also leaves every text of its document.
    pub fn without(mut self, entry: &Entry, turns: &[TurnId]) -> Self {
        self.bundle.turns.retain(|turn| !turns.contains(&turn.id));
        self.bundle.memories.retain(|known| known.entry.id != entry.id);
        self.bundle.history.retain(|version| version.entry.id != entry.id);
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
}

/// `- **key** content `id` sig 3, tag, tag, project x, 2026-01-02`
fn markdown_item(memory: &Memory) -> String {
    let entry = &memory.entry;
    let key = entry.key.as_ref().map(|key| format!("**{key}** ")).unwrap_or_default();
    let mut notes = vec![format!("sig {}", memory.significance.value()), entry.source.to_string()];
    notes.extend(entry.tags.iter().cloned());
    notes.extend(entry.project.iter().map(|project| format!("project {project}")));
    notes.push(entry.created_at.to_zoned(jiff::tz::TimeZone::UTC).date().to_string());
    let content = entry.content.replace('\n', "\n  ");
    format!("- {key}{content} `{}` ({})\n", entry.id, notes.join(", "))
}
