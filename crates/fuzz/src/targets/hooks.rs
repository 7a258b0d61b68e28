//! Events that assistants report, and the answers to them.

use std::path::{Component, Path};

use serde_json::Value;
use throughline_clients::Client;
use throughline_clients::hooks::{Event, HookInput, answer};

pub(super) fn run(bytes: &[u8]) {
    let (event, bytes) = super::choice(bytes, &Event::ALL);
    for client in std::iter::once(None).chain(Client::ALL.map(Some)) {
        let input = HookInput::read(bytes, client);
        assert!(client.is_none_or(|client| client == input.client));
        if let Some(session) = input.session_id() {
            let name = session.as_str();
            assert!(name.len() <= 180 && name.starts_with(input.client.as_str()), "{name}");
            let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
            assert!(name.chars().all(is_safe), "{name:?}");
        }
        stays_below(&input);
        let line = answer(input.client, event, input.prompt.as_deref(), Some("likes tea"));
        assert!(!line.contains('\n'), "an answer is one line");
        if !line.is_empty() {
            let value: Value = serde_json::from_str(&line).expect("an answer is JSON");
            assert!(value.is_object());
        }
    }
}

/// A file that the client did not name lies below its own directory.
fn stays_below(input: &HookInput) {
    let root = Path::new("/home/ada/.copilot");
    let Some(path) = input.transcript_path(root) else { return };
    if input.transcript.is_none() {
        assert!(path.starts_with(root) && path.components().all(|part| part != Component::ParentDir), "{path:?}");
    }
}
