//! Who may ask: programs by the token, the person's browser by the pass that a one-time link gave it, and only for what the
//! panel needs. Being on the same machine is not enough, and neither is the right token from the wrong page.

mod gate;
mod links;
#[cfg(test)]
mod origins;
mod passes;
mod scope;

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use subtle::ConstantTimeEq as _;

pub(crate) use gate::{PathToken, gate};
pub(crate) use links::Links;
pub(crate) use passes::{COOKIE, KEY, Pass, Passes};

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

    /// Whether it stands anywhere in some bytes, in small or in capital letters.
    pub(crate) fn stands_in(&self, bytes: &[u8]) -> bool {
        bytes.windows(self.0.len()).any(|window| window.eq_ignore_ascii_case(self.0.as_bytes()))
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(***)")
    }
}

/// The names under which the daemon is reached, `host:port` each, and without the port where browsers leave it out; no other `Host` and no other `Origin` is answered.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    hosts: BTreeSet<String>,
    /// The one that is shown to the person.
    shown: String,
    scheme: &'static str,
}

impl Names {
    /// The loopback names, and those that the person added (`memory.example:7077`; without a port, this one).
    fn new(port: u16, is_tls: bool, more: &[String]) -> Self {
        let usual = ["127.0.0.1", "localhost", "[::1]"].map(str::to_owned);
        let (scheme, default_port) = if is_tls { ("https", ":443") } else { ("http", ":80") };
        let mut hosts: BTreeSet<String> = usual.iter().chain(more).map(|name| with_port(name, port)).collect();
        // Browsers leave out the port that the scheme has anyway.
        let bare: Vec<_> = hosts.iter().filter_map(|host| host.strip_suffix(default_port)).map(str::to_owned).collect();
        hosts.extend(bare);
        Self { hosts, shown: with_port("127.0.0.1", port), scheme }
    }

    /// The names of a daemon that listens on this address: unless it stands for all, it is one of them. A certificate is
    /// made out to a name that the person added; that is the one to show.
    pub(crate) fn listening(address: SocketAddr, is_tls: bool, more: &[String]) -> Self {
        let own = match address.ip() {
            ip if ip.is_unspecified() => None,
            IpAddr::V4(ip) => Some(ip.to_string()),
            IpAddr::V6(ip) => Some(format!("[{ip}]")),
        };
        let more: Vec<String> = more.iter().cloned().chain(own.clone()).collect();
        let is_local = address.ip().is_loopback() && !is_tls;
        let shown = if is_local { own.as_ref() } else { more.first() };
        let names = Self::new(address.port(), is_tls, &more);
        match shown {
            Some(shown) => Self { shown: with_port(shown, address.port()), ..names },
            None => names,
        }
    }

    /// Where the person finds the panel.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.shown)
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

/// `name:port`, in small letters; a name that brings its own port keeps it.
fn with_port(name: &str, port: u16) -> String {
    let name = name.to_ascii_lowercase();
    let has_port = name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port && !name.ends_with(']') { name } else { format!("{name}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_is_shown_leads_to_the_daemon() {
        let named = ["Memory.Example".to_owned()];
        for (address, is_tls, more, url) in [
            ("127.0.0.1:7077", false, &named[..0], "http://127.0.0.1:7077"),
            ("127.0.0.1:7077", false, &named[..], "http://127.0.0.1:7077"),
            ("[::1]:7077", false, &named[..], "http://[::1]:7077"),
            ("127.0.0.1:7077", true, &named[..], "https://memory.example:7077"),
            ("0.0.0.0:7077", true, &named[..0], "https://127.0.0.1:7077"),
            ("192.168.1.5:80", true, &named[..0], "https://192.168.1.5:80"),
            ("[fd00::5]:80", false, &named[..0], "http://[fd00::5]:80"),
        ] {
            let names = Names::listening(address.parse().unwrap(), is_tls, more);
            assert_eq!(names.url(), url);
            let host = url.split_once("://").unwrap().1;
            assert!(
                names.is_host(host)
                    && names.is_origin(url)
                    && names.is_host("localhost:7077") == (address.ends_with("7077"))
            );
        }
    }
    #[test]
    fn the_usual_port_of_the_scheme_may_be_left_out() {
        let named = ["memory.example".to_owned(), "other.example:443".to_owned()];
        for (port, is_tls, scheme) in [(443, true, "https"), (80, false, "http")] {
            let names = Names::listening(([127, 0, 0, 1], port).into(), is_tls, &named);
            for host in ["127.0.0.1", "localhost", "[::1]", "memory.example", "Memory.Example"] {
                assert!(names.is_host(host) && names.is_host(&format!("{host}:{port}")), "{host}");
            }
            assert!(names.is_origin(&format!("{scheme}://memory.example")));
            assert_eq!(names.is_host("other.example"), is_tls);
            assert!(!names.is_host("elsewhere.example") && !names.is_host("[:"));
        }
        for (port, is_tls) in [(443, false), (80, true), (7077, false), (7077, true)] {
            let names = Names::listening(([127, 0, 0, 1], port).into(), is_tls, &named[..1]);
            assert!(!names.is_host("localhost") && !names.is_host("memory.example"), "{port}");
        }
    }
}
