//! `/mcp`: streamable HTTP, behind the daemon's gate.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use throughline_core::engine::{Engine, Settings};
use throughline_core::model::{Actor, Source};
use tokio_util::sync::CancellationToken;

use super::Keeper;
use super::server::{Server, Way};
use crate::{Host, Problem};

/// A client that is silent for longer begins anew. People leave an editor open over lunch and overnight.
const SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

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
}

/// The service; its streams end when `closing` does. `Host` and `Origin` are the gate's affair, which knows the port.
pub(crate) fn service(
    host: Arc<dyn Host>,
    closing: CancellationToken,
) -> StreamableHttpService<impl rmcp::ServerHandler + Clone, LocalSessionManager> {
    let keeper: Arc<dyn Keeper> = Arc::new(Shared { host });
    let mut sessions = LocalSessionManager::default();
    let mut kept = SessionConfig::default();
    kept.keep_alive = Some(SILENCE);
    sessions.session_config = kept;
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(LONGEST_REQUEST)
        .with_cancellation_token(closing);
    let server = move || Ok(Server::new(Arc::clone(&keeper), Way::Http));
    StreamableHttpService::new(server, Arc::new(sessions), config)
}
