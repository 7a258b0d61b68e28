//! The pieces of Markdown notes: list items with what is nested in them, and paragraphs, each with its heading.
//!
//! Left out: front matter, comments, rules, lines that import other files, long code. A short code block stays with the
//! piece in front of it, which says what it is for.

use crate::model::Importance;
use crate::text::{bullets, steps};

use super::{Skipped, items, skip};

/// Longer code is no memory, in bytes.
const LONGEST_CODE: usize = 2000;

/// An item up to this length says little without its heading.
const SHORT_WORDS: usize = 4;
const SHORT_CHARS: usize = 40;

/// A longer heading is put in front of nothing, in characters.
const LONGEST_TITLE: usize = 60;

/// A piece of a note.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Block {
    /// The line it begins on, from 1.
    pub(super) line: usize,
    /// The nearest heading as a label.
    pub(super) heading: String,
    /// The nearest heading as it stands there.
    pub(super) title: String,
    /// Whether it is an item of a list.
    pub(super) is_item: bool,
    /// The text.
    pub(super) content: String,
    /// From `[sig:n]` or `<!-- importance: n -->`.
    pub(super) importance: Option<Importance>,
}

/// All pieces, in order.
pub(super) fn blocks(text: &str, skipped: &mut Vec<Skipped>) -> Vec<Block> {
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate().skip(front_matter(text)) {
        reader.line(at + 1, line);
    }
    reader.close_code();
    for (line, reason) in reader.skipped {
        skip(skipped, &format!("line {line}"), reason);
    }
    reader.blocks.into_iter().filter_map(Block::finished).collect()
}

impl Block {
    /// The text; a short item with its heading in front, without which nobody knows what it is about.
    pub(super) fn on_its_own(&self) -> String {
        let (content, title) = (&self.content, self.title.trim_end_matches(':'));
        let is_short = content.chars().count() <= SHORT_CHARS && content.split_whitespace().count() <= SHORT_WORDS;
        if !self.is_item || !is_short || title.is_empty() || content.to_lowercase().contains(&title.to_lowercase()) {
            return content.clone();
        }
        format!("{title}: {content}")
    }

    /// The piece as it is stored, if it says anything.
    fn finished(mut self) -> Option<Self> {
        let (importance, content) = bullets::weight(&self.content);
        let unchecked = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| content.trim_start().strip_prefix(mark));
        let content = items::clean(unchecked.unwrap_or(&content));
        self.importance = importance.or(self.importance);
        self.content = content;
        self.content.contains(char::is_alphanumeric).then_some(self)
    }
}

fn is_long(title: &str) -> bool {
    title.trim_end_matches(':').chars().count() > LONGEST_TITLE
}

/// How many lines the front matter takes.
fn front_matter(text: &str) -> usize {
    let mut lines = text.lines();
    if lines.next().is_none_or(|line| line.trim_end() != "---") {
        return 0;
    }
    lines.position(|line| line.trim_end() == "---").map_or(0, |at| at + 2)
}

