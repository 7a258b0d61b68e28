//! What a model can see at once, as its server tells: one quick question, and nothing if anything is amiss.

use std::time::Duration;

use serde_json::{Value, json};

use crate::http::Http;

/// A server that takes longer is not worth the wait.
const LIMIT: Duration = Duration::from_millis(1500);

/// Less than this is no window but a mistake.
const SMALLEST: usize = 512;

/// What servers call it: OpenRouter and Together, vLLM, Groq, Mistral and LM Studio, Anthropic.
const NAMES: [&str; 5] =
    ["context_length", "max_model_len", "context_window", "max_context_length", "max_input_tokens"];

/// From the list of models.
pub(crate) fn openai(http: &Http) -> Option<usize> {
    let found = http.look_up("/models", None, LIMIT)?;
    let lists = [&found["data"], &found["models"], &found];
    let models = lists.into_iter().find_map(Value::as_array)?;
    named(models.iter().find(|model| model["id"].as_str() == Some(http.model()))?)
}

/// From the model's own page, where that says it.
pub(crate) fn anthropic(http: &Http) -> Option<usize> {
    let name = http.model();
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:@".contains(c));
    named(&http.look_up(&format!("/v1/models/{name}"), None, LIMIT).filter(|_| is_plain)?)
}

fn named(model: &Value) -> Option<usize> {
    NAMES.into_iter().find_map(|name| size(&model[name]))
}

fn size(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|size| usize::try_from(size).ok()).filter(|size| *size >= SMALLEST)
}

/// What a model of Ollama's has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OllamaContext {
    /// What it was trained for.
    pub(crate) trained: Option<usize>,
    /// What the person gave it in its Modelfile: Ollama uses that unless a request asks for something else.
    pub(crate) own: Option<usize>,
}

/// From what Ollama shows of the model.
pub(crate) fn ollama(http: &Http) -> OllamaContext {
    let asked = json!({"model": http.model()});
    http.look_up("/api/show", Some(&asked), LIMIT).map_or_else(OllamaContext::default, |shown| shown_by_ollama(&shown))
}

fn shown_by_ollama(shown: &Value) -> OllamaContext {
    let info = shown["model_info"].as_object().into_iter().flatten();
    let trained =
        info.into_iter().find(|(name, _)| name.ends_with(".context_length")).and_then(|(_, value)| size(value));
    let parameters = shown["parameters"].as_str().unwrap_or_default().lines();
    let own =
        parameters.filter_map(|line| line.trim().strip_prefix("num_ctx")).find_map(|rest| rest.trim().parse().ok());
    OllamaContext { trained, own: own.filter(|size| *size >= SMALLEST) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_shows_both_contexts() {
        for (shown, trained, own) in [
            (json!({"model_info": {"llama.context_length": 131_072, "llama.x": 7}}), Some(131_072), None),
            (json!({"parameters": "stop \"a\"\nnum_ctx                        8192\n"}), None, Some(8192)),
            (json!({"parameters": "num_ctx 0", "model_info": {"a.context_length": "x"}}), None, None),
            (json!([1]), None, None),
        ] {
            assert_eq!(shown_by_ollama(&shown), OllamaContext { trained, own }, "{shown}");
        }
    }

    #[test]
    fn a_window_has_many_names() {
        assert_eq!(named(&json!({"max_model_len": 8192})), Some(8192));
        assert_eq!(named(&json!({"context_length": null, "context_window": 131_072})), Some(131_072));
        for nothing in [json!({"id": "x"}), json!({"context_length": 0}), json!({"context_length": "8k"}), json!(7)] {
            assert_eq!(named(&nothing), None, "{nothing}");
        }
    }
}
