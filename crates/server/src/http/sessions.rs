//! `/api/sessions`: how a host program follows its conversations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use throughline_core::context::{Context, joined_prompts};
use throughline_core::engine::{
    Consolidation, ContextRequest, Ended, Engine, EngineError, Explained, Observed, Said, SessionListing, SessionReset,
    ShownSession, StartSession, Started, Visibility,
};
use throughline_core::model::{EntryId, Memory, Role, SessionId};
use throughline_core::ports::Page;
use throughline_core::recall::Filter;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Named, Params};
use super::{Answer, App, MOST, USUAL, in_path, limit, starting};
use crate::host::{Kept, WaitingTurns};
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, start))
        .routes(routes!(show))
        .routes(routes!(explain))
        .routes(routes!(consolidations))
        .routes(routes!(context))
        .routes(routes!(observe))
        .routes(routes!(compact))
        .routes(routes!(summarise))
        .routes(routes!(reset))
        .routes(routes!(end))
}

/// A conversation that begins, or goes on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Start {
    /// Where it takes place: `telegram`, `web`, `cli` …
    channel: String,
    /// Its own name on the channel, or `channel:name`; made where it is not given.
    session: Option<String>,
    /// What the host calls it; without it, it is called after its first message.
    title: Option<String>,
    /// The project it is about.
    project: Option<String>,
    /// The directory that it takes place in, as an absolute path: it is about the project there, where it names none.
    dir: Option<String>,
    /// The task it is about.
    task: Option<String>,
    /// The name of the person among the speakers: user turns of others are other people's words.
    person: Option<String>,
    /// The host's own system prompt: one text, or several in their order.
    system_prompt: Option<Prompts>,
}

/// A system prompt in one text or in several.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
enum Prompts {
    /// One.
    One(String),
    /// Several, in their order.
    Several(Vec<String>),
}

impl From<Prompts> for String {
    fn from(prompts: Prompts) -> Self {
        match prompts {
            Prompts::One(text) => text,
            Prompts::Several(texts) => joined_prompts(&texts),
        }
    }
}

/// Begins a session, or finds it begun: its memory is computed once
#[utoipa::path(post, path = "/api/sessions", tag = "sessions", request_body = Start,
    responses((status = 201, description = "It has begun", body = Started, headers(("Location" = String)))))]
async fn start(State(app): State<Arc<App>>, Body(start): Body<Start>) -> Result<Response, Problem> {
    let Start { channel, session, title, project, dir, task, person, system_prompt } = start;
    let system_prompt = system_prompt.map(String::from);
    let dir = dir.as_deref().map(directory).transpose()?;
    let given = session.map(|session| on_channel(&channel, &session)).transpose()?;
    let is_named = given.is_some();
    let id = given.map_or_else(|| app.host.engine().sessions().new_name(&channel), Ok)?;
    let start = StartSession { id, title, project, dir, task, person, system_prompt };
    let started = starting::begin(&app, start, is_named).await?;
    let location = format!("/api/sessions/{}", in_path(started.session.as_str()));
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(started)).into_response())
}

/// A directory as the memory knows it: absolute, without links in its path.
fn directory(dir: &str) -> Result<PathBuf, Problem> {
    let hint = "give the absolute path of a directory that exists, or leave `dir` out";
    let refused = |why: String| Problem::new(Code::Invalid, format!("cannot use {dir}: {why}"), hint);
    let path = Path::new(dir);
    if !path.is_absolute() {
        return Err(refused("it is not an absolute path".to_owned()));
    }
    path.canonicalize().map_err(|error| refused(error.to_string()))
}

/// The session of this name on this channel.
fn on_channel(channel: &str, session: &str) -> Result<SessionId, Problem> {
    let id = SessionId::on_channel(channel, session)?;
    if id.as_str().split(':').next() == Some(channel) {
        return Ok(id);
    }
    let hint = "give its own name on the channel, or `channel:name`";
    Err(Problem::new(Code::Invalid, format!("`{id}` is not on the channel `{channel}`"), hint))
}

/// Which conversations.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Only on this channel.
    channel: Option<String>,
    /// Only those with all of these words in their titles: one page of them, without a cursor.
    query: Option<String>,
    /// How many at most.
    #[param(minimum = 0, maximum = 1000)]
    limit: Option<usize>,
    /// Where the previous page ended.
    cursor: Option<String>,
}

/// Lists conversations, the latest first
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(Wanted),
    responses((status = 200, description = "A page", body = SessionListing)))]
