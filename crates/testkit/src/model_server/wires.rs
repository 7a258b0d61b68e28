//! The three wire formats, as the servers of OpenAI, Anthropic and Ollama write them.

use serde_json::{Value, json};

use super::responses;

pub(super) const MODEL: &str = "scripted";

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    CutOff,
    Refused,
    Calls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    OpenAi,
    Responses,
    Anthropic,
    Ollama,
}

impl Wire {
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        let known = [
            ("/chat/completions", Self::OpenAi),
            ("/responses", Self::Responses),
            ("/v1/messages", Self::Anthropic),
            ("/api/chat", Self::Ollama),
        ];
        known.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, wire)| wire)
    }

    /// Ollama streams unless it is told not to.
    pub(super) fn streams(self, body: &Value) -> bool {
        body["stream"].as_bool().unwrap_or(self == Self::Ollama)
    }

    pub(super) fn content_type(self, streams: bool) -> &'static str {
        match (self, streams) {
            (Self::Ollama, true) => "application/x-ndjson",
            (_, true) => "text/event-stream; charset=utf-8",
            (_, false) => "application/json; charset=utf-8",
        }
    }

    /// What comes before the text.
    pub(super) fn beginning(self) -> Vec<Vec<u8>> {
        match self {
            Self::OpenAi => vec![openai(&json!({"role": "assistant", "content": ""}), &Value::Null)],
            Self::Anthropic => vec![
                anthropic(json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
                    "role": "assistant", "model": MODEL, "content": [], "stop_reason": null, "stop_sequence": null,
                    "usage": {"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 1}}})),
                anthropic(json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "text", "text": ""}})),
                anthropic(json!({"type": "ping"})),
            ],
            Self::Responses => responses::beginning(),
            Self::Ollama => Vec::new(),
        }
    }

    /// The text.
    pub(super) fn pieces(self, pieces: &[String], ending: Ending) -> Vec<Vec<u8>> {
        let frame = |text: &String| match (self, ending) {
            (Self::OpenAi, Ending::Refused) => openai(&json!({"refusal": text}), &Value::Null),
            (Self::OpenAi, _) => openai(&json!({"content": text}), &Value::Null),
            (Self::Anthropic, _) => anthropic(json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": text}})),
            (Self::Responses, _) => responses::piece(text),
            (Self::Ollama, _) => ollama(text, false, ending),
        };
        pieces.iter().map(frame).collect()
    }

    /// What comes after the text; the last of several only says that nothing more comes.
    pub(super) fn ending(self, text: &str, ending: Ending) -> Vec<Vec<u8>> {
        match self {
            Self::Responses => responses::ending(text, ending),
            Self::OpenAi => vec![
                openai(&json!({}), &json!(self.reason(ending))),
                sse(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_772_366_400,
                    "model": MODEL, "choices": [], "usage": openai_usage()})),
                b"data: [DONE]\n\n".to_vec(),
            ],
            Self::Anthropic => vec![
                anthropic(json!({"type": "content_block_stop", "index": 0})),
                anthropic(json!({"type": "message_delta", "delta": {"stop_reason": self.reason(ending),
                    "stop_sequence": null}, "usage": {"output_tokens": 7}})),
                anthropic(json!({"type": "message_stop"})),
            ],
            Self::Ollama => vec![ollama("", true, ending)],
        }
    }

    /// What comes after calls, whose blocks have ended already.
    pub(super) fn ending_of_calls(self, ending: Ending) -> Vec<u8> {
        self.ending("", ending).into_iter().skip(usize::from(self == Self::Anthropic)).flatten().collect()
    }

    /// A reply to a request that did not ask for a stream.
    pub(super) fn whole(self, text: &str, ending: Ending) -> Vec<u8> {
        match self {
            Self::OpenAi => {
                let refused = ending == Ending::Refused;
                let (content, refusal) = if refused { (None, Some(text)) } else { (Some(text), None) };
                json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1_772_366_400, "model": MODEL,
                    "choices": [{"index": 0, "message": {"role": "assistant", "content": content, "refusal": refusal},
                        "finish_reason": self.reason(ending)}],
                    "usage": openai_usage()})
                .to_string()
                .into_bytes()
            }
            Self::Anthropic => json!({"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL,
                "content": [{"type": "text", "text": text}], "stop_reason": self.reason(ending),
                "stop_sequence": null, "usage": {"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 7}})
            .to_string()
            .into_bytes(),
            Self::Responses => responses::whole(text, ending),
            Self::Ollama => ollama(text, true, ending),
        }
    }

    /// An error in the middle of a stream.
    pub(super) fn error_frame(self) -> Vec<u8> {
        match self {
            Self::OpenAi => sse(&json!({"error": {"message": "upstream failed", "code": 502}})),
            Self::Anthropic => {
                anthropic(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))
            }
            Self::Responses => responses::error_frame(),
            Self::Ollama => b"{\"error\":\"llama runner process has terminated\"}\n".to_vec(),
        }
    }

    fn reason(self, ending: Ending) -> &'static str {
        match (self, ending) {
            (Self::OpenAi | Self::Ollama | Self::Responses, Ending::CutOff) => "length",
            (Self::OpenAi, Ending::Calls) => "tool_calls",
            (Self::OpenAi | Self::Ollama | Self::Responses, _) => "stop",
            (Self::Anthropic, Ending::Calls) => "tool_use",
            (Self::Anthropic, Ending::Done) => "end_turn",
            (Self::Anthropic, Ending::CutOff) => "max_tokens",
            (Self::Anthropic, Ending::Refused) => "refusal",
        }
    }
}

/// The models that Ollama has, as it lists them: one to talk with, one that only embeds.
pub(super) fn ollama_tags() -> Vec<u8> {
    let model = |name: &str, family: &str| {
        json!({"name": name, "model": name, "modified_at": "2026-02-01T12:00:00Z", "size": 1_000_000,
            "details": {"format": "gguf", "family": family, "parameter_size": "1B"}})
    };
    let models = [model("nomic-embed-text:latest", "nomic-bert"), model(MODEL, "llama")];
    json!({"models": models}).to_string().into_bytes()
}

pub(super) fn openai(delta: &Value, finish_reason: &Value) -> Vec<u8> {
    sse(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_772_366_400, "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason}], "usage": null}))
}

fn openai_usage() -> Value {
    json!({"prompt_tokens": 25, "completion_tokens": 7, "total_tokens": 32})
}

fn sse(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

pub(super) fn anthropic(event: Value) -> Vec<u8> {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n").into_bytes()
}

fn ollama(text: &str, is_done: bool, ending: Ending) -> Vec<u8> {
    ollama_line(&json!({"role": "assistant", "content": text}), is_done, ending)
}

pub(super) fn ollama_line(message: &Value, is_done: bool, ending: Ending) -> Vec<u8> {
    let mut line = json!({"model": MODEL, "created_at": "2026-03-01T12:00:00.000000Z",
        "message": message, "done": is_done});
    if is_done {
        line["done_reason"] = json!(Wire::Ollama.reason(ending));
        line["total_duration"] = json!(1_000_000);
        line["prompt_eval_count"] = json!(25);
        line["eval_count"] = json!(7);
    }
    format!("{line}\n").into_bytes()
}
