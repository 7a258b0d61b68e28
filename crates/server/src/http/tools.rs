//! `/api/tools`: what assistants are offered, for hosts that call it over HTTP.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Map, Value};
use throughline_core::engine::{ErrorCode, OfferedTools, StartSession};
use throughline_core::model::SessionId;
use throughline_core::ports::ToolCall;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::take::{Body, Named};
use super::{Answer, App};
use crate::problem::{Code, Problem};

/// The conversation of whoever names none.
const SESSION: &str = "http:tools";

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(call))
}

/// Lists the tools that assistants are offered, with their parameters
#[utoipa::path(get, path = "/api/tools", tag = "tools",
    responses((status = 200, description = "In their order", body = OfferedTools)))]
async fn list(State(app): State<Arc<App>>) -> Answer<OfferedTools> {
    app.engine(|engine| Ok(engine.tools().offered_tools())).await.map(Json)
}

/// What an assistant asks for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Call {
    /// As the tool's schema has it.
    #[serde(default)]
    #[schema(value_type = Object)]
    arguments: Map<String, Value>,
    /// The conversation in which it is called.
    session: Option<SessionId>,
}

/// Calls a tool as an assistant would
#[utoipa::path(post, path = "/api/tools/{name}", tag = "tools", request_body = Call,
    params(("name" = String, Path, description = "Such as `memory_recall`")),
    responses((status = 200, description = "The tool's own answer", body = Object),
              (status = 422, description = "Identity is full", body = crate::problem::ErrorBody)))]
async fn call(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    Body(call): Body<Call>,
) -> Result<Response, Problem> {
    let answer = app.engine(move |engine| {
        if !engine.tools().offered().iter().any(|tool| tool.as_str() == name) {
            let hint = "`/api/tools` lists those that are offered";
            return Err(Problem::new(Code::NotFound, format!("no tool `{name}` is offered"), hint));
        }
        let session = call.session.map_or_else(|| SESSION.parse(), Ok)?;
        engine.sessions().start(&StartSession::new(session.clone()))?;
        let arguments = Value::Object(call.arguments).to_string();
        Ok(engine.tools().call(&session, &ToolCall { id: String::new(), name, arguments }))
    });
    let answer = answer.await?;
    // An error of a tool has the shape of every problem, and may say more.
    let word = answer.content["error"]["code"].as_str().filter(|_| answer.is_error);
    let code = |word: &str| word.parse::<ErrorCode>().map_or(Code::Failed, Code::from);
    let status = word.map_or(StatusCode::OK, |word| code(word).status());
    Ok((status, Json(answer.content)).into_response())
}
