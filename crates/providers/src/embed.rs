//! Embedders over HTTP: Ollama's `/api/embed`, and `/embeddings` of whoever speaks OpenAI's wire.
//!
//! Texts go out in one request; vectors come back as the server sent them. Whether there are as many, of one length and
//! of real numbers is looked at by whoever asked.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use throughline_core::ports::{EmbedFor, Embedder, ModelError};

use crate::http::{Auth, Http};
use crate::settings::{HttpSettings, SettingsError};

const AUTH: Auth = Auth { header: "authorization", scheme: "Bearer ", extra: &[] };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    Ollama,
    OpenAi,
}

/// An embedder behind an address.
#[derive(Debug)]
pub struct HttpEmbedder {
    http: Http,
    wire: Wire,
    limit: Duration,
}

impl HttpEmbedder {
    /// One that Ollama runs. Sends nothing yet; an answer may take as long as `timeouts.whole` says.
    pub fn ollama(settings: HttpSettings) -> Result<Self, SettingsError> {
        let limit = settings.timeouts.whole;
        let base_url = settings.base_url.as_deref().map(crate::ollama::with_port);
        let settings = HttpSettings { base_url, ..settings };
        let http = Http::new("ollama", crate::ollama::BASE_URL, &["/api", "/v1"], &AUTH, settings)?;
        Ok(Self { http, wire: Wire::Ollama, limit })
    }

    /// One behind any OpenAI-compatible address.
    pub fn openai(settings: HttpSettings) -> Result<Self, SettingsError> {
        let limit = settings.timeouts.whole;
        let http = Http::new("openai", crate::openai::BASE_URL, &[], &AUTH, settings)?;
        Ok(Self { http, wire: Wire::OpenAi, limit })
    }
}

impl Embedder for HttpEmbedder {
    fn provider(&self) -> &'static str {
        match self.wire {
            Wire::Ollama => "ollama",
            Wire::OpenAi => "openai",
        }
    }

    fn name(&self) -> &str {
        self.http.model()
    }

    fn embed(&self, texts: &[String], purpose: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let prefix = prefix(self.http.model(), purpose);
        let input: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let body = json!({"model": self.http.model(), "input": input}).to_string();
        let path = match self.wire {
            Wire::Ollama => "/api/embed",
            Wire::OpenAi => "/embeddings",
        };
        let answer = self.http.post(path, body, self.limit)?;
        vectors(self.wire, &answer).ok_or_else(|| self.http.not_understood("an answer without vectors of numbers"))
    }
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<OpenAiVector>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    #[serde(default)]
    index: usize,
    embedding: Vec<f32>,
}

fn vectors(wire: Wire, answer: &[u8]) -> Option<Vec<Vec<f32>>> {
    match wire {
        Wire::Ollama => serde_json::from_slice::<OllamaAnswer>(answer).ok().map(|answer| answer.embeddings),
        Wire::OpenAi => {
            let mut data = serde_json::from_slice::<OpenAiAnswer>(answer).ok()?.data;
            data.sort_by_key(|vector| vector.index);
            Some(data.into_iter().map(|vector| vector.embedding).collect())
        }
    }
}

/// What some models want in front of a text, to know what it is for. Servers do not add it.
fn prefix(model: &str, purpose: EmbedFor) -> &'static str {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let (storing, searching) = if name.starts_with("nomic-embed-text") {
        ("search_document: ", "search_query: ")
    } else if name.contains("e5-") {
        ("passage: ", "query: ")
    } else if name.starts_with("mxbai-embed") {
        ("", "Represent this sentence for searching relevant passages: ")
    } else {
        ("", "")
    };
    match purpose {
        EmbedFor::Storing => storing,
        EmbedFor::Searching => searching,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_the_order_of_the_texts() {
        let openai = br#"{"data":[{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}]}"#;
        assert_eq!(vectors(Wire::OpenAi, openai), Some(vec![vec![1.0], vec![2.0]]));
        assert_eq!(vectors(Wire::Ollama, br#"{"embeddings":[[1,2.5]]}"#), Some(vec![vec![1.0, 2.5]]));
        for bad in ["", "{}", r#"{"embeddings":[[null]]}"#, r#"{"embeddings":[[NaN]]}"#, "<html>"] {
            assert_eq!(vectors(Wire::Ollama, bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn a_model_is_told_what_a_text_is_for() {
        assert_eq!(prefix("nomic-embed-text:latest", EmbedFor::Searching), "search_query: ");
        assert_eq!(prefix("intfloat/multilingual-e5-small", EmbedFor::Storing), "passage: ");
        assert_eq!(prefix("text-embedding-3-small", EmbedFor::Searching), "");
    }
}
