//! One request: read, given its memories in time or not at all, passed on, and recorded when the reply has passed.

use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use throughline_core::engine::chain;
use throughline_core::model::{EntryId, SessionId};
use tokio::sync::oneshot;

use super::conversations::Conversations;
use super::edits::applied;
use super::headers;
use super::memory::{ComposeError, Composed, Heard, Request as Asking, compose};
use super::passing::{self, Passed};
use super::recording::{Exchange, compact, record};
use super::upstream::{PassedOn, send};
use super::wires::{Asked, Wire, read_reply};
use super::wish::{Mode, Wish};
use super::{MOST_BYTES, ProxySettings};
use crate::http::App;
use crate::{Code, Host, Problem};

const MEMORY: HeaderName = HeaderName::from_static("x-throughline-memory");
const MEMORIES: HeaderName = HeaderName::from_static("x-throughline-memories");
const SESSION: HeaderName = HeaderName::from_static("x-throughline-session");

/// So many memories are named in the header of a reply.
const MOST_NAMED: usize = 50;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A reply.
    Reply,
    /// How long it would be: nothing is said, and nothing is kept.
    Count,
}

/// What became of memory.
enum Memory {
    /// Added.
    Added(Mode, Box<Composed>),
    /// Not asked for, switched off, or off the record.
    Off,
    /// It took too long.
    Late(Option<Missed>),
    /// It is broken, or the request cannot be read.
    Failed(Option<Missed>),
}

/// A request that went on without memory, although what is said in it is to be kept.
struct Missed {
    wire: Wire,
    session: Option<SessionId>,
    body: Bytes,
}

impl Missed {
    fn heard(self, host: &dyn Host, conversations: &Conversations) -> Option<Heard> {
        let asked = Asked::read(self.wire, &self.body)?;
        let heard = Heard::of(host.engine(), conversations, self.session, asked);
        heard.unwrap_or_else(|error| {
            tracing::warn!(error = chain(&error), "an exchange is not recorded; the next one brings it again");
            None
        })
    }
}

/// What is recorded of a request once its reply has passed.
enum Source {
    Composed(Box<Composed>),
    Missed(Missed),
}

impl Source {
    fn exchange(self, host: &dyn Host, conversations: &Conversations) -> Option<Exchange> {
        let (heard, given) = match self {
            Self::Composed(composed) => (composed.heard, Some((composed.prepared, composed.visibility))),
            Self::Missed(missed) => (missed.heard(host, conversations)?, None),
        };
        Some(Exchange { heard, given, reply: None, compacts: None })
    }
}

/// A request that memory adds to.
pub(super) async fn exchange(app: &Arc<App>, wire: Wire, purpose: Purpose, request: Request) -> Response {
    let (parts, body) = match taken(request).await {
        Ok(taken) => taken,
        Err(problem) => return problem.into_response(),
    };
    let wish = match Wish::of(&parts.headers) {
        Ok(wish) => wish,
        Err(problem) => return problem.into_response(),
    };
    let settings = app.host.proxy_settings();
    let memory = remembered(app, wire, purpose, wish, settings, &body).await;
    let body = match &memory {
        Memory::Added(_, composed) if !composed.edits.is_empty() => applied(&body, composed.edits.clone()).into(),
        _ => body,
    };
    let sent = body.len();
    let response = match send(app, &parts, body).await {
        Ok(response) => response,
        Err(answer) => return answer,
    };
    let told = told(&memory);
    let is_kept = purpose == Purpose::Reply && response.status().is_success();
    let kept = match memory {
        _ if !is_kept => None,
        Memory::Added(Mode::On, composed) => Some((Source::Composed(composed), settings.compacts.then_some(sent))),
        Memory::Late(missed) | Memory::Failed(missed) => missed.map(|missed| (Source::Missed(missed), None)),
        Memory::Added(..) | Memory::Off => None,
    };
    let mut answer = match kept {
        Some((source, compacts)) => {
            let passed = waits(app, wire, source, compacts, content_type(response.headers()));
            passed_on(response, passed)
        }
        None => passed_on(response, oneshot::channel().0),
    };
    answer.headers_mut().extend(told);
    answer
}

/// A request that memory has nothing to do with.
pub(super) async fn pass_on(app: &Arc<App>, request: Request) -> Response {
    let (parts, body) = match taken(request).await {
        Ok(taken) => taken,
        Err(problem) => return problem.into_response(),
    };
    match send(app, &parts, body).await {
        Ok(response) => passed_on(response, oneshot::channel().0),
        Err(answer) => answer,
    }
}

