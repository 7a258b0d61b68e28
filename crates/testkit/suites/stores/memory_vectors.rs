//! Vectors of memories.

use throughline_core::embedding::{Baseline, EMBEDDED_CHARS};

use super::transfer::sound;
use super::*;

const DIMENSION: usize = 8;

fn by(model: &str) -> MadeBy {
    MadeBy { provider: "p".to_owned(), model: model.to_owned(), base_url: None }
}

fn begin(store: &dyn Store, model: &str, dimension: usize) -> MemorySet {
    let mean = (0..dimension).map(|nth| nth as f32 / 10.0).collect();
    done(store.begin_memory_set(&by(model), &Baseline { mean, deviation: 0.25 }))
}

/// A vector along an axis, with a little of all others.
fn axis(nth: usize) -> Vec<f32> {
    let mut vector = vec![0.1; DIMENSION];
    vector[nth % DIMENSION] = 1.0;
    vector
}

fn unembedded(store: &dyn Store) -> Vec<String> {
    done(store.unembedded_memories(100)).into_iter().map(|memory| memory.id.to_string()).collect()
}

/// Gives every memory without a vector the one that its text names: `… 3` lies along the axis 3.
fn embed(store: &dyn Store, set: &MemorySet) -> usize {
    let memories = done(store.unembedded_memories(1000));
    let nth = |text: &str| text.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let made = |memory: UnembeddedMemory| (memory.clone(), Ok(Packed::of(&axis(nth(&memory.text)))));
    let made: Vec<MemoryVector> = memories.into_iter().map(made).collect();
    done(store.keep_memory_vectors(&set.id, &made));
    made.len()
}

fn nearest(store: &dyn Store, set: &MemorySet, nth: usize, filter: &Filter) -> Vec<String> {
    let found = done(store.nearest_memories(&set.id, &axis(nth), filter, 100));
    assert!(found.windows(2).all(|pair| pair[0].2 >= pair[1].2), "the nearest first");
    found.into_iter().map(|(id, ..)| id.to_string()).collect()
}

fn every_kind() -> Filter {
    Filter { kinds: vec![Kind::Entry, Kind::Bullet, Kind::Turn], ..Filter::default() }
}

fn cosines(store: &dyn Store, set: &MemorySet, ids: &[&str]) -> Vec<Option<f64>> {
    let ids: Vec<EntryId> = ids.iter().map(|id| EntryId::new(*id)).collect();
    done(store.cosines(&set.id, &axis(1), &marks(store, &ids)))
}

/// The marks of memories; for one that is not there, a mark that stands for nothing.
fn marks(store: &dyn Store, ids: &[EntryId]) -> Vec<CandidateMark> {
    let nothing = CandidateMark::new(i64::from(u32::MAX));
    done(store.marks(ids)).into_iter().map(|mark| mark.unwrap_or(nothing)).collect()
}

fn counts(store: &dyn Store, set: &MemorySet) -> (u64, u64, u64) {
    let (embedded, refused) = done(store.count_memory_vectors(&set.id));
    (embedded, refused, done(store.count_unembedded_memories()))
}

/// An entry, a line of a document, and turns of every role.
fn furnish(store: &dyn Store) {
    insert(store, entry("e1", "green tea 1"));
    index(store, &"user/profile".parse().unwrap(), None, &[bullet("user/profile", "b1", "lives in Lisbon 2")]);
    let said = |id: &str, role: Role, text: &str| Turn { role, ..turn(id, "cli:a", text) };
    done(store.append(&[
        said("t1", Role::User, "black coffee 3"),
        said("t2", Role::Assistant, "with milk 4"),
        said("t3", Role::Tool, "output 5"),
        said("t4", Role::System, "instructions 5"),
        said("t5", Role::Summary, "they talked 5"),
    ]));
}

