//! OpenAI's responses, as its server streams them: items of output that are added, filled and done.

use serde_json::{Value, json};

use super::calls::{Calling, Reach};
use super::wires::{Ending, MODEL};

/// The item of output that is text.
fn message(text: &str, status: &str) -> Value {
    let content = if text.is_empty() { json!([]) } else { json!([part(text)]) };
    json!({"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content})
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn response(status: &str, output: &Value) -> Value {
    let details = if status == "incomplete" { json!({"reason": "max_output_tokens"}) } else { Value::Null };
    json!({"id": "resp_1", "object": "response", "created_at": 1_772_366_400, "status": status, "model": MODEL,
        "output": output, "error": null, "incomplete_details": details, "instructions": null, "metadata": {},
        "parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "usage": {"input_tokens": 25, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 32}})
}

fn event(event: Value) -> Vec<u8> {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n").into_bytes()
}

pub(super) fn created() -> Vec<u8> {
    event(json!({"type": "response.created", "sequence_number": 0, "response": response("in_progress", &json!([]))}))
}

pub(super) fn beginning() -> Vec<Vec<u8>> {
    vec![
        created(),
        event(json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0,
            "item": message("", "in_progress")})),
        event(json!({"type": "response.content_part.added", "sequence_number": 2, "item_id": "msg_1",
            "output_index": 0, "content_index": 0, "part": part("")})),
    ]
}

pub(super) fn piece(text: &str) -> Vec<u8> {
    event(json!({"type": "response.output_text.delta", "sequence_number": 3, "item_id": "msg_1", "output_index": 0,
        "content_index": 0, "delta": text, "logprobs": []}))
}

pub(super) fn ending(text: &str, ending: Ending) -> Vec<Vec<u8>> {
    vec![
        event(json!({"type": "response.output_text.done", "sequence_number": 4, "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "text": text, "logprobs": []})),
        event(json!({"type": "response.output_item.done", "sequence_number": 5, "output_index": 0,
            "item": message(text, "completed")})),
        end(ending, &json!([message(text, "completed")])),
    ]
}

fn end(ending: Ending, output: &Value) -> Vec<u8> {
    let status = status(ending);
    event(json!({"type": format!("response.{status}"), "sequence_number": 9, "response": response(status, output)}))
}

fn status(ending: Ending) -> &'static str {
    if ending == Ending::CutOff { "incomplete" } else { "completed" }
}

pub(super) fn whole(text: &str, ending: Ending) -> Vec<u8> {
    response(status(ending), &json!([message(text, "completed")])).to_string().into_bytes()
}

pub(super) fn error_frame() -> Vec<u8> {
    event(json!({"type": "error", "sequence_number": 9, "code": "server_error", "message": "upstream failed",
        "param": null}))
}

impl Calling<'_> {
    /// The calls as items of output.
    pub(super) fn items(&self) -> Vec<Value> {
        let item = |at: usize| {
            json!({"type": "function_call", "id": format!("fc_{}_{at}", self.nth), "status": "completed",
                "call_id": format!("call_{}_{at}", self.nth), "name": self.calls[at].name,
                "arguments": self.fragments(at).concat()})
        };
        let text = self.text.concat();
        let words = (!text.is_empty()).then(|| message(&text, "completed"));
        words.into_iter().chain((0..self.calls.len()).map(item)).collect()
    }

    pub(super) fn responses(&self) -> Vec<Vec<u8>> {
        let mut frames = vec![created()];
        for (index, item) in self.items().iter().enumerate() {
            frames.push(event(json!({"type": "response.output_item.added", "sequence_number": 1,
                "output_index": index, "item": item})));
            if item["type"] == "function_call" {
                frames.push(event(json!({"type": "response.function_call_arguments.delta", "sequence_number": 2,
                    "item_id": item["id"], "output_index": index, "delta": item["arguments"]})));
            }
            if self.reach != Reach::Broken {
                frames.push(event(json!({"type": "response.output_item.done", "sequence_number": 3,
                    "output_index": index, "item": item})));
            }
        }
        frames
    }

    pub(super) fn responses_ending(&self, ending: Ending) -> Vec<u8> {
        end(ending, &Value::Array(self.items()))
    }

    pub(super) fn response(&self) -> Value {
        response("completed", &Value::Array(self.items()))
    }
}
