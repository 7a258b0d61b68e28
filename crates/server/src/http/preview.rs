//! `/api/context/preview`: what an assistant would be given, for a person to look at.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use throughline_core::context::Preview;
use throughline_core::engine::ContextRequest;
use throughline_core::model::SessionId;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::Body;
use super::{Answer, App};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(preview))
}

/// Whose context to show, and for which message.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Previewed {
    /// A conversation that there is.
    session: Option<SessionId>,
    /// The channel of a conversation that begins now, where none is named: `telegram`, `claude-code` …
    channel: Option<String>,
    /// The project it is about.
    project: Option<String>,
    /// What the person would say.
    message: Option<String>,
}

/// Shows what an assistant would be given, line by line, with what each line costs; records nothing
#[utoipa::path(post, path = "/api/context/preview", tag = "context", request_body = Previewed,
    responses((status = 200, description = "What would be given", body = Preview)))]
async fn preview(State(app): State<Arc<App>>, Body(wanted): Body<Previewed>) -> Answer<Preview> {
    let Previewed { session, channel, project, message } = wanted;
    let message = message.filter(|message| !message.trim().is_empty());
    let shown = app.search(move |engine| {
        let new = || channel.as_deref().map(|channel| engine.sessions().new_name(channel)).transpose();
        let session = session.map_or_else(new, |session| Ok(Some(session)))?;
        let request = ContextRequest { session, project, message, ..ContextRequest::default() };
        Ok(engine.context().preview(&request)?)
    });
    shown.await.map(Json)
}
