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
    /// Where it is, where that is not the usual place; nothing secret in it.
    base_url: Option<String>,
}

impl HttpEmbedder {
    /// One that Ollama runs. Sends nothing yet; an answer may take as long as `timeouts.whole` says.
    pub fn ollama(settings: HttpSettings) -> Result<Self, SettingsError> {
        let limit = settings.timeouts.whole;
        let base_url = settings.base_url.as_deref().map(crate::ollama::with_port);
        let settings = HttpSettings { base_url, ..settings };
        let is_usual = settings.base_url.is_none();
        let http = Http::new("ollama", crate::ollama::BASE_URL, &["/api", "/v1"], &AUTH, settings)?;
        let base_url = (!is_usual).then(|| http.base_without_secrets());
        Ok(Self { http, wire: Wire::Ollama, limit, base_url })
    }

    /// One behind any OpenAI-compatible address.
    pub fn openai(settings: HttpSettings) -> Result<Self, SettingsError> {
        let limit = settings.timeouts.whole;
        let is_usual = settings.base_url.is_none();
        let http = Http::new("openai", crate::openai::BASE_URL, &[], &AUTH, settings)?;
        let base_url = (!is_usual).then(|| http.base_without_secrets());
        Ok(Self { http, wire: Wire::OpenAi, limit, base_url })
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

    fn base_url(&self) -> Option<&str> {
        self.base_url.as_deref()
    }

    fn embed(&self, texts: &[String], purpose: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let prefix = purpose.prefix(self.http.model());
        let input: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let body = json!({"model": self.http.model(), "input": input}).to_string();
        let path = match self.wire {
            Wire::Ollama => "/api/embed",
            Wire::OpenAi => "/embeddings",
        };
        let answer = self.http.post(path, body, self.limit).map_err(texts_fault)?;
        vectors(self.wire, &answer).ok_or_else(|| self.http.not_understood("an answer without vectors of numbers"))
    }
}

/// Ollama answers 500 where a vector came out as no numbers: the text did that, and trying it again helps nobody.
fn texts_fault(error: ModelError) -> ModelError {
    match error {
        ModelError::Refused { provider, status: 500.., why, retry_after } if why.contains("NaN") => {
            ModelError::Refused { provider, status: 422, why, retry_after }
        }
        error => error,
    }
}

/// A number, or what a server writes for none.
type Number = Option<f64>;

fn numbers(vector: Vec<Number>) -> Vec<f32> {
    vector.into_iter().map(|number| number.map_or(f32::NAN, |number| number as f32)).collect()
}

/// Reads an answer; some servers write `NaN`, which is no JSON.
fn read<'a, T: Deserialize<'a>>(answer: &'a str, spare: &'a mut String) -> Option<T> {
    serde_json::from_str(answer).ok().or_else(|| {
        *spare = answer.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null");
        serde_json::from_str(spare).ok()
    })
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<Number>>,
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<OpenAiVector>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    #[serde(default)]
    index: usize,
    embedding: Vec<Number>,
}

fn vectors(wire: Wire, answer: &[u8]) -> Option<Vec<Vec<f32>>> {
    let answer = std::str::from_utf8(answer).ok()?;
    let mut spare = String::new();
    match wire {
        Wire::Ollama => {
            let answer: OllamaAnswer = read(answer, &mut spare)?;
            Some(answer.embeddings.into_iter().map(numbers).collect())
        }
        Wire::OpenAi => {
            let answer: OpenAiAnswer = read(answer, &mut spare)?;
            let mut data = answer.data;
            data.sort_by_key(|vector| vector.index);
            Some(data.into_iter().map(|vector| numbers(vector.embedding)).collect())
        }
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
        for bad in ["", "{}", r#"{"embeddings":[["x"]]}"#, r#"{"embeddings":[[[1]]]}"#, "<html>"] {
            assert_eq!(vectors(Wire::Ollama, bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn one_bad_number_spoils_its_own_vector_alone() {
        for bad in ["null", "NaN", "Infinity", "-Infinity", "1e300"] {
            let answer = format!(r#"{{"model":"m","embeddings":[[1,2],[1,{bad}]]}}"#);
            let read = vectors(Wire::Ollama, answer.as_bytes()).unwrap();
            assert_eq!(read[0], [1.0, 2.0]);
            assert!(!read[1][1].is_finite(), "{bad}");
        }
        let refused = |status| ModelError::Refused {
            provider: "ollama",
            status,
            why: "json: unsupported value: NaN".to_owned(),
            retry_after: None,
        };
        assert_eq!(texts_fault(refused(500)), refused(422));
    }
}
