//! What a summary leaves to go on from. Pure.
//!
//! A summary is Markdown under headings. What is being worked on, decisions and open ends make the thread; what is under
//! [`FOR_THE_ARCHIVE`] is kept in the archive alone, and [`FINISHED`] says what is done.

use crate::text::tokens;

/// The headings that say what is finished, in lower case.
const FINISHED: [&str; 2] = ["done", "finished"];

/// The headings of what a later conversation does not go on from, in lower case: preferences are memories of their own.
const FOR_THE_ARCHIVE: [&str; 3] = ["preferences and constraints", "preferences", "also said"];

/// A title has no more characters than this.
const TITLE_CHARS: usize = 72;

/// What a summary leaves to go on from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Draft {
    /// Nothing, and nothing is finished either.
    Nothing,
    /// What was worked on is finished.
    Finished,
    /// Something is in progress.
    Open {
        /// What it is about, in one line.
        title: String,
        /// Its state, decisions and open ends.
        content: String,
    },
}

/// A heading and what stands below it.
struct Part<'a> {
    heading: &'a str,
    lines: Vec<&'a str>,
}

impl Part<'_> {
    fn name(&self) -> String {
        self.heading.trim_start_matches('#').trim().trim_end_matches(':').to_lowercase()
    }

    fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name().as_str())
    }

    fn says_something(&self) -> bool {
        self.lines.iter().any(|line| !line.trim().is_empty())
    }

    fn text(&self) -> String {
        let body = self.lines.join("\n");
        format!("{}\n{}", self.heading, body.trim_end()).trim().to_owned()
    }
}

/// What a summary leaves to go on from, in at most `max_tokens`.
pub fn draft(summary: &str, max_tokens: usize) -> Draft {
    let (given, rest) = titled(summary);
    let parts = parts(rest);
    let (finished, parts): (Vec<_>, Vec<_>) =
        parts.into_iter().filter(Part::says_something).partition(|part| part.is(&FINISHED));
    let carried: Vec<&Part<'_>> = parts.iter().filter(|part| !part.is(&FOR_THE_ARCHIVE)).collect();
    let text = carried.iter().map(|part| part.text()).collect::<Vec<_>>().join("\n\n");
    let content = tokens::cut(text.trim(), max_tokens);
    if content.is_empty() {
        return if finished.is_empty() { Draft::Nothing } else { Draft::Finished };
    }
    let first = carried.iter().flat_map(|part| &part.lines).find(|line| !line.trim().is_empty());
    let title = given.or(first.copied()).map(one_line).unwrap_or_default();
    Draft::Open { title, content: content.to_owned() }
}

/// A summary without the title that it begins with.
pub fn without_title(summary: &str) -> &str {
    titled(summary).1.trim()
}

/// The title that a summary begins with, where it has one, and the rest of it.
fn titled(summary: &str) -> (Option<&str>, &str) {
    let summary = summary.trim();
    let (first, rest) = summary.split_once('\n').unwrap_or((summary, ""));
    match first.strip_prefix("# ") {
        Some(title) if !rest.trim().is_empty() => (Some(title), rest),
        _ => (None, summary),
    }
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = vec![Part { heading: "", lines: Vec::new() }];
    for line in text.lines() {
        if line.starts_with('#') && line.trim_start_matches('#').starts_with(' ') {
            parts.push(Part { heading: line.trim_end(), lines: Vec::new() });
        } else if let Some(part) = parts.last_mut() {
            part.lines.push(line.trim_end());
        }
    }
    parts
}

/// A line as a title: without its bullet and its full stop, shortened.
fn one_line(line: &str) -> String {
    let text = line.trim().trim_start_matches(['-', '*', '+', '#']).split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches(['.', '。', ':', '：', ';']);
    if text.chars().count() <= TITLE_CHARS {
        return text.to_owned();
    }
    let cut: String = text.chars().take(TITLE_CHARS).collect();
    let end = cut.rfind(' ').filter(|at| *at > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(summary: &str, title: &str, content: &str) {
        let expected = Draft::Open { title: title.to_owned(), content: content.to_owned() };
        assert_eq!(draft(summary, 1000), expected, "{summary:?}");
    }

    #[test]
    fn what_is_worked_on_decided_and_open_makes_the_thread() {
        check("## Working on\n- the parser.\n", "the parser", "## Working on\n- the parser.");
        check("- plain text: it goes on", "plain text: it goes on", "- plain text: it goes on");
        check(
            "# The parser\n\n## Working on\n- `src/parse.rs`\n\n## Preferences and constraints\n- tabs\n\n## Open threads\n- tests",
            "The parser",
            "## Working on\n- `src/parse.rs`\n\n## Open threads\n- tests",
        );
        check("## Done\n- the lexer\n\n## Open threads\n- tests", "tests", "## Open threads\n- tests");
    }

    #[test]
    fn preferences_alone_leave_nothing_and_done_finishes() {
        assert_eq!(draft("## Preferences and constraints\n- I prefer tea", 100), Draft::Nothing);
        assert_eq!(draft("## Also said\n- the weather is fine", 100), Draft::Nothing);
        assert_eq!(draft("## Working on\n\n", 100), Draft::Nothing);
        assert_eq!(draft("## Done\n- the parser\n## Preferences\n- tea", 100), Draft::Finished);
    }

    #[test]
    fn titles_are_short_and_content_is_cut() {
        let Draft::Open { title, content } = draft(&format!("- {}", "word ".repeat(400)), 50) else { panic!() };
        assert!(title.ends_with('…') && title.chars().count() <= TITLE_CHARS + 1, "{title}");
        assert!(tokens::estimate(&content) <= 50);
    }
}
