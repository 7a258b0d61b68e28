//! Prompts: Markdown files, each with one typed render function and one snapshot test.

use crate::model::{Role, Turn};
use crate::ports::{ExtractTask, Message, SummaryTask};

const PERSONAL: &str = include_str!("summary_personal.md");
const GENERIC: &str = include_str!("summary_generic.md");
const RULES: &str = include_str!("summary_rules.md");
const EXTRACT: &str = include_str!("extract.md");

/// The heading under which threads of the previous working memory are carried over.
pub const CARRIED_OVER: &str = "## Carried over";

/// The system prompt and the message that ask for a summary.
pub fn summary(task: &SummaryTask) -> (String, Message) {
    let focus = if task.personal { PERSONAL } else { GENERIC };
    let rules = RULES.replace("{{max_words}}", &(task.max_tokens * 3 / 4).to_string());
    let system = format!("{}\n\n{}", focus.trim_end(), rules.trim_end());
    let mut parts = Vec::new();
    if !task.knowledge.is_empty() {
        parts.push(fenced("known-facts", &bullets(&task.knowledge)));
    }
    if let Some(previous) = task.previous.as_deref().filter(|_| task.personal) {
        parts.push(fenced("previous-working-memory", previous));
    }
    parts.push(fenced("conversation", &conversation(&task.turns)));
    (system, user(parts))
}

/// The system prompt and the message that ask for facts.
pub fn extract(task: &ExtractTask) -> (String, Message) {
    let mut parts = Vec::new();
    if !task.known.is_empty() {
        parts.push(fenced("known-facts", &bullets(&task.known)));
    }
    parts.push(fenced("conversation", &conversation(&task.turns)));
    (EXTRACT.trim_end().to_owned(), user(parts))
}

fn user(parts: Vec<String>) -> Message {
    Message { role: Role::User, content: parts.join("\n\n") }
}

fn bullets(lines: &[String]) -> String {
    lines.iter().map(|line| format!("- {}", one_line(line))).collect::<Vec<_>>().join("\n")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Data between tags that it cannot close.
fn fenced(tag: &str, text: &str) -> String {
    let safe = text.replace("</", "<\u{200b}/");
    format!("<{tag}>\n{}\n</{tag}>", safe.trim_end())
}

fn conversation(turns: &[Turn]) -> String {
    let line = |turn: &Turn| {
        let who = turn.speaker.as_deref().unwrap_or(turn.role.as_str());
        format!("[{}] {who}: {}", turn.at.strftime("%Y-%m-%d %H:%M"), turn.content.trim())
    };
    turns.iter().map(line).collect::<Vec<_>>().join("\n")
}
