//! The panel: files embedded in the program, the one-time link that opens it, and the headers that keep it closed to others.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use cookie::{Cookie, SameSite, time::Duration};
use rust_embed::RustEmbed;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::access::{COOKIE, Pass, Passes};
use crate::http::App;
use crate::problem::{Code, Problem};

/// How a page looks that has no file but itself.
const PLAIN: &str = ":root{color-scheme:light dark}\
    body{margin:0;min-height:90vh;display:grid;place-content:center;gap:12px;padding:24px;\
    font:16px/1.6 system-ui,sans-serif;background:light-dark(#f8f5ef,#171614);color:light-dark(#26231e,#ebe6dd)}\
    h1{font:500 30px/1.2 ui-serif,Georgia,serif;color:light-dark(#1b6c66,#68c6b9);margin:0}\
    p{margin:0;max-width:34em}a{color:inherit}\
    code{padding:1px 6px;border-radius:6px;background:light-dark(#ece5d9,#292723)}";

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

/// Trades a one-time code for a pass: the cookie, and the key in a page whose script keeps it and goes on to the panel. A
/// redirect would not do: a link that was followed from elsewhere would not bring the cookie along.
async fn open(State(app): State<Arc<App>>, method: Method, Query(given): Query<Given>) -> Response {
    if method != Method::GET {
        let hint = "open the link in a browser";
        return Problem::new(Code::MethodNotAllowed, "whoever only looks uses up no link", hint).into_response();
    }
    let now = app.host.engine().now();
    if !app.links.redeem(&given.code, now) {
        let hint = "a link opens once, within ten minutes: `throughline open` gives a new one";
        return closed(&Problem::new(Code::Forbidden, "this link does not open the panel any more", hint));
    }
    let Pass { cookie, key } = match app.host.secret() {
        Ok(secret) => app.passes.issue(secret, now),
        Err(problem) => return closed(&problem),
    };
    let cookie = Cookie::build((COOKIE, cookie))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(app.names.is_tls())
        .max_age(Duration::seconds(Passes::seconds()));
    let mut response = plain(
        &format!(
            "<meta name=\"throughline-key\" content=\"{key}\"><script type=\"module\" src=\"/assets/js/enter.js\"></script>"
        ),
        "<h1>Throughline</h1><p>Opening your memory.</p><noscript><p>This page needs JavaScript.</p></noscript>",
        "script-src 'self'; ",
    );
    if let Ok(value) = HeaderValue::from_str(&cookie.to_string()) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// A page for a person who is not let in.
pub(crate) fn closed(problem: &Problem) -> Response {
    // Programs are told of the token; whoever looks with a browser needs a link.
    let (message, hint) = match problem.code {
        Code::Unauthorized => (
            "this browser has not been let in",
            "run `throughline open` on the machine that keeps the memory, and follow the link that it prints",
        ),
        _ => (problem.message.as_str(), problem.hint.as_deref().unwrap_or_default()),
    };
    // The texts are ours; nothing that was sent is in them.
    let hint: String = hint
        .split('`')
        .enumerate()
        .map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() })
        .collect();
    let mut response =
        plain("", &format!("<h1>Throughline</h1><p>{}.</p><p>{}.</p>", sentence(message), sentence(&hint)), "");
    *response.status_mut() = problem.code.status();
    response
}

/// With a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A page that needs no other file, since a browser that is not let in gets none; `scripts` is what it may run, if anything.
fn plain(head: &str, body: &str, scripts: &str) -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <link rel=\"icon\" href=\"data:,\"><title>Throughline</title><style>{PLAIN}</style>{head}</head><body>{body}</body></html>"
    );
    let mut response = guarded(Html(page).into_response());
    let digest = data_encoding::BASE64.encode(&Sha256::digest(PLAIN));
    let policy = format!(
        "default-src 'none'; {scripts}style-src 'sha256-{digest}'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
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
        // No other page keeps hold of this window, and none takes its files in.
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests;
