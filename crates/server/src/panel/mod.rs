//! The panel: files embedded in the program, the one-time link that opens it, and the headers that keep it closed to others.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use cookie::{Cookie, SameSite, time::Duration};
use rust_embed::RustEmbed;
use serde::Deserialize;

use crate::access::{COOKIE, Passes};
use crate::http::App;
use crate::problem::{Code, Problem};

#[derive(RustEmbed)]
#[folder = "src/panel/assets"]
struct Assets;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(async || asset("index.html")))
        .route("/open", get(open))
        .route("/assets/{*path}", get(async |Path(path): Path<String>| asset(&path)))
}

/// What a link brings.
#[derive(Deserialize)]
struct Given {
    #[serde(default)]
    code: String,
}

/// Trades a one-time code for the cookie. The page that follows is reached from here and not by a redirect: a link that was
/// followed from elsewhere would not bring the cookie along.
async fn open(State(app): State<Arc<App>>, Query(given): Query<Given>) -> Response {
    let now = app.host.engine().now();
    if !app.links.redeem(&given.code, now) {
        let hint = "a link opens once, within ten minutes: `throughline open` gives a new one";
        return closed(&Problem::new(Code::Forbidden, "this link does not open the panel any more", hint));
    }
    let pass = Cookie::build((COOKIE, app.passes.issue(now)))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(app.names.is_tls())
        .max_age(Duration::seconds(Passes::seconds()));
    let page = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=/\">\
                <title>Throughline</title><p><a href=\"/\">Open your memory</a></p></html>";
    let mut response = guarded(Html(page).into_response());
    if let Ok(value) = HeaderValue::from_str(&pass.to_string()) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// A page for a person who is not let in.
pub(crate) fn closed(problem: &Problem) -> Response {
    let hint = problem.hint.as_deref().unwrap_or_default();
    // The texts are ours; nothing that was sent is in them.
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Throughline</title><h1>Throughline</h1><p>{}.</p><p>{hint}.</p></html>",
        problem.message
    );
    let mut response = guarded(Html(page).into_response());
    *response.status_mut() = problem.code.status();
    response
}

fn asset(path: &str) -> Response {
    let Some(file) = Assets::get(path) else {
        return Problem::new(Code::NotFound, "the panel has no such file", "`/` is where it begins").into_response();
    };
    let kind = match path.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    guarded((StatusCode::OK, [(header::CONTENT_TYPE, kind)], file.data).into_response())
}

/// Nothing from elsewhere, nothing inline, in no frame, and nothing left behind.
fn guarded(mut response: Response) -> Response {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                          connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; \
                          frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests;
