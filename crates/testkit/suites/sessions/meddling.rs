//! Documents in which something goes wrong just when it matters.

use std::collections::HashMap;
use std::io;

use throughline_core::model::{Document, Name};
use throughline_core::ports::DocumentError;
use throughline_testkit::MemoryDocuments;

use super::*;

/// Documents that fail, or in which a person saves something just before the program's next write.
#[derive(Default)]
pub(crate) struct Meddling {
    inner: MemoryDocuments,
    trouble: Mutex<Trouble>,
}

#[derive(Default)]
struct Trouble {
    saves: HashMap<DocumentName, String>,
    always_in_the_way: bool,
    unreadable: bool,
    unwritable: bool,
}

impl Meddling {
    /// A person saves this just before the program writes the document.
    pub(crate) fn save_next(&self, name: &str, text: &str) {
        self.trouble.lock().unwrap().saves.insert(document(name), text.to_owned());
    }

    pub(crate) fn always_in_the_way(&self) {
        self.trouble.lock().unwrap().always_in_the_way = true;
    }

    pub(crate) fn unreadable(&self) {
        self.trouble.lock().unwrap().unreadable = true;
    }

    pub(crate) fn unwritable(&self) {
        self.trouble.lock().unwrap().unwritable = true;
    }

    pub(crate) fn out_of_the_way(&self) {
        *self.trouble.lock().unwrap() = Trouble::default();
    }

    fn readable(&self, name: &str) -> Result<(), DocumentError> {
        if self.trouble.lock().unwrap().unreadable { Err(broken("read", name)) } else { Ok(()) }
    }
}

fn broken(doing: &'static str, name: &str) -> DocumentError {
    DocumentError::Io { doing, name: name.to_owned(), source: io::Error::other("the disk is gone") }
}

impl Documents for Meddling {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        self.readable(&name.to_string())?;
        self.inner.read(name)
    }

    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        let mut trouble = self.trouble.lock().unwrap();
        if trouble.always_in_the_way {
            return Err(DocumentError::Conflict { name: name.clone() });
        }
        if trouble.unwritable {
            return Err(broken("write", &name.to_string()));
        }
        if let Some(saved) = trouble.saves.remove(name) {
            save(&self.inner, &name.to_string(), &saved);
        }
        self.inner.write(name, text, expected)
    }

    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError> {
        self.inner.remove(name, expected)
    }

    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError> {
        self.inner.keep_beside(name, text, stamp)
    }
    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError> {
        self.inner.kept_beside(name)
    }
    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError> {
        self.readable(&namespace.to_string())?;
        self.inner.list(namespace)
    }

    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError> {
        self.readable(&name.to_string())?;
        self.inner.stamp(name)
    }
}