async fn list(State(app): State<Arc<App>>, Params(wanted): Params<Wanted>) -> Answer<SessionListing> {
    let limit = limit(wanted.limit, USUAL, MOST)?;
    let (channel, cursor) = (wanted.channel, wanted.cursor);
    let Some(query) = wanted.query else {
        let page = move |engine: &Engine| Ok(engine.sessions().page(channel.as_deref(), limit, cursor.as_deref())?);
        return app.engine(page).await.map(Json);
    };
    if cursor.is_some() {
        let hint = "leave out `cursor`, or `query`";
        return Err(Problem::new(Code::Invalid, "a search in titles gives one page", hint));
    }
    app.search(move |engine| Ok(engine.sessions().titled_with(&query, channel.as_deref(), limit)?)).await.map(Json)
}

/// Which turns.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Turns {
    /// The id of a turn: those after it.
    turns_after: Option<String>,
    /// How many at most.
    #[param(minimum = 0, maximum = 1000)]
    limit: Option<usize>,
}

/// Shows a conversation and what was said in it, oldest first
#[utoipa::path(get, path = "/api/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "Such as `telegram:123`"), Turns),
    responses((status = 200, description = "What was said", body = ShownSession)))]
async fn show(
    State(app): State<Arc<App>>,
    Named(id): Named<SessionId>,
    Params(turns): Params<Turns>,
) -> Answer<ShownSession> {
    let limit = limit(turns.limit, USUAL, MOST)?;
    app.engine(move |engine| Ok(engine.sessions().show(&id, turns.turns_after.as_deref(), limit)?)).await.map(Json)
}

/// Shows which memories the latest message was given, and why
#[utoipa::path(get, path = "/api/sessions/{id}/explain", tag = "sessions",
    params(("id" = String, Path, description = "Such as `telegram:123`")),
    responses((status = 200, description = "What it was given", body = Explained)))]
async fn explain(State(app): State<Arc<App>>, Named(id): Named<SessionId>) -> Answer<Explained> {
    app.engine(move |engine| Ok(engine.recall().explain(&id)?.into())).await.map(Json)
}

/// What became of a conversation.
#[derive(Serialize, ToSchema)]
struct Consolidations {
    /// Entries of the timeline and facts that came from it, newest first.
    consolidations: Vec<Memory>,
    /// Where the next page begins, if there is one.
    cursor: Option<String>,
}

/// Which of them.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Made {
    /// How many at most.
    #[param(minimum = 0, maximum = 1000)]
    limit: Option<usize>,
    /// Where the previous page ended.
    cursor: Option<String>,
}

/// Lists the memories that were made of a conversation: its timeline, and facts
#[utoipa::path(get, path = "/api/sessions/{id}/consolidations", tag = "sessions",
    params(("id" = String, Path, description = "Such as `telegram:123`"), Made),
    responses((status = 200, description = "A page, newest first", body = Consolidations)))]
async fn consolidations(
    State(app): State<Arc<App>>,
    Named(id): Named<SessionId>,
    Params(made): Params<Made>,
) -> Answer<Consolidations> {
    let page = Page { limit: limit(made.limit, USUAL, MOST)?, cursor: made.cursor };
    let looked = app.engine(move |engine| {
        engine.sessions().get(&id)?;
        let filter = Filter { session: Some(id), ..Filter::default() };
        let listing = engine.memories().list(&filter, &page)?;
        Ok(Consolidations { consolidations: listing.memories, cursor: listing.cursor })
    });
    looked.await.map(Json)
}

/// What the person just said.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Message {
    /// Their words.
    message: String,
}

/// Gives what to send to the model for a message: the system prompt, and the message with its memories
#[utoipa::path(post, path = "/api/sessions/{id}/context", tag = "sessions", request_body = Message,
    params(("id" = String, Path, description = "Such as `telegram:123`")),
    responses((status = 200, description = "What to send", body = Context)))]
async fn context(
    State(app): State<Arc<App>>,
    Named(id): Named<SessionId>,
    Body(said): Body<Message>,
) -> Answer<Context> {
    let starting = app.starting.get(&id);
    let given = app.search(move |engine| {
        let given = match (engine.context().give(&id, &said.message, Visibility::Stays), starting) {
            (Err(EngineError::NoSession { .. }), Some(start)) => {
                let request = ContextRequest { message: Some(said.message), ..start.request()? };
                engine.context().give_for(&request, Visibility::Stays)
            }
            (given, _) => given,
        };
        Ok(given?)
    });
    given.await.map(Json)
}

/// One turn, or several at once under `turns`.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "what is taken, for the schema; read by `spoken_turns`, which says what is wrong")]
enum Spoken {
    /// Several, in their order.
    Many(ManyTurns),
    /// One.
    One(OneTurn),
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ManyTurns {
    /// In the order in which they were said.
    #[schema(min_items = 1, max_items = 1000)]
    turns: Vec<OneTurn>,
}

/// Something that was said.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct OneTurn {
    /// `user`, `assistant`, `tool` or `system`.
    role: Role,
    /// The words.
    content: String,
    /// The host's own name for it: said twice in a session, it is kept once.
    id: Option<String>,
    /// The speaker's name, where several share a role.
    speaker: Option<String>,
    /// When; now unless given.
    at: Option<String>,
}

