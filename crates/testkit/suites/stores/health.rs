//! Counts.

use super::*;

#[test]
fn stats_count_what_is_there() {
    let store = make();
    assert_eq!(StoreStats { bytes: 0, ..done(store.stats()) }, StoreStats::default());
    let archived = Entry { layer: throughline_core::model::Layer::Archive, ..entry("c", "happened") };
    let ops = [entry("a", "tea"), entry("b", "milk"), archived, inactive(&entry("d", "gone"))].map(Op::Insert);
    done(apply(&*store, Verb::Remember, &ops));
    index(&*store, &"user/profile".parse().unwrap(), None, &[bullet("user/profile", "e", "Ada")]);
    done(store.append(&[turn("t", "cli:a", "hello"), turn("u", "cli:a", "again")]));
    store.note(recall("r", "tea", 0, &["a"]));
    let stats = done(store.stats());
    assert!(stats.bytes > 0);
    let expected = StoreStats {
        knowledge: 2,
        archive: 1,
        bullets: 1,
        inactive: 1,
        sessions: 1,
        turns: 2,
        changes: 2,
        recalls: 1,
        bytes: stats.bytes,
    };
    assert_eq!(stats, expected);
}
