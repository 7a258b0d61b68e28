//! Documents without files.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use throughline_core::model::{ContentHash, Document, DocumentName, Name, clash, copy_name};
use throughline_core::ports::{DocumentError, Documents};

const MAX_BYTES: usize = 1024 * 1024;

/// Documents in memory: the same promises as the files, and nothing to clean up.
#[derive(Debug, Default)]
pub struct MemoryDocuments {
    shelf: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    writes: u64,
    texts: BTreeMap<DocumentName, (u64, String)>,
    /// What was kept beside which document: its file's name and text.
    copies: Vec<(DocumentName, String, String)>,
}

impl MemoryDocuments {
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn hash(&self, name: &DocumentName) -> ContentHash {
        self.texts.get(name).map_or_else(ContentHash::missing, |(_, text)| ContentHash::of(text))
    }

    fn clash(&self, name: &DocumentName) -> Option<String> {
        clash(name, &self.texts.keys().cloned().collect::<Vec<_>>())
    }
}

impl Documents for MemoryDocuments {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        Ok(self.shelf().texts.get(name).map(|(_, text)| Document::new(name.clone(), text.clone())))
    }

    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        if text.len() > MAX_BYTES {
            return Err(DocumentError::NotText { name: name.clone(), why: "it is larger than 1 MiB" });
        }
        let mut shelf = self.shelf();
        if let Some(existing) = shelf.clash(name) {
            return Err(DocumentError::Clash { name: name.clone(), existing });
        }
        if shelf.hash(name) != *expected {
            return Err(DocumentError::Conflict { name: name.clone() });
        }
        if *expected != ContentHash::of(text) {
            shelf.writes += 1;
            let write = shelf.writes;
            shelf.texts.insert(name.clone(), (write, text.to_owned()));
        }
        Ok(())
    }

    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError> {
        let mut shelf = self.shelf();
        if !shelf.texts.contains_key(name) || shelf.hash(name) != *expected {
            return Err(DocumentError::Conflict { name: name.clone() });
        }
        shelf.texts.remove(name);
        Ok(())
    }

    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError> {
        let stem = name.components().last().map(Name::to_string).unwrap_or_default();
        let mut shelf = self.shelf();
        let taken = |copy: &String| shelf.copies.iter().any(|(of, taken, _)| of == name && taken == copy);
        let copy = (1..).map(|nth| format!("{}.md", copy_name(&stem, stamp, nth))).find(|copy| !taken(copy));
        let copy = copy.unwrap_or_default();
        shelf.copies.push((name.clone(), copy.clone(), text.to_owned()));
        Ok(copy)
    }

    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError> {
        let shelf = self.shelf();
        let mut copies: Vec<_> =
            shelf.copies.iter().filter(|(of, ..)| of == name).map(|(_, copy, _)| copy.clone()).collect();
        copies.sort();
        Ok(copies)
    }

    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError> {
        Ok(self.shelf().texts.keys().filter(|name| name.namespace() == namespace).cloned().collect())
    }

    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError> {
        Ok(self.shelf().texts.get(name).map(|(write, text)| format!("{write}:{}", text.len())))
    }
}