#[derive(Default)]
struct Reader {
    /// Lines that were left out, and why.
    skipped: Vec<(usize, &'static str)>,
    blocks: Vec<Block>,
    heading: String,
    title: String,
    /// The weight of everything below this heading.
    heading_weight: Option<Importance>,
    /// The weight of the next piece.
    next_weight: Option<Importance>,
    /// Whether the last piece goes on with this line.
    open: bool,
    /// Whether the last piece is below the current heading.
    has_block: bool,
    in_comment: bool,
    code: Option<Code>,
}

struct Code {
    fence: String,
    line: usize,
    text: String,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        steps::count(line.len());
        let bare = line.trim();
        if let Some(code) = &mut self.code {
            code.text.push('\n');
            code.text.push_str(line.trim_end());
            if bare.starts_with(&code.fence) && bare.chars().all(|c| code.fence.contains(c)) {
                self.close_code();
            }
            return;
        }
        let (shown, weight) = self.without_comments(line);
        let bare = shown.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            let fence = bare[..3].to_owned();
            self.code = Some(Code { fence, line: number, text: bare.to_owned() });
        } else if bare.is_empty() {
            self.next_weight = weight.or(self.next_weight);
            self.open = false;
        } else if let Some(heading) = heading(bare) {
            self.heading = items::slug(heading);
            // Every piece below it takes a copy along.
            let title = items::clean(heading.trim_end_matches('#'));
            self.title = if is_long(&title) { String::new() } else { title };
            self.heading_weight = weight;
            (self.open, self.has_block) = (false, false);
        } else if is_rule(bare) {
            self.open = false;
        } else if is_import(bare) {
            self.skipped.push((number, "imports another file"));
            self.open = false;
        } else {
            self.words(number, &shown, weight);
        }
    }

    fn words(&mut self, number: usize, line: &str, weight: Option<Importance>) {
        let indent = line.len() - line.trim_start().len();
        let item = item(line.trim_start());
        match (item, self.blocks.last_mut()) {
            // What is indented belongs to the item above it, blank lines or not.
            (_, Some(block)) if self.has_block && indent >= 2 => {
                block.content.push('\n');
                block.content.push_str(line.trim_end());
                block.importance = weight.or(block.importance);
            }
            (None, Some(block)) if self.open => {
                block.content.push(if line.trim_start().starts_with('|') { '\n' } else { ' ' });
                block.content.push_str(line.trim());
                block.importance = weight.or(block.importance);
            }
            (item, _) => {
                let importance = weight.or(self.next_weight.take()).or(self.heading_weight);
                let content = item.unwrap_or(line).trim().to_owned();
                let (heading, title) = (self.heading.clone(), self.title.clone());
                steps::count(heading.len() + title.len());
                self.blocks.push(Block { line: number, heading, title, is_item: item.is_some(), content, importance });
                self.has_block = true;
            }
        }
        self.open = true;
    }

    fn close_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        if code.text.len() > LONGEST_CODE {
            self.skipped.push((code.line, "is a long code block"));
        } else if let (true, Some(block)) = (self.has_block, self.blocks.last_mut()) {
            block.content.push('\n');
            block.content.push_str(&code.text);
        } else {
            let (heading, importance) = (self.heading.clone(), self.heading_weight);
            let content = code.text;
            self.blocks.push(Block { line: code.line, heading, content, importance, ..Block::default() });
            self.has_block = true;
        }
        self.open = false;
    }

    /// A line without its comments, and the weight that one of them gives.
    fn without_comments(&mut self, line: &str) -> (String, Option<Importance>) {
        let (mut shown, mut weight, mut rest) = (String::new(), None, line);
        loop {
            if self.in_comment {
                let Some((_, after)) = rest.split_once("-->") else { return (shown, weight) };
                (self.in_comment, rest) = (false, after);
            }
            let Some((before, after)) = rest.split_once("<!--") else {
                shown.push_str(rest);
                return (shown, weight);
            };
            shown.push_str(before);
            weight = of_ten(after).or(weight);
            (self.in_comment, rest) = (true, after);
        }
    }
}

/// `importance: 8`, from 1 to 10.
fn of_ten(comment: &str) -> Option<Importance> {
    let rest = comment.trim_start().strip_prefix("importance:")?;
    let digits: String = rest.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let number: f64 = digits.parse().ok()?;
    if (1.0..=10.0).contains(&number) { Importance::new((number - 1.0) / 9.0).ok() } else { None }
}

/// The text of a heading: `# …`, or a line that is bold as a whole.
fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let hashes = line.len() - rest.len();
    if (1..=6).contains(&hashes) && (rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return Some(rest.trim());
    }
    let bold = line.strip_prefix("**")?.strip_suffix("**")?;
    (!bold.contains("**") && bold.len() <= 80).then_some(bold)
}

fn is_rule(line: &str) -> bool {
    let is_made_of = |mark: char| line.chars().all(|c| c == mark || c == ' ');
    line.len() >= 3 && ['-', '*', '_', '='].into_iter().any(is_made_of)
}

/// `@docs/style.md`, as CLAUDE.md imports other files.
fn is_import(line: &str) -> bool {
    line.strip_prefix('@').is_some_and(|path| !path.is_empty() && !path.contains(char::is_whitespace))
}

/// The text behind a list marker.
fn item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match line.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    line[mark..].starts_with([' ', '\t']).then(|| line[mark..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::steps::check_linear;

    /// A long heading was copied for every item below it, and marks that nobody closes took the square of their number.
    #[test]
    fn reading_notes_is_linear() {
        let long = format!("- {}\n", "tea ".repeat(1000));
        for piece in ["[sig:", "<!--", "```\n", "#", long.as_str()] {
            check_linear(piece, 10, |text| blocks(text, &mut Vec::new()));
        }
        let under_a_heading = |text: &str| blocks(&format!("# {}\n{text}", "t".repeat(text.len())), &mut Vec::new());
        check_linear("- tea\n", 50, under_a_heading);
    }
}