#[test]
fn memories_wait_for_a_vector_entries_first() {
    let store = make();
    furnish(&*store);
    insert(&*store, entry("e2", "white tea 1"));
    let mut waiting = unembedded(&*store);
    waiting[..3].sort();
    waiting[3..].sort();
    assert_eq!(waiting, ["b1", "e1", "e2", "t1", "t2"], "no tool, system or summary");
    assert_eq!(done(store.unembedded_memories(2)).len(), 2);
    assert_eq!(done(store.count_unembedded_memories()), 5);
    let long = "x".repeat(3 * EMBEDDED_CHARS);
    insert(&*store, entry("long", &long));
    let memories = done(store.unembedded_memories(9));
    let long = memories.iter().find(|memory| memory.id.as_str() == "long").unwrap();
    assert_eq!(long.text.len(), EMBEDDED_CHARS, "its beginning");
    let set = begin(&*store, "m", DIMENSION);
    assert_eq!((unembedded(&*store).len(), counts(&*store, &set)), (6, (0, 0, 6)));
    assert_eq!((embed(&*store, &set), counts(&*store, &set)), (6, (6, 0, 0)));
    sound(&*store);
}

#[test]
fn of_many_turns_about_the_newest_are_embedded_first() {
    let store = make();
    let turns: Vec<Turn> = (0..5000).map(|n| turn(&format!("t{n:04}"), "cli:a", "said 1")).collect();
    done(store.append(&turns));
    assert!(done(store.unembedded_memories(300)).iter().all(|memory| memory.id.as_str() > "t4000"));
    let mut seen = std::collections::BTreeSet::new();
    let set = begin(&*store, "m", DIMENSION);
    loop {
        let batch = done(store.unembedded_memories(700));
        if batch.is_empty() {
            break;
        }
        assert!(batch.iter().all(|memory| seen.insert(memory.id.to_string())), "none twice");
        let made: Vec<MemoryVector> = batch.into_iter().map(|memory| (memory, Ok(Packed::of(&axis(1))))).collect();
        done(store.keep_memory_vectors(&set.id, &made));
    }
    assert_eq!((seen.len(), counts(&*store, &set)), (5000, (5000, 0, 0)));
}

#[test]
fn a_set_knows_its_model_and_baseline() {
    let store = make();
    assert_eq!(done(store.memory_sets()), []);
    let set = begin(&*store, "m", DIMENSION);
    assert_eq!((set.dimension(), set.baseline.deviation, set.is_working), (DIMENSION, 0.25, true));
    assert_eq!((&set.by, set.baseline.mean[3]), (&by("m"), 0.3));
    assert_eq!(done(store.memory_sets()), std::slice::from_ref(&set));
    let moved = MadeBy { base_url: Some("http://elsewhere".to_owned()), ..by("m") };
    let other = Baseline { mean: vec![9.0; DIMENSION], deviation: 9.0 };
    let again = done(store.begin_memory_set(&moved, &other));
    assert_eq!(again, MemorySet { by: moved, ..set }, "the address moves, the baseline stays");
}

#[test]
fn a_set_is_searched_from_its_first_vector_on() {
    let store = make();
    furnish(&*store);
    let set = begin(&*store, "m", DIMENSION);
    assert_eq!(nearest(&*store, &set, 1, &every_kind()), [""; 0]);
    let first = done(store.unembedded_memories(2));
    let made: Vec<MemoryVector> = first.into_iter().map(|memory| (memory, Ok(Packed::of(&axis(1))))).collect();
    done(store.keep_memory_vectors(&set.id, &made));
    assert_eq!(nearest(&*store, &set, 1, &every_kind()).len(), 2);
    assert!(!done(store.finish_memory_set(&set.id)), "turns are missing");
    embed(&*store, &set);
    assert!(done(store.finish_memory_set(&set.id)));
    assert_eq!(nearest(&*store, &set, 1, &every_kind()).len(), 4);
}

