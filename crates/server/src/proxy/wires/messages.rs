//! Anthropic's messages, and the count of their tokens. Breakpoints of the prompt cache stay where they are: the opening comes
//! behind the client's own system blocks, and a block of memories in front of the text of its message.

use serde_json::value::RawValue;

use super::content::{Kinds, Message, content, spoken, system_place};
use super::{Asked, Names, Source, SystemPlace, list};

const KINDS: Kinds = Kinds { text: &["text"], added: "text" };

pub(super) fn read(body: &Source<'_>) -> Option<Asked> {
    let messages = list(body.field("messages")?)?;
    let read: Vec<(&RawValue, Message<'_>)> =
        messages.iter().filter_map(|raw| Some((*raw, serde_json::from_str(raw.get()).ok()?))).collect();
    if read.len() < messages.len() {
        return None;
    }
    let raw = body.field("system");
    let system = match raw {
        Some(raw) => system_place(body, raw, KINDS.added)?,
        None => SystemPlace::NewField { at: body.first_field()?, name: "system" },
    };
    let system_text = raw.and_then(|raw| content(body, raw, KINDS)).map(|content| content.text).unwrap_or_default();
    Some(Asked {
        said: read.iter().filter_map(|(raw, message)| spoken(body, raw, message, KINDS)).collect(),
        system,
        system_text,
        history: messages.first().map(|first| body.at(first)),
        names: Names::of_anthropic(body),
    })
}
