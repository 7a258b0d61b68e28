//! The servers behind the proxies: their clients, and one request to them.

use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use axum::{Json, http::StatusCode};
use serde_json::json;
use throughline_providers::{Api, Upstream};

use super::{headers, is_ollama};
use crate::access::Token;
use crate::http::App;
use crate::{Code, Problem};

/// Marks an answer that a server gave: nothing in it is ours to change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassedOn;

/// Clients by API, each made when it is first needed.
#[derive(Default)]
pub(super) struct Clients {
    openai: OnceLock<Upstream>,
    anthropic: OnceLock<Upstream>,
    ollama: OnceLock<Upstream>,
}

impl Clients {
    pub(super) async fn get(&self, app: &Arc<App>, api: Api) -> Result<Upstream, Problem> {
        let cell = match api {
            Api::OpenAi => &self.openai,
            Api::Anthropic => &self.anthropic,
            Api::Ollama => &self.ollama,
        };
        if let Some(upstream) = cell.get() {
            return Ok(upstream.clone());
        }
        let upstream = app.host(move |host| host.upstream(api)).await?;
        Ok(cell.get_or_init(|| upstream).clone())
    }
}

/// Whose request it is: the path says it, and a header where both have the path.
pub(super) fn api(parts: &Parts) -> Api {
    let path = parts.uri.path();
    let is_anthropic = path.starts_with("/v1/messages") || parts.headers.contains_key("anthropic-version");
    match () {
        () if is_ollama(path) => Api::Ollama,
        () if is_anthropic && !path.starts_with("/v1/chat/") => Api::Anthropic,
        () => Api::OpenAi,
    }
}

/// Sends a request on; an error is an answer of ours.
pub(super) async fn send(app: &Arc<App>, parts: &Parts, body: Bytes) -> Result<reqwest::Response, Response> {
    let api = api(parts);
    let upstream = app.proxy.clients.get(app, api).await.map_err(|problem| problem.into_response())?;
    let mut url = upstream.base.clone();
    let path = parts.uri.path();
    if !is_straight(path) {
        let hint = "docs/proxy.md lists what is passed on";
        return Err(Problem::new(Code::NotFound, "the path leads elsewhere", hint).into_response());
    }
    let path = match api {
        Api::OpenAi => path.strip_prefix("/v1").unwrap_or(path),
        Api::Anthropic => path,
        Api::Ollama => path.strip_prefix("/ollama").unwrap_or(path),
    };
    url.set_path(&format!("{}{path}", upstream.base.path().trim_end_matches('/')));
    let query = parts.uri.query().filter(|query| !shows(&app.token, query));
    if let Some(query) = query {
        url.set_query(Some(query));
    }
    let headers = headers::to_server(&parts.headers, &app.token, api, &upstream);
    let mut request = upstream.client.request(parts.method.clone(), url).headers(headers);
    if !body.is_empty() || parts.method == axum::http::Method::POST {
        request = request.body(body);
    }
    request.send().await.map_err(|error| unreachable(api, error))
}

/// Whether a query has our token in it, as it is or encoded.
fn shows(token: &Token, query: &str) -> bool {
    let is_in = |text: &str| token.stands_in(text.as_bytes());
    is_in(query) || form_urlencoded::parse(query.as_bytes()).any(|(name, value)| is_in(&name) || is_in(&value))
}

/// Whether a path leads to where it says: dots in it would lead to other routes of the server, with the person's key.
fn is_straight(path: &str) -> bool {
    let is_dots = |part: &str| matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    !path.split(['/', '\\']).any(is_dots)
}

/// What a client is told where its server gave no answer, in the form of its API.
fn unreachable(api: Api, error: reqwest::Error) -> Response {
    let error = error.without_url();
    let mut source: &dyn std::error::Error = &error;
    while let Some(next) = source.source() {
        source = next;
    }
    let message = format!("throughline cannot reach the model's server: {source}");
    tracing::warn!(error = %source, ?api, "a server gives no answer to a proxied request");
    let body = match api {
        Api::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
        Api::OpenAi => {
            json!({"error": {"message": message, "type": "server_error", "param": null, "code": "upstream_unreachable"}})
        }
        Api::Ollama => json!({"error": message}),
    };
    (StatusCode::BAD_GATEWAY, Json(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::{Token, is_straight, shows};

    #[test]
    fn a_query_with_the_token_is_left_out() {
        let token = Token::of([0xab; 32]);
        let encoded: String = token.as_str().bytes().map(|byte| format!("%{byte:02x}")).collect();
        for query in [format!("key={}", token.as_str()), format!("a=1&key={encoded}"), format!("x{encoded}")] {
            assert!(shows(&token, &query), "{query}");
        }
        assert!(!shows(&token, "beta=true&key=abab"));
    }

    #[test]
    fn a_path_that_leads_to_other_routes_is_not_passed_on() {
        for path in ["/v1/models/gpt-5.2", "/v1/models/org/a..b", "/v1/responses/r_1/input_items", "/v1/models/..."] {
            assert!(is_straight(path), "{path}");
        }
        for path in [
            "/v1/responses/../files/f_1",
            "/v1/models/%2e%2E/files",
            "/v1/models/.%2e",
            "/v1/models/./x",
            "/v1/models/..\\files",
        ] {
            assert!(!is_straight(path), "{path}");
        }
    }
}
