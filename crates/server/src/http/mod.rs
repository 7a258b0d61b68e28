//! The HTTP API: one file per resource. A handler parses, calls one verb of the engine, and answers with what it gives.
//! The document at `/api/openapi.json` is made from the routes themselves.

mod activity;
mod app;
mod changes;
pub(crate) mod chat;
mod connections;
mod daemon;
mod documents;
mod envelope;
mod events;
mod fold;
mod forget;
mod jobs;
mod memories;
mod openapi;
mod pause;
mod preview;
mod projects;
mod recall;
mod reflect;
mod review;
mod sessions;
mod starting;
pub(crate) mod take;
mod tasks;
mod threads;
mod tiers;
mod tools;
mod transfer;
mod vault;
mod weight;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::RequestBodyTimeoutLayer;
use utoipa_axum::router::OpenApiRouter;

use crate::access::gate;
use crate::problem::{Code, Problem};

pub(crate) use app::App;

/// What a body may have, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// How long a body may pause while it is sent.
const BODY_PATIENCE: Duration = Duration::from_secs(20);

/// What a listing gives at most, and without being asked.
const MOST: usize = 1000;
const USUAL: usize = 50;

/// What a handler answers.
type Answer<T> = Result<axum::Json<T>, Problem>;

/// Every route of the API, with what is known about it.
fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(openapi::about())
        .merge(memories::routes())
        .merge(fold::routes())
        .merge(forget::routes())
        .merge(recall::routes())
        .merge(changes::routes())
        .merge(documents::routes())
        .merge(threads::routes())
        .merge(sessions::routes())
        .merge(tasks::routes())
        .merge(projects::routes())
        .merge(reflect::routes())
        .merge(review::routes())
        .merge(vault::routes())
        .merge(tools::routes())
        .merge(tiers::routes())
        .merge(preview::routes())
        .merge(connections::routes())
        .merge(pause::routes())
        .merge(daemon::routes())
        .merge(activity::routes())
        .merge(chat::routes())
        .merge(crate::channels::webhook::routes())
        .merge(events::routes())
        .merge(jobs::routes())
        .merge(openapi::routes())
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .merge(transfer::routes())
}

/// Every route, behind the gate.
pub(crate) fn router(app: Arc<App>) -> Router {
    let (api, document) = api().split_for_parts();
    app.document.get_or_init(|| openapi::written(document));
    let api = api.layer(from_fn_with_state(Arc::clone(&app), envelope::at_once));
    let routes = Router::new()
        .merge(api)
        .merge(crate::panel::routes())
        .merge(crate::mcp::routes(Arc::clone(&app.host), app.stop.clone()))
        .merge(crate::proxy::routes())
        .fallback(async || no_route())
        .layer(from_fn_with_state(Arc::clone(&app), gate))
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| Problem::broken().into_response()))
        .layer(from_fn_with_state(Arc::clone(&app), envelope::envelope))
        .with_state(app);
    // Addresses are made whole, and tokens are taken out of them, before a route is looked for.
    let routes = routes.layer(RequestBodyTimeoutLayer::new(BODY_PATIENCE));
    let prepared = |request| crate::proxy::without_path_token(envelope::whole_addresses(request));
    Router::new().fallback_service(tower::util::MapRequest::new(routes, prepared))
}

fn no_route() -> Problem {
    Problem::new(Code::NotFound, "there is no such route", "`/api/openapi.json` lists them")
}

/// A name as it may stand in a path and in a header.
pub(crate) fn in_path(name: &str) -> String {
    form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20").replace("%3A", ":")
}

/// How many are given: as many as asked for, within bounds.
fn limit(asked: Option<usize>, usual: usize, most: usize) -> Result<usize, Problem> {
    Ok(throughline_core::recall::limit(asked, usual, most)?)
}

/// Somebody else is at it.
fn busy(what: &str) -> Problem {
    Problem::new(Code::Busy, format!("{what} is under way already"), "try again in a moment")
}

/// A body with the tag by which writers agree on what they replace.
fn tagged<T: Serialize>(tag: impl std::fmt::Display, body: T) -> Response {
    ([(header::ETAG, format!("\"{tag}\""))], axum::Json(body)).into_response()
}
