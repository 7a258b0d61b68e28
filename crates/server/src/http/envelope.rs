//! What every answer has, whoever gave it: an id, headers that keep it out of caches, and the shape of a problem.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::App;
use crate::problem::{Code, Problem};
use crate::proxy::PassedOn;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id of a request that is taken over.
const LONGEST_ID: usize = 64;

/// Names requests: what nobody else has, and a count.
pub(crate) struct RequestIds {
    prefix: String,
    next: AtomicU64,
}

impl RequestIds {
    /// Ids that begin with something nobody else has.
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self { prefix: data_encoding::HEXLOWER.encode(&secret[..6]), next: AtomicU64::new(1) }
    }

    fn next(&self) -> String {
        format!("{}-{}", self.prefix, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// Gives an answer its id and its headers, and a refused method its words.
pub(crate) async fn envelope(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(&REQUEST_ID).filter(|id| is_sane(id)).cloned();
    let id = given.or_else(|| HeaderValue::from_str(&app.request_ids.next()).ok());
    let is_api = request.uri().path().starts_with("/api/");
    let mut response = next.run(request).await;
    let is_passed_on = response.extensions().get::<PassedOn>().is_some();
    if response.status() == StatusCode::METHOD_NOT_ALLOWED && !is_passed_on {
        // The router adds `Allow` behind this.
        response =
            Problem::new(Code::MethodNotAllowed, "not with this method", "`Allow` says with which").into_response();
    }
    let headers = response.headers_mut();
    if let Some(id) = id.filter(|_| !(is_passed_on && headers.contains_key(&REQUEST_ID))) {
        headers.insert(REQUEST_ID, id);
    }
    if is_api {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}

fn is_sane(id: &HeaderValue) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    (1..=LONGEST_ID).contains(&id.len()) && id.as_bytes().iter().all(is_plain)
}

/// Lets in as many requests as can be served at once; whoever comes beyond is told to come again.
pub(crate) async fn at_once(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    // Whoever watches over the daemon is answered, however much there is to do.
    if request.uri().path() == "/healthz" {
        return next.run(request).await;
    }
    match app.places.try_acquire() {
        Ok(_place) => next.run(request).await,
        Err(_) => Problem::new(Code::Busy, "too many requests at once", "try again in a moment").into_response(),
    }
}

/// Routes know one part of a path by each name, and addresses of documents have several: between the place where an
/// address begins and what follows it, `/` is written `%2F`.
pub(crate) fn whole_addresses(mut request: axum::http::Request<Body>) -> axum::http::Request<Body> {
    if let Some(path) = whole_address(request.uri().path()) {
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = format!("{path}{query}").parse().ok();
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }
    request
}

/// The verbs behind the address of a document. One that is itself called so is reached with `%2F` in its address.
const VERBS: [&str; 2] = ["/history", "/restore"];

fn whole_address(path: &str) -> Option<String> {
    let (root, address) = ["/api/documents/", "/api/read/"]
        .into_iter()
        .find_map(|root| path.strip_prefix(root).map(|address| (root, address)))?;
    let verb = VERBS.into_iter().find(|verb| address.ends_with(verb));
    let verb = verb.filter(|_| root == "/api/documents/").unwrap_or_default();
    let address = address.strip_suffix(verb).unwrap_or(address);
    address.contains('/').then(|| format!("{root}{}{verb}", address.replace('/', "%2F")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_one_part_of_the_path() {
        let check = |path: &str, whole: Option<&str>| assert_eq!(whole_address(path).as_deref(), whole, "{path}");
        check("/api/documents/user/profile", Some("/api/documents/user%2Fprofile"));
        check("/api/documents/user/profile/history", Some("/api/documents/user%2Fprofile/history"));
        check("/api/documents/user/notes/a/restore", Some("/api/documents/user%2Fnotes%2Fa/restore"));
        check("/api/documents/user/history", None);
        check("/api/documents/user%2Fhistory", None);
        check("/api/documents/user%2Fprofile", None);
        check("/api/documents/user%2Fprofile/history", None);
        check("/api/read/sessions/cli:main", Some("/api/read/sessions%2Fcli:main"));
        check("/api/memories/a/history", None);
    }
}
