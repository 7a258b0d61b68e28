//! `/api/threads`: what conversations left to go on from.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use throughline_core::engine::{ClosedThread, ThreadListing};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::Named;
use super::{Answer, App};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list_threads)).routes(routes!(close_thread))
}

/// Lists the open threads of working memory, the latest first
#[utoipa::path(get, path = "/api/threads", tag = "documents",
    responses((status = 200, description = "Those that have not expired", body = ThreadListing)))]
async fn list_threads(State(app): State<Arc<App>>) -> Answer<ThreadListing> {
    app.engine(move |engine| Ok(engine.threads().listing()?)).await.map(Json)
}

/// Closes a thread: it is no longer given, and its section leaves working memory
#[utoipa::path(delete, path = "/api/threads/{id}", tag = "documents",
    params(("id" = String, Path, description = "Its id, the first six characters of it, its conversation, or its title")),
    responses((status = 200, description = "It is closed", body = ClosedThread)))]
async fn close_thread(State(app): State<Arc<App>>, Named(id): Named<String>) -> Answer<ClosedThread> {
    app.engine(move |engine| Ok(engine.threads().close(&id)?)).await.map(Json)
}
