//! The pieces that a text falls into by itself: paragraphs, fenced code, functions. Each knows its lines and titles.

use std::rc::Rc;

use super::Form;

/// A run of lines that belong together. Lines are counted from 0; `last` is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) titles: Rc<Vec<String>>,
}

/// The most of a heading that is kept.
const MAX_TITLE_CHARS: usize = 200;

/// Divides lines into blocks.
pub(super) fn blocks(lines: &[&str], form: Form) -> Vec<Block> {
    match form {
        Form::Markdown => Markdown::new(lines).run(),
        Form::Code => runs(lines, |line| !line.starts_with([' ', '\t', '}', ')', ']'])),
        Form::Plain => runs(lines, |_| true),
    }
}

/// Runs of lines between blank ones; a blank line ends a run only where `begins` holds for the line after it.
fn runs(lines: &[&str], begins: impl Fn(&str) -> bool) -> Vec<Block> {
    let titles = Rc::new(Vec::new());
    let (mut found, mut first) = (Vec::<Block>::new(), None);
    let (mut last, mut is_after_blank) = (0, false);
    for (at, line) in lines.iter().enumerate() {
        if line.trim().is_empty() {
            is_after_blank = true;
            continue;
        }
        if let Some(start) = first.filter(|_| is_after_blank && begins(line)) {
            found.push(Block { first: start, last, titles: Rc::clone(&titles) });
            first = Some(at);
        }
        first.get_or_insert(at);
        (last, is_after_blank) = (at, false);
    }
    found.extend(first.map(|first| Block { first, last, titles }));
    found
}

/// Reads Markdown line by line.
struct Markdown<'a> {
    lines: &'a [&'a str],
    found: Vec<Block>,
    /// Headings that are open, with their levels.
    open: Vec<(usize, String)>,
    titles: Rc<Vec<String>>,
    /// A heading that nothing stands below yet.
    bare: Option<Block>,
    /// Where the block that is being read began.
    first: Option<usize>,
}

impl<'a> Markdown<'a> {
    fn new(lines: &'a [&'a str]) -> Self {
        Self { lines, found: Vec::new(), open: Vec::new(), titles: Rc::default(), bare: None, first: None }
    }

    fn run(mut self) -> Vec<Block> {
        let mut at = self.front_matter();
        while at < self.lines.len() {
            let line = self.lines[at];
            if let Some(fence) = fence(line) {
                at = self.fenced(at, fence);
            } else if line.trim().is_empty() {
                self.end(at);
            } else if let Some((level, title)) = heading(line) {
                self.end(at);
                self.begin_section(at, at, level, title);
            } else if let Some(level) = self.underline(at) {
                self.end(at);
                self.begin_section(at, at + 1, level, line.trim());
                at += 1;
            } else {
                self.first.get_or_insert(at);
            }
            at += 1;
        }
        self.end(self.lines.len());
        self.found.extend(self.bare.take());
        self.found
    }

    /// Settings at the very top, between two lines of dashes; gives the line after them.
    fn front_matter(&mut self) -> usize {
        if self.lines.first().is_none_or(|line| line.trim_end() != "---") {
            return 0;
        }
        let Some(end) = self.lines.iter().skip(1).position(|line| line.trim_end() == "---") else { return 0 };
        if end > 0 {
            self.found.push(Block { first: 1, last: end, titles: Rc::clone(&self.titles) });
        }
        end + 2
    }

    /// Code between fences belongs together with what leads to it; gives its last line.
    fn fenced(&mut self, at: usize, fence: &str) -> usize {
        self.first.get_or_insert(at);
        let closes =
            |line: &str| line.trim().starts_with(fence) && line.trim().chars().all(|each| fence.starts_with(each));
        let end = self.lines.iter().skip(at + 1).position(|line| closes(line)).map(|after| at + 1 + after);
        end.unwrap_or(self.lines.len() - 1)
    }

    /// A line of `=` or `-` below a single line of text makes a heading of it.
    fn underline(&self, at: usize) -> Option<usize> {
        let below = self.lines.get(at + 1)?.trim_end();
        let is_made_of = |c: char| below.len() >= 3 && below.chars().all(|each| each == c);
        let is_alone = self.first.is_none() && !self.lines[at].starts_with([' ', '\t', '-', '*', '|', '>']);
        match is_alone {
            true if is_made_of('=') => Some(1),
            true if is_made_of('-') => Some(2),
            _ => None,
        }
    }

    fn begin_section(&mut self, first: usize, last: usize, level: usize, title: &str) {
        // A heading with nothing below it is found by its own words, unless it only leads to deeper ones.
        if let Some(bare) = self.bare.take()
            && self.open.last().is_some_and(|(above, _)| *above >= level)
        {
            self.found.push(bare);
        }
        self.open.retain(|(above, _)| *above < level);
        self.open.push((level, title.chars().take(MAX_TITLE_CHARS).collect()));
        self.titles = Rc::new(self.open.iter().map(|(_, title)| title.clone()).collect());
        self.bare = Some(Block { first, last, titles: Rc::clone(&self.titles) });
    }

    /// Ends the block before this line.
    fn end(&mut self, at: usize) {
        if let Some(first) = self.first.take() {
            self.bare = None;
            self.found.push(Block { first, last: at - 1, titles: Rc::clone(&self.titles) });
        }
    }
}

