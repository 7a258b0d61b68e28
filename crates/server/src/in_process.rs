//! The daemon's routes without a socket: for programs that measure what an HTTP client gets.
//!
//! A request passes the same gate, layers and handlers as one from the network. The scheduler does not run: whoever asks
//! decides when the jobs of the daemon are done.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use serde_json::Value;
use tower::ServiceExt as _;

use crate::access::{Names, Token};
use crate::http::{self, App};
use crate::{Code, Host, Problem};

/// More than any answer.
const MOST_BYTES: usize = 64 << 20;

/// Every route, asked in this process.
pub struct InProcess {
    router: Router,
    token: Token,
    name: String,
}

impl InProcess {
    /// The routes over a host. Must be called within a runtime.
    pub fn new(host: Arc<dyn Host>) -> Result<Self, Problem> {
        let token = Token::of(host.secret()?);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 7077));
        let names = Names::listening(address, false, &[]);
        let app = App::new(host, token.clone(), names)?;
        Ok(Self { router: http::router(Arc::new(app)), token, name: address.to_string() })
    }

    /// The status and the body of the answer to a `POST`.
    pub async fn post(&self, path: &str, body: &Value) -> Result<(u16, Value), Problem> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(header::HOST, &self.name)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token.as_str()))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_string()))
            .map_err(|error| failed(&error))?;
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), MOST_BYTES).await.map_err(|error| failed(&error))?;
        let body = serde_json::from_slice(&bytes).map_err(|error| failed(&error))?;
        Ok((status, body))
    }
}

fn failed(error: &dyn std::error::Error) -> Problem {
    Problem::new(Code::Failed, format!("the request cannot be sent or read: {error}"), "please report it")
}
