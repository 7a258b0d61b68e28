//! `/api/changes`, `/api/undo`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_core::engine::{Changes, ToldChanges, Undone};
use throughline_core::model::Change;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Params};
use super::{Answer, App, MOST, USUAL, limit};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(undo))
}

/// How many.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// How many at most.
    #[param(minimum = 0, maximum = 1000)]
    limit: Option<usize>,
    /// With what each touched.
    #[serde(default)]
    touched: bool,
}

/// The latest changes.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum Listed {
    /// By themselves.
    Changes(Changes),
    /// With what each touched.
    Told(ToldChanges),
}

/// Lists the latest changes of all, newest first
#[utoipa::path(get, path = "/api/changes", tag = "changes", params(Wanted),
    responses((status = 200, description = "Newest first", body = Listed)))]
async fn list(State(app): State<Arc<App>>, Params(wanted): Params<Wanted>) -> Answer<Listed> {
    let limit = limit(wanted.limit, USUAL, MOST)?;
    let listed = app.engine(move |engine| {
        let history = engine.history();
        Ok(if wanted.touched {
            Listed::Told(history.told_changes(limit)?)
        } else {
            Listed::Changes(Changes { changes: history.changes(limit)? })
        })
    });
    listed.await.map(Json)
}

/// Whether to undo, or to leave.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Undo {
    /// Leave the last change as it is, so that the next undo reverts the one before.
    #[serde(default)]
    skip: bool,
}

/// What was undone, or left.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum Left {
    /// It was undone.
    Undone(Box<Undone>),
    /// It stays.
    Skipped(Change),
}

/// Reverts the last change, or leaves it
#[utoipa::path(post, path = "/api/undo", tag = "changes", request_body = Undo,
    responses((status = 200, description = "What was undone, or left", body = Left)))]
async fn undo(State(app): State<Arc<App>>, Body(wanted): Body<Undo>) -> Answer<Left> {
    let done = app.engine(move |engine| {
        if wanted.skip {
            Ok(Left::Skipped(engine.history().skip()?))
        } else {
            Ok(Left::Undone(Box::new(engine.history().undo()?)))
        }
    });
    done.await.map(Json)
}
