//! Leases.

use super::*;

fn lease(name: &str, until: i64) -> Lease {
    Lease { name: "consolidate user".to_owned(), holder: holder(name), until: minute(until) }
}

#[test]
fn a_lease_has_one_holder() {
    let store = make();
    let alive = |_: &Holder| false;
    assert!(done(store.acquire(&lease("one", 10), minute(0), &alive)));
    assert!(!done(store.acquire(&lease("two", 10), minute(0), &alive)));
    assert!(!done(store.acquire(&lease("two", 99), minute(9), &alive)), "not before it has run out");
    let other = Lease { name: "something else".to_owned(), ..lease("two", 10) };
    assert!(done(store.acquire(&other, minute(0), &alive)), "another name is another lease");
}

#[test]
fn whoever_holds_a_lease_holds_it_on() {
    let store = make();
    let alive = |_: &Holder| false;
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
    let gone = |holder: &Holder| {
        asked.borrow_mut().push(holder.clone());
        true
    };
    assert!(done(store.acquire(&lease("three", 20), minute(11), &gone)), "its holder is gone");
    assert_eq!(asked.into_inner(), [holder("two")]);
    assert!(!done(store.acquire(&lease("one", 30), minute(12), &|other| *other == holder("two"))));
}

#[test]
fn a_lease_is_given_back_by_its_holder_alone() {
    let store = make();
    let take = |name: &str| done(store.acquire(&lease(name, 10), minute(0), &|_| false));
    assert!(take("one"));
    done(store.release(&lease("two", 10)));
    assert!(!take("two"));
    done(store.release(&lease("one", 10)));
    assert!(take("two"));
    done(store.release(&lease("one", 10)));
    assert!(!take("one"), "what was given back is no longer one's own");
}

#[test]
fn a_lease_is_read_as_it_was_taken() {
    let store = make();
    assert_eq!(done(store.lease("consolidate user")), None);
    let taken = Lease {
        holder: Holder { host: "attic".to_owned(), process: u32::MAX, started: "boot:17".to_owned(), worker: 3 },
        ..lease("one", 10)
    };
    assert!(done(store.acquire(&taken, minute(0), &|_| false)));
    assert_eq!(done(store.lease("consolidate user")), Some(taken.clone()));
    assert!(!done(store.acquire(&Lease { until: minute(20), ..lease("two", 20) }, minute(1), &|_| false)));
    assert_eq!(done(store.lease("consolidate user")), Some(taken), "who does not get it changes nothing");
}

#[test]
fn holders_differ_by_host_process_start_and_worker() {
    let store = make();
    let first = lease("one", 10);
    assert!(done(store.acquire(&first, minute(0), &|_| false)));
    let own = &first.holder;
    let others = [
        Holder { host: "elsewhere".to_owned(), ..own.clone() },
        Holder { process: 2, ..own.clone() },
        Holder { started: "later".to_owned(), ..own.clone() },
        Holder { worker: 1, ..own.clone() },
    ];
    for holder in others {
        let other = Lease { holder, ..first.clone() };
        assert!(!done(store.acquire(&other, minute(1), &|_| false)), "{other:?}");
        done(store.release(&other));
    }
    assert_eq!(done(store.lease(&first.name)), Some(first));
}

#[test]
fn lease_of_another_host_only_expires() {
    let store = make();
    let there = Lease { holder: Holder { host: "elsewhere".to_owned(), ..holder("one") }, ..lease("one", 10) };
    assert!(done(store.acquire(&there, minute(0), &|_| false)));
    let asked = std::cell::Cell::new(false);
    let gone = |_: &Holder| {
        asked.set(true);
        true
    };
    assert!(!done(store.acquire(&lease("two", 10), minute(9), &gone)));
    assert!(!asked.get(), "this host cannot tell");
    assert!(done(store.acquire(&lease("two", 20), minute(10), &gone)));
    let nowhere = Lease { holder: Holder { host: String::new(), ..holder("one") }, ..lease("one", 40) };
    assert!(done(store.acquire(&nowhere, minute(20), &|_| false)));
    assert!(!done(store.acquire(&nowhere_else(&nowhere), minute(21), &gone)), "a host without a name is no host");
}

fn nowhere_else(lease: &Lease) -> Lease {
    Lease { holder: Holder { worker: 1, ..lease.holder.clone() }, ..lease.clone() }
}

#[test]
fn one_of_many_concurrent_callers_gets_a_lease() {
    let store = make();
    let taken: usize = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..8)
            .map(|nth| {
                let handle = store.again();
                scope.spawn(move || done(handle.acquire(&lease(&nth.to_string(), 10), minute(0), &|_| false)))
            })
            .collect();
        asking.into_iter().map(|asked| usize::from(asked.join().unwrap())).sum()
    });
    assert_eq!(taken, 1);
}
