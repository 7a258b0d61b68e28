//! `/mcp`: streamable HTTP, behind the daemon's gate.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use throughline_core::engine::{Engine, Settings};
use throughline_core::model::{Actor, Source};
use throughline_core::ports::SamplingClient;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Keeper;
use super::server::{CALLS_AT_ONCE, Server, Way};
use crate::{Code, Host, Problem};

/// A client that is silent for longer begins anew. People leave an editor open over lunch and overnight.
const SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Clients that are connected at once. A person has a few; one that never says goodbye must not fill the memory.
const MOST_CLIENTS: usize = 64;

/// Streams on which clients listen at once: one each.
const MOST_STREAMS: usize = MOST_CLIENTS;

/// The header by which a client says which connection it means.
const SESSION: &str = "mcp-session-id";

/// Longest request, in bytes.
pub(super) const LONGEST_REQUEST: usize = 4 << 20;

/// The daemon's memory, in the hands of assistants.
struct Shared {
    host: Arc<dyn Host>,
}

impl Keeper for Shared {
    fn settings(&self) -> Result<Settings, Problem> {
        Ok(self.host.engine().settings().clone())
    }

    fn engine(&self) -> Result<Engine, Problem> {
        Ok(self.host.engine().acting(Actor::new(Source::Agent, "mcp")))
    }

    fn word(&self) -> Result<String, Problem> {
        let secret = self.host.secret()?;
        Ok(data_encoding::HEXLOWER.encode(&secret[..6]))
    }

    /// Where the daemon was started says nothing about its clients.
    fn directory(&self) -> Option<PathBuf> {
        None
    }

    fn offer_sampling(&self, client: Arc<dyn SamplingClient>) {
        self.host.offer_sampling(client);
    }
}

/// The clients that are connected, in the order in which they were last heard.
struct Clients {
    sessions: Arc<LocalSessionManager>,
    heard: Mutex<Vec<SessionId>>,
}

impl Clients {
    /// Notes that a client was heard; where there are too many, the one that was silent for longest begins anew.
    async fn heard(&self, id: SessionId) {
        let connected = self.sessions.sessions.read().await;
        let surplus = {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.retain(|known| *known != id && connected.contains_key(known));
            heard.extend(connected.contains_key(&id).then_some(id));
            (heard.len() > MOST_CLIENTS).then(|| heard.remove(0))
        };
        drop(connected);
        let Some(surplus) = surplus else { return };
        if let Err(error) = self.sessions.close_session(&surplus).await {
            tracing::warn!(%error, "a client of which there are too many stays connected");
        }
    }
}

/// Notes who asks, or who has just been let in.
async fn noted(State(clients): State<Arc<Clients>>, request: Request, next: Next) -> Response {
    let asking = named(request.headers());
    let response = next.run(request).await;
    if let Some(id) = named(response.headers()).or(asking) {
        clients.heard(id).await;
    }
    response
}

/// Lets as many listen at once as there may be clients.
async fn seated(State(streams): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    if request.method() != Method::GET {
        return next.run(request).await;
    }
    let Ok(seat) = streams.try_acquire_owned() else {
        let hint = "close a client that is open elsewhere";
        return Problem::new(Code::Busy, "too many clients listen already", hint).into_response();
    };
    next.run(request).await.map(|body| {
        Body::from_stream(body.into_data_stream().inspect(move |_| {
            let _seat = &seat;
        }))
    })
}

fn named(headers: &HeaderMap) -> Option<SessionId> {
    headers.get(SESSION).and_then(|id| id.to_str().ok()).map(SessionId::from)
}

/// `/mcp`; its streams end when `closing` does. `Host` and `Origin` are the gate's affair, which knows the port.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>(host: Arc<dyn Host>, closing: CancellationToken) -> Router<S> {
    let keeper: Arc<dyn Keeper> = Arc::new(Shared { host });
    let mut sessions = LocalSessionManager::default();
    let mut kept = SessionConfig::default();
    kept.keep_alive = Some(SILENCE);
    sessions.session_config = kept;
    let sessions = Arc::new(sessions);
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(LONGEST_REQUEST)
        .with_cancellation_token(closing);
    let places = Arc::new(Semaphore::new(CALLS_AT_ONCE));
    let server = move || Ok(Server::new(Arc::clone(&keeper), Way::Http, Arc::clone(&places)));
    let clients = Clients { sessions: Arc::clone(&sessions), heard: Mutex::default() };
    Router::new()
        .route_service("/mcp", StreamableHttpService::new(server, sessions, config))
        .layer(from_fn_with_state(Arc::new(clients), noted))
        .layer(from_fn_with_state(Arc::new(Semaphore::new(MOST_STREAMS)), seated))
}
