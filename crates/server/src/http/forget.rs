//! Forgetting by topic, and erasing a conversation or a project for good.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use throughline_core::engine::{About, Engine, ErasedScope, ScopePreview};
use throughline_core::model::{Project, SessionId};
use throughline_core::ports::ErasureScope;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Named, Params};
use super::{Answer, App};
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(forget_about))
        .routes(routes!(erase_session))
        .routes(routes!(session_erasure))
        .routes(routes!(erase_project))
        .routes(routes!(project_erasure))
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

/// How to take something away.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Erase {
    /// Leave no byte of it, in backups and exports neither.
    erase: Option<bool>,
}

/// Erases a conversation for good, with what was made of it; `erase=true` says that this is meant
#[utoipa::path(delete, path = "/api/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "Such as `telegram:123`"), Erase),
    responses((status = 200, description = "It is erased", body = ErasedScope)))]
async fn erase_session(
    State(app): State<Arc<App>>,
    Named(id): Named<SessionId>,
    Params(how): Params<Erase>,
) -> Answer<ErasedScope> {
    if !how.erase.unwrap_or_default() {
        let hint = "add `erase=true`: a conversation is erased for good or stays; `POST …/end` ends it";
        return Err(Problem::new(Code::Invalid, "a conversation is not forgotten, only erased", hint));
    }
    app.host(move |host| host.erase_scope(&ErasureScope::Session(id))).await.map(Json)
}

/// Says what erasing a conversation would remove, and removes nothing
#[utoipa::path(get, path = "/api/sessions/{id}/erasure", tag = "sessions",
    params(("id" = String, Path, description = "Such as `telegram:123`")),
    responses((status = 200, description = "What would be removed", body = ScopePreview)))]
async fn session_erasure(State(app): State<Arc<App>>, Named(id): Named<SessionId>) -> Answer<ScopePreview> {
    app.engine(move |engine| Ok(engine.memories().preview_scope(&ErasureScope::Session(id))?)).await.map(Json)
}

/// What became of a project.
#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = RemovedProject)]
enum Removed {
    /// It is out of the register.
    Unregistered(Project),
    /// It is erased.
    Erased(ErasedScope),
}

/// Takes a project out of the register; what links to it keeps its link, unless all of it is erased for good
#[utoipa::path(delete, path = "/api/projects/{name}", tag = "projects",
    params(("name" = String, Path, description = "Its name"), Erase),
    responses((status = 200, description = "As it now is, or what was erased", body = Removed)))]
async fn erase_project(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    Params(how): Params<Erase>,
) -> Answer<Removed> {
    if !how.erase.unwrap_or_default() {
        let removed = app.engine(move |engine| Ok(engine.projects().remove(&name)?)).await?;
        return Ok(Json(Removed::Unregistered(removed)));
    }
    let erased = app.host(move |host| {
        preview_of_project(host.engine(), &name)?;
        host.erase_scope(&ErasureScope::Project(name))
    });
    Ok(Json(Removed::Erased(erased.await?)))
}

/// Says what erasing a project would remove, and removes nothing; its memory file stays in its directory
#[utoipa::path(get, path = "/api/projects/{name}/erasure", tag = "projects",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "What would be removed", body = ScopePreview)))]
async fn project_erasure(State(app): State<Arc<App>>, Named(name): Named<String>) -> Answer<ScopePreview> {
    app.engine(move |engine| preview_of_project(engine, &name)).await.map(Json)
}

/// What is in a project. One that nobody registered counts while something belongs to it.
fn preview_of_project(engine: &Engine, name: &str) -> Result<ScopePreview, Problem> {
    let preview = engine.memories().preview_scope(&ErasureScope::Project(name.to_owned()))?;
    let is_empty = preview.sessions + preview.memories + preview.tasks == 0;
    if is_empty {
        engine.projects().get(name)?;
    }
    Ok(preview)
}
