//! The daemon's life: bind, serve, do what is due, and stop after what was acknowledged is done.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use axum_server::{Handle, Server};
use hyper_util::rt::TokioTimer;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};

use crate::access::{Names, Token};
use crate::connections::Capped;
use crate::http::{self, App};
use crate::{Host, Problem, channels};

/// How long the daemon waits for what is under way once it is told to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a connection may take to say what it wants, from its beginning and between two requests.
const HEAD_PATIENCE: Duration = Duration::from_secs(30);

/// Why the daemon cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Somebody else has the port, or the address is not this machine's.
    #[error("cannot listen on {address}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot use the certificate {} with the key {}", tls.cert.display(), tls.key.display())]
    Tls {
        /// Which.
        tls: Tls,
        /// What is wrong with them.
        #[source]
        source: std::io::Error,
    },
    /// The memory cannot be read, or the machine gives no secrets.
    #[error("cannot begin: {}", .0.message)]
    Host(Problem),
    /// The connection to everybody was lost.
    #[error("cannot go on serving")]
    Serve(#[source] std::io::Error),
}

impl ServeError {
    /// Whether somebody else listens there already.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Bind { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse)
    }
}

/// A certificate and its key, in PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The certificate, with those that lead to its root.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Where to listen, and as whom.
#[derive(Debug, Clone)]
pub struct Listening {
    /// The address.
    pub address: SocketAddr,
    /// Names besides those of loopback that lead here.
    pub hosts: Vec<String>,
    /// With it, everything is encrypted.
    pub tls: Option<Tls>,
}

/// A daemon that listens.
pub struct Daemon {
    listener: std::net::TcpListener,
    address: SocketAddr,
    tls: Option<Certified>,
    app: Arc<App>,
    head_patience: Duration,
}

/// What a daemon that speaks TLS shows.
struct Certified {
    config: RustlsConfig,
    /// Of its certificate.
    digest: String,
}

/// The digest by which a certificate is told from others: SHA-256 over its DER, in hexadecimal.
pub fn certificate_digest(der: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(der))
}

impl Daemon {
    /// Listens, answering only to loopback names and those that are given.
    pub async fn bind(host: Arc<dyn Host>, listening: &Listening, token: Token) -> Result<Self, ServeError> {
        let address = listening.address;
        let bind = |source| ServeError::Bind { address, source };
        let tls = match &listening.tls {
            Some(tls) => Some(certificate(tls).await?),
            None => None,
        };
        let listener = tokio::net::TcpListener::bind(address).await.and_then(tokio::net::TcpListener::into_std);
        let listener = listener.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let names = Names::listening(address, tls.is_some(), &listening.hosts);
        let app = App::new(host, token, names).map_err(ServeError::Host)?;
        Ok(Self { listener, address, tls, app: Arc::new(app), head_patience: HEAD_PATIENCE })
    }

    /// Closes a connection that has not said what it wants after this time, instead of the usual one.
    pub fn with_head_patience(self, head_patience: Duration) -> Self {
        Self { head_patience, ..self }
    }

    /// Where this machine reaches it.
    pub fn address(&self) -> SocketAddr {
        let mut address = self.address;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        address
    }

    /// The digest of its certificate, where it speaks TLS.
    pub fn certificate(&self) -> Option<&str> {
        self.tls.as_ref().map(|tls| tls.digest.as_str())
    }

    /// Where the person finds the panel.
    pub fn url(&self) -> String {
        self.app.names.url()
    }

    /// A one-time link to the panel.
    pub fn link(&self) -> Result<String, Problem> {
        self.app.link()
    }

    /// Serves until `asked` is done, and then until the last answer is out and the last job has ended, but not for ever.
    pub async fn serve(self, asked: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        let Self { listener, tls, app, head_patience, .. } = self;
        let stop = app.stop.clone();
        let scheduler = tokio::spawn(Arc::clone(&app.scheduler).run());
        let events = tokio::spawn(Arc::clone(&app.events).run());
        let channels = tokio::spawn(channels::run(Arc::clone(&app)));
        let handle = Handle::new();
        let (stopping, stopped, ended) = (handle.clone(), stop.clone(), Arc::clone(&app));
        let ending = tokio::spawn(async move {
            tokio::select! { () = asked => {}, () = stopped.cancelled() => {} }
            stopped.cancel();
            stopping.graceful_shutdown(Some(PATIENCE));
            let jobs = async { (scheduler.await, events.await, channels.await) };
            if tokio::time::timeout(PATIENCE, jobs).await.is_err() {
                tracing::warn!("a job is still running; it is begun again the next time");
            }
        });
        let service = http::router(app).into_make_service();
        let served = match tls {
            Some(Certified { config, .. }) => match axum_server::from_tcp_rustls(listener, config) {
                Ok(server) => {
                    let server = server.map(|tls| Capped::new(at_once(tls)));
                    hurried(server, head_patience).handle(handle).serve(service).await
                }
                Err(error) => Err(error),
            },
            None => match axum_server::from_tcp(listener) {
                Ok(server) => {
                    let server = server.acceptor(Capped::new(NoDelayAcceptor));
                    hurried(server, head_patience).handle(handle).serve(service).await
                }
                Err(error) => Err(error),
            },
        };
        stop.cancel();
        let _ = ending.await;
        if tokio::time::timeout(PATIENCE, ended.proxy.recorded()).await.is_err() {
            tracing::warn!("a conversation is still being recorded; its client sends it again");
        }
        served.map_err(ServeError::Serve)
    }
}

/// A server that waits for a request's head only so long: connections that say nothing are closed. It speaks HTTP/1 alone:
/// telling HTTP/2 apart would wait for the first bytes without a deadline, and one connection could carry any number of streams.
fn hurried<A: axum_server::Address, Acceptor>(server: Server<A, Acceptor>, patience: Duration) -> Server<A, Acceptor> {
    let mut server = server.http1_only();
    server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(patience);
    server
}

/// Pieces of a streamed reply go out as they come, encrypted ones too.
fn at_once(tls: RustlsAcceptor) -> RustlsAcceptor<NoDelayAcceptor> {
    tls.acceptor(NoDelayAcceptor)
}

async fn certificate(tls: &Tls) -> Result<Certified, ServeError> {
    // Another part of the program may have chosen already, and chose the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let unusable = |source| ServeError::Tls { tls: tls.clone(), source };
    let config = RustlsConfig::from_pem_chain_file(&tls.cert, &tls.key).await.map_err(unusable)?;
    let first = CertificateDer::from_pem_file(&tls.cert).map_err(|error| unusable(std::io::Error::other(error)))?;
    let mut spoken = (*config.get_inner()).clone();
    spoken.alpn_protocols = vec![b"http/1.1".to_vec()];
    let config = RustlsConfig::from_config(Arc::new(spoken));
    Ok(Certified { config, digest: certificate_digest(&first) })
}
