//! `/api/memories`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use throughline_core::engine::{
    BulkAction, BulkDone, Correction, Edit, EngineError, ErasedMemory, ErasurePreview, Forgotten, HistoryOf, NewMemory,
    Outcome, Remembered, Replaced, Restored,
};
use throughline_core::model::{EntryId, Importance, Layer, Memory, Significance, Source};
use throughline_core::ports::{Listing, Page, StoreError};
use throughline_core::recall::{Category, Criteria, RecallRequest, StatusFilter};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, IfMatch, Named, Params, given};
use super::weight::weight;
use super::{Answer, App, MOST, USUAL, limit, tagged};
use crate::problem::{Code, Problem};

/// Memories that one bulk request names at most.
const MOST_IN_BULK: usize = 500;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, remember))
        .routes(routes!(show, edit, forget))
        .routes(routes!(erasure))
        .routes(routes!(history))
        .routes(routes!(restore))
        .routes(routes!(correct))
        .routes(routes!(mute))
        .routes(routes!(merge))
        .routes(routes!(bulk))
}

/// What to remember.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Remember {
    /// The memory itself.
    content: String,
    /// A key; storing again under it replaces what it says.
    key: Option<String>,
    /// `knowledge` unless given; `identity` for what every conversation should know about the person.
    layer: Option<Layer>,
    /// How much it matters, 1 to 5.
    significance: Option<Significance>,
    /// How much it matters, 0 to 1; not together with `significance`.
    importance: Option<Importance>,
    /// Labels; `project:NAME` and `task:NAME` are links.
    #[serde(default)]
    tags: Vec<String>,
    /// The project it is about.
    project: Option<String>,
    /// Whose word it is; the person's unless given.
    source: Option<Source>,
}

/// Stores a memory
#[utoipa::path(post, path = "/api/memories", tag = "memories", request_body = Remember,
    responses((status = 201, description = "Stored", body = Remembered, headers(("Location" = String))),
              (status = 200, description = "Stored under a key that was taken, or known already", body = Remembered),
              (status = 422, description = "Identity is full", body = crate::problem::ErrorBody)))]
async fn remember(State(app): State<Arc<App>>, Body(body): Body<Remember>) -> Result<Response, Problem> {
    if body.layer == Some(Layer::Archive) {
        let hint = "store it as knowledge or identity";
        return Err(Problem::new(Code::Invalid, "the archive is written by conversations", hint));
    }
    let new = NewMemory {
        content: body.content,
        key: body.key,
        layer: body.layer.unwrap_or(Layer::Knowledge),
        importance: weight(body.significance, body.importance)?,
        tags: body.tags,
        project: body.project,
        source: body.source.unwrap_or(Source::User),
        session: None,
        provenance: Vec::new(),
    };
    let remembered = app.engine(move |engine| Ok(engine.memories().remember(&new)?)).await?;
    let status = if remembered.outcome == Outcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    let location = format!("/api/memories/{}", remembered.memory.entry.id);
    Ok((status, [(header::LOCATION, location)], tagged(remembered.memory.entry.version, remembered)).into_response())
}

/// Which memories.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Only this layer.
    layer: Option<Layer>,
    /// Only this category.
    category: Option<Category>,
    /// Only with this tag; several times for several.
    #[serde(default)]
    tag: Vec<String>,
    /// Only of this project.
    project: Option<String>,
    /// `active` unless given.
    #[param(inline)]
    status: Option<StatusFilter>,
    /// Only by this source.
    source: Option<Source>,
    /// Only what a recall of these words finds, best first.
    q: Option<String>,
    /// Only stored at this time or later: `2026-03-01`, `yesterday`, `3 days ago`.
    since: Option<String>,
    /// Only stored before this time.
    until: Option<String>,
    /// How many at most.
    #[param(minimum = 0, maximum = 1000)]
    limit: Option<usize>,
    /// Where the previous page ended.
    cursor: Option<String>,
}

/// Lists memories, newest first; with `q`, those that a recall finds
#[utoipa::path(get, path = "/api/memories", tag = "memories", params(Wanted),
    responses((status = 200, description = "A page", body = Listing)))]
async fn list(State(app): State<Arc<App>>, Params(wanted): Params<Wanted>) -> Answer<Listing> {
    let criteria = Criteria {
        layer: wanted.layer,
        category: wanted.category,
        tags: wanted.tag,
        project: wanted.project,
        status: wanted.status.unwrap_or_default(),
        source: wanted.source,
        since: wanted.since,
        until: wanted.until,
        ..Criteria::default()
    };
    let filter = criteria.filter(&app.now())?;
    let limit = limit(wanted.limit, USUAL, MOST)?;
    if let Some(query) = wanted.q {
        if wanted.cursor.is_some() {
            return Err(Problem::new(Code::Invalid, "what is found has no cursor", "leave out `cursor` or `q`"));
        }
        let recall =
            app.engine(move |engine| Ok(engine.recall().recall(&RecallRequest { query, limit, filter })?)).await?;
        let memories = recall.hits.into_iter().map(|hit| hit.memory).collect();
        return Ok(Json(Listing { memories, cursor: None }));
    }
    let page = Page { limit, cursor: wanted.cursor };
    app.engine(move |engine| Ok(engine.memories().list(&filter, &page)?)).await.map(Json)
}

