//! Where a memory is: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?space=NAME`.
//!
//! All that the client knows may stand in it, and three parameters of ours: `space` names the person whose memory it is,
//! `sslrootcert` a file with the certificates that the server's is checked against, in place of the system's, and `notify=off`
//! keeps the server from telling of changes.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// The space of an address that names none.
pub const DEFAULT_SPACE: &str = "main";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long something is tried again while the server cannot be reached.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server that does not say for so long that it has what was sent is gone. A slow statement is something else.
const UNANSWERED: Duration = Duration::from_secs(10);
const LONGEST_SPACE: usize = 64;

/// Where a memory is, and whose it is. Prints without its password.
#[derive(Debug, Clone, PartialEq)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) space: String,
    pub(crate) root_certificates: Option<PathBuf>,
    /// Whether the server may be asked to tell of changes.
    pub(crate) notifies: bool,
    /// How long something is tried again while the server cannot be reached.
    pub(crate) patience: Duration,
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// The client cannot read it.
    #[error("not an address of PostgreSQL")]
    Unreadable(#[source] tokio_postgres::Error),
    /// It does not begin as one.
    #[error("an address of PostgreSQL begins with `postgres://`")]
    Scheme,
    /// The name of its space has other characters.
    #[error("`{space}` cannot name a space: use 1 to {LONGEST_SPACE} ASCII letters, digits, `_`, `-` and `.`")]
    Space {
        /// The name.
        space: String,
    },
}

impl Address {
    /// Reads an address.
    pub fn parse(url: &str) -> Result<Self, AddressError> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(AddressError::Scheme);
        }
        let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
        let (mut space, mut root_certificates, mut notifies) = (DEFAULT_SPACE.to_owned(), None, true);
        let mut others = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("space", name)) => space = name.to_owned(),
                Some(("sslrootcert", path)) => root_certificates = Some(PathBuf::from(path)),
                Some(("notify", "off")) => notifies = false,
                _ => others.push(parameter),
            }
        }
        let mut config: Config = format!("{place}?{}", others.join("&")).parse().map_err(AddressError::Unreadable)?;
        let says_how = others.iter().any(|parameter| parameter.starts_with("sslmode="));
        if !says_how && !config.get_hosts().iter().all(is_here) {
            config.ssl_mode(SslMode::Require);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("throughline");
        }
        config.keepalives_idle(UNANSWERED).keepalives_interval(UNANSWERED / 4).keepalives_retries(3);
        config.tcp_user_timeout(UNANSWERED);
        Self { config, space: String::new(), root_certificates, notifies, patience: PATIENCE }.with_space(&space)
    }

    /// The same with a password, in place of the one that it may have.
    pub fn with_password(mut self, password: &str) -> Self {
        self.config.password(password);
        self
    }

    /// The same for somebody who waits no longer than this for a server that cannot be reached.
    pub fn with_patience(mut self, patience: Duration) -> Self {
        let connect = self.config.get_connect_timeout().map_or(patience, |usual| patience.min(*usual));
        self.config.connect_timeout(connect);
        self.patience = patience.min(self.patience);
        self
    }

    /// The same server, for another space.
    pub fn with_space(self, space: &str) -> Result<Self, AddressError> {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if space.is_empty() || space.len() > LONGEST_SPACE || !space.bytes().all(is_safe) {
            return Err(AddressError::Space { space: space.to_owned() });
        }
        Ok(Self { space: space.to_owned(), ..self })
    }
}

/// The server, the database and the space, as a person knows them.
impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("postgres://")?;
        match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => f.write_str(name)?,
            #[cfg(unix)]
            Some(Host::Unix(path)) => write!(f, "{}", path.display())?,
            None => f.write_str("localhost")?,
        }
        write!(f, "/{}?space={}", self.config.get_dbname().unwrap_or_default(), self.space)
    }
}

/// Whether nothing leaves this machine on the way to a host.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_whose_memory_and_how_safely() {
        let local = Address::parse("postgres://ada:secret@localhost/memory?space=ada&connect_timeout=3").unwrap();
        assert_eq!((local.space.as_str(), local.config.get_ssl_mode()), ("ada", SslMode::Prefer));
        assert_eq!(local.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        assert!(!format!("{local:?}").contains("secret"));
        let far = Address::parse("postgresql://db.example.com/memory").unwrap();
        assert_eq!((far.space.as_str(), far.config.get_ssl_mode()), (DEFAULT_SPACE, SslMode::Require));
        let plain = Address::parse("postgres://db.example.com/memory?sslmode=disable").unwrap();
        assert_eq!(plain.config.get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn refuses_what_is_no_address() {
        for url in ["mysql://a", "postgres://a/b?space=", "postgres://a/b?space=o'brien", "postgres://a/b?unknown=1"] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
    }
}
