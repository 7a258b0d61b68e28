//! Documents in which somebody else saves between a read and a write.

use std::path::Path;
use std::sync::Arc;

use throughline_core::model::{ContentHash, Document, DocumentName, Name};
use throughline_core::ports::{Checkout, DocumentError, Documents};

use super::{Around, PlantedBug};

/// Documents around others.
pub struct SimulatedDocuments {
    inner: Arc<dyn Documents>,
    around: Arc<dyn Around>,
    bug: Option<PlantedBug>,
}

impl SimulatedDocuments {
    /// Around these documents.
    pub fn new(inner: Arc<dyn Documents>, around: Arc<dyn Around>, bug: Option<PlantedBug>) -> Self {
        Self { inner, around, bug }
    }
}

impl Documents for SimulatedDocuments {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        self.inner.read(name)
    }

    fn read_in(&self, name: &DocumentName, dir: &str) -> Result<Option<Document>, DocumentError> {
        self.inner.read_in(name, dir)
    }

    fn checkout(&self, dir: &Path) -> Option<Checkout> {
        self.inner.checkout(dir)
    }

    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        self.around.before_write();
        if self.bug == Some(PlantedBug::LostUpdate) {
            let there = self.inner.read(name)?.map_or_else(ContentHash::missing, |document| document.hash);
            return self.inner.write(name, text, &there);
        }
        self.inner.write(name, text, expected)
    }

    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError> {
        self.around.before_write();
        self.inner.remove(name, expected)
    }

    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError> {
        self.inner.keep_beside(name, text, stamp)
    }

    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError> {
        self.inner.kept_beside(name)
    }

    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError> {
        self.inner.list(namespace)
    }

    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError> {
        self.inner.stamp(name)
    }

    fn announce(&self, name: &DocumentName, hash: &ContentHash) -> Result<(), DocumentError> {
        self.inner.announce(name, hash)
    }

    fn announced(&self, name: &DocumentName) -> Option<ContentHash> {
        self.inner.announced(name)
    }

    fn settle(&self, name: &DocumentName) {
        self.inner.settle(name);
    }
}
