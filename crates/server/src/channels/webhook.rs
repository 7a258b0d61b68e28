//! `/api/channels`: how each channel is, and a channel for programs, which is one request per message.
//!
//! Who may send: a program that knows the token, as everywhere; or, where a secret is set up, one that signs the message with it. A signature
//! is over the body, so the gate reads that before it is known who sends it: few at once, and none for long.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use throughline_core::model::SessionId;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Author, ChannelSecret, ChannelState, Incoming};
use crate::http::chat::ChatEvent;
use crate::http::take::{Named, read};
use crate::http::{App, in_path};
use crate::problem::{Code, Problem};

/// `sha256=` and the HMAC-SHA256, in hexadecimal, of the channel's name, a full stop and the body.
const SIGNATURE: &str = "x-throughline-signature";

/// Where messages arrive.
const PREFIX: &str = "/api/channels/webhook/";

/// What a body may have, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// Signed bodies that are read at once: nobody knows yet who sends them.
pub(crate) const UNVERIFIED_AT_ONCE: usize = 16;

/// How long one of them may take, in all.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(receive))
}

/// Whether a request shows a signature instead of the token, which [`verified`] looks at.
pub(crate) fn is_signed(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    let shows = |name| headers.contains_key(name);
    *method == Method::POST
        && path.strip_prefix(PREFIX).is_some_and(|name| !name.is_empty() && !name.contains('/'))
        && headers.contains_key(SIGNATURE)
        && !shows(header::AUTHORIZATION)
        && !shows(header::COOKIE)
}

/// A signed request with its body, if the signature holds. It takes no place of those who are known.
pub(crate) async fn verified(app: &App, request: Request) -> Result<Request, Problem> {
    let settings = &app.channel_settings.webhook;
    let segment = request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
    let name = settings.names.iter().find(|name| in_path(name) == segment).map_or(segment, String::as_str).to_owned();
    let secret = settings.secret.as_ref().ok_or_else(unsigned)?;
    let signature = request.headers().get(SIGNATURE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let signature = digest(signature).ok_or_else(unsigned)?;
    let _place = app
        .unverified
        .try_acquire()
        .map_err(|_| Problem::new(Code::Busy, "too many signed messages are being read", "try again in a moment"))?;
    let (parts, body) = request.into_parts();
    let body = match tokio::time::timeout(PATIENCE, to_bytes(body, MOST_BYTES)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return Err(Problem::new(Code::TooLarge, "the body is too large, or ended early", BODY_HINT)),
        Err(_) => return Err(Problem::new(Code::TooLarge, "the body takes too long", BODY_HINT)),
    };
    check(secret, &name, &body, &signature)?;
    Ok(Request::from_parts(parts, Body::from(body)))
}

/// How every channel is.
#[derive(Serialize, ToSchema)]
struct ChannelListing {
    /// By name.
    channels: std::collections::BTreeMap<String, ChannelState>,
}

/// Tells how each channel is
#[utoipa::path(get, path = "/api/channels", tag = "channels",
    responses((status = 200, description = "By name", body = ChannelListing)))]
async fn list(State(app): State<Arc<App>>) -> Json<ChannelListing> {
    Json(ChannelListing { channels: app.channels.states() })
}

/// A message from a program.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct HookMessage {
    /// The program's own name for the conversation.
    conversation: String,
    /// The words, or a command such as `/help`.
    message: String,
    /// Who said it, where several people talk.
    #[serde(default)]
    speaker: Option<String>,
    /// The program's own name for the message: sent twice, it is stored and answered once. A signed message needs one.
    #[serde(default)]
    id: Option<String>,
}

/// What the model, or a command, answers.
#[derive(Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
struct HookReply {
    /// The conversation in this memory.
    session: Option<SessionId>,
    /// The words.
    reply: String,
    /// The tools that the model called, each with what came of it.
    tools: Vec<String>,
}

/// Answers a message of another program
#[utoipa::path(post, path = "/api/channels/webhook/{name}", tag = "channels", request_body = HookMessage,
    params(("name" = String, Path, description = "One of `channels.webhook.names`")),
    responses((status = 200, description = "The whole reply", body = HookReply)))]
