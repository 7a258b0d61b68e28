//! `/api/connections`: the assistants of this machine, and whether they have this memory. Clients are named, never files.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use throughline_core::engine::Engine;
use throughline_core::model::SessionId;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Named, Params};
use super::{Answer, App};
use crate::host::{ClientState, Connect, ConnectionChange};
use crate::problem::Problem;

/// The channel of conversations that are known by their tools alone.
const MCP: &str = "mcp";

/// So many of those are looked through for a client's latest.
const LATEST: usize = 200;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(connect, disconnect))
}

/// Every client that is known.
#[derive(Serialize, ToSchema)]
struct Connections {
    /// In the order in which they are listed everywhere.
    clients: Vec<Connection>,
}

/// A client, and what it and the memory have had to do with each other.
#[derive(Serialize, ToSchema)]
struct Connection {
    /// What of ours is in its settings, its fields at the same level.
    #[serde(flatten)]
    state: ClientState,
    /// When something was last said in it.
    last_heard_at: Option<Timestamp>,
    /// The conversation in which that was.
    session: Option<SessionId>,
    /// How many memories it was given, of the latest 2000 recalls.
    given: usize,
}

/// Lists the assistants of this machine: which are connected, when each was last heard of, what it was given
#[utoipa::path(get, path = "/api/connections", tag = "connections",
    responses((status = 200, description = "All that are known", body = Connections)))]
async fn list(State(app): State<Arc<App>>) -> Answer<Connections> {
    let looked = app.host(|host| {
        let states = host.clients()?;
        let names: Vec<&'static str> = states.iter().map(|state| state.client).collect();
        let heard = heard(host.engine(), &names)?;
        let mut given = host.engine().recall().given_by(&|session| client_of(&names, session))?;
        let clients = states.into_iter().map(|state| {
            let latest = heard.get(state.client).cloned();
            let (last_heard_at, session) = latest.unzip();
            Connection { last_heard_at, session, given: given.remove(state.client).unwrap_or_default(), state }
        });
        Ok(Connections { clients: clients.collect() })
    });
    looked.await.map(Json)
}

/// The client that a conversation took place in, by its channel or by the name that it has over MCP.
fn client_of(names: &[&'static str], session: &SessionId) -> Option<&'static str> {
    let own = session.as_str().split_once(':').map_or("", |(_, own)| own);
    let is_named = |name: &&&'static str| match session.channel() {
        MCP => own.strip_prefix(**name).is_some_and(|rest| rest.starts_with('-')),
        channel => channel == **name,
    };
    names.iter().find(is_named).copied()
}

/// When each client was last heard of, and where.
fn heard(engine: &Engine, names: &[&'static str]) -> Result<BTreeMap<&'static str, (Timestamp, SessionId)>, Problem> {
    let mut latest: BTreeMap<&'static str, (Timestamp, SessionId)> = BTreeMap::new();
    let channels = names.iter().map(|name| (*name, 1)).chain([(MCP, LATEST)]);
    for (channel, limit) in channels {
        for listed in engine.sessions().page(Some(channel), limit, None)?.sessions {
            let session = listed.state.session;
            let Some(name) = client_of(names, &session.id) else { continue };
            if latest.get(name).is_none_or(|(at, _)| *at < session.updated_at) {
                latest.insert(name, (session.updated_at, session.id));
            }
        }
    }
    Ok(latest)
}

/// Whether to do it.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct How {
    /// Show what would change, and change nothing.
    dry_run: Option<bool>,
}

/// Connects a client: enters our tools, hooks and guidance into its own settings
#[utoipa::path(post, path = "/api/connections/{client}", tag = "connections",
    params(("client" = String, Path, description = "Such as `claude-code`"), How),
    responses((status = 200, description = "What became of its files", body = ConnectionChange)))]
async fn connect(
    State(app): State<Arc<App>>,
    Named(client): Named<String>,
    Params(how): Params<How>,
) -> Answer<ConnectionChange> {
    let dry_run = how.dry_run.unwrap_or_default();
    app.host(move |host| host.connect(&client, Connect::On, dry_run)).await.map(Json)
}

/// Disconnects a client: takes what is ours out of its settings
#[utoipa::path(delete, path = "/api/connections/{client}", tag = "connections",
    params(("client" = String, Path, description = "Such as `claude-code`"), How),
    responses((status = 200, description = "What became of its files", body = ConnectionChange)))]
async fn disconnect(
    State(app): State<Arc<App>>,
    Named(client): Named<String>,
    Params(how): Params<How>,
) -> Answer<ConnectionChange> {
    let dry_run = how.dry_run.unwrap_or_default();
    app.host(move |host| host.connect(&client, Connect::Off, dry_run)).await.map(Json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_channel_and_by_its_name_over_mcp() {
        let names = ["claude-code", "codex"];
        let of = |session: &str| client_of(&names, &session.parse().unwrap());
        assert_eq!(of("claude-code:1"), Some("claude-code"));
        assert_eq!(of("mcp:codex-mcp-client-k3j5"), Some("codex"));
        assert_eq!(of("mcp:codexes"), None);
        assert_eq!(of("telegram:claude-code"), None);
    }
}
