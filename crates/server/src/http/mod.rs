//! The HTTP API: one file per resource. A handler parses, calls one verb of the engine, and answers with what it gives.

mod activity;
mod app;
pub(crate) mod chat;
mod events;
mod jobs;
mod memories;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse as _;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;

use crate::access::gate;
use crate::problem::{Code, Problem};

pub(crate) use app::App;

/// Every route, behind the gate.
pub(crate) fn router(app: Arc<App>) -> Router {
    let api = Router::new()
        .merge(memories::routes())
        .merge(activity::routes())
        .merge(chat::routes())
        .merge(events::routes())
        .merge(jobs::routes());
    Router::new()
        .route("/healthz", get(async || axum::Json(serde_json::json!({ "status": "ok" }))))
        .merge(api)
        .merge(crate::panel::routes())
        .fallback(async || no_route())
        .layer(from_fn_with_state(Arc::clone(&app), gate))
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| broken().into_response()))
        .with_state(app)
}

fn no_route() -> Problem {
    Problem::new(Code::NotFound, "there is no such route", "`/api/openapi.json` lists them")
}

fn broken() -> Problem {
    Problem::new(Code::Failed, "something here is broken", "`throughline doctor` looks for the cause; please report it")
}
