//! The directories that a client says it works in.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use tokio::sync::Mutex;
use tokio::sync::watch::{Receiver, channel};

/// How long the first request of a client waits for its roots.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the client said of its directories. One that is slow is waited for once, and its answer counts whenever it comes;
/// one that did not answer is asked again.
#[derive(Default)]
pub(super) struct Roots {
    asked: Mutex<Option<Receiver<Option<Vec<PathBuf>>>>>,
}

impl Roots {
    /// The client's directories, as far as it said; none where it offers none, or may not be asked.
    pub(super) async fn of(&self, context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
        let may_ask = context.protocol_version().is_some_and(|version| version < ProtocolVersion::V_2026_07_28);
        let has_roots = context.client_capabilities().is_some_and(|capabilities| capabilities.roots.is_some());
        if !may_ask || !has_roots {
            return Vec::new();
        }
        let mut asked = self.asked.lock().await;
        let is_lost = |heard: &Receiver<Option<Vec<PathBuf>>>| heard.has_changed().is_err() && heard.borrow().is_none();
        if asked.as_ref().is_none_or(is_lost) {
            let mut heard = ask(context);
            if tokio::time::timeout(PATIENCE, heard.changed()).await.is_err() {
                tracing::debug!("the client does not say its roots in time; going on without them until it does");
            }
            *asked = Some(heard);
        }
        asked.as_ref().and_then(|heard| heard.borrow().clone()).unwrap_or_default()
    }

    /// What was said no longer holds.
    pub(super) async fn forget(&self) {
        *self.asked.lock().await = None;
    }
}

/// Asks; the answer is heard when it comes, or never.
#[expect(deprecated, reason = "clients of the revisions that have roots still offer them")]
fn ask(context: &RequestContext<RoleServer>) -> Receiver<Option<Vec<PathBuf>>> {
    let (say, heard) = channel(None);
    let peer = context.peer.clone();
    tokio::spawn(async move {
        match peer.list_roots().await {
            Ok(answer) => {
                say.send_replace(Some(answer.roots.iter().filter_map(|root| directory(&root.uri)).collect()));
            }
            Err(error) => tracing::debug!(%error, "the client does not say its roots"),
        }
    });
    heard
}

/// The directory that a `file:` URI names, if it is there.
fn directory(uri: &str) -> Option<PathBuf> {
    PathBuf::from(path(uri)?).canonicalize().ok()
}

/// `file:///home/ada/my%20work` → `/home/ada/my work`
fn path(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.strip_prefix('/').map(|_| path.as_bytes())?;
    while let Some((&byte, rest)) = left.split_first() {
        let escaped = rest.get(..2).filter(|_| byte == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match escaped.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                left = &rest[2..];
            }
            None => {
                bytes.push(byte);
                left = rest;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_names_a_path_of_this_machine() {
        for (uri, expected) in [
            ("file:///home/ada", Some("/home/ada")),
            ("file://localhost/home/ada", Some("/home/ada")),
            ("file:///my%20work/%C3%BC", Some("/my work/ü")),
            ("file:///odd%", Some("/odd%")),
            ("file:///%ff", None),
            ("file://elsewhere/share", None),
            ("https://example.org/", None),
        ] {
            assert_eq!(path(uri).as_deref(), expected, "{uri}");
        }
    }
}