/// Shows one memory, or one turn of a conversation
#[utoipa::path(get, path = "/api/memories/{id}", tag = "memories",
    params(("id" = String, Path, description = "An id, the first six characters of a memory's id, or a key")),
    responses((status = 200, description = "The memory", body = Memory, headers(("ETag" = String)))))]
async fn show(State(app): State<Arc<App>>, Named(id): Named<String>) -> Result<Response, Problem> {
    let memory = app.engine(move |engine| {
        let not_found = match engine.memories().show(&id) {
            Err(error @ EngineError::NotFound { .. }) => error,
            other => return Ok(other?),
        };
        let said = engine.recall().said(&EntryId::new(id))?;
        Ok(said.map(|turn| turn.memory).ok_or(not_found)?)
    });
    let memory = memory.await?;
    Ok(tagged(memory.entry.version, memory))
}

/// What to change; what is not given stays, and null removes.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MemoryChange)]
struct Change {
    /// The text.
    content: Option<String>,
    /// The key; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    key: Option<Option<String>>,
    /// All labels.
    tags: Option<Vec<String>>,
    /// The project; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    project: Option<Option<String>>,
    /// How much it matters, 1 to 5.
    significance: Option<Significance>,
    /// How much it matters, 0 to 1; not together with `significance`.
    importance: Option<Importance>,
}

/// Changes a memory; with `If-Match`, only the version that was seen
#[utoipa::path(patch, path = "/api/memories/{id}", tag = "memories", request_body = Change,
    params(("id" = String, Path, description = "An id, the first six characters of one, or a key"),
           ("If-Match" = Option<String>, Header, description = "The ETag of the version that was seen")),
    responses((status = 200, description = "The memory as it now is", body = Remembered, headers(("ETag" = String))),
              (status = 412, description = "Changed since", body = crate::problem::ErrorBody),
              (status = 422, description = "Identity is full", body = crate::problem::ErrorBody)))]
async fn edit(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    IfMatch(seen): IfMatch,
    Body(change): Body<Change>,
) -> Result<Response, Problem> {
    // A tag that is no version is that of no version.
    let expected_version = seen.as_deref().map(|tag| tag.parse().unwrap_or(0));
    let edit = Edit {
        content: change.content,
        key: change.key,
        importance: weight(change.significance, change.importance)?,
        tags: change.tags,
        project: change.project,
        expected_version: None,
    };
    if edit == Edit::default() {
        let hint = "give content, key, tags, project, significance or importance";
        return Err(Problem::new(Code::Invalid, "nothing to change was given", hint));
    }
    let edit = Edit { expected_version, ..edit };
    let edited =
        app.engine(move |engine| engine.memories().edit(&id, &edit).map_err(|error| too_late(error, &edit))).await?;
    Ok(tagged(edited.memory.entry.version, edited))
}

/// Whoever said which version they saw is told that it is another one.
fn too_late(error: EngineError, edit: &Edit) -> Problem {
    match error {
        EngineError::Store(StoreError::Conflict { .. }) if edit.expected_version.is_some() => {
            let hint = "read it again, apply your change to what it says now, and send that with its ETag";
            Problem::new(Code::Changed, "the memory was changed since you saw it", hint)
        }
        other => other.into(),
    }
}

/// How to forget.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct How {
    /// Leave no byte of it, instead of making it inactive.
    erase: Option<bool>,
    /// With `erase`: also erase the turns of conversations that it came from.
    with_sources: Option<bool>,
}

/// What became of a memory that was forgotten or erased.
#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
enum Gone {
    /// It is inactive.
    Forgotten(Forgotten),
    /// It is erased.
    Erased(ErasedMemory),
}

/// Makes a memory inactive, or erases it for good
#[utoipa::path(delete, path = "/api/memories/{id}", tag = "memories",
    params(("id" = String, Path, description = "An id, the first six characters of one, or a key"), How),
    responses((status = 200, description = "It is forgotten, or erased", body = Gone)))]
async fn forget(State(app): State<Arc<App>>, Named(id): Named<String>, Params(how): Params<How>) -> Answer<Gone> {
    let with_sources = how.with_sources.unwrap_or_default();
    if how.erase.unwrap_or_default() {
        return app.host(move |host| host.erase(&id, with_sources)).await.map(|gone| Json(Gone::Erased(gone)));
    }
    if with_sources {
        let hint = "add `erase=true`, or leave out `with_sources`";
        return Err(Problem::new(Code::Invalid, "sources go only with what is erased", hint));
    }
    app.engine(move |engine| Ok(engine.memories().forget(&id)?)).await.map(|gone| Json(Gone::Forgotten(gone)))
}

/// Says what erasing a memory would remove, and removes nothing
#[utoipa::path(get, path = "/api/memories/{id}/erasure", tag = "memories",
    params(("id" = String, Path, description = "An id, the first six characters of one, or a key")),
    responses((status = 200, description = "What would be removed", body = ErasurePreview)))]