async fn receive(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    request: Request,
) -> Result<Json<HookReply>, Problem> {
    let is_signed = is_signed(request.method(), request.uri().path(), request.headers());
    let body = body(request, &app).await?;
    if !app.channel_settings.webhook.names.contains(&name) {
        let hint = "add it to `names` under [channels.webhook] and start the daemon again";
        return Err(Problem::new(Code::NotFound, "there is no such channel", hint));
    }
    let said: HookMessage = read(&body)?;
    // Whoever records a signed message can send it again: with an id, nothing comes of that.
    if said.message.trim().is_empty() || said.conversation.trim().is_empty() || is_signed && said.id.is_none() {
        let hint = "send {\"conversation\", \"message\", \"speaker\"?, \"id\"?}; a signed message needs the id";
        return Err(Problem::new(Code::Invalid, "something is missing", hint));
    }
    let HookMessage { conversation, message: text, speaker, id } = said;
    let said = Incoming { channel: name, conversation, id, text, by: Author::Unknown, speaker, person: None };
    answer(app, said).await.map(Json)
}

async fn body(request: Request, app: &Arc<App>) -> Result<Bytes, Problem> {
    use axum::extract::FromRequest as _;
    Bytes::from_request(request, app).await.map_err(|error| Problem::new(Code::TooLarge, error.body_text(), BODY_HINT))
}

const BODY_HINT: &str = "a body may have 1 MiB";

/// The sender is not known.
fn unsigned() -> Problem {
    let hint = "send the token, or `X-Throughline-Signature: sha256=…` over the name, a full stop and the body";
    Problem::new(Code::Unauthorized, "who asks is not known", hint)
}

/// The digest that a signature shows.
fn digest(signature: &str) -> Option<Vec<u8>> {
    data_encoding::HEXLOWER_PERMISSIVE.decode(signature.strip_prefix("sha256=")?.as_bytes()).ok()
}

/// An error unless the signature was made with the secret, for this channel and these bytes.
fn check(secret: &ChannelSecret, name: &str, body: &[u8], signature: &[u8]) -> Result<(), Problem> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_str().as_bytes()).map_err(|_| unsigned())?;
    mac.update(name.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.verify_slice(signature).map_err(|_| unsigned())
}

/// Waits for the whole reply; whoever goes away stops it.
async fn answer(app: Arc<App>, said: Incoming) -> Result<HookReply, Problem> {
    let place = Arc::clone(&app.chats).try_acquire_owned().map_err(|_| {
        Problem::new(Code::Busy, "too many replies are under way", "try again when one of them has ended")
    })?;
    let gone = CancellationToken::new();
    let mut events = super::hear(&app, place, said, gone.clone());
    let _leaving = gone.drop_guard();
    let mut reply = HookReply::default();
    while let Some(event) = events.recv().await {
        match event {
            ChatEvent::Session(session) => reply.session = Some(session),
            ChatEvent::Tool { name, summary } => reply.tools.push(format!("{name}: {summary}")),
            ChatEvent::Done(text) => return Ok(HookReply { reply: text, ..reply }),
            ChatEvent::Failed(problem) => return Err(problem),
            ChatEvent::Injected(_) | ChatEvent::Delta(_) | ChatEvent::Still => {}
        }
    }
    Err(Problem::broken())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_holds_for_one_channel_and_one_body() {
        let secret = ChannelSecret::new("hush");
        // printf 'shop.{}' | openssl dgst -sha256 -hmac hush
        let mut mac = Hmac::<Sha256>::new_from_slice(b"hush").unwrap();
        mac.update(b"shop.{}");
        let good = format!("sha256={}", data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes()));
        let is_good = |name: &str, body: &[u8], signature: &str| {
            digest(signature).is_some_and(|digest| check(&secret, name, body, &digest).is_ok())
        };
        assert!(is_good("shop", b"{}", &good));
        assert!(is_good("shop", b"{}", &good.to_uppercase().replace("SHA256", "sha256")));
        assert!(!is_good("other", b"{}", &good));
        assert!(!is_good("shop", b"{ }", &good));
        for bad in ["", "sha256=", "sha256=00", "sha256=zz", good.trim_start_matches("sha256=")] {
            assert!(!is_good("shop", b"{}", bad), "{bad}");
        }
    }
}
