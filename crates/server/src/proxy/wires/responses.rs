//! OpenAI's responses: `instructions`, and an `input` that is a string or a list of items.

use super::content::{Kinds, Message, content, spoken, system_place};
use super::{Asked, By, Names, Source, Spoken, SystemPlace, list};

const KINDS: Kinds = Kinds { text: &["input_text", "output_text", "text"], added: "input_text" };

pub(super) fn read(body: &Source<'_>) -> Option<Asked> {
    let (said, history) = said(body)?;
    let instructions = body.field("instructions");
    let system = match instructions {
        Some(raw) => system_place(body, raw, KINDS.added)?,
        // Instructions would take the place of those of a prompt that the server keeps.
        None if body.field("prompt").is_some() => return None,
        None => SystemPlace::NewField { at: body.first_field()?, name: "instructions" },
    };
    let system_text = instructions.and_then(|raw| content(body, raw, KINDS)).map(|content| content.text);
    let system_text = system_text.unwrap_or_default();
    Some(Asked { said, system, system_text, history, names: Names::of_openai(body) })
}

/// What was said, and where a list of items begins.
fn said(body: &Source<'_>) -> Option<(Vec<Spoken>, Option<usize>)> {
    let Some(input) = body.field("input") else { return Some((Vec::new(), None)) };
    if input.get().starts_with('"') {
        let content = content(body, input, KINDS)?;
        let starts_at = body.at(input);
        let spoken = Spoken {
            by: By::Person,
            speaker: None,
            text: content.text,
            starts_at,
            place: content.place,
            answers_tool: false,
        };
        return Some((vec![spoken], None));
    }
    let items = list(input)?;
    let mut said = Vec::new();
    for raw in &items {
        let item: Message<'_> = serde_json::from_str(raw.get()).ok()?;
        if item.kind.as_deref().is_none_or(|kind| kind == "message") {
            said.extend(spoken(body, raw, &item, KINDS));
        }
    }
    Some((said, items.first().map(|first| body.at(first))))
}
