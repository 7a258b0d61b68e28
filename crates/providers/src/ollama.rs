//! Ollama's own chat, which says more than its imitation of OpenAI's.

use std::time::Duration;

use serde_json::{Value, json};
use throughline_core::ports::{Finish, Model, ModelError, Reply, Task};

use crate::ask::Ask;
use crate::http::{Auth, Http};
use crate::settings::{HttpSettings, SettingsError};
use crate::wire::{Answer, Form, Framing, Trouble, Wire};

const BASE_URL: &str = "http://localhost:11434";

/// The context that Ollama gives a model unless asked. It cuts longer prompts from the front without a word.
const USUAL_CONTEXT: usize = 4096;

/// The largest context that is asked for: it takes memory, whether used or not.
const LARGEST_CONTEXT: usize = 32_768;

/// Room for the reply where the task names none.
const REPLY: usize = 1024;

/// How long a running Ollama takes to say which models it has, and more.
const LOOK_UP: Duration = Duration::from_secs(1);

/// A model that Ollama runs.
#[derive(Debug)]
pub struct Ollama(Http);

impl Ollama {
    /// Sends nothing yet.
    pub fn new(settings: HttpSettings) -> Result<Self, SettingsError> {
        let auth = Auth { header: "authorization", scheme: "Bearer ", extra: &[] };
        let base_url = settings.base_url.as_deref().map(with_port);
        Ok(Self(Http::new("ollama", BASE_URL, &["/api", "/v1"], &auth, HttpSettings { base_url, ..settings })?))
    }
}

/// The models that a running Ollama can talk with, the newest first; none if there is no Ollama. `host` is as
/// in `OLLAMA_HOST`. It takes a second at most.
pub fn ollama_models(host: Option<&str>) -> Vec<String> {
    let settings = HttpSettings { base_url: host.map(str::to_owned), ..HttpSettings::default() };
    let found = Ollama::new(settings).ok().and_then(|ollama| ollama.0.look_up("/api/tags", LOOK_UP));
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
fn with_port(host: &str) -> String {
    let is_host = !host.trim().is_empty() && !host.contains([':', '/']);
    if is_host { format!("{}:11434", host.trim()) } else { host.to_owned() }
}

impl Model for Ollama {
    fn provider(&self) -> &'static str {
        "ollama"
    }

    fn name(&self) -> &str {
        self.0.model()
    }

    fn can_chat(&self) -> bool {
        true
    }

    fn complete(&self, task: &Task, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        self.0.complete(&Chat, task, sink)
    }
}

struct Chat;

impl Wire for Chat {
    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn body(&self, model: &str, ask: &Ask, form: Form) -> Value {
        let system = (!ask.system.is_empty()).then(|| json!({"role": "system", "content": ask.system}));
        let said = ask.messages.iter().map(|(who, text)| json!({"role": who.as_str(), "content": text}));
        let messages: Vec<Value> = system.into_iter().chain(said).collect();
        let mut body = json!({"model": model, "messages": messages, "stream": true});
        if ask.is_json && form.json {
            body["format"] = json!("json");
        }
        if let Some(max) = ask.max_tokens {
            body["options"]["num_predict"] = json!(max);
        }
        if let Some(context) = larger_context(ask) {
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

/// The context to ask for, where the usual one may be too small. A model is loaded anew for another size: steps are few.
fn larger_context(ask: &Ask) -> Option<usize> {
    let sent = ask.tokens();
    // Our estimate is low for other scripts than Latin.
    let needed = sent + sent / 2 + ask.max_tokens.unwrap_or(REPLY);
    (needed > USUAL_CONTEXT).then(|| needed.next_power_of_two().min(LARGEST_CONTEXT))
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
