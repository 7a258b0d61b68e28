//! Replies with tool calls, as each wire streams them: arguments in fragments, one call after the other.

use serde_json::{Value, json};

use super::wires::{Ending, Wire, anthropic, ollama_line, openai};

/// A call that the model makes. The arguments are text: a model may write anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedCall {
    /// The tool.
    pub name: String,
    /// Its arguments, as the model writes them.
    pub arguments: String,
}

/// How far a reply with calls gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// To its end.
    Whole,
    /// Half of the last call's arguments, then the model has no tokens left.
    CutOff,
    /// Half of the last call's arguments, then nothing.
    Broken,
}

/// A reply: some text, if any, and calls.
pub(super) struct Calling<'a> {
    pub(super) text: &'a [String],
    pub(super) calls: &'a [ScriptedCall],
    /// Makes the ids of this reply unlike those of others.
    pub(super) nth: usize,
    pub(super) reach: Reach,
}

impl Calling<'_> {
    /// Everything up to the wire's own ending.
    pub(super) fn frames(&self, wire: Wire) -> Vec<Vec<u8>> {
        match wire {
            Wire::OpenAi => self.openai(),
            Wire::Responses => self.responses(),
            Wire::Anthropic => self.anthropic(),
            Wire::Ollama => self.ollama(),
        }
    }

    fn id(&self, wire: Wire, at: usize) -> String {
        let start = if wire == Wire::Anthropic { "toolu" } else { "call" };
        format!("{start}_{}_{at}", self.nth)
    }

    /// The fragments of a call's arguments; of the last one, as far as the reply gets.
    pub(super) fn fragments(&self, at: usize) -> Vec<String> {
        let characters: Vec<char> = self.calls[at].arguments.chars().collect();
        let is_cut = self.reach != Reach::Whole && at + 1 == self.calls.len();
        let end = if is_cut { characters.len() / 2 } else { characters.len() };
        characters[..end].chunks(7).map(|piece| piece.iter().collect()).collect()
    }

    fn openai(&self) -> Vec<Vec<u8>> {
        let delta = |delta: Value| openai(&delta, &Value::Null);
        let mut frames = vec![delta(json!({"role": "assistant", "content": null}))];
        frames.extend(self.text.iter().map(|text| delta(json!({"content": text}))));
        for (at, call) in self.calls.iter().enumerate() {
            let id = self.id(Wire::OpenAi, at);
            frames.push(delta(json!({"tool_calls": [{"index": at, "id": id, "type": "function",
                "function": {"name": call.name, "arguments": ""}}]})));
            let piece = |text: String| json!({"tool_calls": [{"index": at, "function": {"arguments": text}}]});
            frames.extend(self.fragments(at).into_iter().map(|text| delta(piece(text))));
        }
        frames
    }

    fn anthropic(&self) -> Vec<Vec<u8>> {
        let mut frames = vec![Wire::Anthropic.beginning().swap_remove(0)];
        let before = usize::from(!self.text.is_empty());
        if before == 1 {
            frames.push(anthropic(json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": ""}})));
            frames.extend(Wire::Anthropic.pieces(self.text, Ending::Done));
            frames.push(anthropic(json!({"type": "content_block_stop", "index": 0})));
        }
        for (at, call) in self.calls.iter().enumerate() {
            let index = at + before;
            let id = self.id(Wire::Anthropic, at);
            frames.push(anthropic(json!({"type": "content_block_start", "index": index,
                "content_block": {"type": "tool_use", "id": id, "name": call.name, "input": {}}})));
            let piece = |text: String| {
                anthropic(json!({"type": "content_block_delta", "index": index,
                    "delta": {"type": "input_json_delta", "partial_json": text}}))
            };
            frames.push(piece(String::new()));
            frames.extend(self.fragments(at).into_iter().map(piece));
            if self.reach != Reach::Broken {
                frames.push(anthropic(json!({"type": "content_block_stop", "index": index})));
            }
        }
        frames
    }

    /// Ollama sends each call whole, or not at all.
    fn ollama(&self) -> Vec<Vec<u8>> {
        let mut frames = Wire::Ollama.pieces(self.text, Ending::Done);
        let whole = if self.reach == Reach::Whole { self.calls } else { &[] };
        for call in whole {
            let message = json!({"role": "assistant", "content": "", "tool_calls": [{"function": function(call)}]});
            frames.push(ollama_line(&message, false, Ending::Done));
        }
        frames
    }

    /// The same for a request that did not ask for a stream.
    pub(super) fn whole(&self, wire: Wire) -> Value {
        let text = self.text.concat();
        let calls = self.calls.iter().enumerate();
        match wire {
            Wire::OpenAi => {
                let call = |(at, call): (usize, &ScriptedCall)| {
                    json!({"id": self.id(wire, at), "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments}})
                };
                let message =
                    json!({"role": "assistant", "content": null, "tool_calls": calls.map(call).collect::<Vec<_>>()});
                json!({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
            }
            Wire::Responses => self.response(),
            Wire::Anthropic => {
                let words = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
                let call = |(at, call): (usize, &ScriptedCall)| json!({"type": "tool_use", "id": self.id(wire, at), "name": call.name, "input": read(&call.arguments)});
                let content: Vec<Value> = words.into_iter().chain(calls.map(call)).collect();
                json!({"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"})
            }
            Wire::Ollama => {
                let calls: Vec<Value> = self.calls.iter().map(|call| json!({"function": function(call)})).collect();
                json!({"message": {"role": "assistant", "content": text, "tool_calls": calls}, "done": true, "done_reason": "stop"})
            }
        }
    }
}

fn function(call: &ScriptedCall) -> Value {
    json!({"name": call.name, "arguments": read(&call.arguments)})
}

/// The arguments as what they are; what cannot be read goes out as text, as no true server would send it.
fn read(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()))
}
