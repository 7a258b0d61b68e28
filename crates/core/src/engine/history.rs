//! History, restore, undo.

use serde::Serialize;

use crate::model::{
    Change, ChangeId, ContentHash, DocumentName, DocumentVersion, Entry, EntryVersion, Kind, Memory, Namespace, Status,
    Verb,
};
use crate::ports::{DocumentError, Op, Undoable};

use super::memories::{Outcome, Remembered};
use super::{Done, Engine, EngineError};

/// What a history is of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HistoryOf {
    /// A memory, oldest version first.
    Entry {
        /// Its versions.
        versions: Vec<EntryVersion>,
    },
    /// A document, oldest version first.
    Document {
        /// Its versions.
        versions: Vec<DocumentVersion>,
    },
}

/// The receipt for an undo.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undone {
    /// The change that was reverted.
    pub undone: Change,
    /// The change that reverted it.
    pub change: ChangeId,
    /// The memories as they now are.
    pub memories: Vec<Memory>,
    /// The documents that were put back.
    pub documents: Vec<DocumentName>,
}

impl Engine {
    /// Every version of a memory or of a document. A bullet's history is its document's.
    pub fn history(&self, reference: &str) -> Done<HistoryOf> {
        self.notice_all()?;
        if let Some(name) = self.document_named(reference)? {
            return Ok(HistoryOf::Document { versions: self.store.document_versions(&name)? });
        }
        let id = self.resolve(reference)?;
        Ok(HistoryOf::Entry { versions: self.store.entry_versions(&id)? })
    }

    /// The document that `reference` names, by its address or by one of its bullets.
    fn document_named(&self, reference: &str) -> Done<Option<DocumentName>> {
        if let Ok(Namespace::Document(name)) = reference.parse() {
            return Ok(Some(name));
        }
        let entry = self.memory(&self.resolve(reference)?)?.entry;
        match (entry.kind, entry.namespace) {
            (Kind::Bullet, Namespace::Document(name)) => Ok(Some(name)),
            _ => Ok(None),
        }
    }

    /// The newest changes first.
    pub fn changes(&self, limit: usize) -> Done<Vec<Change>> {
        Ok(self.store.changes(limit)?)
    }

    /// Brings an earlier version of a memory back, as its newest.
    pub fn restore(&self, reference: &str, version: u32) -> Done<Remembered> {
        let id = self.resolve(reference)?;
        let no_version = || EngineError::NoVersion { reference: reference.to_owned(), version };
        let versions = self.store.entry_versions(&id)?;
        let wanted =
            versions.into_iter().find(|candidate| candidate.entry.version == version).ok_or_else(no_version)?;
        let current = self.memory(&id)?.entry;
        let next = revived(&current, wanted.entry, self.clock.now());
        if (Entry { updated_at: current.updated_at, ..next.clone() }) == current {
            return self.receipt(&id, Outcome::Unchanged, Vec::new());
        }
        self.store.apply(&self.change(Verb::Restore), &[Op::Update(next)], &mut || true)?;
        self.receipt(&id, Outcome::Updated, Vec::new())
    }

    /// Brings an earlier version of a document back.
    pub fn restore_document(&self, name: &DocumentName, version: u32) -> Done<String> {
        let versions = self.store.document_versions(name)?;
        let wanted = versions.into_iter().find(|candidate| candidate.version == version).and_then(|found| found.text);
        let text = wanted.ok_or_else(|| EngineError::NoVersion { reference: name.to_string(), version })?;
        self.rewrite(name, Verb::Restore, &|_| Ok(Some(text.clone())))
    }

    /// Reverts the last change as a whole: one edit, a file that was saved, an import.
    pub fn undo(&self) -> Done<Undone> {
        self.notice_all()?;
        let undoable = self.store.undoable()?.ok_or(EngineError::NothingToUndo)?;
        let change = Change { undoes: Some(undoable.change.id.clone()), ..self.change(Verb::Undo) };
        let ops = self.undo_ops(&undoable);
        let mut failure = None;
        let mut put_back = || match self.put_back(&undoable) {
            Ok(()) => true,
            Err(error) => {
                failure = Some(error);
                false
            }
        };
        let applied = self.store.apply(&change, &ops, &mut put_back);
        if let Some(error) = failure {
            return Err(error.into());
        }
        let entries = applied?;
        self.notice_all()?;
        let memories = entries.iter().map(|entry| self.memory(&entry.id)).collect::<Done<_>>()?;
        let documents = undoable.documents.into_iter().map(|(name, ..)| name).collect();
        Ok(Undone { undone: undoable.change, change: change.id, memories, documents })
    }

    fn undo_ops(&self, undoable: &Undoable) -> Vec<Op> {
        let now = self.clock.now();
        let entries = undoable.entries.iter().map(|(current, before)| match before {
            Some(before) => Op::Update(revived(current, before.clone(), now)),
            None => Op::Update(Entry { status: Status::Inactive, updated_at: now, ..current.clone() }),
        });
        let documents = undoable.documents.iter().map(|(name, _, before)| Op::document(name.clone(), before.clone()));
        entries.chain(documents).collect()
    }

    /// Writes the documents of a change back, each only over what that change left.
    fn put_back(&self, undoable: &Undoable) -> Result<(), DocumentError> {
        for (name, left, before) in &undoable.documents {
            match before {
                Some(text) => self.documents.write(name, text, left)?,
                None if *left == ContentHash::missing() => {}
                None => self.documents.remove(name, left)?,
            }
        }
        Ok(())
    }
}

/// An earlier state as the next version of what is there now.
fn revived(current: &Entry, earlier: Entry, now: jiff::Timestamp) -> Entry {
    Entry { version: current.version, updated_at: now, ..earlier }
}
