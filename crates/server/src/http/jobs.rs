//! `/api/jobs`, `/api/backup`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use throughline_core::ports::{Job, Run};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::Named;
use super::{Answer, App};
use crate::problem::{Code, Problem};
use crate::scheduler::JobState;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(run)).routes(routes!(backup))
}

/// Every job.
#[derive(Serialize, ToSchema)]
struct Jobs {
    jobs: Vec<JobState>,
}

/// Where a copy is.
#[derive(Serialize, ToSchema)]
struct Backup {
    path: String,
}

/// What happens by itself: when it ran, how that ended, when it runs next
#[utoipa::path(
    get,
    path = "/api/jobs",
    tag = "jobs",
    responses((status = 200, description = "Every job", body = Jobs))
)]
async fn list(State(app): State<Arc<App>>) -> Json<Jobs> {
    Json(Jobs { jobs: app.scheduler.jobs() })
}

/// Runs a job now; answers when it is done
#[utoipa::path(
    post,
    path = "/api/jobs/{name}/run",
    tag = "jobs",
    params(("name" = String, Path, description = "consolidation, retention, reflection, backup or embedding")),
    responses(
        (status = 200, description = "The run, as it is in the log", body = Run)
    )
)]
async fn run(State(app): State<Arc<App>>, Named(name): Named<String>) -> Answer<Run> {
    let unknown = |error: throughline_core::model::UnknownSpelling| {
        Problem::new(Code::NotFound, error.to_string(), "`GET /api/jobs` lists them")
    };
    let job: Job = name.parse().map_err(unknown)?;
    app.scheduler.run_now(job).await.map(Json)
}

/// Writes a proved copy of the database
#[utoipa::path(
    post,
    path = "/api/backup",
    tag = "jobs",
    responses((status = 201, description = "Where the copy is", body = Backup))
)]
async fn backup(State(app): State<Arc<App>>) -> Result<(StatusCode, Json<Backup>), Problem> {
    app.host(|host| Ok((StatusCode::CREATED, Json(Backup { path: host.backup()? })))).await
}
