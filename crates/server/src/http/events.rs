//! `/api/events`

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::{Event, Sse};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(listen))
}

/// What changed, as it changes: server-sent events
#[utoipa::path(
    get,
    path = "/api/events",
    tag = "events",
    responses(
        (status = 200, content_type = "text/event-stream", description = "`change` events; `data` is JSON: {kinds, change?, at}", body = std::collections::BTreeMap<String, String>)
    )
)]
async fn listen(
    State(app): State<Arc<App>>,
) -> Result<Sse<impl futures_util::Stream<Item = Result<Event, Infallible>>>, Problem> {
    app.events.listen().await
}
