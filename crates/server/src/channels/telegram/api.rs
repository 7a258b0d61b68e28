//! The Bot API: a few methods over HTTPS. The token is part of every address, so no address is ever shown.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url, header};
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::channels::ChannelSecret;

/// Where the Bot API is.
const USUAL: &str = "https://api.telegram.org";

/// How long a call may take, beyond what it is asked to wait for messages.
const PATIENCE: Duration = Duration::from_secs(20);

/// More than any answer: a hundred updates.
const MOST_BYTES: usize = 16 << 20;

/// Why a call was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ApiError {
    /// The service cannot be reached.
    #[error("the Bot API cannot be reached: {0}")]
    Unreachable(String),
    /// Something answered that is not the Bot API.
    #[error("what answered is not the Bot API (status {0})")]
    Foreign(u16),
    /// The service says no.
    #[error("the Bot API says {code}: {description}")]
    Refused {
        /// Its code, as in HTTP.
        code: u16,
        /// Its words.
        description: String,
        /// How many seconds it asks to wait.
        retry_after: Option<u64>,
    },
}

impl ApiError {
    /// Whether the service refused with this code.
    pub(super) fn is(&self, wanted: u16) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == wanted)
    }

    /// What the service says, in small letters.
    pub(super) fn says(&self, words: &str) -> bool {
        matches!(self, Self::Refused { description, .. } if description.to_lowercase().contains(words))
    }
}

/// The bot itself.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Me {
    pub(super) id: i64,
    #[serde(default)]
    pub(super) username: String,
}

/// A message that was sent.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Sent {
    pub(super) message_id: i64,
}

/// What every answer is wrapped in.
#[derive(Deserialize)]
struct Envelope {
    ok: bool,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error_code: u16,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
struct Parameters {
    retry_after: Option<u64>,
}

/// The Bot API, for one bot.
pub(super) struct Api {
    client: Client,
    /// With the token at its end.
    base: String,
    token: ChannelSecret,
}

impl Api {
    /// Nothing is sent yet. The error shows neither the address nor the token.
    pub(super) fn new(base_url: Option<&str>, token: ChannelSecret) -> Result<Self, String> {
        let base = base_url.unwrap_or(USUAL).trim_end_matches('/');
        let url = Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or("`channels.telegram.base_url` is not an http or https address")?;
        if token.as_str().is_empty()
            || token.as_str().contains(|each: char| !each.is_ascii_alphanumeric() && !":_-".contains(each))
        {
            return Err("what the variable holds is not a bot's token".to_owned());
        }
        let client = client(&url).map_err(|error| format!("no client: {}", error.without_url()))?;
        Ok(Self { client, base: format!("{base}/bot{}", token.as_str()), token })
    }

    /// Which bot this is.
    pub(super) async fn me(&self) -> Result<Me, ApiError> {
        self.call("getMe", &json!({}), Duration::ZERO).await
    }

    /// Updates from this one on; those before it are confirmed. Waits so long for one. Each is given as it came: one that
    /// cannot be read must not keep back the others.
    pub(super) async fn updates(&self, offset: Option<i64>, wait: Duration) -> Result<Vec<Value>, ApiError> {
        let mut asked = json!({ "timeout": wait.as_secs(), "allowed_updates": ["message"] });
        if let Some(offset) = offset {
            asked["offset"] = json!(offset);
        }
        self.call("getUpdates", &asked, wait).await
    }

    /// Sends a message, as a reply to another where that is named.
    pub(super) async fn send(&self, chat: i64, text: &str, reply_to: Option<i64>) -> Result<Sent, ApiError> {
        let mut message = json!({ "chat_id": chat, "text": text });
        if let Some(id) = reply_to {
            message["reply_parameters"] = json!({ "message_id": id, "allow_sending_without_reply": true });
        }
        self.call("sendMessage", &message, Duration::ZERO).await
    }

    /// Changes a message. One that says this already is left alone.
    pub(super) async fn edit(&self, chat: i64, message: i64, text: &str) -> Result<(), ApiError> {
        let edit = json!({ "chat_id": chat, "message_id": message, "text": text });
        match self.call::<Value>("editMessageText", &edit, Duration::ZERO).await {
            Err(error) if error.is(400) && error.says("message is not modified") => Ok(()),
            other => other.map(drop),
        }
    }

    /// Takes a message back.
    pub(super) async fn delete(&self, chat: i64, message: i64) -> Result<(), ApiError> {
        let which = json!({ "chat_id": chat, "message_id": message });
        self.call::<Value>("deleteMessage", &which, Duration::ZERO).await.map(drop)
    }

    /// Shows that something is being written.
    pub(super) async fn typing(&self, chat: i64) -> Result<(), ApiError> {
        let action = json!({ "chat_id": chat, "action": "typing" });
        self.call::<Value>("sendChatAction", &action, Duration::ZERO).await.map(drop)
    }

    async fn call<T: DeserializeOwned>(&self, method: &str, body: &Value, wait: Duration) -> Result<T, ApiError> {
        let request = self.client.post(format!("{}/{method}", self.base)).timeout(wait + PATIENCE);
        let request = request.header(header::CONTENT_TYPE, "application/json").body(body.to_string());
        let response = request.send().await.map_err(|error| self.unreachable(error))?;
        let status = response.status().as_u16();
        let bytes = self.read(response).await?;
        let envelope: Envelope = serde_json::from_slice(&bytes).map_err(|_| ApiError::Foreign(status))?;
        if !envelope.ok {
            let code = if envelope.error_code == 0 { status } else { envelope.error_code };
            let (description, retry_after) = (self.redacted(&envelope.description), envelope.parameters.retry_after);
            return Err(ApiError::Refused { code, description, retry_after });
        }
        serde_json::from_value(envelope.result).map_err(|_| ApiError::Foreign(status))
    }

    async fn read(&self, mut response: reqwest::Response) -> Result<Vec<u8>, ApiError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MOST_BYTES {
                return Err(ApiError::Foreign(response.status().as_u16()));
            }
        }
        Ok(bytes)
    }

    fn unreachable(&self, error: reqwest::Error) -> ApiError {
        ApiError::Unreachable(self.redacted(&throughline_core::engine::chain(&error.without_url())))
    }

    /// Without the token, wherever it may have come from.
    fn redacted(&self, text: &str) -> String {
        text.replace(self.token.as_str(), "***")
    }
}

/// A client that follows no redirect: the next address would get the token.
fn client(base: &Url) -> Result<Client, reqwest::Error> {
    // Another part of the program may have chosen already, and chose the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("throughline/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(PATIENCE);
    if base.scheme() == "https" {
        return builder.build();
    }
    // Without TLS no certificates are read, and a server on this machine is reached without a proxy.
    let nobody = ClientConfig::builder().with_root_certificates(Arc::new(RootCertStore::empty())).with_no_client_auth();
    builder.no_proxy().tls_backend_preconfigured(nobody).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_token_or_an_address_is_refused_without_being_shown() {
        let new = |base: Option<&str>, token: &str| Api::new(base, ChannelSecret::new(token)).map(|api| api.base);
        assert_eq!(new(Some("http://localhost:1/"), "12:a-B_c").unwrap(), "http://localhost:1/bot12:a-B_c");
        for (base, token) in
            [(None, "12:a/../b"), (None, ""), (None, "12:a b"), (Some("localhost"), "1:a"), (Some("file:///x"), "1:a")]
        {
            let error = new(base, token).unwrap_err();
            assert!(!error.contains("a/../b") && !error.contains("12:"), "{error}");
        }
    }
}
