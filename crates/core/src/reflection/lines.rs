//! The lines of a document that reflection may touch.
//!
//! A fact is a list item on one line, not indented, with nothing hanging below it. Everything else is a person's:
//! paragraphs, numbered lists, items with more lines or items of their own, code, and lines that hold a secret.

use std::ops::Range;

use crate::model::{DocumentName, EntryId, MemorySection, Significance};
use crate::text::{bullets, redact::redact, sections};

/// A fact of a document, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Derived from the document's name and the text.
    pub id: EntryId,
    /// The words.
    pub text: String,
    /// How much it matters.
    pub significance: Significance,
    /// The section it stands in.
    pub section: Option<MemorySection>,
    /// Its bytes, line break included.
    pub span: Range<usize>,
}

impl Line {
    /// Whether it is never pruned nor lowered.
    pub fn is_protected(&self) -> bool {
        self.significance.value() >= 4
    }
}

/// Whether a document has the three sections of a memory file.
pub fn has_sections(name: &DocumentName) -> bool {
    name.as_project().is_some() || *name == DocumentName::memory(name.namespace())
}

/// How a section is called.
pub fn headings(section: MemorySection) -> &'static [&'static str] {
    match section {
        MemorySection::Is => sections::IS,
        MemorySection::Happened => sections::HAPPENED,
        MemorySection::Done => sections::DONE,
    }
}

/// The facts of a document, in order.
pub fn lines(name: &DocumentName, text: &str) -> Vec<Line> {
    let sections = section_starts(text);
    let section_at =
        |at: usize| sections.iter().rev().find(|(start, _)| *start <= at).and_then(|(_, section)| *section);
    let found = bullets::parse(name, text).into_iter().filter(|bullet| is_ours(text, &bullet.span));
    let line = |bullet: crate::model::Bullet| Line {
        section: section_at(bullet.span.start),
        id: bullet.id,
        text: bullet.content,
        significance: bullet.importance.significance(),
        span: bullet.span,
    };
    found.map(line).collect()
}

fn is_ours(text: &str, span: &Range<usize>) -> bool {
    let item = &text[span.clone()];
    let is_item = ["- ", "* ", "+ "].iter().any(|marker| item.starts_with(marker));
    let is_one_line = !item.trim_end_matches(['\n', '\r']).contains(['\n', '\r']);
    let below = text[span.end..].lines().find(|line| !line.trim().is_empty());
    let hangs_below = below.is_some_and(|line| line.starts_with([' ', '\t']));
    is_item && is_one_line && !hangs_below && redact(item).kinds.is_empty()
}

/// Where each section begins; nothing where one of them ends.
fn section_starts(text: &str) -> Vec<(usize, Option<MemorySection>)> {
    let mut starts = Vec::new();
    let (mut depth, mut in_fence, mut at) = (0, false, 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            in_fence = !in_fence;
        }
        let Some((level, title)) = sections::heading(bare).filter(|_| !in_fence) else { continue };
        let named = [MemorySection::Is, MemorySection::Happened, MemorySection::Done]
            .into_iter()
            .find(|section| headings(*section).iter().any(|heading| heading.eq_ignore_ascii_case(title)));
        if named.is_some() || level <= depth {
            depth = if named.is_some() { level } else { 0 };
            starts.push((start, named));
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_a_plain_item_and_knows_its_section() {
        let text = "Intro.\n\n- loose\n## What Is\n- [sig:5] a\n- b\n  more\n- parent\n  - child\n1. numbered\n### Sub\n\
                    * c\n## Other\n- d\n# WID\n- e\n```\n- code\n```\n\n- key AKIAIOSFODNN7EXAMPLE\n- f";
        let found: Vec<String> = lines(&"user/memory".parse().unwrap(), text)
            .iter()
            .map(|line| format!("{} {} {:?}", line.text, line.significance.value(), line.section))
            .collect();
        let expected = ["loose 3 None", "a 5 Some(Is)", "c 3 Some(Is)", "d 3 None", "f 3 Some(Done)"];
        assert_eq!(found, expected, "and neither nested, numbered, wrapped, coded nor secret ones");
    }
}