async fn erasure(State(app): State<Arc<App>>, Named(id): Named<String>) -> Answer<ErasurePreview> {
    let looked = app.host(move |host| {
        let preview = host.engine().memories().preview_erase(&id)?;
        Ok(ErasurePreview { copies: host.copies()?, ..preview })
    });
    looked.await.map(Json)
}

/// Shows every version of a memory, oldest first; of a line of a document, those of its document
#[utoipa::path(get, path = "/api/memories/{id}/history", tag = "memories",
    params(("id" = String, Path, description = "An id, the first six characters of one, or a key")),
    responses((status = 200, description = "Its versions", body = HistoryOf)))]
async fn history(State(app): State<Arc<App>>, Named(id): Named<String>) -> Answer<HistoryOf> {
    app.engine(move |engine| Ok(engine.history().of(&id)?)).await.map(Json)
}

/// Which version.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Version {
    /// Its number, as the history gives it.
    pub(super) version: u32,
}

/// Brings an earlier version back
#[utoipa::path(post, path = "/api/memories/{id}/restore", tag = "memories", request_body = Version,
    params(("id" = String, Path, description = "An id, the first six characters of one, or a key")),
    responses((status = 200, description = "As it now is", body = Restored)))]
async fn restore(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    Body(wanted): Body<Version>,
) -> Answer<Restored> {
    app.engine(move |engine| Ok(engine.history().restore(&id, wanted.version)?)).await.map(Json)
}

/// What is right.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Right {
    /// What is right.
    content: String,
    /// Labels beside those that the wrong one has.
    #[serde(default)]
    tags: Vec<String>,
}

/// Puts what is right in the place of a memory that is wrong
#[utoipa::path(post, path = "/api/memories/{id}/correct", tag = "memories", request_body = Right,
    params(("id" = String, Path, description = "What is wrong: an id, the first six characters of one, or a key")),
    responses((status = 200, description = "What now stands", body = Replaced)))]
async fn correct(State(app): State<Arc<App>>, Named(id): Named<String>, Body(right): Body<Right>) -> Answer<Replaced> {
    let correction = Correction { tags: right.tags, ..Correction::by_person(right.content) };
    app.engine(move |engine| Ok(engine.memories().correct(&id, &correction)?)).await.map(Json)
}

/// Where it is not given.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Muting {
    /// Only in the sessions of this project; everywhere unless given.
    project: Option<String>,
    /// Give it again.
    #[serde(default)]
    off: bool,
}

/// Never gives a memory to an assistant, or does again; a search finds it either way
#[utoipa::path(post, path = "/api/memories/{id}/mute", tag = "memories", request_body = Muting,
    params(("id" = String, Path, description = "An id, the first six characters of one, or a key")),
    responses((status = 200, description = "The memory, with where it is muted", body = Memory)))]
async fn mute(State(app): State<Arc<App>>, Named(id): Named<String>, Body(mute): Body<Muting>) -> Answer<Memory> {
    let muted = app.engine(move |engine| {
        let (memories, project) = (engine.memories(), mute.project.as_deref());
        Ok(if mute.off { memories.unmute(&id, project)? } else { memories.mute(&id, project)? })
    });
    muted.await.map(Json)
}

/// Memories that say the same.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Same {
    /// Their ids or keys; the first one stands.
    #[schema(min_items = 2, max_items = 500)]
    ids: Vec<String>,
    /// What the one that stands says from now on.
    content: Option<String>,
}

/// Makes one memory of several that say the same
#[utoipa::path(post, path = "/api/memories/merge", tag = "memories", request_body = Same,
    responses((status = 200, description = "What now stands", body = Replaced)))]
async fn merge(State(app): State<Arc<App>>, Body(same): Body<Same>) -> Answer<Replaced> {
    check_count(&same.ids)?;
    app.engine(move |engine| Ok(engine.memories().merge(&same.ids, same.content.as_deref())?)).await.map(Json)
}

/// The same for many memories.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Many {
    /// What is done to each.
    action: BulkAction,
    /// Their ids or keys.
    #[schema(max_items = 500)]
    ids: Vec<String>,
    /// The tag to give or take.
    tag: Option<String>,
}

/// Does the same to many memories; one that cannot be done costs no other
#[utoipa::path(post, path = "/api/memories/bulk", tag = "memories", request_body = Many,
    responses((status = 200, description = "What became of each", body = BulkDone)))]
async fn bulk(State(app): State<Arc<App>>, Body(many): Body<Many>) -> Answer<BulkDone> {
    check_count(&many.ids)?;
    app.engine(move |engine| Ok(engine.memories().bulk(many.action, &many.ids, many.tag.as_deref())?)).await.map(Json)
}

fn check_count(ids: &[String]) -> Result<(), Problem> {
    if ids.len() <= MOST_IN_BULK {
        return Ok(());
    }
    let hint = format!("name {MOST_IN_BULK} at most, and come again");
    Err(Problem::new(Code::Invalid, format!("{} memories are named", ids.len()), hint))
}