/// `# Title`, as its level and text.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..).filter(|rest| (1..=6).contains(&level) && rest.starts_with([' ', '\t']))?;
    let title = rest.trim().trim_end_matches('#').trim_end();
    (!title.is_empty()).then_some((level, title))
}

/// The marks that open fenced code.
fn fence(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    if line.len() - bare.len() > 3 {
        return None;
    }
    let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = bare.chars().take_while(|c| *c == mark).count();
    (length >= 3).then(|| &bare[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, form: Form, expected: &[(usize, usize, &str)]) {
        let lines: Vec<&str> = text.lines().collect();
        let found: Vec<_> =
            blocks(&lines, form).into_iter().map(|block| (block.first, block.last, block.titles.join("/"))).collect();
        let expected: Vec<_> =
            expected.iter().map(|(first, last, titles)| (*first, *last, (*titles).to_owned())).collect();
        assert_eq!(found, expected, "of {text:?}");
    }

    #[test]
    fn markdown_falls_apart_at_headings_and_blank_lines() {
        check(
            "# A\none\ntwo\n\nthree\n## B\nfour\n# C\nfive",
            Form::Markdown,
            &[(1, 2, "A"), (4, 4, "A"), (6, 6, "A/B"), (8, 8, "C")],
        );
    }

    #[test]
    fn a_heading_in_code_is_none_and_code_stays_whole() {
        check("# A\nsee:\n```sh\n# not a title\n\nls\n```\nend", Form::Markdown, &[(1, 7, "A")]);
        check("~~~\nnever closed\n\n# x", Form::Markdown, &[(0, 3, "")]);
    }

    #[test]
    fn underlined_headings_count_and_front_matter_does_not() {
        check(
            "---\ntitle: x\n---\nTop\n===\ntext\n\nSub\n---\nmore",
            Form::Markdown,
            &[(1, 1, ""), (5, 5, "Top"), (9, 9, "Top/Sub")],
        );
    }

    #[test]
    fn a_heading_with_nothing_below_is_kept() {
        check("# A\n## B\n## C\ntext\n# D", Form::Markdown, &[(1, 1, "A/B"), (3, 3, "A/C"), (4, 4, "D")]);
    }

    #[test]
    fn code_falls_apart_between_what_stands_at_the_margin() {
        check("fn a() {\n  x;\n\n  y;\n}\n\nfn b() {}\n", Form::Code, &[(0, 4, ""), (6, 6, "")]);
        check("\n\n", Form::Code, &[]);
    }
}
