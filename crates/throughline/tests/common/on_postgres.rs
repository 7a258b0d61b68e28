//! Stories that are told again with the memory on a PostgreSQL server: a test program whose name ends in `_on_postgres` has one,
//! and each home a space of it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use throughline_testkit::postgres::Server;

/// A config with a space of its own.
pub(crate) fn config(text: &str) -> String {
    static SERVER: OnceLock<Server> = OnceLock::new();
    static SPACES: AtomicU32 = AtomicU32::new(1);
    let (url, space) = (SERVER.get_or_init(Server::start).url(), SPACES.fetch_add(1, Ordering::Relaxed));
    format!("{text}\n[store]\nurl = \"{url}?space=story-{space}\"\n")
}