async fn taken(request: Request) -> Result<(Parts, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    let too_large = |_| {
        let message = format!("the request is larger than {} MB, or ended in the middle", MOST_BYTES >> 20);
        Problem::new(Code::TooLarge, message, "send it to the model's server itself")
    };
    Ok((parts, to_bytes(body, MOST_BYTES).await.map_err(too_large)?))
}

/// What memory adds, in time or not at all.
async fn remembered(
    app: &Arc<App>,
    wire: Wire,
    purpose: Purpose,
    wish: Wish,
    settings: ProxySettings,
    body: &Bytes,
) -> Memory {
    if wish.mode == Mode::Off {
        return Memory::Off;
    }
    let missed = || {
        let (session, body) = (wish.session.clone(), body.clone());
        (wish.mode == Mode::On).then_some(Missed { wire, session, body })
    };
    let (late, failed) = (missed(), missed());
    let (host, conversations, body) = (Arc::clone(&app.host), Arc::clone(&app.proxy.conversations), body.clone());
    let work = move || {
        let asked = Asked::read(wire, &body).ok_or(ComposeError::Unreadable)?;
        let request = Asking { wire, asked, session: wish.session, compacts: settings.compacts };
        compose(host.engine(), &conversations, request)
    };
    let composed = match tokio::time::timeout(settings.deadline, app.proxy.composing.run(work)).await {
        Err(_) => {
            tracing::warn!("memory is late; a request goes on without it");
            return Memory::Late(late);
        }
        Ok(Some(Ok(composed))) => composed,
        Ok(Some(Err(error))) => {
            tracing::warn!(error = chain(&error), "memory adds nothing; a request goes on as it is");
            return Memory::Failed(failed);
        }
        Ok(None) => {
            tracing::error!("memory ended in the middle; a request goes on without it");
            return Memory::Failed(failed);
        }
    };
    let Some(composed) = composed else { return Memory::Off };
    if purpose == Purpose::Reply {
        composed.accept(app.host.engine(), &app.proxy.conversations);
    }
    Memory::Added(wish.mode, Box::new(composed))
}

/// What the client is told about memory, in headers of the reply.
fn told(memory: &Memory) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let word = match memory {
        Memory::Added(Mode::On, _) => "on",
        Memory::Added(..) => "read",
        Memory::Off => "off",
        Memory::Late(_) => "late",
        Memory::Failed(_) => "failed",
    };
    headers.insert(MEMORY, HeaderValue::from_static(word));
    if let Memory::Added(_, composed) = memory {
        let ids: Vec<&str> = composed.used.iter().take(MOST_NAMED).map(EntryId::as_str).collect();
        headers
            .extend(HeaderValue::from_bytes(composed.heard.session.as_str().as_bytes()).ok().map(|id| (SESSION, id)));
        headers.extend(HeaderValue::from_str(&ids.join(",")).ok().map(|ids| (MEMORIES, ids)));
    }
    headers
}

/// The server's reply, as it comes.
fn passed_on(response: reqwest::Response, done: oneshot::Sender<Passed>) -> Response {
    let (status, headers) = (response.status(), headers::to_client(response.headers()));
    let mut answer = Response::new(passing::body(response, done));
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer.extensions_mut().insert(PassedOn);
    answer
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_ascii_lowercase()
}

/// Records an exchange as soon as its reply has passed.
fn waits(
    app: &Arc<App>,
    wire: Wire,
    source: Source,
    compacts: Option<usize>,
    content_type: String,
) -> oneshot::Sender<Passed> {
    let (done, passing) = oneshot::channel::<Passed>();
    let (host, conversations) = (Arc::clone(&app.host), Arc::clone(&app.proxy.conversations));
    let writing = Arc::clone(&app.proxy.writing);
    app.proxy.recordings.spawn(async move {
        let passed = passing.await.unwrap_or_default();
        // One after the other: the store has one writer, and replies that are under way have the processor.
        let turn = writing.lock().await;
        let keeper = Arc::clone(&host);
        let recording = tokio::task::spawn_blocking(move || {
            let reply = passed.body().and_then(|body| read_reply(wire, &content_type, &body));
            let reply = reply.filter(|reply| reply.is_complete || passed.is_whole);
            let reply = reply.filter(|reply| !reply.text.trim().is_empty() || reply.id.is_some());
            let exchange = Exchange { reply, compacts, ..source.exchange(&*keeper, &conversations)? };
            record(&*keeper, &conversations, &exchange);
            Some(exchange)
        });
        let recorded = recording.await;
        drop(turn);
        let compacted = match recorded {
            Ok(Some(exchange)) => tokio::task::spawn_blocking(move || compact(&*host, &exchange)).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = compacted {
            tracing::error!(%error, "a recording ended in the middle");
        }
    });
    done
}
