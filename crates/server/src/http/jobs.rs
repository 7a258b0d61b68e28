//! `/api/jobs`, `/api/backup`

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;
use throughline_core::ports::{Job, Run};

use super::App;
use crate::problem::{Code, Problem};
use crate::scheduler::JobState;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/jobs", get(list))
        .route("/api/jobs/{name}/run", post(run))
        .route("/api/backup", post(backup))
}

/// Every job.
#[derive(Serialize)]
struct Jobs {
    jobs: Vec<JobState>,
}

/// Where a copy is.
#[derive(Serialize)]
struct Backup {
    path: String,
}

/// What happens by itself: when it ran, how that ended, when it runs next
#[utoipa::path(
    get,
    path = "/api/jobs",
    tag = "jobs",
    responses((status = 200, description = "{jobs: [{name, every, last_run_at, last_outcome, next_run_at, running, log}]}"))
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
        (status = 200, description = "The run, as it is in the log"),
        (status = 404, description = "There is no such job"),
        (status = 429, description = "It is running already")
    )
)]
async fn run(State(app): State<Arc<App>>, Path(name): Path<String>) -> Result<Json<Run>, Problem> {
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
    responses((status = 201, description = "{path}: where the copy is"))
)]
async fn backup(State(app): State<Arc<App>>) -> Result<(StatusCode, Json<Backup>), Problem> {
    app.host(|host| Ok((StatusCode::CREATED, Json(Backup { path: host.backup()? })))).await
}
