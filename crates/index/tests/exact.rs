//! A search finds exactly what a scan of every document would find, after any sequence of changes; damaged bytes are an error.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use throughline_index::*;

/// What a store does: documents as they are, and the numbers of those that changed since they were sealed.
#[derive(Default)]
struct Model {
    store: MemoryStore,
    documents: BTreeMap<i64, Document>,
    changed: Vec<i64>,
}

impl Model {
    fn put(&mut self, document: Document) {
        self.changed.push(document.number);
        self.documents.insert(document.number, document);
    }

    fn remove(&mut self, number: i64) {
        if self.documents.remove(&number).is_some() {
            self.changed.push(number);
        }
    }

    /// Makes a segment of the oldest changes.
    fn seal(&mut self, most: usize) {
        let taken: Vec<i64> = self.changed.drain(..most.min(self.changed.len())).collect();
        let documents: Vec<Document> = taken.iter().filter_map(|number| self.documents.get(number)).cloned().collect();
        let id = build(&documents).map(|built| add(&mut self.store, &built).unwrap());
        bury(&mut self.store, &taken, id).unwrap();
    }

    fn infos(&self) -> Vec<SegmentInfo> {
        self.store.list().unwrap().into_iter().map(|id| info(&self.store, id).unwrap()).collect()
    }

    /// Merges some segments; while that runs, one document is sealed again.
    fn merge(&mut self, which: u8, meanwhile: Option<i64>) {
        let ids = self.store.list().unwrap();
        let chosen: Vec<SegmentId> =
            ids.iter().enumerate().filter(|(nth, _)| which >> (nth % 8) & 1 == 1).map(|(_, id)| *id).collect();
        let merged = merge(&self.store, &chosen).unwrap();
        if let Some(document) = meanwhile.and_then(|number| self.documents.get(&number)).cloned() {
            self.put(document);
            self.seal(usize::MAX);
        }
        assert!(replace(&mut self.store, &merged).unwrap());
        assert!(chosen.is_empty() || !replace(&mut self.store, &merged).unwrap(), "its segments are gone");
    }

    fn tail(&self, filter: &Wanted) -> Tail<'_> {
        let (mut documents, mut removed) = (Vec::new(), Vec::new());
        for number in &self.changed {
            match self.documents.get(number) {
                Some(document) => documents.push(TailDocument {
                    number: *number,
                    terms: &document.terms,
                    is_admitted: filter.admits_document(document),
                }),
                None => removed.push(*number),
            }
        }
        Tail::new(documents, &removed)
    }

    /// Scores every document.
    fn scan(&self, terms: &[&str], limit: usize, filter: &Wanted) -> Vec<Hit> {
        let statistics = statistics(&self.store, &self.tail(filter), terms).unwrap();
        let mut hits: Vec<Hit> = Vec::new();
        for document in self.documents.values().filter(|document| filter.admits_document(document)) {
            let words: Vec<&str> = document.terms.split(' ').filter(|word| !word.is_empty()).collect();
            let mut units = 0u32;
            for (nth, term) in terms.iter().enumerate() {
                let count = words.iter().filter(|word| *word == term).count() as u32;
                if count > 0 {
                    units += contribution(&statistics, nth, count, length_code(words.len() as u32));
                }
            }
            if units > 0 {
                hits.push(Hit { number: document.number, units });
            }
        }
        hits.sort_by_key(|hit| (std::cmp::Reverse(hit.units), hit.number));
        hits.truncate(limit);
        hits
    }
}

#[derive(Debug, Clone, Default)]
struct Wanted {
    classes: Option<BTreeSet<u8>>,
    since: Option<i64>,
    until: Option<i64>,
    live_at: Option<i64>,
}

impl Admit for Wanted {
    fn admits(&self, class: &[u8]) -> bool {
        self.classes.as_ref().is_none_or(|classes| classes.contains(&class[0]))
    }
}

impl Wanted {
    fn admits_document(&self, document: &Document) -> bool {
        self.admits(&document.class)
            && self.since.is_none_or(|since| document.time >= since)
            && self.until.is_none_or(|until| document.time < until)
            && self.live_at.is_none_or(|now| document.expires > now)
    }

