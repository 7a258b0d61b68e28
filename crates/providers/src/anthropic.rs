//! Anthropic's messages.

use serde_json::{Value, json};
use throughline_core::ports::{Brief, Cost, Finish, Model, ModelError, Reply, SummaryOf, ToolCall, ToolSpec};

use crate::ask::{Ask, ToolResult, Turn};
use crate::http::{Auth, Http};
use crate::settings::{HttpSettings, SettingsError};
use crate::window;
use crate::wire::{Answer, Form, Framing, Trouble, Wire, object};

const BASE_URL: &str = "https://api.anthropic.com";
const VERSION: &str = "2023-06-01";

/// The limit where the brief has none: this wire insists on one.
const MAX_TOKENS: usize = 4096;

/// A model of Anthropic's.
#[derive(Debug)]
pub struct Anthropic(Http);

impl Anthropic {
    /// Sends nothing yet.
    pub fn new(settings: HttpSettings) -> Result<Self, SettingsError> {
        let auth = Auth { header: "x-api-key", scheme: "", extra: &[("anthropic-version", VERSION)] };
        Ok(Self(Http::new("anthropic", BASE_URL, &["/v1"], &auth, settings)?))
    }
}

impl Model for Anthropic {
    fn provider(&self) -> &'static str {
        "anthropic"
    }

    fn name(&self) -> &str {
        self.0.model()
    }

    fn cost(&self) -> Cost {
        Cost::Tokens
    }

    fn summarises(&self) -> SummaryOf {
        SummaryOf::NewTurns
    }

    fn can_chat(&self) -> bool {
        true
    }

    fn context_window(&self) -> Option<usize> {
        self.0.window(window::anthropic)
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        self.0.complete(&Messages, brief, sink)
    }
}

struct Messages;

impl Wire for Messages {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn framing(&self) -> Framing {
        Framing::Sse
    }

    fn body(&self, model: &str, ask: &Ask, _: Form) -> Value {
        let messages: Vec<Value> = ask.turns.iter().map(message).collect();
        let max_tokens = ask.max_tokens.unwrap_or(MAX_TOKENS);
        let mut body = json!({"model": model, "messages": messages, "max_tokens": max_tokens, "stream": true});
        if !ask.tools.is_empty() {
            let tool = |tool: &ToolSpec| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters});
            body["tools"] = ask.tools.iter().map(tool).collect();
        }
        if !ask.system.is_empty() {
            let mut system = json!({"type": "text", "text": ask.system});
            if ask.is_chat {
                // The system prompt of a session stays the same on every turn; this wire caches only what is marked.
                system["cache_control"] = json!({"type": "ephemeral"});
            }
            body["system"] = json!([system]);
        }
        body
    }

    fn simpler(&self, _: &Ask, _: Form, _: &str) -> Option<Form> {
        None
    }

    fn read(&self, event: &Value, answer: &mut Answer) -> Result<(), Trouble> {
        match event["type"].as_str() {
            Some("message_start") => read_usage(&event["message"]["usage"], answer),
            Some("content_block_start") => begin_call(&event["index"], &event["content_block"], answer)?,
            Some("content_block_delta") => {
                answer.say(event["delta"]["text"].as_str().unwrap_or_default());
                let more = event["delta"]["partial_json"].as_str().unwrap_or_default();
                answer.calls.argue(event["index"].as_u64().unwrap_or_default(), more)?;
            }
            Some("message_delta") => {
                read_usage(&event["usage"], answer);
                answer.finish = finish(&event["delta"]["stop_reason"]).or(answer.finish);
            }
            Some("message_stop") => answer.is_over = true,
            Some("message") => read_whole(event, answer)?,
            Some("error") => return Err(refused(&event["error"])),
            // `ping`, the borders of blocks, and what will be invented.
            Some(_) => {}
            None => return Err(Trouble::Malformed("an event without a type".to_owned())),
        }
        Ok(())
    }
}

/// A turn as one message: plain text where it is nothing else. Results come first, as the wire demands.
fn message(turn: &Turn) -> Value {
    let words = |text: &String| (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let (role, blocks): (_, Vec<Value>) = match turn {
        Turn::Person { results, text } if results.is_empty() => return json!({"role": "user", "content": text}),
        Turn::Assistant { text, calls } if calls.is_empty() => return json!({"role": "assistant", "content": text}),
        Turn::Person { results, text } => {
            let result =
                |result: &ToolResult| json!({"type": "tool_result", "tool_use_id": result.id, "content": result.text});
            ("user", results.iter().map(result).chain(words(text)).collect())
        }
        Turn::Assistant { text, calls } => {
            let call = |call: &ToolCall| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": object(&call.arguments)});
            ("assistant", words(text).into_iter().chain(calls.iter().map(call)).collect())
        }
    };
    json!({"role": role, "content": blocks})
}

/// A block begins; if it is a call, its input comes in pieces, or stands here already.
fn begin_call(place: &Value, block: &Value, answer: &mut Answer) -> Result<(), Trouble> {
    if block["type"].as_str() != Some("tool_use") {
        return Ok(());
    }
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    let place = place.as_u64().unwrap_or_default();
    answer.calls.begin(place, text("id"), text("name"))?;
    match block["input"].as_object().filter(|input| !input.is_empty()) {
        Some(_) => answer.calls.argue(place, &block["input"].to_string()),
        None => Ok(()),
    }
}

/// From a gateway that does not stream.
fn read_whole(message: &Value, answer: &mut Answer) -> Result<(), Trouble> {
    let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (place, block) in blocks.iter().enumerate() {
        answer.say(block["text"].as_str().unwrap_or_default());
        begin_call(&json!(place), block, answer)?;
    }
    read_usage(&message["usage"], answer);
    answer.finish = finish(&message["stop_reason"]);
    Ok(())
}

/// What was read from or written to the cache was sent as well.
fn read_usage(usage: &Value, answer: &mut Answer) {
    if let Some(input) = usage["input_tokens"].as_u64() {
        let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"];
        answer.tokens_in = Some(input + cached.iter().filter_map(|name| usage[*name].as_u64()).sum::<u64>());
    }
    answer.tokens_out = usage["output_tokens"].as_u64().or(answer.tokens_out);
}

fn finish(reason: &Value) -> Option<Finish> {
    Some(match reason.as_str()? {
        "max_tokens" | "model_context_window_exceeded" => Finish::CutOff,
        "refusal" => Finish::Filtered,
        _ => Finish::Complete,
    })
}

fn refused(error: &Value) -> Trouble {
    let kind = error["type"].as_str().unwrap_or_default();
    let status = match kind {
        "overloaded_error" => 529,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "permission_error" => 403,
        "not_found_error" => 404,
        _ => 500,
    };
    Trouble::Refused { status, why: error["message"].as_str().unwrap_or(kind).to_owned() }
}
