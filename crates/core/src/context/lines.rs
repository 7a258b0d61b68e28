//! What each line costs: of an opening, and of what comes with a message.

use serde::Serialize;

use crate::model::{DocumentName, EntryId, Name};
use crate::text::{bullets, tokens};

use super::{Part, opening_blocks};

/// One line of what a session begins with.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct OpeningLine {
    /// The block that it stands in: `profile`, `project`, `working` or `task`.
    pub block: &'static str,
    /// The memory that it is, where it is one.
    pub id: Option<EntryId>,
    /// The line.
    pub text: String,
    /// What it takes of the prompt.
    pub tokens: usize,
}

/// One line of what comes with a message.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct GivenLine {
    /// The memory.
    pub id: EntryId,
    /// The line, as the model sees it.
    pub text: String,
    /// What it takes of the budget.
    pub tokens: usize,
    /// Why it is there, for a person.
    pub why: String,
}

/// The lines of a block of memories, each with its part: one line for each memory, in the same order.
pub(super) fn given(block: &str, parts: &[Part]) -> Vec<GivenLine> {
    let lines = block.lines().filter(|line| line.starts_with("- "));
    let memories = parts.iter().filter_map(|part| Some((part, part.id.clone()?)));
    let line = |(text, (part, id)): (&str, (&Part, EntryId))| GivenLine {
        id,
        text: text.to_owned(),
        tokens: part.tokens,
        why: part.why.clone(),
    };
    lines.zip(memories).map(line).collect()
}

/// The lines of an opening. `known` says which memory a line of the project's block is.
pub(super) fn lines(opening: &str, person: Option<&Name>, known: &[(String, EntryId)]) -> Vec<OpeningLine> {
    let mut found = Vec::new();
    for (block, text) in opening_blocks(opening) {
        let profile = person.filter(|_| block == "profile").map(DocumentName::profile);
        let bullets = profile.map(|name| bullets::parse(&name, &text)).unwrap_or_default();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let text = line.trim_end();
            if text.is_empty() {
                continue;
            }
            let bullet = bullets.iter().find(|bullet| bullet.span.start == start).map(|bullet| bullet.id.clone());
            let rule = known.iter().find(|(known, _)| block == "project" && known == text);
            let id = bullet.or_else(|| rule.map(|(_, id)| id.clone()));
            found.push(OpeningLine { block, id, text: text.to_owned(), tokens: tokens::estimate(line) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_message_has_its_memory_and_its_cost() {
        let part =
            |id: Option<&str>, tokens| Part { what: "memory", id: id.map(EntryId::new), why: "w".into(), tokens };
        let parts = [part(None, 90), part(Some("a"), 8), part(Some("b"), 9)];
        let found = given("<memory-context>\nNotes.\n- [a 2026-01-01] tea\n- [b] coffee\n</memory-context>", &parts);
        let told: Vec<(&str, &str, usize)> =
            found.iter().map(|line| (line.id.as_str(), line.text.as_str(), line.tokens)).collect();
        assert_eq!(told, [("a", "- [a 2026-01-01] tea", 8), ("b", "- [b] coffee", 9)]);
    }

    #[test]
    fn each_line_has_its_block_its_id_and_its_cost() {
        let opening = "--- Who you're talking to ---\n# Ada\n\n- I like tea.\n\n--- This project ---\nProject: shop\n\
                       - Use pnpm\n\n--- Recent context ---\n- the parser";
        let person: Name = "user".parse().unwrap();
        let known = [("- Use pnpm".to_owned(), EntryId::new("rule"))];
        let found = lines(opening, Some(&person), &known);
        let told: Vec<(&str, &str, bool, usize)> =
            found.iter().map(|line| (line.block, line.text.as_str(), line.id.is_some(), line.tokens)).collect();
        assert_eq!(
            told,
            [
                ("profile", "# Ada", false, 2),
                ("profile", "- I like tea.", true, 4),
                ("project", "Project: shop", false, 4),
                ("project", "- Use pnpm", true, 3),
                ("working", "- the parser", false, 3),
            ]
        );
    }
}
