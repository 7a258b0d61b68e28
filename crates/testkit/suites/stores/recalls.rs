//! The recall log and the counts.

use super::*;

#[test]
fn recalls_are_noted_the_newest_first() {
    let store = make();
    assert_eq!(done(store.recalls(None, 9)), []);
    let noted = [recall("r1", "tea", 1, &["a"]), recall("r2", "100% \"quoted\"", 2, &[])];
    noted.iter().cloned().for_each(|recall| store.note(recall));
    let [first, second] = noted;
    assert_eq!(done(store.recalls(None, 9)), [second.clone(), first]);
    assert_eq!(done(store.recalls(None, 1)), std::slice::from_ref(&second));
    assert_eq!(done(store.recall_record(&second.recall_id)), Some(second));
    assert_eq!(done(store.recall_record(&RecallId::new("r3"))), None);
    assert_eq!(done(store.changes(9)), [], "a recall is no change");
}

#[test]
fn recalls_are_known_by_their_conversation() {
    let store = make();
    let session = |id: &str| -> SessionId { id.parse().unwrap() };
    let asked = |id: &str, of: &str| RecallRecord { session: Some(session(of)), ..recall(id, "tea", 1, &["a", "b"]) };
    let mut first = asked("r1", "cli:a");
    first.hits[1].given = true;
    let (elsewhere, plain, second) = (asked("r2", "cli:b"), recall("r3", "tea", 1, &[]), asked("r4", "cli:a"));
    for recall in [&first, &elsewhere, &plain, &second] {
        store.note(recall.clone());
    }
    let a = session("cli:a");
    assert_eq!(done(store.recalls(Some(&a), 9)), [second.clone(), first.clone()], "with what was given");
    assert_eq!(done(store.recalls(Some(&a), 1)), std::slice::from_ref(&second));
    assert_eq!(done(store.recalls(Some(&session("cli:nobody")), 9)), []);
    assert_eq!(done(store.recalls(None, 9)), [second, plain, elsewhere, first]);
}

#[test]
fn every_hit_is_counted() {
    let store = make();
    insert(&*store, entry("a", "tea"));
    insert(&*store, entry("b", "milk"));
    for record in [recall("r1", "tea", 7, &["a"]), recall("r2", "tea", 3, &["a", "b"]), recall("r3", "x", 9, &[])] {
        store.note(record);
    }
    done(store.recalls(None, 1));
    let used = |id: &str| {
        let memory = done(store.memory(&EntryId::new(id))).unwrap();
        (memory.recall_count, memory.last_recalled_at)
    };
    assert_eq!(used("a"), (2, Some(minute(7))));
    assert_eq!(used("b"), (1, Some(minute(3))));
    let listing = done(store.list(&Filter::default(), &Page { limit: 9, cursor: None }));
    let counts: u64 = listing.memories.iter().map(|memory| memory.recall_count).sum();
    assert_eq!(counts, 3, "listings show them too");
}
