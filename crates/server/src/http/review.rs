//! `/api/review`: what was learnt without being asked, until somebody has seen it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use throughline_core::engine::{ReviewListing, Reviewed, Verdict};
use throughline_core::model::Memory;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Named, Params};
use super::{Answer, App, MOST, USUAL, limit};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(decide, reopen))
}

/// Which of it.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// How many at most.
    #[param(minimum = 0, maximum = 1000)]
    limit: Option<usize>,
    /// Where the previous page ended.
    cursor: Option<String>,
}

/// Lists what was learnt and not seen yet, with its evidence and what it replaced
#[utoipa::path(get, path = "/api/review", tag = "review", params(Wanted),
    responses((status = 200, description = "The newest first", body = ReviewListing)))]
async fn list(State(app): State<Arc<App>>, Params(wanted): Params<Wanted>) -> Answer<ReviewListing> {
    let limit = limit(wanted.limit, USUAL, MOST)?;
    app.engine(move |engine| Ok(engine.review().list(limit, wanted.cursor.as_deref())?)).await.map(Json)
}

/// What becomes of it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Decision {
    /// `keep`, `edit`, `drop` (what it replaced stands again) or `rule`.
    verdict: Verdict,
    /// What it says from now on, for `edit`.
    content: Option<String>,
}

/// Says what becomes of something that was learnt
#[utoipa::path(post, path = "/api/review/{id}", tag = "review", request_body = Decision,
    params(("id" = String, Path, description = "An id, the first six characters of one, or a key")),
    responses((status = 200, description = "What came of it", body = Reviewed)))]
async fn decide(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    Body(Decision { verdict, content }): Body<Decision>,
) -> Answer<Reviewed> {
    app.engine(move |engine| Ok(engine.review().decide(&id, verdict, content.as_deref())?)).await.map(Json)
}

/// Takes back that something was seen: it is new again; an undo reverts what the verdict changed
#[utoipa::path(delete, path = "/api/review/{id}", tag = "review",
    params(("id" = String, Path, description = "An id, the first six characters of one, or a key")),
    responses((status = 200, description = "It is new again", body = Memory)))]
async fn reopen(State(app): State<Arc<App>>, Named(id): Named<String>) -> Answer<Memory> {
    app.engine(move |engine| Ok(engine.review().reopen(&id)?)).await.map(Json)
}
