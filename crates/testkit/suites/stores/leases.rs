//! Leases.

use super::*;

fn lease(holder: &str, until: i64) -> Lease {
    Lease { name: "consolidate user".to_owned(), holder: holder.to_owned(), until: minute(until) }
}

#[test]
fn a_lease_has_one_holder() {
    let store = make();
    let alive = |_: &str| false;
    assert!(done(store.acquire(&lease("one", 10), minute(0), &alive)));
    assert!(!done(store.acquire(&lease("two", 10), minute(0), &alive)));
    assert!(!done(store.acquire(&lease("two", 99), minute(9), &alive)), "not before it has run out");
    let other = Lease { name: "something else".to_owned(), ..lease("two", 10) };
    assert!(done(store.acquire(&other, minute(0), &alive)), "another name is another lease");
}

#[test]
fn whoever_holds_a_lease_holds_it_on() {
    let store = make();
    let alive = |_: &str| false;
    assert!(done(store.acquire(&lease("one", 10), minute(0), &alive)));
    assert!(done(store.acquire(&lease("one", 20), minute(5), &alive)));
    assert!(!done(store.acquire(&lease("two", 30), minute(15), &alive)), "it was renewed until later");
    assert!(done(store.acquire(&lease("two", 30), minute(20), &alive)));
    assert!(!done(store.acquire(&lease("one", 40), minute(21), &alive)), "and what ran out is lost");
}

#[test]
fn a_lease_that_ran_out_or_lost_its_holder_is_free() {
    let store = make();
    assert!(done(store.acquire(&lease("one", 10), minute(0), &|_| true)));
    assert!(done(store.acquire(&lease("two", 20), minute(10), &|_| false)), "it ran out");
    let asked = std::cell::RefCell::new(Vec::new());
    let gone = |holder: &str| {
        asked.borrow_mut().push(holder.to_owned());
        true
    };
    assert!(done(store.acquire(&lease("three", 20), minute(11), &gone)), "its holder is gone");
    assert_eq!(asked.into_inner(), ["two"]);
    assert!(!done(store.acquire(&lease("one", 30), minute(12), &|holder| holder == "two")));
}

#[test]
fn a_lease_is_given_back_by_its_holder_alone() {
    let store = make();
    let take = |holder: &str| done(store.acquire(&lease(holder, 10), minute(0), &|_| false));
    assert!(take("one"));
    done(store.release(&lease("two", 10)));
    assert!(!take("two"));
    done(store.release(&lease("one", 10)));
    assert!(take("two"));
    done(store.release(&lease("one", 10)));
    assert!(!take("one"), "what was given back is no longer one's own");
}