#[test]
fn the_nearest_of_each_kind_are_found_and_the_filter_is_honoured() {
    let store = make();
    furnish(&*store);
    insert(&*store, Entry { project: Some("apollo".to_owned()), ..entry("e2", "rockets 1") });
    let gone = insert(&*store, entry("e3", "forgotten 1"));
    update(&*store, inactive(&gone));
    insert(&*store, Entry { expires_at: Some(minute(5)), ..entry("e4", "for a while 1") });
    let set = begin(&*store, "m", DIMENSION);
    embed(&*store, &set);
    let found = done(store.nearest_memories(&set.id, &axis(3), &every_kind(), 1));
    assert!(matches!(&found[..], [(id, Kind::Turn, cosine)] if id.as_str() == "t1" && *cosine > 0.99), "{found:?}");
    let found = done(store.nearest_memories(&set.id, &axis(2), &every_kind(), 1));
    assert!(matches!(&found[..], [(id, Kind::Bullet, _)] if id.as_str() == "b1"), "{found:?}");
    let memories = Filter { kinds: vec![Kind::Entry, Kind::Bullet], ..Filter::default() };
    let mut all = nearest(&*store, &set, 1, &memories);
    assert_eq!((all.len(), all.pop().as_deref()), (5, Some("b1")), "forgotten and expired ones too");
    assert_eq!(nearest(&*store, &set, 1, &Filter::default()).len(), 7, "turns too unless they are left out");
    assert_eq!(nearest(&*store, &set, 1, &Filter { kinds: vec![Kind::Turn], ..Filter::default() }), ["t2", "t1"]);
    let live = Filter { kinds: memories.kinds, ..Filter::recallable(minute(9)) };
    assert_eq!(nearest(&*store, &set, 1, &live), ["e2", "e1", "b1"]);
    let apollo = Filter { projects: throughline_core::recall::Projects::Only("apollo".to_owned()), ..every_kind() };
    assert_eq!(nearest(&*store, &set, 1, &apollo), ["e2"]);
    let later = Filter { since: Some(minute(1)), ..every_kind() };
    assert_eq!(nearest(&*store, &set, 1, &later), [""; 0]);
    let session = Filter { session: Some("cli:a".parse().unwrap()), ..every_kind() };
    assert_eq!(nearest(&*store, &set, 4, &session), ["t2", "t1"]);
    let elsewhere = Filter { session: Some("cli:b".parse().unwrap()), ..every_kind() };
    assert_eq!(nearest(&*store, &set, 4, &elsewhere), [""; 0]);
}

#[test]
fn a_narrow_filter_finds_what_many_others_are_nearer_than() {
    let store = make();
    done(store.append(&[turn("hidden", "cli:b", "far away 2")]));
    let crowd: Vec<Turn> = (0..1500).map(|n| turn(&format!("t{n}"), "cli:a", "all the same 1")).collect();
    done(store.append(&crowd));
    let set = begin(&*store, "m", DIMENSION);
    while embed(&*store, &set) > 0 {}
    let found = done(store.nearest_memories(&set.id, &axis(1), &every_kind(), 9));
    assert!(found.iter().all(|(id, ..)| id.as_str() != "hidden"));
    let filter = Filter { session: Some("cli:b".parse().unwrap()), ..every_kind() };
    assert_eq!(nearest(&*store, &set, 1, &filter), ["hidden"]);
    assert_eq!(counts(&*store, &set), (1501, 0, 0));
}

#[test]
fn cosines_are_those_of_the_memories_asked_for_in_their_order() {
    let store = make();
    furnish(&*store);
    let set = begin(&*store, "m", DIMENSION);
    embed(&*store, &set);
    let found = cosines(&*store, &set, &["t1", "nobody", "e1", "t3", "b1"]);
    assert!(found[0].is_some_and(|cosine| cosine < 0.5) && found[2].is_some_and(|cosine| cosine > 0.99), "{found:?}");
    assert_eq!((found[1], found[3], found[4].is_some()), (None, None, true));
    assert_eq!(cosines(&*store, &set, &[]), []);
}

