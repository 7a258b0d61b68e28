//! What a message says: its content is a string or a list of parts, of which some are text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{By, Place, Source, Spoken, SystemPlace, list};

/// The types of parts that are text, and the one that is added.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kinds {
    pub(super) text: &'static [&'static str],
    pub(super) added: &'static str,
}

/// A message, as far as it matters here.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) role: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

/// What a content says, and where text can be put in front of it.
pub(super) struct Content {
    pub(super) text: String,
    pub(super) place: Option<Place>,
    pub(super) answers_tool: bool,
}

/// Reads a content; nothing where it is neither a string nor a list of parts.
pub(super) fn content(body: &Source<'_>, raw: &RawValue, kinds: Kinds) -> Option<Content> {
    if raw.get().starts_with('"') {
        let text: String = serde_json::from_str(raw.get()).ok()?;
        return Some(Content { text, place: Some(Place::Text(body.at(raw) + 1)), answers_tool: false });
    }
    let (mut texts, mut place, mut answers_tool) = (Vec::new(), None, false);
    for part in list(raw)? {
        let Ok(Part { kind, text }) = serde_json::from_str::<Part<'_>>(part.get()) else { continue };
        let kind = kind.as_deref().unwrap_or_default();
        answers_tool |= kind == "tool_result";
        if let Some(text) = text.filter(|_| kinds.text.contains(&kind))
            && let Ok(text) = serde_json::from_str::<String>(text.get())
        {
            place.get_or_insert(Place::Part(body.at(part), kinds.added));
            texts.push(text);
        }
    }
    Some(Content { text: texts.join("\n"), place, answers_tool })
}

/// What was said in a message of a person or an assistant; nothing where it has no text.
pub(super) fn spoken(body: &Source<'_>, raw: &RawValue, message: &Message<'_>, kinds: Kinds) -> Option<Spoken> {
    let by = match message.role.as_deref()? {
        "user" => By::Person,
        "assistant" => By::Assistant,
        _ => return None,
    };
    let Content { text, place, answers_tool } = content(body, message.content?, kinds)?;
    let speaker = message.name.and_then(|name| serde_json::from_str(name.get()).ok()).filter(|_| by == By::Person);
    let is_said = !text.trim().is_empty();
    is_said.then(|| Spoken { by, speaker, text, starts_at: body.at(raw), place, answers_tool })
}

/// Where the opening goes in a system prompt that is there.
pub(super) fn system_place(body: &Source<'_>, raw: &RawValue, kind: &'static str) -> Option<SystemPlace> {
    let range = body.range(raw);
    match raw.get().as_bytes().first()? {
        b'"' => Some(SystemPlace::Text { end: range.end - 1, is_empty: range.len() == 2 }),
        b'[' => Some(SystemPlace::Parts { end: range.end - 1, is_empty: list(raw)?.is_empty(), kind }),
        b'n' => Some(SystemPlace::Null(range)),
        _ => None,
    }
}
