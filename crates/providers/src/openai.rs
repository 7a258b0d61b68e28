//! OpenAI's chat completions, and whoever speaks them: vLLM, llama.cpp, LM Studio, OpenRouter, …

use serde_json::{Value, json};
use throughline_core::ports::{Brief, Cost, Finish, Model, ModelError, Reply, SummaryOf, ToolCall, ToolSpec};

use crate::ask::{Ask, ToolResult, Turn};
use crate::http::{Auth, Http};
use crate::settings::{HttpSettings, SettingsError};
use crate::window;
use crate::wire::{Answer, Form, Framing, Limit, Trouble, Wire, object};

pub(crate) const BASE_URL: &str = "https://api.openai.com/v1";

/// Models that insist on `max_completion_tokens` think first, and their thoughts count.
const ROOM_TO_THINK: usize = 4096;

/// A model behind any OpenAI-compatible address.
#[derive(Debug)]
pub struct OpenAi(Http);

impl OpenAi {
    /// Sends nothing yet.
    pub fn new(settings: HttpSettings) -> Result<Self, SettingsError> {
        let auth = Auth { header: "authorization", scheme: "Bearer ", extra: &[] };
        Ok(Self(Http::new("openai", BASE_URL, &[], &auth, settings)?))
    }
}

impl Model for OpenAi {
    fn provider(&self) -> &'static str {
        "openai"
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
        self.0.window(window::openai)
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        self.0.complete(&ChatCompletions, brief, sink)
    }
}

struct ChatCompletions;

impl Wire for ChatCompletions {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn framing(&self) -> Framing {
        Framing::Sse
    }

    fn body(&self, model: &str, ask: &Ask, form: Form) -> Value {
        let system = (!ask.system.is_empty()).then(|| json!({"role": "system", "content": ask.system}));
        let messages: Vec<Value> = system.into_iter().chain(ask.turns.iter().flat_map(messages)).collect();
        let mut body = json!({"model": model, "messages": messages, "stream": true});
        if !ask.tools.is_empty() {
            body["tools"] = tools(&ask.tools);
        }
        if form.usage {
            body["stream_options"] = json!({"include_usage": true});
        }
        if ask.is_json && form.json {
            body["response_format"] = json!({"type": "json_object"});
        }
        match (ask.max_tokens, form.limit) {
            (Some(max), Limit::MaxTokens) => body["max_tokens"] = json!(max),
            (Some(max), Limit::MaxCompletionTokens) => {
                body["max_completion_tokens"] = json!(max.saturating_add(ROOM_TO_THINK));
            }
            (None, _) => {}
        }
        body
    }

    fn simpler(&self, ask: &Ask, form: Form, why: &str) -> Option<Form> {
        let names_limit = why.contains("max_tokens") || why.contains("max_completion_tokens");
        if ask.max_tokens.is_some() && form.limit == Limit::MaxTokens && names_limit {
            return Some(Form { limit: Limit::MaxCompletionTokens, ..form });
        }
        if form.usage && why.contains("stream_options") {
            return Some(Form { usage: false, ..form });
        }
        (ask.is_json && form.json).then_some(Form { json: false, ..form })
    }

    fn read(&self, event: &Value, answer: &mut Answer) -> Result<(), Trouble> {
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return Err(refused(error));
        }
        if let Some(usage) = event.get("usage") {
            answer.tokens_in = usage["prompt_tokens"].as_u64().or(answer.tokens_in);
            answer.tokens_out = usage["completion_tokens"].as_u64().or(answer.tokens_out);
        }
        let Some(choices) = event["choices"].as_array() else {
            // Gateways send frames of their own that have no choices; a whole reply has them.
            return event.is_object().then_some(()).ok_or_else(|| Trouble::Malformed("no object in the stream".into()));
        };
        let Some(choice) = choices.first() else { return Ok(()) };
        // `delta` in a stream, `message` from a server that does not stream.
        for (said, is_whole) in [(&choice["delta"], false), (&choice["message"], true)] {
            answer.say(said["content"].as_str().unwrap_or_default());
            read_calls(said, is_whole, answer)?;
            if let Some(refusal) = said["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
                answer.say(refusal);
                answer.finish = Some(Finish::Filtered);
            }
        }
        match (choice["finish_reason"].as_str(), answer.finish) {
            (None, _) | (_, Some(Finish::Filtered)) => {}
            (Some("length"), _) => answer.finish = Some(Finish::CutOff),
            (Some("content_filter"), _) => answer.finish = Some(Finish::Filtered),
            (Some(_), _) => answer.finish = Some(Finish::Complete),
        }
        Ok(())
    }
}

/// What may be called; Ollama takes the same.
pub(crate) fn tools(tools: &[ToolSpec]) -> Value {
    let function = |tool: &ToolSpec| {
        json!({"type": "function", "function":
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}})
    };
    tools.iter().map(function).collect()
}

/// A turn as messages: each result is one of its own.
fn messages(turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::Person { results, text } => {
            let result =
                |result: &ToolResult| json!({"role": "tool", "tool_call_id": result.id, "content": result.text});
            let said = (!text.is_empty()).then(|| json!({"role": "user", "content": text}));
            results.iter().map(result).chain(said).collect()
        }
        Turn::Assistant { text, calls } if calls.is_empty() => vec![json!({"role": "assistant", "content": text})],
        Turn::Assistant { text, calls } => {
            let call = |call: &ToolCall| {
                json!({"id": call.id, "type": "function", "function":
                    {"name": call.name, "arguments": object(&call.arguments).to_string()}})
            };
            let content = (!text.is_empty()).then_some(text);
            let calls: Vec<Value> = calls.iter().map(call).collect();
            vec![json!({"role": "assistant", "content": content, "tool_calls": calls})]
        }
    }
}

/// Pieces of calls in a stream; whole ones otherwise, which need no numbers.
fn read_calls(said: &Value, is_whole: bool, answer: &mut Answer) -> Result<(), Trouble> {
    let calls = said["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    calls.iter().try_for_each(|call| {
        let place = if is_whole { Some(answer.calls.len()) } else { call["index"].as_u64() };
        answer.calls.take(place, call)
    })
}

/// OpenAI gives a word as the code, gateways the status of whom they asked.
fn refused(error: &Value) -> Trouble {
    let status = error["code"].as_u64().and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400);
    let why = error["message"].as_str().or(error.as_str()).unwrap_or("an error without words");
    Trouble::Refused { status: status.unwrap_or(500), why: why.to_owned() }
}
