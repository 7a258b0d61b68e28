//! What a process keeps of the index between searches: parts of segments, items of the tail, and classes as they are read.
//! Parts and items are known by random marks, so that nothing of another copy of the memory is taken for this one's.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use throughline_index::Part;

use super::Collection;
use super::ages::Ages;
use super::classes::Class;
use super::tail::TailItem;

/// How many bytes of parts are kept at most.
const MOST_BYTES: usize = 64 << 20;

/// How many items of tails are kept at most.
const MOST_ITEMS: usize = 4096;

/// How many classes are kept at most: a conversation is one or two of them.
const MOST_CLASSES: usize = 16_384;

/// What a process keeps.
pub struct Cache {
    parts: Mutex<Parts>,
    /// What a row of a tail stands for: nothing if it was removed.
    items: Mutex<Ages<i64, Option<Arc<TailItem>>>>,
    /// What the bytes of a class say, by collection: nothing if no search may find it.
    classes: [Mutex<Classes>; 3],
}

type Classes = Ages<Vec<u8>, Option<Arc<Class>>>;

struct Parts {
    kept: Ages<(i64, Part), Arc<[u8]>>,
    keeps_little: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Cache {
    fn default() -> Self {
        let kept = Ages::new(MOST_BYTES, |bytes: &Arc<[u8]>| bytes.len());
        Self {
            parts: Mutex::new(Parts { kept, keeps_little: false }),
            items: Mutex::new(Ages::new(MOST_ITEMS, |_| 1)),
            classes: std::array::from_fn(|_| Mutex::new(Ages::new(MOST_CLASSES, |_| 1))),
        }
    }
}

impl Cache {
    /// A part of a segment.
    pub fn part(&self, mark: i64, part: Part) -> Option<Arc<[u8]>> {
        locked(&self.parts).kept.get(&(mark, part))
    }

    /// Keeps a part of a segment.
    pub fn keep_part(&self, mark: i64, part: Part, bytes: Arc<[u8]>) {
        let mut parts = locked(&self.parts);
        if !(parts.keeps_little && part.is_of_payloads()) {
            parts.kept.keep((mark, part), bytes);
        }
    }

    /// Keeps a part of a segment that was read before anybody asked for it.
    pub fn keep_expected(&self, mark: i64, part: Part, bytes: Arc<[u8]>) {
        locked(&self.parts).kept.keep((mark, part), bytes);
    }

    /// Whether any part is known.
    pub fn has_parts(&self) -> bool {
        !locked(&self.parts).kept.is_empty()
    }

    /// Keeps from here on only what one search asks for twice: this process ends soon.
    pub fn keep_little(&self) {
        locked(&self.parts).keeps_little = true;
    }

    /// What a row of a tail stands for, if that is known: nothing if it was removed.
    pub fn item(&self, mark: i64) -> Option<Option<Arc<TailItem>>> {
        locked(&self.items).get(&mark)
    }

    /// Whether any row of a tail is known.
    pub fn has_items(&self) -> bool {
        !locked(&self.items).is_empty()
    }

    /// Keeps what a row of a tail stands for.
    pub fn keep_item(&self, mark: i64, item: Option<Arc<TailItem>>) {
        locked(&self.items).keep(mark, item);
    }

    /// What the bytes of a class say; nothing if no search may find it.
    pub(super) fn class(&self, collection: Collection, bytes: &[u8]) -> Option<Arc<Class>> {
        let mut classes = locked(&self.classes[collection as usize]);
        if let Some(known) = classes.get(bytes) {
            return known;
        }
        let class = Class::read(collection, bytes).map(Arc::new);
        classes.keep(bytes.to_vec(), class.clone());
        class
    }

    /// Forgets what no search asked for since the last call.
    pub fn trim(&self) {
        locked(&self.parts).kept.age();
        locked(&self.items).age();
        self.classes.iter().for_each(|classes| locked(classes).age());
    }

    /// Forgets everything: after an erasure nothing of it stays in this process.
    pub fn clear(&self) {
        locked(&self.parts).kept.clear();
        locked(&self.items).clear();
        self.classes.iter().for_each(|classes| locked(classes).clear());
    }
}

impl Drop for Cache {
    /// A process that ends soon gives its memory back as a whole.
    fn drop(&mut self) {
        let parts = self.parts.get_mut().unwrap_or_else(PoisonError::into_inner);
        if parts.keeps_little {
            parts.kept.forget();
            locked(&self.items).forget();
            self.classes.iter().for_each(|classes| locked(classes).forget());
        }
    }
}
