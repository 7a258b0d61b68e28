//! What a process keeps of the index between searches: parts of segments, and documents of the tail. Both are known by
//! random marks, so that nothing of another copy of the memory is taken for this one's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use throughline_index::{Document, Part};

/// How many bytes of parts are kept at most.
const MOST_BYTES: usize = 64 << 20;

/// How many documents of tails are kept at most.
const MOST_DOCUMENTS: usize = 4096;

/// What a process keeps.
#[derive(Default)]
pub(crate) struct Cache {
    parts: Mutex<Parts>,
    /// What a row of a tail stands for: nothing if it was removed.
    documents: Mutex<HashMap<i64, Option<Arc<Document>>>>,
}

/// Parts of two ages: what was not asked for in one age goes with it.
#[derive(Default)]
struct Parts {
    young: HashMap<(i64, Part), Arc<[u8]>>,
    young_bytes: usize,
    old: HashMap<(i64, Part), Arc<[u8]>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    pub(super) fn part(&self, mark: i64, part: Part) -> Option<Arc<[u8]>> {
        let mut parts = locked(&self.parts);
        if let Some(bytes) = parts.young.get(&(mark, part)) {
            return Some(Arc::clone(bytes));
        }
        let bytes = parts.old.remove(&(mark, part))?;
        parts.keep(mark, part, Arc::clone(&bytes));
        Some(bytes)
    }

    pub(super) fn keep_part(&self, mark: i64, part: Part, bytes: Arc<[u8]>) {
        locked(&self.parts).keep(mark, part, bytes);
    }

    pub(super) fn document(&self, mark: i64) -> Option<Option<Arc<Document>>> {
        locked(&self.documents).get(&mark).cloned()
    }

    pub(super) fn keep_document(&self, mark: i64, document: Option<Arc<Document>>) {
        let mut documents = locked(&self.documents);
        if documents.len() >= MOST_DOCUMENTS {
            documents.clear();
        }
        documents.insert(mark, document);
    }

    /// Forgets everything: after an erasure nothing of it stays in this process.
    pub(crate) fn clear(&self) {
        *locked(&self.parts) = Parts::default();
        locked(&self.documents).clear();
    }
}

impl Parts {
    fn keep(&mut self, mark: i64, part: Part, bytes: Arc<[u8]>) {
        self.young_bytes += bytes.len();
        self.young.insert((mark, part), bytes);
        if self.young_bytes > MOST_BYTES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}
