//! The wire formats: where a request may take memory, what was said in it, and what a reply says. Pure functions over bytes.
//!
//! A body that cannot be read here is no error: it is passed on as it came, and its server says what is wrong with it.

mod chat;
mod content;
mod messages;
mod names;
mod reply;
mod responses;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde_json::value::RawValue;

use super::edits::{Edit, escaped, quoted};
pub(super) use names::Names;
pub(super) use reply::{Reply, read as read_reply};

/// A format that memory can be added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
    /// Ollama's chat.
    Ollama,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Person,
    Assistant,
}

/// Something that was said, with text in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spoken {
    pub(super) by: By,
    /// The speaker's name, where the client gives one.
    pub(super) speaker: Option<String>,
    pub(super) text: String,
    /// Where its message begins in the body.
    pub(super) starts_at: usize,
    /// Where text may be put in front of it.
    pub(super) place: Option<Place>,
    /// Whether it also answers a tool call: then it cannot be the first message.
    pub(super) answers_tool: bool,
}

/// Where text may be put in front of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the beginning of a string.
    Text(usize),
    /// In front of a part, as a part of this type.
    Part(usize, &'static str),
}

impl Place {
    /// Puts a block in front of the message.
    pub(super) fn edit(self, block: &str) -> Edit {
        match self {
            Self::Text(at) => Edit::insert(at, escaped(&format!("{block}\n\n"))),
            Self::Part(at, kind) => Edit::insert(at, format!("{},", part(kind, block))),
        }
    }
}

/// Where the opening goes: behind the client's own system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SystemPlace {
    /// At the end of a string.
    Text { end: usize, is_empty: bool },
    /// At the end of a list of parts, as a part of this type.
    Parts { end: usize, is_empty: bool, kind: &'static str },
    /// In place of `null`.
    Null(Range<usize>),
    /// As the first message.
    NewMessage { at: usize, is_alone: bool },
    /// As the first field, of this name.
    NewField { at: usize, name: &'static str },
}

impl SystemPlace {
    /// Puts the opening behind the system prompt.
    pub(super) fn edit(&self, opening: &str) -> Edit {
        match self {
            Self::Text { end, is_empty: true } => Edit::insert(*end, escaped(opening)),
            Self::Text { end, is_empty: false } => Edit::insert(*end, escaped(&format!("\n\n{opening}"))),
            Self::Parts { end, is_empty, kind } => {
                let comma = if *is_empty { "" } else { "," };
                Edit::insert(*end, format!("{comma}{}", part(kind, opening)))
            }
            Self::Null(at) => Edit { at: at.clone(), with: quoted(opening) },
            Self::NewMessage { at, is_alone } => {
                let comma = if *is_alone { "" } else { "," };
                Edit::insert(*at, format!("{{\"role\":\"system\",\"content\":{}}}{comma}", quoted(opening)))
            }
            Self::NewField { at, name } => Edit::insert(*at, format!("\"{name}\":{},", quoted(opening))),
        }
    }
}

fn part(kind: &str, text: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"text\":{}}}", quoted(text))
}

/// A request as the proxy sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// What was said, oldest first, without tool calls, their results and messages that have no text.
    pub(super) said: Vec<Spoken>,
    pub(super) system: SystemPlace,
    /// The client's own system prompt.
    pub(super) system_text: String,
    /// Where the messages begin that may be replaced by a summary, if they are a list.
    pub(super) history: Option<usize>,
    pub(super) names: Names,
}

impl Asked {
    /// Reads a request; nothing where it has not the form of this wire.
    pub(super) fn read(wire: Wire, body: &[u8]) -> Option<Self> {
        let body = Source::new(std::str::from_utf8(body).ok()?)?;
        match wire {
            Wire::Chat | Wire::Ollama => chat::read(&body),
            Wire::Responses => responses::read(&body),
            Wire::Messages => messages::read(&body),
        }
    }

    /// The place of the person's latest message among what was said.
    pub(super) fn latest(&self) -> Option<usize> {
        self.said.iter().rposition(|spoken| spoken.by == By::Person)
    }
}

/// A body and its fields; parts of it know where they stand.
struct Source<'a> {
    text: &'a str,
    fields: HashMap<Cow<'a, str>, &'a RawValue>,
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Option<Self> {
        Some(Self { text, fields: serde_json::from_str(text).ok()? })
    }

    fn field(&self, name: &str) -> Option<&'a RawValue> {
        self.fields.get(name).copied()
    }

    fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.field(name)?.get()).ok()
    }

    /// Where a part of the body begins.
    fn at(&self, part: &RawValue) -> usize {
        (part.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    fn range(&self, part: &RawValue) -> Range<usize> {
        let at = self.at(part);
        at..at + part.get().len()
    }

    /// Where the first field would go.
    fn first_field(&self) -> Option<usize> {
        self.text.find('{').map(|brace| brace + 1)
    }
}

fn list(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

/// The message that stands for what was left out.
pub(super) fn summary_message(text: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":{}}},", quoted(text))
}
