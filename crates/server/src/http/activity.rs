//! `/api/activity`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_core::engine::DayActivity;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::Params;
use super::{Answer, App};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(activity))
}

/// How far back.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Asked {
    /// How many days, today included.
    #[serde(default = "three_months")]
    #[param(default = 90)]
    days: u32,
}

fn three_months() -> u32 {
    90
}

/// What was done, day by day.
#[derive(Serialize, ToSchema)]
struct Activity {
    /// The oldest first.
    days: Vec<DayActivity>,
}

/// What was done on each of the person's last days
#[utoipa::path(get, path = "/api/activity", tag = "activity", params(Asked),
    responses((status = 200, description = "The oldest day first", body = Activity)))]
async fn activity(State(app): State<Arc<App>>, Params(asked): Params<Asked>) -> Answer<Activity> {
    app.host(move |host| Ok(Json(Activity { days: host.engine().health().activity(asked.days, &host.zone())? }))).await
}
