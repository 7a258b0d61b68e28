//! Where requests of other programs are passed on to: an address, the client that fits it, and the person's own key.

use std::time::Duration;

use reqwest::header::HeaderValue;
use reqwest::{Client, Url};

use crate::http::address;
use crate::settings::{Secret, SettingsError};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// Whose requests are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI's, and servers with the same API.
    OpenAi,
    /// Anthropic's.
    Anthropic,
    /// Ollama's own.
    Ollama,
}

impl Api {
    const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    const fn usual(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Ollama => "http://localhost:11434",
        }
    }

    /// The ends of a base URL that the paths of requests begin with.
    const fn superfluous(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &[],
            Self::Anthropic => &["/v1"],
            Self::Ollama => &["/api", "/v1"],
        }
    }
}

/// A server that requests are passed on to.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Follows no redirect, tries nothing twice, and keeps connections for a while.
    pub client: Client,
    /// Paths are appended to it.
    pub base: Url,
    /// The person's key as it stands in the header of this API; never shown.
    pub key: Option<HeaderValue>,
}

impl Upstream {
    /// The vendor's own server, unless another address is given.
    pub fn new(api: Api, base_url: Option<&str>, key: Option<&Secret>) -> Result<Self, SettingsError> {
        let provider = api.name();
        let given = base_url.filter(|url| !url.trim().is_empty()).unwrap_or(api.usual());
        let base = address::parse(given, api.superfluous()).ok_or(SettingsError::BaseUrl { provider })?;
        let client = address::keeping_client(&base, CONNECT).map_err(|_| SettingsError::BaseUrl { provider })?;
        let key = key.map(|key| header(api, key).ok_or(SettingsError::Key { provider })).transpose()?;
        Ok(Self { client, base, key })
    }
}

fn header(api: Api, key: &Secret) -> Option<HeaderValue> {
    let scheme = if api == Api::Anthropic { "" } else { "Bearer " };
    let mut value = HeaderValue::from_str(&format!("{scheme}{}", key.reveal())).ok()?;
    value.set_sensitive(true);
    Some(value)
}
