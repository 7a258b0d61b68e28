//! What a body says about which conversation it belongs to.

use serde_json::Value;

use super::Source;

/// Fields of `metadata` that name a conversation.
const METADATA: [&str; 4] = ["session_id", "conversation_id", "thread_id", "chat_id"];

/// What a body says about its conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::proxy) struct Names {
    /// The client's own name for it.
    pub(in crate::proxy) conversation: Option<String>,
    /// The reply that it goes on from: what was said before is kept by the server.
    pub(in crate::proxy) previous_response: Option<String>,
    /// Whether the server keeps what was said before, with the memories that came with it.
    pub(in crate::proxy) is_held: bool,
}

impl Names {
    /// `metadata`, `conversation`, a cache key that is a UUID, else `user`.
    pub(super) fn of_openai(body: &Source<'_>) -> Self {
        let conversation = in_metadata(body)
            .or_else(|| conversation(body))
            .or_else(|| body.text("prompt_cache_key").filter(|key| is_uuid(key)))
            .or_else(|| body.text("user"));
        let previous_response = body.text("previous_response_id").filter(|id| !id.is_empty());
        let is_held = previous_response.is_some() || self::conversation(body).is_some();
        Self { conversation: conversation.filter(|name| !name.trim().is_empty()), previous_response, is_held }
    }

    /// `metadata`: its own fields, else the session within `user_id`, else that.
    pub(super) fn of_anthropic(body: &Source<'_>) -> Self {
        let user = || metadata(body)?.get("user_id")?.as_str().map(session_of_user);
        let conversation = in_metadata(body).or_else(user).filter(|name| !name.trim().is_empty());
        Self { conversation, ..Self::default() }
    }
}

fn metadata(body: &Source<'_>) -> Option<Value> {
    serde_json::from_str(body.field("metadata")?.get()).ok()
}

fn in_metadata(body: &Source<'_>) -> Option<String> {
    let metadata = metadata(body)?;
    METADATA.iter().find_map(|name| metadata.get(*name)?.as_str().map(str::to_owned))
}

/// An id, or an object that has one.
fn conversation(body: &Source<'_>) -> Option<String> {
    let value: Value = serde_json::from_str(body.field("conversation")?.get()).ok()?;
    value.as_str().or_else(|| value.get("id")?.as_str()).map(str::to_owned)
}

/// Some clients write account and session into one text, as JSON or as `…_session_ID`.
fn session_of_user(user: &str) -> String {
    let as_json = || serde_json::from_str::<Value>(user).ok()?.get("session_id")?.as_str().map(str::to_owned);
    let at_end = || user.rsplit_once("_session_").map(|(_, session)| session.to_owned());
    as_json().or_else(at_end).unwrap_or_else(|| user.to_owned())
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let is_hex = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(is_hex)
}
