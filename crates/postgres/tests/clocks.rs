//! Machines whose clocks are wrong: the server's decides, and all of them go by it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod fixture;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use throughline_core::engine::{Engine, Settings};
use throughline_core::model::{Actor, Name, Source};
use throughline_core::ports::{Clock, Lease, Leases as _};
use throughline_postgres::PostgresStore;
use throughline_testkit::SequentialIds;
use throughline_testkit::stores::holder;

use fixture::{PostgresFixture, fixture};

/// The clock of a machine that is wrong by so much.
struct Wrong(SignedDuration);

impl Clock for Wrong {
    #[allow(clippy::disallowed_methods, reason = "it is the clock")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now() + self.0;
        Timestamp::from_millisecond(now.as_millisecond()).unwrap()
    }
}

/// A machine, with its clock and that of the server as it knows it.
struct Machine {
    store: Arc<PostgresStore>,
    own: Wrong,
    clock: Arc<dyn Clock>,
}

fn machine(fixture: &PostgresFixture, wrong: SignedDuration) -> Machine {
    let (store, clock) = PostgresStore::open_by_server_time(fixture.address.clone(), Arc::new(Wrong(wrong))).unwrap();
    Machine { store: Arc::new(store), own: Wrong(wrong), clock: Arc::new(clock) }
}

impl Machine {
    /// Takes a lease for some minutes from now on, as the machine's own clock says.
    fn acquires(&self, name: &str, minutes: i64) -> bool {
        let now = self.own.now();
        let until = now + SignedDuration::from_mins(minutes);
        let lease = Lease { name: "consolidate user".to_owned(), holder: holder(name), until };
        self.store.acquire(&lease, now, &|_| false).unwrap()
    }
}

fn hours_apart(fixture: &PostgresFixture) -> (Machine, Machine) {
    (machine(fixture, SignedDuration::from_hours(-1)), machine(fixture, SignedDuration::from_hours(1)))
}

#[test]
fn leases_end_by_the_clock_of_the_server() {
    let fixture = fixture();
    let (late, early) = hours_apart(&fixture);
    assert!(late.acquires("late", 30));
    assert!(!early.acquires("early", 30), "an hour ahead, it has not run out");
    let held = early.store.lease("consolidate user").unwrap().unwrap();
    let left = held.until.duration_since(early.clock.now());
    assert!(left > SignedDuration::from_mins(20) && left <= SignedDuration::from_mins(31), "{left}");
    assert!(late.acquires("late", 0), "it is shortened to nothing");
    assert!(early.acquires("early", 30), "now it has run out");
    assert!(!late.acquires("late", 30), "an hour late, it is not taken away");
}

#[test]
fn machines_agree_on_the_time() {
    let fixture = fixture();
    let (late, early) = hours_apart(&fixture);
    let engine = |machine: &Machine| {
        let settings = Settings { namespace: Some(Name::user_namespace("user").unwrap()), ..Settings::default() };
        let (documents, ids) = (Arc::new(machine.store.documents()), Arc::new(SequentialIds::default()));
        let store = Arc::clone(&machine.store);
        Engine::new(store, documents, Arc::clone(&machine.clock), ids, settings, Actor::new(Source::User, "test"))
    };
    let (late, early) = (engine(&late), engine(&early));
    let apart = late.now().duration_since(early.now()).abs();
    assert!(apart < SignedDuration::from_mins(5), "{apart}");
    // What was said a moment ago on one machine did not fall silent on the other.
    late.sessions()
        .observe(
            &"cli:a".parse().unwrap(),
            &[throughline_core::engine::Said::now(throughline_core::model::Role::User, "I moved to Porto")],
        )
        .unwrap();
    assert_eq!(early.sessions().due(&"cli:a".parse().unwrap()).unwrap(), None);
}