    fn query<'q>(&'q self, terms: &'q [&'q str], limit: usize) -> Query<'q> {
        Query { terms, limit, since: self.since, until: self.until, live_at: self.live_at, admit: self }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Put(Document),
    PutMany(u16, u64),
    Remove(i64),
    Seal(usize),
    Merge(u8, Option<i64>),
    Tidy,
}

/// A few words are common, most are rare.
fn word(seed: u64) -> String {
    let rank = (seed % 1000).min(seed / 1000 % 1000).min(seed / 1_000_000 % 1000);
    format!("w{rank}")
}

fn text() -> impl Strategy<Value = String> {
    let words = prop_oneof![9 => 0usize..14, 1 => 100usize..400];
    words
        .prop_flat_map(|count| prop::collection::vec(any::<u64>(), count))
        .prop_map(|seeds| seeds.into_iter().map(word).collect::<Vec<_>>().join(" "))
}

fn document() -> impl Strategy<Value = Document> {
    let expires = prop_oneof![4 => Just(i64::MAX), 1 => 0i64..50];
    (-3i64..60, text(), 0u8..4, 0i64..50, expires).prop_map(|(number, terms, class, time, expires)| Document {
        number,
        terms,
        class: vec![class, 7],
        time,
        expires,
        payload: payload(number, time),
    })
}

/// What comes back with a document; of some, nothing.
fn payload(number: i64, time: i64) -> Vec<u8> {
    vec![number as u8; if number % 7 == 3 { 0 } else { 1 + time.unsigned_abs() as usize % 90 }]
}