#[test]
fn an_unknown_set_or_another_dimension_finds_nothing() {
    let store = make();
    furnish(&*store);
    let set = begin(&*store, "m", DIMENSION);
    embed(&*store, &set);
    let unknown = VectorSetId::new("of another store");
    let marks = marks(&*store, &[EntryId::new("e1")]);
    for (id, query) in [(&unknown, axis(1)), (&set.id, vec![1.0; DIMENSION + 1])] {
        assert_eq!(done(store.nearest_memories(id, &query, &every_kind(), 9)), []);
        assert_eq!(done(store.cosines(id, &query, &marks)), [None]);
    }
    assert_eq!(done(store.nearest_memories(&set.id, &axis(1), &every_kind(), 0)), []);
    assert_eq!(done(store.count_memory_vectors(&unknown)), (0, 0));
    assert!(!done(store.finish_memory_set(&unknown)));
    let wrong = done(store.unembedded_memories(1)).into_iter().map(|memory| (memory, Ok(Packed::of(&[1.0; 9]))));
    done(store.keep_memory_vectors(&set.id, &wrong.collect::<Vec<_>>()));
    assert_eq!(counts(&*store, &set), (4, 0, 0));
}

#[test]
fn another_model_begins_a_set_and_the_old_one_goes_when_it_is_complete() {
    let store = make();
    furnish(&*store);
    let old = begin(&*store, "old", DIMENSION);
    embed(&*store, &old);
    assert!(done(store.finish_memory_set(&old.id)));
    let abandoned = begin(&*store, "abandoned", DIMENSION);
    assert_eq!(counts(&*store, &abandoned), (0, 0, 4), "all are embedded again");
    let new = begin(&*store, "new", DIMENSION);
    let models: Vec<String> = done(store.memory_sets()).into_iter().map(|set| set.by.model).collect();
    assert_eq!(models, ["old", "new"], "what was begun is given up for what is begun later");
    assert_eq!(nearest(&*store, &old, 1, &every_kind()).len(), 4, "the old one is searched");
    insert(&*store, entry("e2", "later 1"));
    assert!(!done(store.finish_memory_set(&old.id)), "not the working set");
    assert_eq!(embed(&*store, &new), 5);
    assert!(done(store.finish_memory_set(&new.id)));
    assert_eq!(done(store.memory_sets()), std::slice::from_ref(&new));
    assert_eq!(nearest(&*store, &old, 1, &every_kind()), [""; 0]);
    assert_eq!((nearest(&*store, &new, 1, &every_kind()).len(), counts(&*store, &new)), (5, (5, 0, 0)));
    sound(&*store);
}

#[test]
fn a_model_that_comes_back_goes_on_where_it_was() {
    let store = make();
    furnish(&*store);
    let one = begin(&*store, "one", DIMENSION);
    embed(&*store, &one);
    begin(&*store, "two", DIMENSION);
    insert(&*store, entry("e2", "later 1"));
    assert_eq!(begin(&*store, "one", DIMENSION), one);
    assert_eq!(unembedded(&*store), ["e2"]);
    let longer = begin(&*store, "one", DIMENSION + 1);
    assert_ne!(longer.id, one.id, "another dimension is another set");
    assert_eq!(unembedded(&*store).len(), 5);
}

#[test]
fn a_text_that_changes_is_embedded_again() {
    let store = make();
    furnish(&*store);
    let set = begin(&*store, "m", DIMENSION);
    embed(&*store, &set);
    let first = stored(&*store, "e1").unwrap();
    let tagged = update(&*store, Entry { tags: vec!["hot".to_owned()], ..first });
    assert_eq!(counts(&*store, &set), (4, 0, 0), "the text is the same");
    update(&*store, Entry { content: "now it is 6".to_owned(), ..tagged });
    assert_eq!((cosines(&*store, &set, &["e1"]), unembedded(&*store)), (vec![None], vec!["e1".to_owned()]));
    assert_eq!((nearest(&*store, &set, 1, &every_kind()).len(), counts(&*store, &set)), (3, (3, 0, 1)));
    embed(&*store, &set);
    assert_eq!(nearest(&*store, &set, 6, &every_kind())[0], "e1");
    index(&*store, &"user/profile".parse().unwrap(), None, &[bullet("user/profile", "b2", "lives in Porto 2")]);
    assert_eq!((unembedded(&*store), counts(&*store, &set)), (vec!["b2".to_owned()], (3, 0, 1)));
    sound(&*store);
}

