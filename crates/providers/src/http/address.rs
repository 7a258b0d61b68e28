//! Where a server is, and the client that fits it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use rustls::{ClientConfig, RootCertStore};

/// Reads a base URL as people write it: with or without a scheme, a slash at the end, or the API's own prefix.
pub(crate) fn parse(text: &str, superfluous: &[&str]) -> Option<Url> {
    let text = text.trim();
    let mut url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}")) }.ok()?;
    if !text.contains("://") && !is_loopback(&url) {
        url.set_scheme("https").ok()?;
    }
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    let path = url.path().trim_end_matches('/');
    let path = superfluous.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path).to_owned();
    url.set_path(&path);
    url.set_fragment(None);
    Some(url)
}

/// The address of a path of the API. A query of the base URL, as some gateways want one, stays.
pub(crate) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    url
}

/// The address as it may be shown: no user, no password, no query.
pub(crate) fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

/// On this machine: nothing to do with a proxy.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// A client that follows no redirect and keeps no connection.
pub(crate) fn client(base: &Url, connect_timeout: Duration) -> Result<Client, reqwest::Error> {
    built(base, Client::builder().pool_max_idle_per_host(0).connect_timeout(connect_timeout))
}

/// A client that follows no redirect; connections are kept for the next request.
pub(crate) fn keeping_client(base: &Url, connect_timeout: Duration) -> Result<Client, reqwest::Error> {
    built(base, Client::builder().tcp_nodelay(true).connect_timeout(connect_timeout))
}

fn built(base: &Url, builder: ClientBuilder) -> Result<Client, reqwest::Error> {
    let builder = builder
        .user_agent(concat!("throughline/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .referer(false)
        .retry(reqwest::retry::never());
    let builder = if is_loopback(base) { builder.no_proxy() } else { builder };
    // Fails only where somebody has installed a provider before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match base.scheme() {
        // Without TLS no certificates are read: it saves time, and a machine may have none.
        "http" => builder.tls_backend_preconfigured(trusting_nobody()).build(),
        _ => builder.build(),
    }
}

fn trusting_nobody() -> ClientConfig {
    ClientConfig::builder().with_root_certificates(Arc::new(RootCertStore::empty())).with_no_client_auth()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_read_as_people_write_them() {
        for (text, expected) in [
            ("http://localhost:11434", Some("http://localhost:11434/api/chat")),
            ("http://localhost:11434/", Some("http://localhost:11434/api/chat")),
            (" localhost:11434/v1/ ", Some("http://localhost:11434/api/chat")),
            ("0.0.0.0:11434", Some("http://0.0.0.0:11434/api/chat")),
            ("models.example.org/ollama", Some("https://models.example.org/ollama/api/chat")),
            ("https://models.example.org/api?v=2", Some("https://models.example.org/api/chat?v=2")),
            ("ftp://example.org", None),
            ("file:///etc/passwd", None),
            ("http://", None),
            ("", None),
        ] {
            let url = parse(text, &["/api", "/v1"]).map(|url| below(&url, "/api/chat").to_string());
            assert_eq!(url.as_deref(), expected, "of {text:?}");
        }
    }

    #[test]
    fn what_is_shown_of_an_address_is_no_secret() {
        let url = Url::parse("https://me:hunter2@example.org:8443/v1?key=abc").unwrap();
        assert_eq!(shown(&url), "https://example.org:8443");
    }

    #[test]
    fn this_machine_is_recognised() {
        for (url, expected) in [
            ("http://localhost:1", true),
            ("http://api.localhost", true),
            ("http://127.0.0.2", true),
            ("http://[::1]:1", true),
            ("http://0.0.0.0", true),
            ("http://192.168.1.5", false),
            ("http://localhost.example.org", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
