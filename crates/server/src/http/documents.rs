//! `/api/documents`, `/api/read`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use throughline_core::engine::{Engine, EngineError, HistoryOf, Outcome, Rendered, Shelf, Written};
use throughline_core::model::{ContentHash, Document, DocumentName, Namespace};
use throughline_core::ports::DocumentError;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::memories::Version;
use super::take::{Body, Named, Params, Seen};
use super::{Answer, App, tagged};
use crate::problem::{Code, Current, Problem};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show, write))
        .routes(routes!(history))
        .routes(routes!(restore))
        .routes(routes!(read))
}

/// Which documents.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Only those that have all of these words in their names or their text.
    query: Option<String>,
}

/// Lists every document, those that are not written yet included, or those with some words
#[utoipa::path(get, path = "/api/documents", tag = "documents", params(Wanted),
    responses((status = 200, description = "The person's own first, then those of projects", body = Shelf)))]
async fn list(State(app): State<Arc<App>>, Params(wanted): Params<Wanted>) -> Answer<Shelf> {
    let Some(query) = wanted.query else {
        return app.engine(|engine| Ok(engine.documents().list()?)).await.map(Json);
    };
    app.search(move |engine| Ok(engine.documents().search(&query)?)).await.map(Json)
}

/// Shows a document
#[utoipa::path(get, path = "/api/documents/{namespace}", tag = "documents",
    params(("namespace" = String, Path, description = "Such as `user/profile`; slashes may stand as they are")),
    responses((status = 200, description = "The document", body = Document, headers(("ETag" = String)))))]
async fn show(State(app): State<Arc<App>>, Named(name): Named<String>) -> Result<Response, Problem> {
    let name: DocumentName = name.parse()?;
    let document = app.engine(move |engine| engine.documents().get(&name)?.ok_or_else(|| missing(&name))).await?;
    Ok(tagged(document.hash.as_str().to_owned(), document))
}

fn missing(name: &DocumentName) -> Problem {
    Problem::new(Code::NotFound, format!("there is no document `{name}`"), "`/api/documents` lists them")
}

/// What a document is to say.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Text {
    /// The whole text.
    text: String,
}

/// Replaces a document, if it still is what the writer saw
#[utoipa::path(put, path = "/api/documents/{namespace}", tag = "documents", request_body = Text,
    params(("namespace" = String, Path, description = "Such as `user/profile`; slashes may stand as they are"),
           ("If-Match" = Option<String>, Header, description = "The ETag of what was read"),
           ("If-None-Match" = Option<String>, Header, description = "`*` for a document that is not there yet")),
    responses((status = 200, description = "As it now is", body = Written, headers(("ETag" = String))),
              (status = 201, description = "It is new", body = Written, headers(("ETag" = String))),
              (status = 412, description = "Changed since: `error.current` is what it says now", body = crate::problem::ErrorBody),
              (status = 422, description = "Identity is full", body = crate::problem::ErrorBody),
              (status = 428, description = "It does not say what it replaces", body = crate::problem::ErrorBody)))]
async fn write(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    Seen(seen): Seen,
    Body(body): Body<Text>,
) -> Result<Response, Problem> {
    let name: DocumentName = name.parse()?;
    let written = app.engine(move |engine| {
        engine.documents().check_identity(&name, &body.text)?;
        engine.documents().write(&name, &body.text, Some(&seen)).map_err(|error| too_late(engine, &name, &seen, error))
    });
    let written = written.await?;
    let status = if written.outcome == Outcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, tagged(written.document.hash.as_str().to_owned(), written)).into_response())
}

/// Whoever comes too late is told what the document says now.
fn too_late(engine: &Engine, name: &DocumentName, seen: &ContentHash, error: EngineError) -> Problem {
    if !matches!(error, EngineError::Document(DocumentError::Conflict { .. })) {
        return error.into();
    }
    let current = engine.documents().get(name).ok().flatten();
    let hint = "apply your change to what it says now, and send that with its hash as `If-Match`";
    let is_new = *seen == ContentHash::missing();
    let what = if is_new { "is there already" } else { "was changed since you saw it" };
    Problem {
        current: current.map(|document| Current { text: document.text, hash: document.hash }),
        ..Problem::new(Code::Changed, format!("`{name}` {what}"), hint)
    }
}

/// Shows every version of a document, oldest first
#[utoipa::path(get, path = "/api/documents/{namespace}/history", tag = "documents",
    params(("namespace" = String, Path, description = "Such as `user/profile`; slashes may stand as they are")),
    responses((status = 200, description = "Its versions", body = HistoryOf)))]
async fn history(State(app): State<Arc<App>>, Named(name): Named<String>) -> Answer<HistoryOf> {
    let name: DocumentName = name.parse()?;
    let looked = app.engine(move |engine| match engine.history().versions_of(&name)? {
        HistoryOf::Document { versions } if versions.is_empty() => Err(missing(&name)),
        history => Ok(history),
    });
    looked.await.map(Json)
}

/// Brings an earlier version of a document back
#[utoipa::path(post, path = "/api/documents/{namespace}/restore", tag = "documents", request_body = Version,
    params(("namespace" = String, Path, description = "Such as `user/profile`; slashes may stand as they are")),
    responses((status = 200, description = "As it now is", body = Document, headers(("ETag" = String)))))]
async fn restore(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    Body(wanted): Body<Version>,
) -> Result<Response, Problem> {
    let name: DocumentName = name.parse()?;
    let document = app.engine(move |engine| Ok(engine.history().restore_document(name, wanted.version)?)).await?;
    Ok(tagged(document.hash.as_str().to_owned(), document))
}

/// Renders any part of memory as Markdown
#[utoipa::path(get, path = "/api/read/{namespace}", tag = "documents",
    params(("namespace" = String, Path,
        description = "`user/profile`, `user/facts`, `global`, `sessions/cli:main` …; slashes may stand as they are")),
    responses((status = 200, description = "As Markdown; null where there is nothing", body = Rendered)))]
async fn read(State(app): State<Arc<App>>, Named(name): Named<String>) -> Answer<Rendered> {
    let name: Namespace = name.parse()?;
    app.engine(move |engine| Ok(engine.documents().rendered(&name)?)).await.map(Json)
}
