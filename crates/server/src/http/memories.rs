//! `/api/memories`

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Json, Router};
use throughline_core::model::Memory;

use super::App;
use crate::problem::Problem;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/api/memories/{id}", get(show))
}

async fn show(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Json<Memory>, Problem> {
    app.engine(move |engine| Ok(engine.show(&id)?)).await.map(Json)
}
