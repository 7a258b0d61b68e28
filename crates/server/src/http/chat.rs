//! `/api/chat`: the same conversation as in the terminal, as a stream.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, StreamExt as _};
use serde::{Deserialize, Serialize};
use throughline_core::context::Part;
use throughline_core::model::SessionId;
use tokio::sync::mpsc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::take::Body;
use crate::problem::{Code, Problem};

/// What the panel asks of the program to let a person talk to the model. Every method may block.
pub trait Talks: Send + Sync + 'static {
    /// Which model there is to talk to, if any.
    fn chat_model(&self) -> ChatModel;

    /// Says something and passes on what happens; `tell` answers whether anybody still listens, and where nobody does,
    /// the reply is stopped. What was said and done until then is kept.
    fn chat(&self, said: &ChatMessage, tell: &mut dyn FnMut(ChatEvent) -> bool) -> Result<(), Problem>;
}

/// The model that talks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChatModel {
    /// Whether it can be asked.
    pub available: bool,
    /// `ollama`, `openai` …
    pub provider: String,
    /// Its name.
    pub model: Option<String>,
    /// Why not, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Something that a person says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatMessage {
    /// The conversation; without it, a new one begins.
    #[serde(default)]
    pub session: Option<String>,
    /// The words.
    pub message: String,
}

/// What happens while a model answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    /// The conversation that this belongs to.
    Session(SessionId),
    /// What was put in front of the message, and why.
    Injected(Vec<Part>),
    /// More of the reply.
    Delta(String),
    /// A tool that the model called, and what came of it.
    Tool {
        /// Its name.
        name: String,
        /// In a line.
        summary: String,
    },
    /// The whole reply; nothing follows.
    Done(String),
    /// There is no reply; nothing follows.
    Failed(Problem),
    /// Nothing yet: asks whether anybody still listens.
    Still,
}

impl ChatEvent {
    /// As it goes over the wire; nothing where there is nothing to say.
    fn event(&self) -> Option<Event> {
        let (name, data) = match self {
            Self::Session(session) => ("session", serde_json::json!({ "session": session })),
            Self::Injected(parts) => ("injected", serde_json::json!({ "parts": parts })),
            Self::Delta(text) => ("delta", serde_json::json!({ "text": text })),
            Self::Tool { name, summary } => ("tool", serde_json::json!({ "name": name, "summary": summary })),
            Self::Done(reply) => ("done", serde_json::json!({ "reply": reply })),
            Self::Failed(problem) => ("failed", serde_json::json!(problem.clone().body())),
            Self::Still => return None,
        };
        Some(Event::default().event(name).data(data.to_string()))
    }
}

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(model, say))
}

/// Which model there is to talk to
#[utoipa::path(
    get,
    path = "/api/chat",
    tag = "chat",
    responses((status = 200, description = "The model, or why there is none", body = ChatModel))
)]
async fn model(State(app): State<Arc<App>>) -> Result<Json<ChatModel>, Problem> {
    app.host(|host| Ok(Json(host.chat_model()))).await
}

/// Says something to the model; whoever goes away stops the reply
#[utoipa::path(
    post,
    path = "/api/chat",
    tag = "chat",
    request_body = ChatMessage,
    responses(
        (status = 200, content_type = "text/event-stream", description = "`session`, `injected`, `delta`, `tool`, then `done` or `failed`", body = std::collections::BTreeMap<String, String>)
    )
)]
async fn say(
    State(app): State<Arc<App>>,
    Body(said): Body<ChatMessage>,
) -> Result<Sse<impl futures_util::Stream<Item = Result<Event, Infallible>>>, Problem> {
    let hint = "send {\"session\"?, \"message\"}";
    if said.message.trim().is_empty() {
        return Err(Problem::new(Code::Invalid, "nothing was said", hint));
    }
    let model = app.host(|host| Ok(host.chat_model())).await?;
    if !model.available {
        let hint = "set a provider under `[model]` in the config file";
        return Err(Problem::new(Code::NoModel, model.why.unwrap_or_else(|| "no chat model".to_owned()), hint));
    }
    // Held until the reply has ended, whoever still listens.
    let place = Arc::clone(&app.chats).try_acquire_owned().map_err(|_| {
        Problem::new(Code::Busy, "too many replies are under way", "try again when one of them has ended")
    })?;
    // A model streams from within a runtime of its own, where nothing may block; what waits is bounded by its reply.
    let (sender, receiver) = mpsc::unbounded_channel();
    let (host, stop) = (Arc::clone(&app.host), app.stop.clone());
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let mut tell = |event: ChatEvent| {
            let told = event.event().is_none_or(|event| sender.send(event).is_ok());
            told && !sender.is_closed() && !stop.is_cancelled()
        };
        if let Err(problem) = host.chat(&said, &mut tell) {
            tell(ChatEvent::Failed(problem));
        }
    });
    let events = stream::unfold(receiver, async |mut receiver| receiver.recv().await.map(|event| (event, receiver)));
    Ok(Sse::new(events.map(Ok)).keep_alive(KeepAlive::new()))
}
