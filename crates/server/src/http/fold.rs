//! `/api/fold`: of memories and lines that say the same, one stands.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use throughline_core::engine::Fold;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::Body;
use super::{Answer, App};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(fold))
}

/// How to fold.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Folding {
    /// Lists the copies, and changes nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Makes one of memories and lines that say the same, as one change
#[utoipa::path(post, path = "/api/fold", tag = "memories", request_body = Folding,
    responses((status = 200, description = "The copies, each with the one that stands", body = Fold)))]
async fn fold(State(app): State<Arc<App>>, Body(folding): Body<Folding>) -> Answer<Fold> {
    app.engine(move |engine| Ok(engine.memories().fold(folding.dry_run)?)).await.map(Json)
}
