//! The sections of a Markdown document: where a heading's part begins and ends, and where a new line of it goes.
//!
//! Goes in: any text. Comes out: the same text with one bullet more. Never happens: a change to a byte that was there.

use std::ops::Range;

use crate::model::Importance;
use crate::text::{bullets, steps};

/// How the three sections of a memory file are called; the first spelling is written, all are read.
pub const IS: &[&str] = &["What Is", "WIS"];
/// What took place.
pub const HAPPENED: &[&str] = &["What Happened", "What Is Happened", "WIH"];
/// What is completed.
pub const DONE: &[&str] = &["What Is Done", "WID"];

/// The document with one more bullet at the end of the section with one of these headings; a section that is missing
/// is added at the end, under the first of them.
pub fn with_added(text: &str, headings: &[&str], content: &str, importance: Importance) -> String {
    let Some(end) = section_end(text, headings) else {
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let gap = if text.is_empty() {
            String::new()
        } else if text.ends_with('\n') {
            line_break.to_owned()
        } else {
            line_break.repeat(2)
        };
        let heading = headings.first().copied().unwrap_or_default();
        return bullets::with_added(&format!("{text}{gap}## {heading}{line_break}"), content, importance);
    };
    let (before, after) = text.split_at(end);
    // Blank lines between this section and the next stay where they are.
    let body = before.trim_end_matches(['\n', '\r', ' ', '\t']);
    let blanks = &before[body.len()..];
    let first_break = blanks.find('\n').map_or(blanks.len(), |at| at + 1);
    let longer = bullets::with_added(&before[..body.len() + first_break], content, importance);
    [&longer, &blanks[first_break..], after].concat()
}

/// Whether what stands at this byte belongs to the section with one of these headings.
pub fn holds(text: &str, headings: &[&str], at: usize) -> bool {
    section(text, headings).is_some_and(|section| section.contains(&at))
}

/// Where the section with one of these headings ends.
fn section_end(text: &str, headings: &[&str]) -> Option<usize> {
    section(text, headings).map(|section| section.end)
}

/// The section with one of these headings, from its heading to the next one of its level.
pub(crate) fn section(text: &str, headings: &[&str]) -> Option<Range<usize>> {
    let (mut open, mut in_fence, mut at) = (None, false, 0);
    for line in text.split_inclusive('\n') {
        steps::count(line.len());
        let start = at;
        at += line.len();
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            in_fence = !in_fence;
        }
        let Some((level, title)) = heading(bare).filter(|_| !in_fence) else { continue };
        match open {
            Some((own, from)) if level <= own => return Some(from..start),
            Some(_) => {}
            None if headings.iter().any(|heading| heading.eq_ignore_ascii_case(title)) => open = Some((level, start)),
            None => {}
        }
    }
    open.map(|(_, from)| from..text.len())
}

/// The level and the title of a heading.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    is_heading.then(|| (level, rest.trim().trim_end_matches('#').trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, headings: &[&str], expected: &str) {
        assert_eq!(with_added(text, headings, "new", Importance::default()), expected);
    }

    #[test]
    fn a_line_goes_to_the_end_of_its_section() {
        check("", IS, "## What Is\n\n- new\n");
        check(
            "# P\n\n## What Is\n- a\n\n## What Is Done\n- b\n",
            IS,
            "# P\n\n## What Is\n- a\n- new\n\n## What Is Done\n- b\n",
        );
        check("# P\n\n## WIS\n- a\n### Sub\n- c\n# Q\n", IS, "# P\n\n## WIS\n- a\n### Sub\n- c\n- new\n# Q\n");
        check("- a", DONE, "- a\n\n## What Is Done\n\n- new\n");
        check("## what is\r\n- a\r\n", IS, "## what is\r\n- a\r\n- new\r\n");
        check("```\n## What Is\n```\n", IS, "```\n## What Is\n```\n\n## What Is\n\n- new\n");
        check("## What Is\n\n\n## Next\n", IS, "## What Is\n\n- new\n\n\n## Next\n");
    }

    #[test]
    fn a_line_belongs_to_the_section_it_stands_in() {
        let text = "# P\n- top\n## What Is\n- a\n### Sub\n- b\n## What Is Done\n- c\n";
        let holds = |headings, line| holds(text, headings, text.find(line).unwrap());
        assert!(holds(IS, "- a") && holds(IS, "- b") && holds(DONE, "- c"));
        assert!(!holds(IS, "- top") && !holds(IS, "- c") && !holds(DONE, "- b") && !holds(HAPPENED, "- a"));
    }

    #[test]
    fn finding_a_section_is_linear() {
        let long = format!("# {}\n", "tea ".repeat(1000));
        for piece in ["#", "## What Was\n", "```\n", "# ", long.as_str()] {
            crate::text::steps::check_linear(piece, 10, |text| section(text, IS));
        }
    }

    proptest! {
        #[test]
        fn nothing_that_was_there_is_lost(text in "[#a-z `~\\-\n\r\t]{0,60}(## What Is\n)?[#a-z \n\r]{0,40}") {
            let longer = with_added(&text, IS, "zebra 42", Importance::default());
            let mut rest = longer.chars();
            prop_assert!(text.chars().all(|c| rest.any(|other| other == c)), "{longer:?}");
            prop_assert_eq!(longer.matches("zebra 42").count(), 1);
        }
    }
}
