//! The core's tools in the words of the protocol. Nothing is decided here: the core's one service is called with what the
//! client sent.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, ErrorData, JsonObject, Tool as Described, ToolAnnotations};
use serde_json::{Value, json};
use throughline_core::engine::ToolAnswer;
use throughline_core::tools::Tool;

use crate::problem::Problem;

/// A tool as a client is told of it.
pub(super) fn described(tool: Tool) -> Described {
    let nature = tool.nature();
    let annotations = ToolAnnotations::with_title(tool.title())
        .read_only(nature.is_read_only)
        .destructive(nature.is_destructive)
        .idempotent(nature.is_idempotent)
        .open_world(false);
    let mut described = Described::new(tool.as_str(), tool.description(), object(tool.schema()));
    described.title = Some(tool.title().to_owned());
    described.output_schema = Some(Arc::new(object(tool.answers())));
    described.annotations = Some(annotations);
    described
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// What a tool answered, as structure and as text. A failure is words alone: as structure it would break the tool's output
/// schema, and clients that check it hide the message. Gemini CLI takes even a text that is JSON for structure.
pub(super) fn answered(answer: ToolAnswer) -> CallToolResult {
    if answer.is_error { error(&answer.content) } else { CallToolResult::structured(answer.content) }
}

/// A call that never reached the core, in the shape of the core's own failures.
pub(super) fn failed(problem: Problem) -> CallToolResult {
    error(&json!(problem.body()))
}

fn error(content: &Value) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(in_words(content))])
}

/// A failure as `CODE: MESSAGE`, the hint, and whatever else it says, a line each.
fn in_words(content: &Value) -> String {
    let told = |name: &str| content["error"][name].as_str();
    let mut text = format!("{}: {}", told("code").unwrap_or("error"), told("message").unwrap_or_default());
    if let Some(hint) = told("hint") {
        text.push_str(&format!("\nhint: {hint}"));
    }
    for (name, more) in content.as_object().into_iter().flatten().filter(|(name, _)| *name != "error") {
        text.push_str(&format!("\n{name}: {more}"));
    }
    text
}

/// The protocol's own answer to a call of a tool that is not offered.
pub(super) fn unknown(name: &str, offered: &[Tool]) -> ErrorData {
    let names: Vec<&str> = offered.iter().map(|tool| tool.as_str()).collect();
    let others = if names.is_empty() { "memory is off".to_owned() } else { format!("there are {}", names.join(", ")) };
    ErrorData::invalid_params(format!("unknown tool `{name}`; {others}"), None)
}
