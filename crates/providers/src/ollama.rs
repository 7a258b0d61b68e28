//! Ollama's own chat, which says more than its imitation of OpenAI's.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};
use throughline_core::ports::{Brief, Cost, Finish, Model, ModelError, Reply, SummaryOf, ToolCall};

use crate::ask::{Ask, ToolResult, Turn};
use crate::http::{Auth, Http};
use crate::openai::tools;
use crate::settings::{HttpSettings, SettingsError};
use crate::window::{self, OllamaContext};
use crate::wire::{Answer, Form, Framing, Trouble, Wire, object};

pub(crate) const BASE_URL: &str = "http://localhost:11434";

/// The context that Ollama gives a model unless asked. It cuts longer prompts from the front without a word.
const USUAL_CONTEXT: usize = 4096;

/// The largest context that is asked for: it takes memory, whether used or not.
const LARGEST_CONTEXT: usize = 32_768;

/// Room for the reply where the brief names none.
const REPLY: usize = 1024;

/// How long a running Ollama takes to say which models it has, and more.
const LOOK_UP: Duration = Duration::from_secs(1);

/// A model that Ollama runs.
#[derive(Debug)]
pub struct Ollama {
    http: Http,
    /// What the model was found to have, once somebody asked.
    context: OnceLock<OllamaContext>,
}

impl Ollama {
    /// Sends nothing yet.
    pub fn new(settings: HttpSettings) -> Result<Self, SettingsError> {
        let auth = Auth { header: "authorization", scheme: "Bearer ", extra: &[] };
        let base_url = settings.base_url.as_deref().map(with_port);
        let http = Http::new("ollama", BASE_URL, &["/api", "/v1"], &auth, HttpSettings { base_url, ..settings })?;
        Ok(Self { http, context: OnceLock::new() })
    }

    fn context(&self) -> OllamaContext {
        *self.context.get_or_init(|| window::ollama(&self.http))
    }

    /// The context to ask for, where the usual one may be too small; never more than the model has, or than the person
    /// gave it. A model is loaded anew for another size: steps are few.
    fn larger_context(&self, brief: &Brief) -> Option<usize> {
        let ask = Ask::of(brief, true);
        let sent = ask.tokens();
        // Our estimate is low for other scripts than Latin.
        let needed = sent + sent / 2 + ask.max_tokens.unwrap_or(REPLY);
        if needed <= USUAL_CONTEXT || self.context().own.is_some() {
            return None;
        }
        let largest = self.context().trained.unwrap_or(LARGEST_CONTEXT).min(LARGEST_CONTEXT);
        Some(needed.next_power_of_two().min(largest)).filter(|context| *context > USUAL_CONTEXT)
    }
}

/// The models that a running Ollama can talk with, the newest first; none if there is no Ollama. `host` is as
/// in `OLLAMA_HOST`. It takes a second at most.
pub fn ollama_models(host: Option<&str>) -> Vec<String> {
    let settings = HttpSettings { base_url: host.map(str::to_owned), ..HttpSettings::default() };
    let found = Ollama::new(settings).ok().and_then(|ollama| ollama.http.look_up("/api/tags", None, LOOK_UP));
    let models = found.as_ref().and_then(|found| found["models"].as_array()).map(Vec::as_slice).unwrap_or_default();
    let mut talking: Vec<&Value> = models.iter().filter(|model| !only_embeds(model)).collect();
    talking.sort_by_key(|model| std::cmp::Reverse(model["modified_at"].as_str()));
    talking.into_iter().filter_map(|model| model["name"].as_str()).map(str::to_owned).collect()
}

fn only_embeds(model: &Value) -> bool {
    let is_bert = model["details"]["family"].as_str().is_some_and(|family| family.contains("bert"));
    is_bert || model["name"].as_str().is_some_and(|name| name.contains("embed"))
}