/// What is fetched of a document is what was put in, unless it changed since it was sealed.
fn check_fetched(model: &Model) {
    let mut fetch = Fetch::new(&model.store).unwrap();
    for number in (-4..70).chain([100, 2000, 5099]).filter(|number| !model.changed.contains(number)) {
        let found = fetch.get(number).unwrap();
        let expected = model.documents.get(&number).filter(|document| !document.payload.is_empty());
        assert_eq!(found.as_ref().map(|found| &*found.payload), expected.map(|document| &document.payload[..]));
        if let (Some(found), Some(expected)) = (found, expected) {
            assert_eq!((found.time, found.expires), (expected.time, expected.expires));
            assert_eq!(fetch.class(found.class, <[u8]>::to_vec).unwrap(), expected.class);
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => document().prop_map(Step::Put),
        1 => (1u16..3000, any::<u64>()).prop_map(|(count, seed)| Step::PutMany(count, seed)),
        3 => (-3i64..60).prop_map(Step::Remove),
        3 => (1usize..40).prop_map(Step::Seal),
        2 => (any::<u8>(), prop::option::of(-3i64..60)).prop_map(|(which, meanwhile)| Step::Merge(which, meanwhile)),
        1 => Just(Step::Tidy),
    ]
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let classes = prop::option::of(prop::collection::btree_set(0u8..4, 1..4));
    let time = || prop::option::weighted(0.3, 0i64..50);
    (classes, time(), time(), time()).prop_map(|(classes, since, until, live_at)| Wanted {
        classes,
        since,
        until,
        live_at,
    })
}

fn apply(model: &mut Model, step: Step) {
    match step {
        Step::Put(document) => model.put(document),
        Step::PutMany(count, seed) => {
            for nth in 0..u64::from(count) {
                let roll = |salt: u64| (seed ^ salt).wrapping_add(nth).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
                let terms: Vec<String> = (0..1 + roll(1) % 9).map(|at| word(roll(at + 2))).collect();
                let (class, time) = (vec![(roll(70) % 4) as u8, 7], (roll(71) % 50) as i64);
                let number = 100 + (roll(72) % 5000) as i64;
                let payload = payload(number, time);
                model.put(Document { number, terms: terms.join(" "), class, time, expires: i64::MAX, payload });
            }
            model.seal(usize::MAX);
        }
        Step::Remove(number) => model.remove(number),
        Step::Seal(most) => model.seal(most),
        Step::Merge(which, meanwhile) => model.merge(which, meanwhile),
        Step::Tidy => {
            while let Some(ids) = choose(&model.infos(), Limits { fan: 3, postings: 20_000 }) {
                let merged = merge(&model.store, &ids).unwrap();
                assert!(replace(&mut model.store, &merged).unwrap());
            }
        }
    }
}

/// Puts everything into one segment: no tombstone is left.
fn merge_all(model: &mut Model) {
    model.seal(usize::MAX);
    let merged = merge(&model.store, &model.store.list().unwrap()).unwrap();
    assert!(replace(&mut model.store, &merged).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_search_equals_a_scan(
        steps in prop::collection::vec(step(), 1..60),
        queries in prop::collection::vec((prop::collection::vec(any::<u64>(), 1..8), 1usize..40, wanted()), 1..12),
    ) {
        let mut model = Model::default();
        let mut queries = queries.iter().cycle();
        for step in steps {
            apply(&mut model, step);
            let Some((seeds, limit, filter)) = queries.next() else { continue };
            let terms: Vec<String> = seeds.iter().map(|seed| word(*seed)).collect();
            let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
            let hits = search(&model.store, &model.tail(filter), &filter.query(&terms, *limit)).unwrap();
            prop_assert_eq!(hits, model.scan(&terms, *limit, filter));
            check_fetched(&model);
        }
        merge_all(&mut model);
        let live: u64 = model.documents.len() as u64;
        let found = statistics(&model.store, &Tail::default(), &["w0", "w5"]).unwrap();
        let has = |term: &str| model.documents.values().filter(|of| of.terms.split(' ').any(|word| word == term)).count();
        prop_assert_eq!(found.documents, live);
        prop_assert_eq!(found.frequencies, [has("w0") as u64, has("w5") as u64]);
        let kept: Vec<i64> = model.store.list().unwrap().iter().flat_map(|id| numbers(&model.store, *id).unwrap()).collect();
        prop_assert_eq!(kept, model.documents.keys().copied().collect::<Vec<_>>());
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic(
        steps in prop::collection::vec(step(), 1..20),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..6),
    ) {
        let mut model = Model::default();
        steps.into_iter().for_each(|step| apply(&mut model, step));
        model.seal(usize::MAX);
        let parts = model.store.parts_mut().count();
        prop_assume!(parts > 0);
        for (part, place, byte, how) in damage {
            let Some((_, bytes)) = model.store.parts_mut().nth(part.index(parts)) else { continue };
            let mut changed = bytes.to_vec();
            if changed.is_empty() { continue }
            let place = place.index(changed.len());
            match how {
                0 => changed[place] = byte,
                1 => changed.truncate(place),
                _ => changed.insert(place, byte),
            }
            *bytes = Arc::from(changed);
        }
        let terms: Vec<String> = (0..40).map(|nth| format!("w{nth}")).collect();
        let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
        let filter = Wanted { since: Some(3), ..Wanted::default() };
        let _ = search(&model.store, &Tail::default(), &filter.query(&terms, 10));
        let _ = search(&model.store, &Tail::default(), &Query::new(&terms, 100_000));
        if let Ok(mut fetch) = Fetch::new(&model.store) {
            for number in (-3..60).chain(100..130) {
                let _ = fetch.get(number).map(|found| found.map(|found| fetch.class(found.class, <[u8]>::to_vec).map(drop)));
            }
        }
        let ids = model.store.list().unwrap();
        let _ = merge(&model.store, &ids);
        let _ = bury(&mut model.store, &[1, 2, 3, 100, 101, 2000], None);
        ids.iter().for_each(|id| drop(info(&model.store, *id)));
    }
}

#[test]
fn erased_words_leave_with_a_merge() {
    let document = |number, terms: &str| Document {
        number,
        terms: terms.to_owned(),
        class: b"c".to_vec(),
        time: 0,
        expires: i64::MAX,
        payload: terms.as_bytes().to_vec(),
    };
    let mut model = Model::default();
    model.put(document(1, "plain words stay"));
    model.put(document(2, "xyzzysecret words go"));
    model.seal(usize::MAX);
    model.remove(2);
    model.seal(usize::MAX);
    let holds = |store: &MemoryStore| {
        let mut store = store.clone();
        store.parts_mut().any(|(_, bytes)| bytes.windows(11).any(|window| window == b"xyzzysecret"))
    };
    let ids = model.store.list().unwrap();
    assert!(holds(&model.store) && contains_any(&model.store, ids[0], &[2]).unwrap());
    let merged = merge(&model.store, &ids).unwrap();
    assert!(replace(&mut model.store, &merged).unwrap());
    assert!(!holds(&model.store));
    assert!(!contains_any(&model.store, model.store.list().unwrap()[0], &[2]).unwrap());
}

#[test]
fn another_format_is_refused() {
    let mut store = MemoryStore::default();
    let id = add(&mut store, &build(&[tea(1)]).unwrap()).unwrap();
    let (_, header) = store.parts_mut().next().unwrap();
    let mut changed = header.to_vec();
    changed[4] = 9;
    *header = changed.into();
    let error = search(&store, &Tail::default(), &Query::new(&["tea"], 1)).unwrap_err();
    assert_eq!(error.to_string(), format!("segment {id} has format 9; this program knows format {FORMAT}"));
}

fn tea(number: i64) -> Document {
    let (terms, class, payload) = ("tea".to_owned(), Vec::new(), b"green".to_vec());
    Document { number, terms, class, time: 0, expires: i64::MAX, payload }
}

/// The header of a segment as format 1 had it: pages say their times and nothing else.
fn before_payloads(header: &[u8], pages: usize) -> Vec<u8> {
    const PAGES_AT: usize = 50;
    let mut old = header[..PAGES_AT].to_vec();
    old[4] = 1;
    for page in header[PAGES_AT..].chunks(24).take(pages) {
        old.extend_from_slice(&page[..16]);
    }
    old.extend_from_slice(&header[PAGES_AT + pages * 24..]);
    old
}

/// A segment that an older program wrote in format 2: 1,100 documents on two pages.
fn written_before() -> MemoryStore {
    let mut store = MemoryStore::default();
    let id = store.fresh().unwrap();
    let mut bytes: &[u8] = include_bytes!("fixtures/format-2.segment");
    while let Some((numbers, rest)) = bytes.split_at_checked(8) {
        let number = |at: usize| u32::from_le_bytes(numbers[at..at + 4].try_into().unwrap());
        let (part, rest) = rest.split_at(number(4) as usize);
        store.put(id, Part(number(0)), part).unwrap();
        bytes = rest;
    }
    store
}

/// Searches, buries and merges a segment of 1,100 documents; `payload` is what it knows of each.
fn check_older(mut store: MemoryStore, payload: Option<&[u8]>) {
    let found = |store: &MemoryStore| search(store, &Tail::default(), &Query::new(&["tea"], 3000)).unwrap().len();
    let fetched = |store: &MemoryStore, number| {
        Fetch::new(store).unwrap().get(number).unwrap().map(|found| found.payload.to_vec())
    };
    assert_eq!((found(&store), fetched(&store, 1050).as_deref()), (1100, payload));
    assert_eq!(bury(&mut store, &[1, 1050], None).unwrap(), 1);
    assert_eq!((found(&store), fetched(&store, 1050)), (1098, None));
    add(&mut store, &build(&[tea(1050)]).unwrap()).unwrap();
    let merged = merge(&store, &store.list().unwrap()).unwrap();
    assert!(replace(&mut store, &merged).unwrap());
    assert_eq!((found(&store), fetched(&store, 1)), (1099, None));
    assert_eq!((fetched(&store, 1049).as_deref(), fetched(&store, 1050).as_deref()), (payload, Some(&b"green"[..])));
}

#[test]
fn segments_with_large_pages_are_searched_and_merged() {
    check_older(written_before(), Some(b"green"));
}

#[test]
fn segments_without_payloads_are_searched_and_merged() {
    let mut store = written_before();
    let (_, header) = store.parts_mut().next().unwrap();
    *header = before_payloads(header, 2).into();
    check_older(store, None);
}
