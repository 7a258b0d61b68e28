//! A server that nobody can reach or that hangs: the first question waits for it, no longer than it may, and those that follow do
//! not. One that is slow is waited for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]
#![cfg(unix)]

use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use std::time::{Duration, Instant};

use throughline_core::model::{Actor, Change, ChangeId, Source, Verb};
use throughline_core::ports::{Changes as _, Health as _, Op, StoreError};
use throughline_postgres::{Address, PostgresStore};
use throughline_testkit::postgres::Server;
use throughline_testkit::stores::{entry, minute};

/// The way to a server, which can be closed: then connections are taken and nobody answers. Counts them.
#[derive(Default)]
struct Way {
    is_closed: AtomicBool,
    connections: AtomicUsize,
    open: Mutex<Vec<TcpStream>>,
}

impl Way {
    fn to(server: &Server) -> (Arc<Self>, u16) {
        let way = Arc::new(Self::default());
        let socket = server.socket();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, taken) = (listener.local_addr().unwrap().port(), Arc::clone(&way));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                taken.connections.fetch_add(1, Ordering::SeqCst);
                taken.open.lock().unwrap().push(client.try_clone().unwrap());
                if !taken.is_closed.load(Ordering::SeqCst) {
                    let there = UnixStream::connect(&socket).unwrap();
                    let (back, forth) = (client.try_clone().unwrap(), there.try_clone().unwrap());
                    std::thread::spawn(move || std::io::copy(&mut &client, &mut &there));
                    std::thread::spawn(move || std::io::copy(&mut &forth, &mut &back));
                }
            }
        });
        (way, port)
    }

    /// Ends every connection; new ones are answered by nobody.
    fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        for connection in self.open.lock().unwrap().drain(..) {
            let _ = connection.shutdown(std::net::Shutdown::Both);
        }
    }

    fn taken(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

#[test]
fn only_the_first_question_waits_for_a_server_that_is_away() {
    let server = Server::start();
    let (way, port) = Way::to(&server);
    let url = format!("postgres://throughline@127.0.0.1:{port}/throughline?sslmode=disable&connect_timeout=2");
    let store = PostgresStore::open(Address::parse(&url).unwrap()).unwrap();
    assert!(store.stats().is_ok());
    way.close();
    assert!(matches!(store.stats(), Err(StoreError::Failed { .. })));
    let tried = way.taken();
    assert!(tried > 1, "it was tried again");
    for _ in 0..5 {
        assert!(matches!(store.stats(), Err(StoreError::Failed { .. })));
    }
    assert_eq!(way.taken(), tried, "nobody tried again");
}

fn remember(store: &PostgresStore, id: &str) -> Result<(), StoreError> {
    let (id, actor) = (ChangeId::new(id), Actor::new(Source::User, "test"));
    let op = Op::Insert(entry(id.as_str(), "likes tea"));
    let change = Change { id, actor, verb: Verb::Remember, at: minute(0), undoes: None };
    store.apply(&change, &[op], &mut || true).map(drop)
}

fn patient(server: &Server, patience: Duration) -> PostgresStore {
    PostgresStore::open(Address::parse(&server.url()).unwrap().with_patience(patience)).unwrap()
}

/// A statement may run for two minutes; nobody waits so long for a server that hangs.
#[test]
#[cfg(target_os = "linux")]
fn a_server_that_hangs_is_waited_for_once_and_within_the_patience() {
    let server = Server::start();
    let store = patient(&server, Duration::from_secs(2));
    remember(&store, "before").unwrap();
    let hanging = server.hang();
    let began = Instant::now();
    assert!(matches!(store.stats(), Err(StoreError::Failed { .. })));
    assert!(matches!(remember(&store, "meanwhile"), Err(StoreError::Failed { .. })));
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    drop(hanging);
    let deadline = Instant::now() + Duration::from_secs(120);
    while let Err(error) = remember(&store, "after") {
        assert!(Instant::now() < deadline, "{error:?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_slow_statement_of_a_server_that_is_there_is_waited_for() {
    let server = Server::start();
    let store = patient(&server, Duration::from_secs(1));
    server.run(
        "CREATE FUNCTION throughline.dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           PERFORM pg_sleep(4);
           RETURN NULL;
         END $$;
         CREATE TRIGGER dawdle AFTER INSERT ON throughline.changes FOR EACH ROW EXECUTE FUNCTION throughline.dawdle();",
    );
    remember(&store, "slow").unwrap();
    assert_eq!(server.run("SELECT count(*) FROM throughline.changes"), "1", "and it was not done again");
}
