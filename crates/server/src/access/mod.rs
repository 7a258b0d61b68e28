//! Who may ask: programs by the token, the person's browser by a cookie that a one-time link gave it. Being on the same
//! machine is not enough, and neither is the right token from the wrong page.

mod gate;
mod links;
mod passes;

use std::collections::BTreeSet;

use subtle::ConstantTimeEq as _;

pub(crate) use gate::gate;
pub use links::Links;
pub use passes::{COOKIE, Passes};

/// The bearer token: 256 random bits, in hexadecimal.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token that was kept, if it is one.
    pub fn kept(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_token = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_token.then(|| Self(text.to_ascii_lowercase()))
    }

    /// A new one.
    pub fn of(secret: [u8; 32]) -> Self {
        Self(data_encoding::HEXLOWER.encode(&secret))
    }

    /// As it is written in the token's file and in the header.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether somebody knows it; takes the same time whatever they say.
    fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(***)")
    }
}

/// The names under which the daemon is reached, `host:port` each; no other `Host` and no other `Origin` is answered.
#[derive(Debug, Clone)]
pub struct Names {
    hosts: BTreeSet<String>,
    port: u16,
    scheme: &'static str,
}

impl Names {
    /// The loopback names, and those that the person added (`memory.example:7077`; without a port, this one).
    pub fn new(port: u16, is_tls: bool, more: &[String]) -> Self {
        let usual = ["127.0.0.1", "localhost", "[::1]"].map(str::to_owned);
        let with_port = |name: &str| {
            let has_port = name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
            if has_port && !name.ends_with(']') { name.to_owned() } else { format!("{name}:{port}") }
        };
        let hosts = usual.iter().chain(more).map(|name| with_port(&name.to_ascii_lowercase())).collect();
        Self { hosts, port, scheme: if is_tls { "https" } else { "http" } }
    }

    /// Where the person finds the panel.
    pub(crate) fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", self.scheme, self.port)
    }

    /// Whether the way here is encrypted.
    pub(crate) fn is_tls(&self) -> bool {
        self.scheme == "https"
    }

    fn is_host(&self, given: &str) -> bool {
        self.hosts.contains(&given.to_ascii_lowercase())
    }

    fn is_origin(&self, given: &str) -> bool {
        given
            .strip_prefix(self.scheme)
            .and_then(|rest| rest.strip_prefix("://"))
            .is_some_and(|host| self.hosts.contains(host))
    }
}
