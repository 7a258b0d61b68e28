//! What a process keeps of the index between searches: parts of segments, items of the tail, and classes as they are read.
//! Parts and items are known by random marks, so that nothing of another copy of the memory is taken for this one's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use throughline_index::Part;

use super::Collection;
use super::classes::Class;
use super::tail::TailItem;

/// How many bytes of parts are kept at most.
const MOST_BYTES: usize = 64 << 20;

/// How many items of tails are kept at most.
const MOST_ITEMS: usize = 4096;

/// How many classes are kept at most: a conversation is one or two of them.
const MOST_CLASSES: usize = 16_384;

/// What a process keeps.
#[derive(Default)]
pub struct Cache {
    parts: Mutex<Parts>,
    /// What a row of a tail stands for: nothing if it was removed.
    items: Mutex<HashMap<i64, Option<Arc<TailItem>>, RandomState>>,
    /// What the bytes of a class say, by collection: nothing if no search may find it.
    classes: [Mutex<Classes>; 3],
}

type Classes = HashMap<Vec<u8>, Option<Arc<Class>>, RandomState>;

/// Parts of two ages: what was not asked for in one age goes with it.
#[derive(Default)]
struct Parts {
    young: HashMap<(i64, Part), Arc<[u8]>, RandomState>,
    young_bytes: usize,
    keeps_little: bool,
    old: HashMap<(i64, Part), Arc<[u8]>, RandomState>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    /// A part of a segment.
    pub fn part(&self, mark: i64, part: Part) -> Option<Arc<[u8]>> {
        let mut parts = locked(&self.parts);
        if let Some(bytes) = parts.young.get(&(mark, part)) {
            return Some(Arc::clone(bytes));
        }
        let bytes = parts.old.remove(&(mark, part))?;
        parts.keep(mark, part, Arc::clone(&bytes));
        Some(bytes)
    }

    /// Keeps a part of a segment.
    pub fn keep_part(&self, mark: i64, part: Part, bytes: Arc<[u8]>) {
        let mut parts = locked(&self.parts);
        if !(parts.keeps_little && part.is_of_payloads()) {
            parts.keep(mark, part, bytes);
        }
    }

    /// Keeps a part of a segment that was read before anybody asked for it.
    pub fn keep_expected(&self, mark: i64, part: Part, bytes: Arc<[u8]>) {
        locked(&self.parts).keep(mark, part, bytes);
    }

    /// Whether any part is known.
    pub fn has_parts(&self) -> bool {
        let parts = locked(&self.parts);
        !parts.young.is_empty() || !parts.old.is_empty()
    }

    /// Keeps from here on only what one search asks for twice: this process ends soon.
    pub fn keep_little(&self) {
        locked(&self.parts).keeps_little = true;
    }

    /// What a row of a tail stands for, if that is known: nothing if it was removed.
    pub fn item(&self, mark: i64) -> Option<Option<Arc<TailItem>>> {
        locked(&self.items).get(&mark).cloned()
    }

    /// Whether any row of a tail is known.
    pub fn has_items(&self) -> bool {
        !locked(&self.items).is_empty()
    }

    /// Keeps what a row of a tail stands for.
    pub fn keep_item(&self, mark: i64, item: Option<Arc<TailItem>>) {
        let mut items = locked(&self.items);
        if items.len() >= MOST_ITEMS {
            items.clear();
        }
        items.insert(mark, item);
    }

    /// What the bytes of a class say; nothing if no search may find it.
    pub(super) fn class(&self, collection: Collection, bytes: &[u8]) -> Option<Arc<Class>> {
        let mut classes = locked(&self.classes[collection as usize]);
        if let Some(known) = classes.get(bytes) {
            return known.clone();
        }
        if classes.len() >= MOST_CLASSES {
            classes.clear();
        }
        let class = Class::read(collection, bytes).map(Arc::new);
        classes.insert(bytes.to_vec(), class.clone());
        class
    }

    /// Forgets everything: after an erasure nothing of it stays in this process.
    pub fn clear(&self) {
        let mut parts = locked(&self.parts);
        *parts = Parts { keeps_little: parts.keeps_little, ..Parts::default() };
        drop(parts);
        locked(&self.items).clear();
        self.classes.iter().for_each(|classes| locked(classes).clear());
    }
}

impl Drop for Cache {
    /// A process that ends soon gives its memory back as a whole.
    fn drop(&mut self) {
        let parts = self.parts.get_mut().unwrap_or_else(PoisonError::into_inner);
        if parts.keeps_little {
            std::mem::forget(std::mem::take(parts));
            std::mem::forget(std::mem::take(&mut self.items));
            std::mem::forget(std::mem::take(&mut self.classes));
        }
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
