//! A server that nobody can reach: the first question waits for it, and those that follow do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]
#![cfg(unix)]

use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use throughline_core::ports::{Health as _, StoreError};
use throughline_postgres::{Address, PostgresStore};
use throughline_testkit::postgres::Server;

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