/// Ollama's port, where only a host is named.
pub(crate) fn with_port(host: &str) -> String {
    let is_host = !host.trim().is_empty() && !host.contains([':', '/']);
    if is_host { format!("{}:11434", host.trim()) } else { host.to_owned() }
}

impl Model for Ollama {
    fn provider(&self) -> &'static str {
        "ollama"
    }

    fn name(&self) -> &str {
        self.http.model()
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

    /// What requests are sized to: the context that the person gave the model, else as much of its own as is asked for.
    fn context_window(&self) -> Option<usize> {
        let OllamaContext { trained, own } = self.context();
        match (trained, own) {
            (None, None) => None,
            _ => Some(own.unwrap_or(LARGEST_CONTEXT).min(trained.unwrap_or(usize::MAX))),
        }
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        self.http.complete(&Chat { context: self.larger_context(brief) }, brief, sink)
    }
}

struct Chat {
    /// The context to ask for, if not the usual one.
    context: Option<usize>,
}

impl Wire for Chat {
    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn body(&self, model: &str, ask: &Ask, form: Form) -> Value {
        let system = (!ask.system.is_empty()).then(|| json!({"role": "system", "content": ask.system}));
        let messages: Vec<Value> = system.into_iter().chain(ask.turns.iter().flat_map(messages)).collect();
        let mut body = json!({"model": model, "messages": messages, "stream": true});
        if !ask.tools.is_empty() {
            body["tools"] = tools(&ask.tools);
        }
        if ask.is_json && form.json {
            body["format"] = json!("json");
        }
        if let Some(max) = ask.max_tokens {
            body["options"]["num_predict"] = json!(max);
        }
        if let Some(context) = self.context {
            body["options"]["num_ctx"] = json!(context);
        }
        body
    }

    fn simpler(&self, ask: &Ask, form: Form, _: &str) -> Option<Form> {
        (ask.is_json && form.json).then_some(Form { json: false, ..form })
    }

    fn read(&self, event: &Value, answer: &mut Answer) -> Result<(), Trouble> {
        if let Some(why) = event["error"].as_str() {
            return Err(Trouble::Refused { status: 500, why: why.to_owned() });
        }
        let Some(is_done) = event["done"].as_bool() else {
            return Err(Trouble::Malformed("a line without `done`".to_owned()));
        };
        answer.say(event["message"]["content"].as_str().unwrap_or_default());
        let calls = event["message"]["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        for call in calls {
            // Each comes whole, in a line of its own or with others.
            answer.calls.take(Some(answer.calls.len()), call)?;
        }
        if is_done {
            answer.is_over = true;
            answer.tokens_in = event["prompt_eval_count"].as_u64();
            answer.tokens_out = event["eval_count"].as_u64();
            let is_cut_off = event["done_reason"].as_str() == Some("length");
            answer.finish = Some(if is_cut_off { Finish::CutOff } else { Finish::Complete });
        }
        Ok(())
    }
}

/// A turn as messages. Nothing has an id here: results come in the order of the calls.
fn messages(turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::Person { results, text } => {
            let result =
                |result: &ToolResult| json!({"role": "tool", "tool_name": result.name, "content": result.text});
            let said = (!text.is_empty()).then(|| json!({"role": "user", "content": text}));
            results.iter().map(result).chain(said).collect()
        }
        Turn::Assistant { text, calls } if calls.is_empty() => vec![json!({"role": "assistant", "content": text})],
        Turn::Assistant { text, calls } => {
            let call = |call: &ToolCall| json!({"function": {"name": call.name, "arguments": object(&call.arguments)}});
            let calls: Vec<Value> = calls.iter().map(call).collect();
            vec![json!({"role": "assistant", "content": text, "tool_calls": calls})]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_host_gets_the_usual_port() {
        for (host, expected) in [
            ("0.0.0.0", "0.0.0.0:11434"),
            ("gpu.lan:8080", "gpu.lan:8080"),
            ("http://gpu.lan", "http://gpu.lan"),
            ("", ""),
        ] {
            assert_eq!(with_port(host), expected);
        }
    }
}
