//! `/api/activity`

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use throughline_core::engine::DayActivity;

use super::App;
use crate::problem::{Code, Problem};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/api/activity", get(activity))
}

/// How far back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    #[serde(default = "three_months")]
    days: u32,
}

fn three_months() -> u32 {
    90
}

/// What was done, day by day.
#[derive(Serialize)]
struct Activity {
    /// The oldest first.
    days: Vec<DayActivity>,
}

/// What was done on each of the person's last days
#[utoipa::path(
    get,
    path = "/api/activity",
    tag = "activity",
    params(("days" = Option<u32>, Query, description = "How many, today included; 90 unless said otherwise")),
    responses((status = 200, description = "{days: [{day, remembered, turns, recalls, changes}]}, the oldest first"))
)]
async fn activity(
    State(app): State<Arc<App>>,
    asked: Result<Query<Asked>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Activity>, Problem> {
    let bad = |error: axum::extract::rejection::QueryRejection| {
        Problem::new(Code::Invalid, error.body_text(), "only `days` is taken, as in `?days=90`")
    };
    let days = asked.map_err(bad)?.days;
    app.host(move |host| Ok(Json(Activity { days: host.engine().activity(days, &host.zone())? }))).await
}
