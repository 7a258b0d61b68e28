//! The directories that a client says it works in.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;

/// A client that does not say its roots by then has none.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks the client for its roots; none where it offers none, or may not be asked.
#[expect(deprecated, reason = "clients of the revisions that have roots still offer them")]
pub(super) async fn ask(context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
    let may_ask = context.protocol_version().is_some_and(|version| version < ProtocolVersion::V_2026_07_28);
    let has_roots = context.client_capabilities().is_some_and(|capabilities| capabilities.roots.is_some());
    if !may_ask || !has_roots {
        return Vec::new();
    }
    match tokio::time::timeout(PATIENCE, context.peer.list_roots()).await {
        Ok(Ok(answer)) => answer.roots.iter().filter_map(|root| directory(&root.uri)).collect(),
        Ok(Err(error)) => {
            tracing::debug!(%error, "the client does not say its roots");
            Vec::new()
        }
        Err(_) => {
            tracing::debug!("the client does not say its roots in time");
            Vec::new()
        }
    }
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
