//! Pages of others, as many as a seed makes: none is answered, whatever it calls itself. A gate without the check of the
//! `Origin` is noticed.

#[expect(dead_code, reason = "the integration tests wait for it")]
#[path = "../../tests/http/host.rs"]
mod host;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use throughline_testkit::Random;
use tower::ServiceExt as _;

use crate::access::{Names, Token};
use crate::http::{self, App};
use host::Waiting;

const SEEDS: u64 = 200;

/// Seeds within which the planted bug is noticed.
const SEEDS_FOR_BUG: u64 = 20;

const PORT: u16 = 7077;

/// An origin that a browser, or somebody who pretends to be one, could send; now and then our own.
fn origin(random: &mut Random) -> String {
    let scheme = ["http", "https", "HTTP", "file", "null"][random.below(5)];
    let host = ["127.0.0.1", "localhost", "[::1]", "evil.example", "127.0.0.1.evil.example", "localhost@evil.example"]
        [random.below(6)];
    let port =
        [format!(":{PORT}"), String::new(), ":80".to_owned(), format!(":{PORT}.evil.example")][random.below(4)].clone();
    let path = ["", "", "/", "/x", "?", "#"][random.below(6)];
    match random.below(6) {
        0 => "null".to_owned(),
        1 => format!("{scheme}:{host}{port}"),
        _ => format!("{scheme}://{host}{port}{path}"),
    }
}

/// The rule, once more: our own address, letter by letter, and no other.
fn is_own(origin: &str) -> bool {
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| origin == format!("http://{host}:{PORT}"))
}

/// The daemon's routes behind their gate.
struct Routes {
    router: Router,
    token: Token,
}

impl Routes {
    fn new(directory: &Path, is_origin_check_off: bool) -> Self {
        let token = Token::of([1; 32]);
        let names = Names::listening(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)), false, &[]);
        let mut app = App::new(Arc::new(Waiting::on(directory)), token.clone(), names).unwrap();
        app.is_origin_check_off = is_origin_check_off;
        Self { router: http::router(Arc::new(app)), token }
    }

    async fn status(&self, origin: &str) -> u16 {
        let request = Request::get("/api/memories")
            .header(header::HOST, format!("127.0.0.1:{PORT}"))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token.as_str()))
            .header(header::ORIGIN, origin)
            .body(Body::empty());
        self.router.clone().oneshot(request.unwrap()).await.unwrap().status().as_u16()
    }
}

/// Asks as a program that knows the token, from a page; says what is wrong with the answer.
async fn story(routes: &Routes, seed: u64) -> Result<(), String> {
    let origin = origin(&mut Random::new(seed));
    let status = routes.status(&origin).await;
    let is_answered = status == 200;
    if is_answered == is_own(&origin) {
        return Ok(());
    }
    Err(format!("a page of {origin:?} gets {status}"))
}

#[tokio::test]
async fn no_page_of_others_is_answered() {
    let directory = tempfile::tempdir().unwrap();
    let routes = Routes::new(directory.path(), false);
    for seed in 0..SEEDS {
        assert_eq!(story(&routes, seed).await, Ok(()), "seed {seed}");
    }
}

#[tokio::test]
async fn an_origin_check_that_is_off_is_noticed() {
    let (broken, sound) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (broken, sound) = (Routes::new(broken.path(), true), Routes::new(sound.path(), false));
    for seed in 0..SEEDS_FOR_BUG {
        if story(&broken, seed).await.is_err() {
            assert_eq!(story(&sound, seed).await, Ok(()), "seed {seed} without the bug");
            return;
        }
    }
    panic!("no seed notices it");
}
