//! `/api/tasks`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use throughline_core::engine::{Finished, NewTask, TaskEdit, Tasks};
use throughline_core::model::{Task, TaskStatus};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Named, Params, given};
use super::{Answer, App};
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, add)).routes(routes!(show, update, remove)).routes(routes!(done))
}

/// Which tasks.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// `open` unless given.
    #[param(inline)]
    status: Option<WantedStatus>,
    /// Only of this project.
    project: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum WantedStatus {
    #[default]
    Open,
    Done,
    Removed,
    All,
}

/// Lists tasks, the latest changed first
#[utoipa::path(get, path = "/api/tasks", tag = "tasks", params(Wanted),
    responses((status = 200, description = "The latest changed first", body = Tasks)))]
async fn list(State(app): State<Arc<App>>, Params(wanted): Params<Wanted>) -> Answer<Tasks> {
    let status = match wanted.status.unwrap_or_default() {
        WantedStatus::Open => Some(TaskStatus::Open),
        WantedStatus::Done => Some(TaskStatus::Done),
        WantedStatus::Removed => Some(TaskStatus::Removed),
        WantedStatus::All => None,
    };
    app.engine(move |engine| Ok(Tasks { tasks: engine.tasks().list(status, wanted.project.as_deref())? }))
        .await
        .map(Json)
}

/// A task to add.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewTask)]
struct Add {
    /// What is to be done.
    title: String,
    /// Where it stands.
    #[serde(default)]
    state: String,
    /// The project it belongs to.
    project: Option<String>,
}

/// Adds a task
#[utoipa::path(post, path = "/api/tasks", tag = "tasks", request_body = Add,
    responses((status = 201, description = "It is added", body = Task, headers(("Location" = String)))))]
async fn add(State(app): State<Arc<App>>, Body(add): Body<Add>) -> Result<Response, Problem> {
    let new = NewTask { title: add.title, state: add.state, project: add.project };
    let task = app.engine(move |engine| Ok(engine.tasks().add(&new)?)).await?;
    let location = format!("/api/tasks/{}", task.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(task)).into_response())
}

/// Shows a task
#[utoipa::path(get, path = "/api/tasks/{id}", tag = "tasks",
    params(("id" = String, Path, description = "An id, the beginning of one, or a whole title")),
    responses((status = 200, description = "The task", body = Task)))]
async fn show(State(app): State<Arc<App>>, Named(id): Named<String>) -> Answer<Task> {
    app.engine(move |engine| Ok(engine.tasks().get(&id)?)).await.map(Json)
}

/// What to change; what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Update {
    /// What is to be done.
    title: Option<String>,
    /// Where it stands, in place of what was there.
    state: Option<String>,
    /// The project it belongs to; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    project: Option<Option<String>>,
    /// `open` opens a task again that was done or removed, `removed` takes it away.
    status: Option<TaskStatus>,
}

/// Changes a task, or says where it stands
#[utoipa::path(patch, path = "/api/tasks/{id}", tag = "tasks", request_body = Update,
    params(("id" = String, Path, description = "An id, the beginning of one, or a whole title")),
    responses((status = 200, description = "As it now is", body = Task)))]
async fn update(State(app): State<Arc<App>>, Named(id): Named<String>, Body(update): Body<Update>) -> Answer<Task> {
    let Update { title, state, project, status } = update;
    let edit = TaskEdit { title, state, project, status, expected_version: None };
    if edit == TaskEdit::default() {
        return Err(Problem::new(Code::Invalid, "nothing to change was given", "give title, state, project or status"));
    }
    app.engine(move |engine| Ok(engine.tasks().update(&id, &edit)?)).await.map(Json)
}

/// Takes a task away; what links to it keeps its link
#[utoipa::path(delete, path = "/api/tasks/{id}", tag = "tasks",
    params(("id" = String, Path, description = "An id, the beginning of one, or a whole title")),
    responses((status = 200, description = "As it now is", body = Task)))]
async fn remove(State(app): State<Arc<App>>, Named(id): Named<String>) -> Answer<Task> {
    let edit = TaskEdit { status: Some(TaskStatus::Removed), ..TaskEdit::default() };
    app.engine(move |engine| Ok(engine.tasks().update(&id, &edit)?)).await.map(Json)
}

/// What was concluded.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Finish {
    /// For the archive.
    conclusion: Option<String>,
}

/// Completes a task: where it stands goes to the archive
#[utoipa::path(post, path = "/api/tasks/{id}/done", tag = "tasks", request_body = Finish,
    params(("id" = String, Path, description = "An id, the beginning of one, or a whole title")),
    responses((status = 200, description = "The task, and what the archive keeps of it", body = Finished)))]
async fn done(State(app): State<Arc<App>>, Named(id): Named<String>, Body(finish): Body<Finish>) -> Answer<Finished> {
    app.engine(move |engine| Ok(engine.tasks().finish(&id, finish.conclusion.as_deref())?)).await.map(Json)
}
