//! OpenAI's chat completions, and Ollama's chat, whose messages have the same form.

use serde_json::value::RawValue;

use super::content::{Kinds, Message, content, spoken, system_place};
use super::{Asked, Names, Source, SystemPlace, list};

const KINDS: Kinds = Kinds { text: &["text"], added: "text" };

pub(super) fn read(body: &Source<'_>) -> Option<Asked> {
    let raw = body.field("messages")?;
    let messages = list(raw)?;
    let read: Vec<(&RawValue, Message<'_>)> =
        messages.iter().filter_map(|raw| Some((*raw, serde_json::from_str(raw.get()).ok()?))).collect();
    if read.len() < messages.len() {
        return None;
    }
    let leading = read.iter().take_while(|(_, message)| is_system(message)).count();
    let system = read[..leading].iter().rev().find_map(|(_, message)| {
        let raw = message.content?;
        let text = content(body, raw, KINDS)?.text;
        Some((system_place(body, raw, KINDS.added)?, text))
    });
    let first = body.at(raw) + 1;
    let (system, system_text) =
        system.unwrap_or_else(|| (SystemPlace::NewMessage { at: first, is_alone: messages.is_empty() }, String::new()));
    Some(Asked {
        said: read.iter().filter_map(|(raw, message)| spoken(body, raw, message, KINDS)).collect(),
        system,
        system_text,
        history: read.get(leading).map(|(raw, _)| body.at(raw)),
        names: Names::of_openai(body),
    })
}

fn is_system(message: &Message<'_>) -> bool {
    matches!(message.role.as_deref(), Some("system" | "developer"))
}
