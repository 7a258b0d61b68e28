//! `/api/recall`, `/api/recalls`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_core::engine::Recalls;
use throughline_core::model::{Kind, Layer, RecallId, SessionId, Source};
use throughline_core::recall::{Category, Criteria, Hit, RecallRecord, RecallRequest, TimeGiven};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Named, Params};
use super::{Answer, App, MOST, USUAL, limit};

/// How many hits a recall gives, and at most.
const HITS: usize = 10;
const MOST_HITS: usize = 100;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(recall)).routes(routes!(list)).routes(routes!(show))
}

/// What to look for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// In plain words: no character has a special meaning.
    query: String,
    /// How many at most.
    #[schema(minimum = 0, maximum = 100)]
    limit: Option<usize>,
    /// Only this layer.
    layer: Option<Layer>,
    /// Only this category.
    category: Option<Category>,
    /// Only with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Only of this project.
    project: Option<String>,
    /// Only from this source.
    source: Option<Source>,
    /// Only stored at this time or later.
    since: Option<TimeGiven>,
    /// Only stored before this time.
    until: Option<TimeGiven>,
    /// Only these kinds; all but `chunk`, passages of the vault, unless given.
    #[serde(default)]
    kinds: Vec<Kind>,
    /// Leaves no trace: no line in the log, no count. For somebody who is still typing.
    #[serde(default)]
    peek: bool,
}

/// What was found.
#[derive(Serialize, ToSchema)]
struct Found {
    /// Names this recall in the log; a peek is not in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall_id: Option<RecallId>,
    /// Best first.
    hits: Vec<Hit>,
}

/// Finds memories by plain words, best first
#[utoipa::path(post, path = "/api/recall", tag = "recall", request_body = Question,
    responses((status = 200, description = "What was found", body = Found)))]
async fn recall(State(app): State<Arc<App>>, Body(asked): Body<Question>) -> Answer<Found> {
    let criteria = Criteria {
        layer: asked.layer,
        category: asked.category,
        tags: asked.tags,
        project: asked.project,
        source: asked.source,
        kinds: asked.kinds,
        since: asked.since.map(String::from),
        until: asked.until.map(String::from),
        ..Criteria::default()
    };
    let filter = criteria.filter(&app.now())?;
    let request = RecallRequest { query: asked.query, limit: limit(asked.limit, HITS, MOST_HITS)?, filter };
    let found = app.search(move |engine| {
        if asked.peek {
            return Ok(Found { recall_id: None, hits: engine.recall().look(&request)? });
        }
        let recall = engine.recall().recall(&request)?;
        Ok(Found { recall_id: Some(recall.recall_id), hits: recall.hits })
    });
    found.await.map(Json)
}

/// Which recalls.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Only of this conversation.
    session: Option<String>,
    /// How many at most.
    #[param(minimum = 0, maximum = 1000)]
    limit: Option<usize>,
}

/// Lists the latest recalls: what was asked, what was found and why
#[utoipa::path(get, path = "/api/recalls", tag = "recall", params(Wanted),
    responses((status = 200, description = "Newest first", body = Recalls)))]
async fn list(State(app): State<Arc<App>>, Params(wanted): Params<Wanted>) -> Answer<Recalls> {
    let session = wanted.session.map(|id| id.parse::<SessionId>()).transpose()?;
    let limit = limit(wanted.limit, USUAL, MOST)?;
    app.engine(move |engine| Ok(engine.recall().log_of(session.as_ref(), limit)?)).await.map(Json)
}

/// Shows one recall, while the log keeps it
#[utoipa::path(get, path = "/api/recalls/{id}", tag = "recall",
    params(("id" = String, Path, description = "A recall_id")),
    responses((status = 200, description = "The recall", body = RecallRecord)))]
async fn show(State(app): State<Arc<App>>, Named(id): Named<String>) -> Answer<RecallRecord> {
    app.engine(move |engine| Ok(engine.recall().record(&id)?)).await.map(Json)
}