/// Keeps what was said; durable when it answers
#[utoipa::path(post, path = "/api/sessions/{id}/turns", tag = "sessions", request_body = Spoken,
    params(("id" = String, Path, description = "Such as `telegram:123`")),
    responses((status = 201, description = "It is kept", body = Observed),
        (status = 202, description = "The server of the memory cannot be reached: it is kept here and delivered later",
         body = WaitingTurns)))]
async fn observe(
    State(app): State<Arc<App>>,
    Named(id): Named<SessionId>,
    Body(spoken): Body<serde_json::Value>,
) -> Result<Response, Problem> {
    let turns = spoken_turns(spoken)?;
    let said = turns.into_iter().map(|turn| said(&app, turn)).collect::<Result<Vec<_>, _>>()?;
    let kept = app.host(move |host| Ok(host.observe(&StartSession::new(id), &said)?));
    Ok(match kept.await? {
        Kept::Stored(observed) => (StatusCode::CREATED, Json(observed)).into_response(),
        Kept::Waiting(waiting) => (StatusCode::ACCEPTED, Json(WaitingTurns { waiting })).into_response(),
    })
}

/// Reads one turn or several, so that whoever slips is told where.
fn spoken_turns(body: serde_json::Value) -> Result<Vec<OneTurn>, Problem> {
    let unread = |error: serde_json::Error| {
        let hint = "send {\"role\", \"content\", \"id\"?, \"speaker\"?, \"at\"?}, or several under `turns`";
        Problem::new(Code::Invalid, format!("the body cannot be read: {error}"), hint)
    };
    let turns = if body.get("turns").is_some() {
        serde_json::from_value::<ManyTurns>(body).map_err(unread)?.turns
    } else {
        vec![serde_json::from_value(body).map_err(unread)?]
    };
    if turns.is_empty() || turns.len() > MOST {
        let hint = format!("send 1 to {MOST} turns at once");
        return Err(Problem::new(Code::Invalid, format!("{} turns are given", turns.len()), hint));
    }
    Ok(turns)
}

fn said(app: &App, turn: OneTurn) -> Result<Said, Problem> {
    let at = app.when(turn.at.as_deref())?;
    Ok(Said { id: turn.id, role: turn.role, speaker: turn.speaker, content: turn.content, at })
}

/// A summary that the host already has.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Summary {
    /// Used instead of making one.
    summary: Option<String>,
}

/// Consolidates what was said since the last time and shortens what is sent to the model; waits for it
#[utoipa::path(post, path = "/api/sessions/{id}/compact", tag = "sessions", request_body = Summary,
    params(("id" = String, Path, description = "Such as `telegram:123`")),
    responses((status = 200, description = "What came of it", body = Consolidation)))]
async fn compact(
    State(app): State<Arc<App>>,
    Named(id): Named<SessionId>,
    Body(given): Body<Summary>,
) -> Answer<Consolidation> {
    app.host(move |host| host.compact(&id, given.summary.as_deref())).await.map(Json)
}

/// The summary of a conversation.
#[derive(Serialize, ToSchema)]
struct Summarised {
    /// The entry in the archive; none if nothing was said.
    id: Option<EntryId>,
}

/// Keeps a summary of a conversation in the archive: the one that is given, or one that is made now
#[utoipa::path(post, path = "/api/sessions/{id}/summarize", tag = "sessions", request_body = Summary,
    params(("id" = String, Path, description = "Such as `telegram:123`")),
    responses((status = 200, description = "Where it is", body = Summarised)))]
async fn summarise(
    State(app): State<Arc<App>>,
    Named(session): Named<SessionId>,
    Body(given): Body<Summary>,
) -> Answer<Summarised> {
    let kept = app.host(move |host| host.summarise(&session, given.summary.as_deref())).await?;
    Ok(Json(Summarised { id: kept }))
}

/// Computes anew what the session begins with
#[utoipa::path(post, path = "/api/sessions/{id}/reset", tag = "sessions",
    params(("id" = String, Path, description = "Such as `telegram:123`")),
    responses((status = 200, description = "It begins anew with the next message", body = SessionReset)))]
async fn reset(State(app): State<Arc<App>>, Named(id): Named<SessionId>) -> Answer<SessionReset> {
    let reset = app.engine(move |engine| {
        engine.sessions().reset(&id)?;
        Ok(SessionReset { session: id })
    });
    reset.await.map(Json)
}

/// Ends a conversation; saying more opens it again
#[utoipa::path(post, path = "/api/sessions/{id}/end", tag = "sessions",
    params(("id" = String, Path, description = "Such as `telegram:123`")),
    responses((status = 200, description = "What came of it", body = Ended)))]
async fn end(State(app): State<Arc<App>>, Named(id): Named<SessionId>) -> Answer<Ended> {
    app.host(move |host| host.end(&id)).await.map(Json)
}
