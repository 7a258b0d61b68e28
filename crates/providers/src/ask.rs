//! A brief, as any chat model can be asked: a system prompt and turns that alternate.

mod pairs;

use throughline_core::ports::{Brief, Message, ToolCall, ToolSpec};
use throughline_core::prompts;
use throughline_core::text::tokens;

use pairs::alternating;

/// Room beyond the length that the prompt names: providers count other tokens than we do, and a summary that runs into
/// the limit is lost as a whole.
const ROOM: usize = 2;

/// What one side says before the other does, as far as all servers agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The results of the calls right before, each of them, and then the person's words. Either may be missing.
    Person { results: Vec<ToolResult>, text: String },
    /// The assistant's words, and then its calls. Either may be missing.
    Assistant { text: String, calls: Vec<ToolCall> },
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolResult {
    /// The call.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// What is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) system: String,
    pub(crate) turns: Vec<Turn>,
    /// What the model may call. Without any, no call and no result is among the turns either: servers refuse them.
    pub(crate) tools: Vec<ToolSpec>,
    /// Whether the answer is to be JSON.
    pub(crate) is_json: bool,
    /// Whether somebody reads along.
    pub(crate) is_chat: bool,
    /// The most tokens that may come back.
    pub(crate) max_tokens: Option<usize>,
}

impl Ask {
    /// `with_tools` is whether the server knows what tools are.
    pub(crate) fn of(brief: &Brief, with_tools: bool) -> Self {
        match brief {
            Brief::Summarise(summary) => {
                let max_tokens = Some(summary.max_tokens.saturating_mul(ROOM));
                Self { max_tokens, ..Self::single(prompts::summary(summary)) }
            }
            Brief::Extract(extract) => Self { is_json: true, ..Self::single(prompts::extract(extract)) },
            Brief::Reflect(brief) => Self { is_json: true, ..Self::single(prompts::reflect(brief)) },
            Brief::Chat { system, messages, tools } => {
                let tools = if with_tools { tools.clone() } else { Vec::new() };
                Self {
                    system: system.clone(),
                    turns: alternating(messages, !tools.is_empty()),
                    tools,
                    is_json: false,
                    is_chat: true,
                    max_tokens: None,
                }
            }
        }
    }

    fn single((system, message): (String, Message)) -> Self {
        let turns = alternating(&[message], false);
        Self { system, turns, tools: Vec::new(), is_json: false, is_chat: false, max_tokens: None }
    }

    /// As one text, for a model that takes no other: the system prompt, then what was said. Only a chat has more than one turn.
    pub(crate) fn as_text(&self) -> String {
        let said = match self.turns.as_slice() {
            [Turn::Person { text, .. }] => text.clone(),
            turns => turns.iter().map(Turn::spoken).collect::<Vec<_>>().join("\n\n"),
        };
        let ask_for_reply = (self.turns.len() > 1).then_some("Reply to the last message, as the assistant.");
        let parts = [self.system.as_str(), &said].into_iter().chain(ask_for_reply).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    /// About how many tokens are sent.
    pub(crate) fn tokens(&self) -> usize {
        let turns: usize = self.turns.iter().map(Turn::tokens).sum();
        let tool =
            |tool: &ToolSpec| tokens::estimate(tool.description) + tokens::estimate(&tool.parameters.to_string());
        turns + tokens::estimate(&self.system) + self.tools.iter().map(tool).sum::<usize>()
    }

    /// How many calls are among the turns.
    pub(crate) fn calls(&self) -> usize {
        let calls = |turn: &Turn| if let Turn::Assistant { calls, .. } = turn { calls.len() } else { 0 };
        self.turns.iter().map(calls).sum()
    }
}

impl Turn {
    fn spoken(&self) -> String {
        match self {
            Self::Person { text, .. } => format!("User: {text}"),
            Self::Assistant { text, .. } => format!("Assistant: {text}"),
        }
    }

    fn tokens(&self) -> usize {
        match self {
            Self::Person { results, text } => {
                tokens::estimate(text) + results.iter().map(|result| tokens::estimate(&result.text)).sum::<usize>()
            }
            Self::Assistant { text, calls } => {
                tokens::estimate(text) + calls.iter().map(|call| tokens::estimate(&call.arguments)).sum::<usize>()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use throughline_core::model::Role;

    use super::*;

    fn chat(messages: Vec<Message>) -> String {
        let brief = Brief::Chat { system: "Be brief.".to_owned(), messages, tools: Vec::new() };
        Ask::of(&brief, false).as_text()
    }

    #[test]
    fn one_message_is_the_prompt_and_several_are_a_transcript() {
        assert_eq!(chat(vec![Message::said(Role::User, "Hello")]), "Be brief.\n\nHello\n");
        let several = ["Hello", "Hi", "Who are you?"];
        let roles = [Role::User, Role::Assistant, Role::User];
        let messages = roles.into_iter().zip(several).map(|(role, text)| Message::said(role, text)).collect();
        assert_eq!(
            chat(messages),
            "Be brief.\n\nUser: Hello\n\nAssistant: Hi\n\nUser: Who are you?\n\n\
             Reply to the last message, as the assistant.\n"
        );
    }
}
