//! The handle for work that somebody waits for.

use super::*;

#[test]
fn a_handle_for_replies_is_the_same_store() {
    let store = make();
    let replies = store.for_replies();
    insert(&*store, entry("a", "likes tea"));
    assert_eq!(stored(&*replies, "a").unwrap().content, "likes tea");
    insert(&*replies, entry("b", "likes bread"));
    assert_eq!(stored(&*store, "b").unwrap().content, "likes bread");
}

#[test]
fn a_handle_for_replies_does_not_wait_for_a_writer_and_reads_meanwhile() {
    let store = make();
    insert(&*store, entry("a", "likes tea"));
    let replies = store.again().for_replies();
    let mut seen = None;
    let mut last = || {
        let busy =
            matches!(apply(&*replies, Verb::Remember, &[Op::Insert(entry("c", "likes jam"))]), Err(StoreError::Busy));
        seen = Some((busy, stored(&*replies, "a").is_some()));
        true
    };
    let change = change(Verb::Remember);
    done(store.apply(&change, &[Op::Insert(entry("b", "likes bread"))], &mut last));
    assert_eq!(seen, Some((true, true)));
    insert(&*replies, entry("c", "likes jam"));
}
