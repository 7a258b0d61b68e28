//! History: every version of every entry and document.

use jiff::Timestamp;

use crate::model::{ContentHash, DocumentName, DocumentVersion, EntryId, EntryVersion};

use super::Stored;

/// History: every version of every entry and document.
pub trait History {
    /// All versions of an entry, oldest first.
    fn entry_versions(&self, id: &EntryId) -> Stored<Vec<EntryVersion>>;
    /// All versions of a document, oldest first.
    fn document_versions(&self, name: &DocumentName) -> Stored<Vec<DocumentVersion>>;
    /// When a document was last changed; nothing where that was never noticed.
    fn document_changed_at(&self, name: &DocumentName) -> Stored<Option<Timestamp>>;
    /// Every document that was ever seen, as it was last seen.
    fn known_documents(&self) -> Stored<Vec<KnownDocument>>;
}

/// A document as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownDocument {
    /// Its name.
    pub name: DocumentName,
    /// The digest of the newest version; [`ContentHash::missing`] where the file was removed.
    pub hash: ContentHash,
    /// The stamp of this machine's file when its bullets were last indexed.
    pub stamp: Option<String>,
}