#[test]
fn a_vector_of_a_text_that_changed_meanwhile_is_not_kept() {
    let store = make();
    let first = insert(&*store, entry("e1", "green tea 1"));
    insert(&*store, entry("e2", "black tea 1"));
    let set = begin(&*store, "m", DIMENSION);
    let batch = done(store.unembedded_memories(9));
    update(&*store, Entry { content: "black coffee 2".to_owned(), ..first });
    done(store.erase(&Erasure { memories: vec![EntryId::new("e2")], ..Erasure::default() }));
    let made: Vec<MemoryVector> = batch.into_iter().map(|memory| (memory, Ok(Packed::of(&axis(1))))).collect();
    done(store.keep_memory_vectors(&set.id, &made));
    assert_eq!((counts(&*store, &set), unembedded(&*store)), ((0, 0, 1), vec!["e1".to_owned()]));
}

#[test]
fn a_refused_memory_is_not_tried_again_until_its_text_changes() {
    let store = make();
    let first = insert(&*store, entry("e1", "green tea 1"));
    let set = begin(&*store, "m", DIMENSION);
    let batch = done(store.unembedded_memories(9));
    let made: Vec<MemoryVector> = batch.into_iter().map(|memory| (memory, Err("too long".to_owned()))).collect();
    done(store.keep_memory_vectors(&set.id, &made));
    assert_eq!((counts(&*store, &set), unembedded(&*store)), ((0, 1, 0), vec![]));
    assert!(done(store.finish_memory_set(&set.id)), "all that can have one has one");
    begin(&*store, "other", DIMENSION);
    assert_eq!(unembedded(&*store), ["e1"], "another model may take it");
    begin(&*store, "m", DIMENSION);
    assert_eq!(unembedded(&*store), [""; 0]);
    update(&*store, Entry { content: "short 1".to_owned(), ..first });
    assert_eq!((counts(&*store, &set), unembedded(&*store)), ((0, 0, 1), vec!["e1".to_owned()]));
}

#[test]
fn erasing_a_memory_erases_its_vector() {
    let store = make();
    furnish(&*store);
    let set = begin(&*store, "m", DIMENSION);
    embed(&*store, &set);
    insert(&*store, entry("e2", "not embedded 1"));
    let memories = ["e1", "e2"].map(EntryId::new).to_vec();
    done(store.erase(&Erasure { memories, turns: vec![TurnId::new("t1")], ..Erasure::default() }));
    assert_eq!(cosines(&*store, &set, &["e1", "t1", "e2"]), [None; 3]);
    assert_eq!(
        (nearest(&*store, &set, 1, &every_kind()), counts(&*store, &set)),
        (vec!["t2".to_owned(), "b1".to_owned()], (2, 0, 0))
    );
    insert(&*store, entry("e3", "takes its place 7"));
    assert_eq!(nearest(&*store, &set, 1, &every_kind()).len(), 2, "a new memory has none of its vectors");
    embed(&*store, &set);
    assert_eq!(nearest(&*store, &set, 7, &every_kind())[0], "e3");
    sound(&*store);
}

#[test]
fn a_rebuilt_index_keeps_vectors_and_finds_what_has_none() {
    let store = make();
    furnish(&*store);
    let set = begin(&*store, "m", DIMENSION);
    embed(&*store, &set);
    insert(&*store, entry("e2", "later 1"));
    done(store.rebuild(&mut |_, _| {}));
    assert_eq!((counts(&*store, &set), unembedded(&*store)), ((4, 0, 1), vec!["e2".to_owned()]));
}
