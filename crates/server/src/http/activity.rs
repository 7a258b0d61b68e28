//! `/api/activity`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use throughline_core::engine::DayActivity;
use throughline_core::recall::Served;
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

/// What was done, day by day, and what came of it.
#[derive(Serialize, ToSchema)]
struct Activity {
    /// The oldest first.
    days: Vec<DayActivity>,
    /// What memory did for the person on these days.
    served: Served,
}

/// What was done on each of the person's last days
#[utoipa::path(get, path = "/api/activity", tag = "activity", params(Asked),
    responses((status = 200, description = "The oldest day first", body = Activity)))]
async fn activity(State(app): State<Arc<App>>, Params(asked): Params<Asked>) -> Answer<Activity> {
    let looked = app.host(move |host| {
        let engine = host.engine();
        let days = engine.health().activity(asked.days, &host.zone())?;
        let since = engine.now().checked_sub(SignedDuration::from_hours(24 * i64::from(asked.days)));
        Ok(Activity { days, served: engine.recall().served(since.unwrap_or(Timestamp::MIN))? })
    });
    looked.await.map(Json)
}
