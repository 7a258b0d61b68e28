//! The answer to an event, in the shape that its client reads.

use serde_json::{Value, json};

use super::Event;
use crate::Client;

/// One line of JSON that adds `context` to the conversation. Without any, or where the client takes none, it changes
/// nothing. Empty where the client takes any word for an instruction: Claude Code does that with all that is printed
/// before a compaction.
///
/// Copilot CLI ignored or doubled added context in several versions: there it stands in front of the prompt itself. Gemini
/// CLI puts what it gets at the start into the first prompt or drops it: there it comes with the message.
pub fn answer(client: Client, event: Event, prompt: Option<&str>, context: Option<&str>) -> String {
    let given = context.filter(|text| !text.trim().is_empty());
    let answer = match (client, event, given) {
        (Client::ClaudeCode, Event::PreCompact, _) => return String::new(),
        (Client::Cursor, Event::SessionStart | Event::Prompt, Some(context)) => {
            json!({ "continue": true, "additional_context": context })
        }
        (Client::Cursor, Event::Prompt, None) => json!({ "continue": true }),
        (Client::Copilot, Event::Prompt, Some(context)) => match prompt {
            Some(prompt) => json!({ "modifiedPrompt": format!("{context}\n\n{prompt}") }),
            None => json!({}),
        },
        (Client::Copilot, ..) | (Client::Gemini, Event::SessionStart, _) => json!({}),
        (_, Event::SessionStart, Some(context)) => specific("SessionStart", context),
        (Client::Gemini, Event::Prompt, Some(context)) => specific("BeforeAgent", context),
        (_, Event::Prompt, Some(context)) => specific("UserPromptSubmit", context),
        _ => json!({}),
    };
    answer.to_string()
}

fn specific(event: &str, context: &str) -> Value {
    json!({
        "hookSpecificOutput": { "hookEventName": event, "additionalContext": context },
        "suppressOutput": true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_is_answered_in_its_own_shape() {
        let mut table = String::new();
        for client in [Client::ClaudeCode, Client::Codex, Client::Cursor, Client::Copilot, Client::Gemini] {
            for event in Event::ALL {
                for context in [Some("likes tea"), None] {
                    let line = answer(client, event, Some("what now?"), context);
                    let with = context.unwrap_or("nothing");
                    table.push_str(&format!("{client} {} with {with}: {line}\n", event.as_str()));
                }
            }
        }
        insta::assert_snapshot!(table);
    }
}
