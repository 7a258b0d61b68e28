//! A daemon that speaks TLS, with a certificate that nobody else trusts.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::common::Home;
use crate::common::daemon::Daemon;

/// A file beside these tests: the certificate of 127.0.0.1, or its key.
fn pem(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name).display().to_string()
}

fn start(home: &Home) -> Daemon {
    Daemon::start_with(home, &["--tls-cert", &pem("cert.pem"), "--tls-key", &pem("key.pem")])
}

/// What a browser that trusts the certificate gets.
fn visit(daemon: &Daemon, target: &str) -> String {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(pem("cert.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(daemon.host()).unwrap());
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", daemon.host()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn open_gives_a_link_that_works_over_tls() {
    let home = Home::new();
    let daemon = start(&home);
    let link = home.run(&["open"]).done();
    let target = link.trim().strip_prefix(&format!("https://{}", daemon.host())).unwrap_or_else(|| panic!("{link}"));
    let opened = visit(&daemon, target);
    assert!(opened.starts_with("HTTP/1.1 200"), "{opened}");
    assert!(opened.contains("set-cookie: throughline=") && opened.contains("; Secure"), "{opened}");
    assert!(visit(&daemon, target).starts_with("HTTP/1.1 403"), "it opens once");
    assert_eq!(home.run(&["doctor"]).code, 0, "the doctor reaches it too");
}

#[test]
fn open_shows_the_token_to_no_other_certificate() {
    let home = Home::new();
    let _daemon = start(&home);
    let mut said: serde_json::Value = serde_json::from_str(&home.text("daemon.json")).unwrap();
    said["certificate"] = "00".repeat(32).into();
    home.put("daemon.json", &said.to_string());
    home.run(&["open"]).failed(2, "gives no link", "throughline serve");
}

#[test]
fn a_service_logs_no_link() {
    let home = Home::new();
    for json in [&[][..], &["--json"]] {
        let args = [json, &["serve", "--no-link", "--port", "0"]].concat();
        let mut process = home.throughline(&args).spawn().unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        // The last line that it says before it serves, or the only one.
        let (mut said, last) = (String::new(), if json.is_empty() { "Ctrl-C" } else { "}" });
        while !said.contains(last) {
            assert!(out.read_line(&mut said).unwrap() > 0, "{said}");
        }
        process.kill().unwrap();
        out.read_to_string(&mut said).unwrap();
        process.wait().unwrap();
        assert!(said.contains("http://127.0.0.1:") && !said.contains("code="), "{said}");
    }
    for system in ["systemd", "launchd"] {
        let unit = home.run(&["serve", &format!("--print-service={system}")]).done();
        assert!(unit.contains("--no-link"), "{unit}");
        assert!(unit.contains("MemoryMax=") || unit.contains("ResidentSetSize"), "{unit}");
    }
}
