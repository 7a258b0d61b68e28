//! `/healthz`, `/api/status`, `/api/stats`, `/api/settings`, `/api/health`, `/api/links`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use throughline_core::engine::{Health, MemoryStatus, Stats};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Named};
use super::{Answer, App};
use crate::Settings;
use crate::host::SettingValue;
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(alive))
        .routes(routes!(status))
        .routes(routes!(stats))
        .routes(routes!(settings))
        .routes(routes!(change_setting))
        .routes(routes!(health))
        .routes(routes!(link))
}

/// That the daemon answers, and whether it has its database.
#[derive(Serialize, ToSchema)]
struct Alive {
    /// `ok`, or `unavailable` while the database is not in its place.
    status: &'static str,
    /// The version of this program.
    version: &'static str,
    /// What happened to the database, while it is not in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Says that the daemon answers and has its database; needs no token
#[utoipa::path(get, path = "/healthz", tag = "daemon",
    responses((status = 200, description = "It answers", body = Alive),
        (status = 503, description = "It answers, and the database is not in its place", body = Alive)))]
async fn alive(State(app): State<Arc<App>>) -> (StatusCode, Json<Alive>) {
    let version = env!("CARGO_PKG_VERSION");
    // Anybody may ask: what is wrong in one line, and nothing about where.
    match app.engine(|engine| Ok(engine.health().pulse()?)).await {
        Err(problem) if problem.code == Code::Unavailable => {
            let alive = Alive { status: "unavailable", version, problem: Some(problem.message) };
            (StatusCode::SERVICE_UNAVAILABLE, Json(alive))
        }
        _ => (StatusCode::OK, Json(Alive { status: "ok", version, problem: None })),
    }
}

/// Tells where the memory is, what it holds and how it is
#[utoipa::path(get, path = "/api/status", tag = "daemon",
    responses((status = 200, description = "How it is", body = MemoryStatus)))]
async fn status(State(app): State<Arc<App>>) -> Answer<MemoryStatus> {
    app.host(|host| host.status()).await.map(Json)
}

/// Counts what the memory holds, and what models cost lately
#[utoipa::path(get, path = "/api/stats", tag = "daemon",
    responses((status = 200, description = "The counts", body = Stats)))]
async fn stats(State(app): State<Arc<App>>) -> Answer<Stats> {
    app.engine(|engine| Ok(engine.health().stats()?)).await.map(Json)
}

/// Lists every setting in force, and where it comes from; secrets as `***`
#[utoipa::path(get, path = "/api/settings", tag = "daemon",
    responses((status = 200, description = "The settings", body = Settings)))]
async fn settings(State(app): State<Arc<App>>) -> Answer<Settings> {
    app.host(|host| Ok(host.settings())).await.map(Json)
}

/// What a setting gets.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewValue {
    /// `true`, `false` or a whole number; null for the default.
    value: Option<SettingValue>,
}

/// Changes a setting in the config file, one with `change`; it holds from the next start of the daemon on
#[utoipa::path(put, path = "/api/settings/{key}", tag = "daemon", request_body = NewValue,
    params(("key" = String, Path, description = "Such as `memory.recall_limit`")),
    responses((status = 200, description = "The settings", body = Settings)))]
async fn change_setting(
    State(app): State<Arc<App>>,
    Named(key): Named<String>,
    Body(new): Body<NewValue>,
) -> Answer<Settings> {
    let changed = app.host(move |host| {
        host.change_setting(&key, new.value)?;
        Ok(host.settings())
    });
    changed.await.map(Json)
}

/// Checks that everything is sound
#[utoipa::path(get, path = "/api/health", tag = "daemon",
    responses((status = 200, description = "What is wrong, if anything", body = Health)))]
async fn health(State(app): State<Arc<App>>) -> Answer<Health> {
    let mut health = app.host(|host| Ok(host.health())).await?;
    health.remarks.extend(app.channels.remarks());
    Ok(Json(health))
}

/// A way into the panel.
#[derive(Serialize, ToSchema)]
struct Link {
    /// Opens the panel once, within ten minutes.
    url: String,
}

/// Gives a fresh one-time link to the panel
#[utoipa::path(post, path = "/api/links", tag = "daemon",
    responses((status = 201, description = "The link", body = Link)))]
async fn link(State(app): State<Arc<App>>) -> Result<(StatusCode, Json<Link>), Problem> {
    let url = app.link()?;
    Ok((StatusCode::CREATED, Json(Link { url })))
}
