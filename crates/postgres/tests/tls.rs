//! TLS to a real server: what is accepted, and what is refused. The certificates in `fixture/tls` are of an authority that was made
//! for these tests, and name `localhost` alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

use std::error::Error as _;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use throughline_core::ports::{Health as _, StoreError};
use throughline_postgres::{Address, PostgresStore};
use throughline_testkit::postgres::Server;

/// Where a file of the authority is.
fn pem(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture/tls").join(name).display().to_string()
}

fn read(name: &str) -> String {
    std::fs::read_to_string(pem(name)).unwrap()
}

/// A server that takes nothing from the network without TLS.
fn encrypting() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let settings =
            "ssl = on\nssl_cert_file = '../server.pem'\nssl_key_file = '../server.key'\nhba_file = 'hba.conf'";
        let hba = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
        let files = [("server.pem", &*read("server.pem")), ("server.key", &*read("server.key")), ("hba.conf", hba)];
        Server::start_on_network(settings, &files)
    })
}

/// Opens a memory over the network.
fn open(server: &Server, host: &str, parameters: &str) -> Result<PostgresStore, StoreError> {
    let url = format!("postgres://throughline@{host}:{}/throughline?{parameters}", server.port());
    PostgresStore::open(Address::parse(&url).unwrap().with_patience(Duration::from_millis(300)))
}

/// Why a memory could not be opened, with all reasons below.
#[track_caller]
fn refused(outcome: Result<PostgresStore, StoreError>) -> String {
    let error = outcome.err().expect("refused");
    let mut said = error.to_string();
    let mut below = error.source();
    while let Some(error) = below {
        said = format!("{said}: {error}");
        below = error.source();
    }
    said
}

#[test]
fn a_certificate_of_the_named_authority_is_accepted() {
    let server = encrypting();
    let store = open(server, "localhost", &format!("sslmode=require&sslrootcert={}", pem("ca.pem"))).unwrap();
    assert!(store.stats().is_ok());
    let sql = "SELECT bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a ON a.pid = s.pid \
               WHERE a.application_name = 'throughline' AND a.client_addr IS NOT NULL";
    assert_eq!(server.run(sql), "t");
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let server = encrypting();
    for roots in [format!("&sslrootcert={}", pem("other-ca.pem")), String::new()] {
        let why = refused(open(server, "localhost", &format!("sslmode=require{roots}")));
        assert!(why.contains("certificate"), "{why}");
    }
}

#[test]
fn a_certificate_for_another_host_is_refused() {
    let roots = format!("sslmode=require&sslrootcert={}", pem("ca.pem"));
    let why = refused(open(encrypting(), "127.0.0.1", &roots));
    assert!(why.contains("certificate"), "{why}");
}

#[test]
fn nothing_goes_unencrypted_where_tls_is_required() {
    // The server asks for it,
    let why = refused(open(encrypting(), "localhost", "sslmode=disable"));
    assert!(why.contains("pg_hba.conf"), "{why}");
    // or the client does.
    let plain = Server::start_on_network("", &[]);
    assert!(open(&plain, "localhost", "sslmode=disable").is_ok());
    let why = refused(open(&plain, "localhost", "sslmode=require"));
    assert!(why.contains("does not support TLS"), "{why}");
}
