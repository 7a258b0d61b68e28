//! `/api/pause`, `/api/resume`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use throughline_core::engine::PauseState;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::Body;
use super::{Answer, App};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(state, pause)).routes(routes!(resume))
}

/// Tells whether memory is paused
#[utoipa::path(get, path = "/api/pause", tag = "daemon",
    responses((status = 200, description = "Whether it is", body = PauseState)))]
async fn state(State(app): State<Arc<App>>) -> Answer<PauseState> {
    app.engine(|engine| Ok(engine.off_record().state()?)).await.map(Json)
}

/// How long.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Lasting {
    /// The pause ends by itself after this long, such as `30m` or `1h`; without it, it lasts until `/api/resume`.
    #[serde(rename = "for")]
    lasting: Option<String>,
}

/// Goes off the record: nothing is observed and nothing is given
#[utoipa::path(post, path = "/api/pause", tag = "daemon", request_body = Lasting,
    responses((status = 200, description = "It is paused", body = PauseState)))]
async fn pause(State(app): State<Arc<App>>, Body(wanted): Body<Lasting>) -> Answer<PauseState> {
    app.engine(move |engine| Ok(engine.off_record().pause(wanted.lasting.as_deref())?)).await.map(Json)
}

/// Goes on the record again
#[utoipa::path(post, path = "/api/resume", tag = "daemon",
    responses((status = 200, description = "It is not paused any more", body = PauseState)))]
async fn resume(State(app): State<Arc<App>>) -> Answer<PauseState> {
    let resumed = app.engine(|engine| {
        engine.off_record().resume()?;
        Ok(engine.off_record().state()?)
    });
    resumed.await.map(Json)
}
