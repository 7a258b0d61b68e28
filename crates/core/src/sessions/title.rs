//! What a conversation is called: as its host calls it, else by the person's first message.

use crate::error::Done;
use crate::model::{SessionId, SessionState};

use super::SessionService;

/// Longer titles are cut, in characters.
const LONGEST: usize = 72;

/// A sentence that ends before this is too short to stand alone: "Hi!", in characters.
const SHORTEST: usize = 12;

impl SessionService<'_> {
    /// What a session is called.
    pub fn title(&self, session: &SessionId) -> Done<String> {
        let own = self.session_store.session(session)?.and_then(|state| state.session.title);
        match own {
            Some(title) => Ok(title),
            None => Ok(self.derived(std::slice::from_ref(session))?.remove(0)),
        }
    }

    /// Sessions with a title each.
    pub(super) fn titled(&self, mut states: Vec<SessionState>) -> Done<Vec<SessionState>> {
        let untitled: Vec<SessionId> =
            states.iter().filter(|state| state.session.title.is_none()).map(|state| state.session.id.clone()).collect();
        let mut titles = self.derived(&untitled)?.into_iter();
        for state in states.iter_mut().filter(|state| state.session.title.is_none()) {
            state.session.title = titles.next();
        }
        Ok(states)
    }

    /// The titles of sessions that have none of their own.
    fn derived(&self, sessions: &[SessionId]) -> Done<Vec<String>> {
        let messages = self.turns.first_messages(sessions)?;
        let titles = sessions.iter().zip(messages).map(|(session, message)| {
            let said = message.and_then(|message| of_message(&message));
            said.unwrap_or_else(|| format!("a conversation on {}", session.channel()))
        });
        Ok(titles.collect())
    }
}

/// A title from a message: its first sentence or line that says something, cut between words.
fn of_message(message: &str) -> Option<String> {
    let mut is_code = false;
    let mut title = String::new();
    for line in message.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let line = plain(line);
        if is_code || line.is_empty() {
            continue;
        }
        let space = if title.is_empty() { "" } else { " " };
        title = format!("{title}{space}{}", first_sentence(&line));
        if title.chars().count() >= SHORTEST {
            break;
        }
    }
    (!title.is_empty()).then(|| cut(&title))
}

/// A line without what Markdown puts in front of it, and without superfluous blanks.
fn plain(line: &str) -> String {
    let line = line.trim().trim_start_matches(['#', '>', '-', '*', '+', ' ', '\t']);
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a line up to the end of a sentence that is long enough.
fn first_sentence(line: &str) -> &str {
    let ends = line.char_indices().enumerate().filter(|(nth, (at, c))| {
        let is_wide = matches!(c, '。' | '！' | '？');
        let is_last = line[at + c.len_utf8()..].starts_with(' ');
        (*nth >= SHORTEST && is_last && matches!(c, '.' | '!' | '?')) || (is_wide && *nth >= SHORTEST / 2)
    });
    let end = ends.map(|(_, (at, c))| at + c.len_utf8()).next();
    line[..end.unwrap_or(line.len())].trim_end_matches(['.', '。', ':', '：'])
}

/// A text within the limit, cut between words where it has any.
pub(super) fn cut(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let short: String = text.chars().take(LONGEST - 1).collect();
    let whole = short.rsplit_once(' ').map(|(whole, _)| whole).filter(|whole| whole.chars().count() > LONGEST / 2);
    format!("{}…", whole.unwrap_or(&short).trim_end_matches([',', ';', ':', '.', ' ', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_what_the_first_message_says() {
        for (message, title) in [
            ("Fix the parser", "Fix the parser"),
            ("  # Fix the parser\n\nIt fails on tabs.", "Fix the parser"),
            ("Can you fix the parser? It fails on tabs.", "Can you fix the parser?"),
            ("Hi!\nCan you fix the parser?", "Hi! Can you fix the parser?"),
            ("```\nlet a = 1;\n```\nWhy does this fail?", "Why does this fail?"),
            ("请帮我修一下解析器。它遇到制表符就失败。", "请帮我修一下解析器"),
            ("Version 2.0 of the parser is slow", "Version 2.0 of the parser is slow"),
        ] {
            assert_eq!(of_message(message).as_deref(), Some(title));
        }
        assert_eq!(of_message(" \n```\ncode\n```\n"), None);
    }

    #[test]
    fn a_long_title_is_cut_between_words() {
        let title = of_message(&"we should rewrite the parser ".repeat(9)).unwrap();
        assert_eq!(title, "we should rewrite the parser we should rewrite the parser we should…");
        let unspaced = of_message(&"解析器".repeat(99)).unwrap();
        assert_eq!(unspaced.chars().count(), LONGEST);
    }
}
