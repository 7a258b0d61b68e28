//! Documents in two places: the memory files of projects in their directories, all others in a store that several machines share.

use std::path::Path;
use std::sync::Arc;

use throughline_core::model::{ContentHash, Document, DocumentName, Name};
use throughline_core::ports::{Checkout, DocumentError, Documents, Stamped};

use crate::FileDocuments;

/// Memory files of projects, and documents of a store.
pub struct SplitDocuments {
    projects: FileDocuments,
    others: Arc<dyn Documents>,
}

impl SplitDocuments {
    /// `projects` keeps the memory files of projects, `others` every other document.
    pub fn new(projects: FileDocuments, others: Arc<dyn Documents>) -> Self {
        Self { projects, others }
    }

    fn of(&self, name: &DocumentName) -> &dyn Documents {
        if name.as_project().is_some() { &self.projects } else { &*self.others }
    }
}

impl Documents for SplitDocuments {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        self.of(name).read(name)
    }

    fn read_in(&self, name: &DocumentName, dir: &str) -> Result<Option<Document>, DocumentError> {
        self.of(name).read_in(name, dir)
    }

    fn checkout(&self, dir: &Path) -> Option<Checkout> {
        self.projects.checkout(dir)
    }

    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        self.of(name).write(name, text, expected)
    }

    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError> {
        self.of(name).remove(name, expected)
    }

    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError> {
        self.of(name).keep_beside(name, text, stamp)
    }

    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError> {
        self.of(name).kept_beside(name)
    }

    /// Projects are no namespace of documents: their files are not listed.
    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError> {
        self.others.list(namespace)
    }

    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError> {
        self.of(name).stamp(name)
    }

    fn stamps(&self, namespace: &Name) -> Result<Vec<Stamped>, DocumentError> {
        self.others.stamps(namespace)
    }

    fn announce(&self, name: &DocumentName, hash: &ContentHash) -> Result<(), DocumentError> {
        self.of(name).announce(name, hash)
    }

    fn announced(&self, name: &DocumentName) -> Option<ContentHash> {
        self.of(name).announced(name)
    }

    fn settle(&self, name: &DocumentName) {
        self.of(name).settle(name);
    }
}
