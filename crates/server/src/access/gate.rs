//! The gate that every request passes: its `Host`, its `Origin`, who sends it, and what it brings.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cookie::Cookie;

use super::{COOKIE, KEY, scope};
use crate::channels::webhook;
use crate::http::App;
use crate::problem::{Code, Problem};
use crate::proxy;

/// The token of a request to a proxy, where it came in the path: `/t/TOKEN/v1/…`.
#[derive(Clone)]
pub(crate) struct PathToken(pub(crate) String);

/// Who sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// A program that knows the token.
    Program,
    /// The person's own browser, on the panel's page.
    Browser,
}

/// Lets a request through, or says why not. The answer to a stranger is the same whatever they ask for.
pub(crate) async fn gate(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match check(&app, &request) {
        // A signature is over the body.
        Ok(()) if is_signed(&request) => match webhook::verified(&app, request).await {
            Ok(request) => next.run(request).await,
            Err(problem) => problem.into_response(),
        },
        Ok(()) => next.run(request).await,
        Err(problem) if wants_page(&request) => crate::panel::closed(&problem),
        Err(problem) => problem.into_response(),
    }
}

/// Whether a person is looking: a browser that goes to a page, not a program.
fn wants_page(request: &Request) -> bool {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let path = request.uri().path();
    !path.starts_with("/api/") && !proxy::is_route(path) && accept.is_some_and(|accept| accept.contains("text/html"))
}

fn check(app: &App, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    check_host(app, request)?;
    let path = request.uri().path();
    check_origin(app, headers)?;
    // What a supervisor asks, and the one-time link itself.
    if path == "/healthz" || path == "/open" {
        return Ok(());
    }
    if is_signed(request) {
        return check_write(Sender::Program, headers);
    }
    let is_file = scope::is_file(request.method(), path);
    if is_file && is_known(app, headers) {
        return Ok(());
    }
    let sender = if proxy::is_route(path) { client(app, request) } else { sender(app, headers) };
    let sender = sender.ok_or_else(stranger)?;
    if is_write(request.method()) {
        check_write(sender, headers)?;
    }
    if sender == Sender::Browser && !is_file { scope::check(request.method(), path) } else { Ok(()) }
}

/// Whether a request shows a signature instead of the token.
fn is_signed(request: &Request) -> bool {
    webhook::is_signed(request.method(), request.uri().path(), request.headers())
}

/// The `Host` must be one of ours: a page whose name was pointed at this machine has another.
fn check_host(app: &App, request: &Request) -> Result<(), Problem> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let given = hosts.next().and_then(|host| host.to_str().ok());
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let agree = |host: &str| authority.is_none_or(|authority| authority.eq_ignore_ascii_case(host));
    // HTTP/2 names the host in the request line alone.
    let host = given.or(authority).filter(|host| hosts.next().is_none() && agree(host));
    match host {
        Some(host) if app.names.is_host(host) => Ok(()),
        _ => Err(Problem::new(
            Code::Forbidden,
            "this name does not lead to the memory",
            "use the address that `throughline serve` printed, or add the name to `server.hosts`",
        )),
    }
}

/// A page may ask only if it is our own.
fn check_origin(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    #[cfg(test)]
    if app.is_origin_check_off {
        return Ok(());
    }
    let foreign = || {
        let hint = "only the panel itself may ask from a browser; programs send no Origin";
        Problem::new(Code::Forbidden, "the request comes from another page", hint)
    };
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match (origins.next().map(|origin| origin.to_str()), origins.next()) {
        (None, _) => {}
        (Some(Ok(origin)), None) if app.names.is_origin(origin) => {}
        _ => return Err(foreign()),
    }
    // Browsers say where a request starts, Origin or not: a link from another page may lead here, nothing else.
    let word = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    match word("sec-fetch-site") {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) if word("sec-fetch-mode") == Some("navigate") && word("sec-fetch-dest") == Some("document") => Ok(()),
        Some(_) => Err(foreign()),
    }
}

fn sender(app: &App, headers: &HeaderMap) -> Option<Sender> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(value) = given.next() {
        // Whoever shows a token is judged by it alone.
        let token = value.to_str().ok().and_then(bearer).filter(|_| given.next().is_none())?;
        return app.token.is(token).then_some(Sender::Program);
    }
    let mut keys = headers.get_all(KEY).iter();
    let key = keys.next().and_then(|key| key.to_str().ok()).filter(|_| keys.next().is_none())?;
    let now = app.host.engine().now();
    cookies(headers).any(|cookie| app.passes.admits(cookie.value(), key, now)).then_some(Sender::Browser)
}

/// Whether a browser brings the cookie of a pass, which every port of this host sees: enough for the panel's files.
fn is_known(app: &App, headers: &HeaderMap) -> bool {
    let now = app.host.engine().now();
    !headers.contains_key(header::AUTHORIZATION) && cookies(headers).any(|cookie| app.passes.knows(cookie.value(), now))
}

/// Cookies of our name; another server on this host can add some.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = Cookie<'_>> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(Cookie::split_parse).flatten().filter(|cookie| cookie.name() == COOKIE)
}

/// A client of a proxy shows the token in the path, as the bearer, or as its API key: other keys are for the server. No cookie
/// opens a proxy.
fn client(app: &App, request: &Request) -> Option<Sender> {
    if let Some(PathToken(token)) = request.extensions().get::<PathToken>() {
        return app.token.is(token).then_some(Sender::Program);
    }
    let text = |name: &HeaderName| request.headers().get_all(name).iter().filter_map(|value| value.to_str().ok());
    let bearers = text(&header::AUTHORIZATION).filter_map(bearer);
    let mut shown = bearers.chain(text(&proxy::API_KEY));
    shown.any(|token| app.token.is(token)).then_some(Sender::Program)
}

/// `Bearer abc`, the word in any case.
fn bearer(value: &str) -> Option<&str> {
    let (word, token) = value.split_once(' ')?;
    word.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

fn is_write(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// A write brings JSON or nothing, and from a browser it says that it comes from the panel.
fn check_write(sender: Sender, headers: &HeaderMap) -> Result<(), Problem> {
    if sender == Sender::Browser && !headers.contains_key(header::ORIGIN) {
        let hint = "open the panel with `throughline open`, or send the token from a program";
        return Err(Problem::new(Code::Forbidden, "a browser's write must say where it comes from", hint));
    }
    let has_body = headers.get(header::CONTENT_LENGTH).is_some_and(|length| length != "0")
        || headers.contains_key(header::TRANSFER_ENCODING);
    match headers.get(header::CONTENT_TYPE) {
        Some(kind) if is_json(kind.to_str().unwrap_or_default()) => Ok(()),
        None if !has_body => Ok(()),
        _ => {
            let hint = "send `Content-Type: application/json`";
            Err(Problem::new(Code::NotJson, "only JSON is taken", hint))
        }
    }
}

fn is_json(kind: &str) -> bool {
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

fn stranger() -> Problem {
    let hint =
        "send `Authorization: Bearer` with what is in the file `token`; a browser opens the link of `throughline open`";
    Problem::new(Code::Unauthorized, "who asks is not known", hint)
}
