//! Where a model is, which one, and how long to wait for it.

use std::fmt;
use std::time::Duration;

/// A key. It prints as `***`, whatever asks for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key, without the white space that files and shells leave around it.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// How long each part of an exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until somebody answers the phone.
    pub connect: Duration,
    /// Until the first byte of the reply: a local model may have to be loaded first.
    pub first_byte: Duration,
    /// Between two parts of the reply.
    pub between: Duration,
    /// For everything: a server that only sends signs of life is left in the end.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            between: Duration::from_secs(60),
            whole: Duration::from_secs(600),
        }
    }
}

/// What a provider over HTTP needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpSettings {
    /// The server; the provider's own if unset.
    pub base_url: Option<String>,
    /// The model, as the server names it.
    pub model: String,
    /// The key; without one, none is sent.
    pub key: Option<Secret>,
    /// How long to wait.
    pub timeouts: Timeouts,
}

/// Settings that no request can be made with. Neither the key nor a password within a URL is ever shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The base URL is none.
    #[error("the base URL of {provider} is not an http or https address")]
    BaseUrl {
        /// Which provider.
        provider: &'static str,
    },
    /// The key cannot be part of a header.
    #[error("the key of {provider} has characters that no key has")]
    Key {
        /// Which provider.
        provider: &'static str,
    },
}

impl SettingsError {
    /// What to try next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BaseUrl { .. } => "set `base_url` under `[model]` to something like \"http://localhost:11434\"",
            Self::Key { .. } => "look at the variable that `api_key_env` names: a key is one line of plain characters",
        }
    }
}
