//! Segments of the word index whose bytes were damaged: an error, never a panic, and never endless.

use std::cell::Cell;
use std::sync::{Arc, LazyLock};

use throughline_index::{
    Document, Fetch, IndexError, MemoryStore, Part, Query, SegmentId, SegmentReader, Tail, add, build, bury, info,
    merge, numbers, search,
};

/// Parts that are read for one question, at most: a sound segment of this size needs a few dozen.
const MOST_READS: usize = 20_000;

/// A reader that counts.
struct Counted<'a> {
    store: &'a MemoryStore,
    reads: Cell<usize>,
}

impl SegmentReader for Counted<'_> {
    fn list(&self) -> Result<Vec<SegmentId>, IndexError> {
        self.store.list()
    }

    fn get(&self, segment: SegmentId, part: Part) -> Result<Option<Arc<[u8]>>, IndexError> {
        self.reads.set(self.reads.get() + 1);
        assert!(self.reads.get() <= MOST_READS, "it reads parts without end");
        self.store.get(segment, part)
    }
}

/// Numbers of documents: within a block of postings, of several, and of several pages.
const SIZES: [usize; 6] = [1, 5, 40, 150, 700, 2300];

static STORES: LazyLock<[MemoryStore; 6]> = LazyLock::new(|| SIZES.map(sound));

/// The first byte chooses a sound store; each damage that is done to it is four bytes.
pub(super) fn run(bytes: &[u8]) {
    let (store, bytes) = super::choice(bytes, &[0, 1, 2, 3, 4, 5]);
    let mut store = STORES[store].clone();
    for damage in bytes.chunks_exact(4).take(64) {
        damage_part(&mut store, damage);
    }
    ask(&store);
    let ids = store.list().expect("a list in memory");
    let counted = Counted { store: &store, reads: Cell::new(0) };
    let _ = merge(&counted, &ids);
    for id in ids {
        let _ = info(&counted, id);
        let _ = numbers(&counted, id);
    }
    let _ = bury(&mut store, &[1, 2, 3, 300], None);
    ask(&store);
}

fn ask(store: &MemoryStore) {
    let counted = Counted { store, reads: Cell::new(0) };
    for terms in [&["tea", "w3"][..], &["w1", "w2", "w5", "nobody"]] {
        for limit in [3, 10_000] {
            if let Ok(hits) = search(&counted, &Tail::default(), &Query::new(terms, limit)) {
                assert!(hits.len() <= limit, "{} hits of at most {limit}", hits.len());
                assert!(hits.windows(2).all(|pair| pair[0].units >= pair[1].units), "the best come first");
            }
        }
    }
    if let Ok(mut fetch) = Fetch::new(&counted) {
        for number in [-1, 0, 1, 2, 500, i64::MAX] {
            if let Ok(Some(found)) = fetch.get(number) {
                let _ = fetch.class(found.class, <[u8]>::to_vec);
            }
        }
    }
}

/// A sound store of two segments.
fn sound(count: usize) -> MemoryStore {
    let mut store = MemoryStore::default();
    let documents: Vec<Document> = (0..count as i64).map(document).collect();
    let (first, second) = documents.split_at(count / 2);
    for documents in [first, second] {
        if let Some(built) = build(documents) {
            add(&mut store, &built).expect("a store in memory");
        }
    }
    store
}

fn document(number: i64) -> Document {
    let words = [format!("w{}", number % 11), format!("w{}", number % 7), format!("rare{number}")];
    let payload = vec![number as u8; (number % 40) as usize];
    let class = vec![(number % 5) as u8];
    Document { number, terms: format!("tea {}", words.join(" ")), class, time: number, expires: i64::MAX, payload }
}

/// `[which part, where, where, what]`: bytes are changed, cut off or put in.
fn damage_part(store: &mut MemoryStore, damage: &[u8]) {
    let parts = store.parts_mut().count();
    let Some((_, part)) = store.parts_mut().nth(usize::from(damage[0]) % parts.max(1)) else { return };
    let mut bytes = part.to_vec();
    if bytes.is_empty() {
        return;
    }
    let at = (usize::from(damage[1] & 0x3f) << 8 | usize::from(damage[2])) % bytes.len();
    match damage[1] >> 6 {
        0 | 1 => bytes[at] = damage[3],
        2 => bytes.truncate(at),
        _ => bytes.insert(at, damage[3]),
    }
    *part = bytes.into();
}
