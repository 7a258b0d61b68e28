//! `/api/forget`: forgetting by topic.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use throughline_core::engine::About;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::Body;
use super::{Answer, App};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(forget_about))
}

/// What to forget.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Topic {
    /// Everything that has all words of this.
    about: String,
    /// Shows what would be forgotten, and changes nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Forgets the memories and lines about a topic as one change, or shows which those are; turns stay
#[utoipa::path(post, path = "/api/forget", tag = "memories", request_body = Topic,
    responses((status = 200, description = "What is about the topic", body = About)))]
async fn forget_about(State(app): State<Arc<App>>, Body(topic): Body<Topic>) -> Answer<About> {
    let forgotten = app.engine(move |engine| {
        let memories = engine.memories();
        Ok(if topic.dry_run { memories.about(&topic.about)? } else { memories.forget_about(&topic.about)? })
    });
    forgotten.await.map(Json)
}
