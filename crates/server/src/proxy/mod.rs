//! Memory for programs that only know a model's address: the daemon answers where OpenAI, Anthropic or Ollama would, adds what
//! memory knows to the request, passes it on, and records what was said.
//!
//! Goes in: a request of any client, with our token. Comes out: the server's reply, byte for byte, as it comes. Never happens: that
//! a request waits for a memory that is slow, fails because of one that is broken, or is changed in any byte that is not memory's;
//! that our token, a cookie or an `Origin` reaches the server; that a key is logged.

mod composing;
mod conversations;
mod edits;
mod exchange;
mod headers;
mod memory;
mod passing;
mod recording;
mod upstream;
mod wires;
mod wish;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::Uri;
use axum::response::Response;
use axum::routing::{any, get, post};
use throughline_providers::{Api, Upstream};
use tokio_util::task::TaskTracker;

use crate::Problem;
use crate::access::PathToken;
use crate::http::App;
use composing::Composing;
use conversations::Conversations;
use exchange::{Purpose, exchange, pass_on};
pub(crate) use headers::API_KEY;
use upstream::Clients;
pub(crate) use upstream::PassedOn;
use wires::Wire;

/// What a request may have, in bytes: histories with images are long.
const MOST_BYTES: usize = 64 << 20;

/// What the proxies ask of the program that runs the daemon.
pub trait Upstreams {
    /// Where requests of an API go on to, with the person's own key.
    fn upstream(&self, api: Api) -> Result<Upstream, Problem>;

    /// How the proxies are set up.
    fn proxy_settings(&self) -> ProxySettings;
}

/// How the proxies are set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxySettings {
    /// A request goes on without memories after this long.
    pub deadline: Duration,
    /// Whether histories that outgrow the model's window are shortened.
    pub compacts: bool,
}

/// What the proxies know while the daemon runs.
#[derive(Default)]
pub(crate) struct Proxy {
    conversations: Arc<Conversations>,
    clients: Clients,
    recordings: TaskTracker,
    /// Held by the recording that is under way.
    writing: Arc<tokio::sync::Mutex<()>>,
    composing: Composing,
}

impl Proxy {
    /// Waits for what is being recorded; called when no more requests are taken.
    pub(crate) async fn recorded(&self) {
        self.recordings.close();
        self.recordings.wait().await;
    }
}

/// Whether a path is a proxy's.
pub(crate) fn is_route(path: &str) -> bool {
    path.starts_with("/v1/") || is_ollama(path)
}

/// Whether a path is that of Ollama's own API. Its clients also ask for what is at the root.
fn is_ollama(path: &str) -> bool {
    path == "/ollama" || path.starts_with("/ollama/")
}

/// The routes of the proxies. The `ollama` command looks whether a server is there (`HEAD /`), then asks what its version
/// needs to know: all of that passes.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/chat/completions", post(chat_completions))
        .route("/v1/responses", post(responses))
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/embeddings", post(plain))
        .route("/v1/models", get(plain))
        .route("/v1/models/{*model}", get(plain))
        .route("/v1/responses/{*rest}", get(plain).post(plain).delete(plain))
        .route("/ollama/api/chat", post(ollama_chat))
        .route("/ollama/api/{*rest}", any(plain))
        .route("/ollama", get(plain))
        .route("/ollama/", get(plain))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
}

async fn chat_completions(State(app): State<Arc<App>>, request: Request) -> Response {
    exchange(&app, Wire::Chat, Purpose::Reply, request).await
}

async fn responses(State(app): State<Arc<App>>, request: Request) -> Response {
    exchange(&app, Wire::Responses, Purpose::Reply, request).await
}

async fn messages(State(app): State<Arc<App>>, request: Request) -> Response {
    exchange(&app, Wire::Messages, Purpose::Reply, request).await
}

async fn count_tokens(State(app): State<Arc<App>>, request: Request) -> Response {
    exchange(&app, Wire::Messages, Purpose::Count, request).await
}

async fn ollama_chat(State(app): State<Arc<App>>, request: Request) -> Response {
    exchange(&app, Wire::Ollama, Purpose::Reply, request).await
}

/// Nothing that memory could add to.
async fn plain(State(app): State<Arc<App>>, request: Request) -> Response {
    pass_on(&app, request).await
}

/// `/t/TOKEN/v1/…` is `/v1/…`, asked with that token.
pub(crate) fn without_path_token<B>(mut request: axum::http::Request<B>) -> axum::http::Request<B> {
    let Some((token, path)) = path_token(request.uri()) else { return request };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = path.parse().ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
        request.extensions_mut().insert(PathToken(token));
    }
    request
}

/// The token in a path, and the rest with its query.
fn path_token(uri: &Uri) -> Option<(String, String)> {
    let (token, rest) = uri.path().strip_prefix("/t/")?.split_once('/')?;
    let path = format!("/{rest}");
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    is_route(&path).then(|| (token.to_owned(), format!("{path}{query}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_the_path_is_taken_out_of_it() {
        let check = |uri: &str, expected: Option<(&str, &str)>| {
            let found = path_token(&uri.parse().unwrap());
            let expected = expected.map(|(token, path)| (token.to_owned(), path.to_owned()));
            assert_eq!(found, expected, "{uri}");
        };
        check("/t/abc/v1/messages?beta=true", Some(("abc", "/v1/messages?beta=true")));
        check("http://127.0.0.1:1/t/abc/ollama/api/chat", Some(("abc", "/ollama/api/chat")));
        check("/t/abc/ollama", Some(("abc", "/ollama")));
        check("/t/abc/ollamas", None);
        check("/t/abc/api/memories", None);
        check("/t/abc", None);
        check("/v1/messages", None);
    }
}
