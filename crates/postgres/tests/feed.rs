//! A store that waits for changes is told of what another machine wrote: by the server where it notifies, and by looking elsewhere.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use throughline_core::ports::{ChangeWatch as _, Turns as _, Watched};
use throughline_postgres::{Address, PostgresStore};
use throughline_testkit::postgres::Server;
use throughline_testkit::stores::turn;

/// Longer than any test waits.
const NEVER: Duration = Duration::from_secs(600);

/// How long something may take on a machine that is busy with other things.
const LONG: Duration = Duration::from_secs(60);

/// The server of this test program.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(Server::start)
}

fn open(space: &str, parameters: &str) -> PostgresStore {
    let url = format!("{}?space={space}{parameters}", server().url());
    PostgresStore::open(Address::parse(&url).unwrap()).unwrap()
}

/// What changed, again and again, as somebody hears it who waits between two looks.
fn heard(store: PostgresStore, usual: Duration) -> Receiver<Vec<&'static str>> {
    let (say, hear) = channel();
    let mut last = store.change_tokens().unwrap();
    std::thread::spawn(move || {
        loop {
            store.wait_for_change(usual, NEVER).unwrap();
            let tokens = store.change_tokens().unwrap();
            let changed = tokens.since(&last);
            last = tokens;
            if !changed.is_empty() && say.send(changed).is_err() {
                return;
            }
        }
    });
    hear
}

fn say(store: &PostgresStore, id: &str) {
    assert_eq!(store.append(&[turn(id, "cli:a", "hello")]).unwrap(), 1);
}

#[test]
fn what_another_machine_wrote_is_told() {
    let (here, there) = (open("told", ""), open("told", ""));
    // Nobody looks by himself: whatever is heard was told. The first answer only says that the line is open.
    let changes = heard(here, NEVER);
    for nth in 0..3 {
        let began = Instant::now();
        say(&there, &format!("turn-{nth}"));
        let changed = changes.recv_timeout(LONG).expect("told");
        assert!(changed.contains(&Watched::Turns.name()), "{changed:?}");
        assert!(began.elapsed() < LONG);
    }
}

#[test]
fn what_is_written_in_another_space_is_not_told() {
    let (here, elsewhere, own) = (open("quiet", ""), open("loud", ""), open("quiet", ""));
    let (say_waited, waited) = channel();
    std::thread::spawn(move || {
        let mut last = here.change_tokens().unwrap();
        loop {
            here.wait_for_change(NEVER, NEVER).unwrap();
            let tokens = here.change_tokens().unwrap();
            let changed = tokens.since(&last);
            last = tokens;
            if say_waited.send(changed).is_err() {
                return;
            }
        }
    });
    assert!(waited.recv_timeout(LONG).expect("the line is open").is_empty());
    say(&elsewhere, "one");
    say(&elsewhere, "two");
    say(&own, "three");
    // What is told comes in the order of commits.
    let first = waited.recv_timeout(LONG).expect("told");
    assert!(first.contains(&Watched::Turns.name()), "{first:?}");
}

#[test]
fn where_the_server_tells_nothing_it_is_looked_for() {
    let (here, there) = (open("looked", "&notify=off"), open("looked", "&notify=off"));
    let changes = heard(here, Duration::from_millis(20));
    say(&there, "turn");
    let changed = changes.recv_timeout(LONG).expect("looked for");
    assert!(changed.contains(&Watched::Turns.name()), "{changed:?}");
}

#[test]
fn a_line_that_the_server_ends_is_opened_again_and_nothing_is_missed() {
    let (here, there) = (open("ended", ""), open("ended", ""));
    let changes = heard(here, Duration::from_millis(50));
    say(&there, "before");
    changes.recv_timeout(LONG).expect("told");
    server().run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    say(&there, "after");
    changes.recv_timeout(LONG).expect("told, or looked for");
}
