//! `/api/context/tiers`: a whole tier of memory, as an assistant may read it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_core::engine::Tier;
use throughline_core::model::SessionId;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Named, Params};
use super::{Answer, App};
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(tier))
}

/// Whose tier.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Whose {
    /// The conversation, for the tier `short`.
    session: Option<SessionId>,
    /// The project, for the tier `project`.
    project: Option<String>,
}

/// A tier.
#[derive(Serialize, ToSchema)]
struct TierText {
    /// Its name.
    tier: String,
    /// All of it as Markdown, without secrets, as far as it fits; none if it is empty.
    text: Option<String>,
}

/// Gives a whole tier of memory: `short` (one conversation), `project`, `user` or `vault`
#[utoipa::path(get, path = "/api/context/tiers/{tier}", tag = "documents",
    params(("tier" = String, Path, description = "`short`, `project`, `user` or `vault`"), Whose),
    responses((status = 200, description = "All of it", body = TierText)))]
async fn tier(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    Params(whose): Params<Whose>,
) -> Answer<TierText> {
    let tier = named(&name, whose)?;
    let text = app.engine(move |engine| Ok(engine.context().readable_tier(&tier)?)).await?;
    Ok(Json(TierText { tier: name, text }))
}

fn named(name: &str, whose: Whose) -> Result<Tier, Problem> {
    let missing = |what: &str| Problem::new(Code::Invalid, format!("no {what} is named"), format!("add ?{what}=NAME"));
    match name {
        "short" => whose.session.map(Tier::Short).ok_or_else(|| missing("session")),
        "project" => whose.project.map(Tier::Project).ok_or_else(|| missing("project")),
        "user" => Ok(Tier::User),
        "vault" => Ok(Tier::Vault),
        _ => Err(Problem::new(Code::NotFound, format!("there is no tier `{name}`"), "short, project, user or vault")),
    }
}
