//! `/api/reflections`, `/api/reflect`, `/api/report`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use throughline_core::engine::{Passes, Reflection, Report, ReportBy};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Params};
use super::{Answer, App, MOST, busy, limit};
use crate::problem::{Code, Problem};

/// How many passes are given without being asked.
const PASSES: usize = 10;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(reflect)).routes(routes!(report))
}

/// Which passes.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Only of this project.
    project: Option<String>,
    /// How many at most; 10 unless given.
    #[param(minimum = 0, maximum = 1000)]
    limit: Option<usize>,
}

/// Lists what earlier passes of reflection did, newest first
#[utoipa::path(get, path = "/api/reflections", tag = "reflection", params(Wanted),
    responses((status = 200, description = "Newest first, with what they changed", body = Passes)))]
async fn list(State(app): State<Arc<App>>, Params(wanted): Params<Wanted>) -> Answer<Passes> {
    let limit = limit(wanted.limit, PASSES, MOST)?;
    let passes = app.engine(move |engine| Ok(engine.reflection().list(wanted.project.as_deref(), limit)?)).await?;
    Ok(Json(Passes { passes }))
}

/// What to look back on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Reflect {
    /// A project's memory file; without it, the person's own memory.
    project: Option<String>,
    /// Only what was said to this client or on this channel, such as `claude-code`; not with a project.
    agent: Option<String>,
    /// Show what would change, and change nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Looks back on memory now: distils, weighs, merges, prunes
#[utoipa::path(post, path = "/api/reflect", tag = "reflection", request_body = Reflect,
    responses((status = 200, description = "What was, or would be, changed", body = Reflection)))]
async fn reflect(State(app): State<Arc<App>>, Body(wanted): Body<Reflect>) -> Answer<Reflection> {
    let done = app.host(move |host| {
        let reflection = match (&wanted.agent, &wanted.project) {
            (Some(_), Some(_)) => {
                let hint = "name a project or an agent";
                return Err(Problem::new(Code::Invalid, "both a project and an agent are given", hint));
            }
            (Some(agent), None) => host.reflect_for(agent, wanted.dry_run)?,
            (None, project) => host.reflect(project.as_deref(), wanted.dry_run)?,
        };
        reflection.ok_or_else(|| busy("another pass"))
    });
    done.await.map(Json)
}

/// Which time.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Range {
    /// From this time on; since Monday unless given.
    since: Option<String>,
    /// Up to this time; until now unless given.
    until: Option<String>,
    /// A part for each `day`, or `week`.
    #[param(inline)]
    by: Option<By>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum By {
    #[default]
    Day,
    Week,
}

/// Tells what was done, day by day or week by week
#[utoipa::path(get, path = "/api/report", tag = "reflection", params(Range),
    responses((status = 200, description = "What was done", body = Report)))]
async fn report(State(app): State<Arc<App>>, Params(range): Params<Range>) -> Answer<Report> {
    let (since, until) = (app.when(range.since.as_deref())?, app.when(range.until.as_deref())?);
    let by = match range.by.unwrap_or_default() {
        By::Day => ReportBy::Day,
        By::Week => ReportBy::Week,
    };
    app.engine(move |engine| Ok(engine.tasks().report_since(since, until, by)?)).await.map(Json)
}
