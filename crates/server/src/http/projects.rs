//! `/api/projects`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use throughline_core::engine::{AcceptedFile, EngineError, ProjectListing, ProjectOverview, ProjectRules, Recorded};
use throughline_core::model::{Importance, MemorySection, Project, Significance};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Named};
use super::{Answer, App, in_path};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(show))
        .routes(routes!(rules))
        .routes(routes!(trust))
        .routes(routes!(record))
}

/// Lists the projects: those that are registered, and directories that are projects by themselves
#[utoipa::path(get, path = "/api/projects", tag = "projects",
    responses((status = 200, description = "By name", body = ProjectListing)))]
async fn list(State(app): State<Arc<App>>) -> Answer<ProjectListing> {
    app.engine(|engine| Ok(engine.projects().listing()?)).await.map(Json)
}

/// A project to register.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewProject)]
struct Add {
    /// Its name.
    name: String,
    /// Its directory, which exists.
    dir: Option<String>,
}

/// Registers a project, or moves it to another directory
#[utoipa::path(post, path = "/api/projects", tag = "projects", request_body = Add,
    responses((status = 201, description = "It is registered", body = Project, headers(("Location" = String)))))]
async fn add(State(app): State<Arc<App>>, Body(add): Body<Add>) -> Result<Response, Problem> {
    let project = app.host(move |host| host.add_project(&add.name, add.dir.as_deref())).await?;
    let location = format!("/api/projects/{}", in_path(project.name.as_str()));
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(project)).into_response())
}

/// Shows a project and its open tasks
#[utoipa::path(get, path = "/api/projects/{name}", tag = "projects",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The project", body = ProjectOverview)))]
async fn show(State(app): State<Arc<App>>, Named(name): Named<String>) -> Answer<ProjectOverview> {
    app.engine(move |engine| Ok(engine.projects().get(&name)?)).await.map(Json)
}

/// Lists a project's rules, and what its memory file says that the person has not accepted
#[utoipa::path(get, path = "/api/projects/{name}/rules", tag = "projects",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The highest first", body = ProjectRules)))]
async fn rules(State(app): State<Arc<App>>, Named(name): Named<String>) -> Answer<ProjectRules> {
    app.engine(move |engine| Ok(engine.projects().rules(&engine.projects().named(&name)?)?)).await.map(Json)
}

/// Accepts a project's memory file as it is now
#[utoipa::path(post, path = "/api/projects/{name}/trust", tag = "projects",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The project, and the lines that are accepted now", body = AcceptedFile)))]
async fn trust(State(app): State<Arc<App>>, Named(name): Named<String>) -> Answer<AcceptedFile> {
    app.engine(move |engine| Ok(engine.projects().trust(&engine.projects().named(&name)?)?)).await.map(Json)
}

/// A fact about a project.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Fact {
    /// What is so, happened or is done.
    fact: String,
    /// How much it matters, 1 to 5.
    significance: Option<Significance>,
    /// `is` unless given.
    section: Option<MemorySection>,
}

/// Records a fact in a project's memory file
#[utoipa::path(post, path = "/api/projects/{name}/facts", tag = "projects", request_body = Fact,
    params(("name" = String, Path, description = "Its name")),
    responses((status = 201, description = "What became of the line", body = Recorded)))]
async fn record(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    Body(fact): Body<Fact>,
) -> Result<Response, Problem> {
    let recorded = app.engine(move |engine| {
        let project = engine.projects().get(&name)?.project.name;
        let no_directory = || EngineError::NoDirectory { project: project.clone() };
        let file = engine.documents().memory_file(Some(project.as_str()))?.ok_or_else(no_directory)?;
        let weight = fact.significance.unwrap_or_else(|| Importance::default().significance());
        Ok(engine.memories().record(&file, &[(fact.fact, weight)], fact.section.unwrap_or_default())?)
    });
    Ok((StatusCode::CREATED, Json(recorded.await?)).into_response())
}
