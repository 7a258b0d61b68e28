//! Judges sentences by what was taken back. Only computes.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::model::{EntryId, Withdrawal, Withdrawn};
use crate::text::sentences::sentences;
use crate::text::undated::undated;

use super::says::Words;

/// A text that may repeat something, and where it is from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told<'t> {
    /// A turn's id, where it is one.
    pub(super) id: &'t str,
    pub(super) text: &'t str,
    /// When it was said; nothing for a summary, which is made of what was said before.
    pub(super) said_at: Option<Timestamp>,
}

/// What is left of a text.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The text without the sentences that were taken back; empty where nothing is left.
    pub(super) left: String,
    /// The first reason, where anything was taken back.
    pub(super) why: Option<Withdrawal>,
    /// What took the place of sentences that a question is about.
    pub(super) replaced_by: Vec<EntryId>,
}

/// A statement that was taken back, ready to be compared.
struct Statement {
    withdrawn: Withdrawn,
    words: Words,
    /// The words of what took its place.
    successor: Option<Words>,
}

/// Everything that was taken back and concerns some texts.
#[derive(Default)]
pub(super) struct Judge {
    statements: Vec<Statement>,
    /// Sentences by their very words.
    same: HashMap<String, Withdrawn>,
}

impl Judge {
    /// `same` are the sentences whose very words were taken back; `successor` gives what a memory says.
    pub(super) fn new(
        withdrawn: Vec<Withdrawn>,
        same: HashMap<String, Withdrawn>,
        successor: impl Fn(&EntryId) -> Option<String>,
    ) -> Self {
        let statement = |withdrawn: Withdrawn| {
            // What was said names a day by its distance, and the memory of it also by its date.
            let words = Words::of(&undated(withdrawn.content.as_deref()?));
            let successor = withdrawn.by.as_ref().and_then(&successor).map(|content| Words::of(&undated(&content)));
            Some(Statement { withdrawn, words, successor })
        };
        Self { statements: withdrawn.into_iter().filter_map(statement).collect(), same }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.same.is_empty()
    }

    /// What is left of a text for a question with these words.
    pub(super) fn judge(&self, told: &Told<'_>, asked: &Words) -> Verdict {
        let all = sentences(told.text);
        let gone: Vec<(&str, &Withdrawn)> =
            all.iter().filter_map(|sentence| Some((*sentence, self.taken_back(sentence, told)?))).collect();
        let Some((_, first)) = gone.first() else {
            return Verdict { left: told.text.to_owned(), ..Verdict::default() };
        };
        let why = Some(first.why);
        let is_asked = |sentence: &str| Words::of(sentence).meets(asked);
        let mut seen = HashSet::new();
        let replaced_by =
            gone.iter().filter(|(sentence, _)| is_asked(sentence)).filter_map(|(_, taken)| taken.by.clone());
        let replaced_by = replaced_by.filter(|id| seen.insert(id.clone())).collect();
        let gone: Vec<&str> = gone.into_iter().map(|(sentence, _)| sentence).collect();
        let left = without(told.text, &all, &gone);
        // A text that was found by what is gone does not answer the question any more.
        let still_fits = !gone.iter().any(|sentence| is_asked(sentence)) || Words::of(&left).meets(asked);
        Verdict { left: if still_fits { left } else { String::new() }, why, replaced_by }
    }

    /// What a sentence says that was taken back after it was said.
    pub(super) fn taken_back(&self, sentence: &str, told: &Told<'_>) -> Option<&Withdrawn> {
        let is_later = |withdrawn: &Withdrawn| told.said_at.is_none_or(|said_at| said_at <= withdrawn.at);
        if let Some(same) = self.same.get(sentence).filter(|same| is_later(same)) {
            return Some(same);
        }
        let words = Words::of(sentence);
        let found = self.statements.iter().find(|statement| {
            let is_source = statement.withdrawn.turns.iter().any(|turn| turn.as_str() == told.id);
            let is_said = if is_source { words.says(&statement.words) } else { words.repeats(&statement.words) };
            // "My manager is Ines now, not Tom" says what holds.
            let still_holds = statement.successor.as_ref().is_some_and(|successor| words.says(successor));
            is_later(&statement.withdrawn) && is_said && !still_holds
        });
        found.map(|statement| &statement.withdrawn)
    }
}

/// A text without some of its sentences. One that is left with its list markers and headings alone is empty.
pub(super) fn without(text: &str, all: &[&str], gone: &[&str]) -> String {
    if all.len() == gone.len() {
        return String::new();
    }
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for sentence in gone {
        // A sentence is a slice of its text.
        let start = sentence.as_ptr() as usize - text.as_ptr() as usize;
        left.push_str(&text[from..start]);
        from = start + sentence.len();
        let is_at_blank = left.is_empty() || left.ends_with(char::is_whitespace);
        from += if is_at_blank && text[from..].starts_with(' ') { 1 } else { 0 };
    }
    left.push_str(&text[from..]);
    let is_bare = |line: &&str| line.chars().any(char::is_alphanumeric) || line.trim().is_empty();
    left.lines().filter(is_bare).map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TurnId;

    fn taken_back(content: &str, turn: &str, by: Option<&str>) -> Withdrawn {
        let at = Timestamp::from_second(100).unwrap();
        let (turns, by) = (vec![TurnId::new(turn)], by.map(EntryId::new));
        Withdrawn { content: Some(content.to_owned()), turns, session: None, why: Withdrawal::Superseded, by, at }
    }

    fn left(text: &str, said_at: i64) -> String {
        left_for("", text, said_at)
    }

    fn left_for(question: &str, text: &str, said_at: i64) -> String {
        let withdrawn = vec![taken_back("My manager is Tom", "t1", Some("new"))];
        let judge = Judge::new(withdrawn, HashMap::new(), |_| Some("My manager is Ines now".to_owned()));
        let said_at = Timestamp::from_second(said_at).ok();
        judge.judge(&Told { id: "t1", text, said_at }, &Words::of(question)).left
    }

    #[test]
    fn only_what_was_taken_back_goes() {
        for (text, expected) in [
            ("My manager is Tom.", ""),
            (
                "Anna's party is at eight. My manager, by the way, is Tom. See you!",
                "Anna's party is at eight. See you!",
            ),
            ("- the parser\n- my manager is Tom\n", "- the parser"),
            ("My manager is Ines now, not Tom.", "My manager is Ines now, not Tom."),
        ] {
            assert_eq!(left(text, 50), expected, "{text}");
        }
        let text = "Anna's party is at eight. My manager is Tom.";
        assert_eq!(left_for("when is the party?", text, 50), "Anna's party is at eight.");
        assert_eq!(left_for("who is my manager?", text, 50), "", "the rest does not answer that");
        assert_eq!(left("My manager is Tom.", 150), "My manager is Tom.", "it was said again later");
    }
}
