//! Chunks: a body goes in, passages of about [`TARGET_TOKENS`] come out, none beyond [`MAX_TOKENS`].
//!
//! Blocks below the same headings are packed together until the target is reached; a block that is too long is cut
//! at its lines, and a line that is too long at its sentences or words.

use std::collections::HashMap;
use std::rc::Rc;

use crate::model::{EntryId, derived};
use crate::text::tokens;

use super::blocks::{Block, blocks, heading};
use super::{Body, Chunk, Form, Place};

/// What a chunk grows to.
pub const TARGET_TOKENS: usize = 300;

/// What it never exceeds.
pub const MAX_TOKENS: usize = 400;

/// A passage before it has an id.
struct Piece {
    titles: Rc<Vec<String>>,
    place: Place,
    content: String,
}

/// Divides what was read out of the file at `path`. Secrets must be out of it already.
pub fn chunks(path: &str, body: &Body) -> Vec<Chunk> {
    let pieces = match body {
        Body::Text { form, text, lines } => {
            let place = |first: usize, last: usize| {
                let line = |at: usize| lines.get(at).copied().unwrap_or_else(|| number(at + 1));
                let first_line = line(first);
                Place::Lines { first_line, last_line: line(last).max(first_line) }
            };
            pieces(text, *form, &place)
        }
        Body::Pages(pages) => {
            let page = |(at, text): (usize, &String)| {
                let place = Place::Page { page: number(at + 1) };
                pieces(text, Form::Plain, &move |_, _| place)
            };
            pages.iter().enumerate().flat_map(page).collect()
        }
    };
    named(path, pieces)
}

/// The title that a body gives itself: its first heading, the highest if it comes first.
pub(crate) fn title(body: &Body) -> Option<String> {
    let Body::Text { form: Form::Markdown, text, .. } = body else { return None };
    let mut lines = text.lines().take(200);
    lines.find_map(|line| heading(line).map(|(_, title)| title.chars().take(200).collect()))
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Gives every piece an id that follows from its text; the same text twice in one file is told apart by its turn.
fn named(path: &str, pieces: Vec<Piece>) -> Vec<Chunk> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let named = pieces.into_iter().map(|piece| {
        let nth = seen.entry(piece.content.clone()).or_default();
        let id = EntryId::new(derived(&["chunk", path, &nth.to_string(), &piece.content]));
        *nth += 1;
        Chunk { id, titles: (*piece.titles).clone(), place: piece.place, content: piece.content }
    });
    named.collect()
}

fn pieces(text: &str, form: Form, place: &dyn Fn(usize, usize) -> Place) -> Vec<Piece> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut open: Option<(Block, usize)> = None;
    for block in blocks(&lines, form) {
        let size = size(&lines, block.first, block.last);
        // What lies between two blocks of a section is blank: the whole range counts.
        let joined = open.as_ref().filter(|(before, _)| before.titles == block.titles).map(|(before, _)| {
            let range = Block { first: before.first, last: block.last, titles: Rc::clone(&block.titles) };
            (self::size(&lines, range.first, range.last), range)
        });
        open = match joined {
            Some((size, range)) if size <= TARGET_TOKENS => Some((range, size)),
            _ => {
                close(&lines, open.take(), place, &mut found);
                Some((block, size))
            }
        };
    }
    close(&lines, open, place, &mut found);
    found
}

fn size(lines: &[&str], first: usize, last: usize) -> usize {
    lines[first..=last].iter().map(|line| tokens::estimate(line) + 1).sum()
}

/// Makes chunks of a finished block: one, or as many as its length takes.
fn close(lines: &[&str], open: Option<(Block, usize)>, place: &dyn Fn(usize, usize) -> Place, found: &mut Vec<Piece>) {
    let Some((block, size)) = open else { return };
    if size <= MAX_TOKENS {
        add(lines, &block, block.first, block.last, place, found);
        return;
    }
    let (mut first, mut filled) = (block.first, 0);
    for at in block.first..=block.last {
        let line = tokens::estimate(lines[at]) + 1;
        if filled > 0 && filled + line > TARGET_TOKENS {
            add(lines, &block, first, at - 1, place, found);
            (first, filled) = (at, 0);
        }
        if line > MAX_TOKENS {
            cut_line(lines[at], &block, place(at, at), found);
            (first, filled) = (at + 1, 0);
        } else {
            filled += line;
        }
    }
    if first <= block.last {
        add(lines, &block, first, block.last, place, found);
    }
}

fn add(
    lines: &[&str],
    block: &Block,
    first: usize,
    last: usize,
    place: &dyn Fn(usize, usize) -> Place,
    found: &mut Vec<Piece>,
) {
    let is_blank = |at: &usize| lines[*at].trim().is_empty();
    let Some(first) = (first..=last).find(|at| !is_blank(at)) else { return };
    let last = (first..=last).rev().find(|at| !is_blank(at)).unwrap_or(first);
    let content = lines[first..=last].join("\n").trim_end().to_owned();
    found.push(Piece { titles: Rc::clone(&block.titles), place: place(first, last), content });
}

/// A line that no chunk can hold: a page on one line, or minified code.
fn cut_line(line: &str, block: &Block, place: Place, found: &mut Vec<Piece>) {
    let mut rest = line.trim();
    while !rest.is_empty() {
        let fits = tokens::cut(rest, TARGET_TOKENS);
        // A first character that is too large for any budget goes alone.
        let fits = if fits.is_empty() { &rest[..rest.chars().next().map_or(0, char::len_utf8)] } else { fits };
        let part = if fits.len() == rest.len() { fits } else { at_sentence(fits) };
        found.push(Piece { titles: Rc::clone(&block.titles), place, content: part.trim_end().to_owned() });
        rest = rest[part.len()..].trim_start();
    }
}

/// Ends at a sentence, if one ends in the second half.
fn at_sentence(text: &str) -> &str {
    let mut ends = text.char_indices().filter_map(|(at, c)| {
        let after = at + c.len_utf8();
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => text[after..].starts_with(char::is_whitespace),
            _ => false,
        };
        is_end.then_some(after)
    });
    ends.rfind(|end| *end > text.len() / 2).map_or(text, |end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(form: Form, text: &str) -> Vec<(String, Vec<String>, Place)> {
        let found = chunks("a.md", &Body::text(form, text));
        found.into_iter().map(|chunk| (chunk.content, chunk.titles, chunk.place)).collect()
    }

    fn lines(first_line: u32, last_line: u32) -> Place {
        Place::Lines { first_line, last_line }
    }

    #[test]
    fn a_chunk_knows_its_titles_and_lines() {
        let found = of(Form::Markdown, "# Guide\n\n## Install\n\nRun it.\n\nTwice.\n\n## Use\nType.\n");
        assert_eq!(
            found,
            [
                ("Run it.\n\nTwice.".to_owned(), vec!["Guide".to_owned(), "Install".to_owned()], lines(5, 7)),
                ("Type.".to_owned(), vec!["Guide".to_owned(), "Use".to_owned()], lines(10, 10)),
            ]
        );
    }

    #[test]
    fn a_long_section_becomes_several_chunks_at_paragraphs() {
        let paragraph = format!("{}\n\n", "word ".repeat(110).trim_end());
        let found = of(Form::Plain, &paragraph.repeat(6));
        assert_eq!(found.len(), 3, "two paragraphs of 140 tokens are one chunk");
        assert!(found.iter().all(|(text, _, _)| tokens::estimate(text) <= TARGET_TOKENS));
    }

    #[test]
    fn a_page_on_one_line_is_cut_at_sentences() {
        let found = of(Form::Plain, &"This is a sentence of some words. ".repeat(200));
        assert!(found.len() > 3);
        assert!(found.iter().all(|(text, _, place)| text.ends_with('.') && *place == lines(1, 1)));
    }

    #[test]
    fn pages_are_never_mixed() {
        let found = chunks("a.pdf", &Body::Pages(vec!["one".to_owned(), String::new(), "three".to_owned()]));
        let found: Vec<_> = found.iter().map(|chunk| chunk.place.citation("a.pdf")).collect();
        assert_eq!(found, ["a.pdf, page 1", "a.pdf, page 3"]);
    }

    #[test]
    fn the_same_text_twice_has_two_ids_that_stay() {
        let body = Body::text(Form::Markdown, "# A\nsame\n# B\nsame\n");
        let ids = |body: &Body| chunks("x", body).into_iter().map(|chunk| chunk.id).collect::<Vec<_>>();
        assert_ne!(ids(&body)[0], ids(&body)[1]);
        assert_eq!(ids(&body), ids(&body));
    }

    proptest! {
        #[test]
        fn no_text_panics_exceeds_the_cap_or_leaves_the_file(
            pieces in proptest::collection::vec(prop_oneof![
                any::<String>(), Just("\n".to_owned()), Just("# T\n".to_owned()), Just("```\n".to_owned()),
                Just("word ".repeat(500)), Just("漢".repeat(900)), Just("---\n".to_owned()),
            ], 0..30),
            form in prop_oneof![Just(Form::Markdown), Just(Form::Code), Just(Form::Plain)],
        ) {
            let text = pieces.concat();
            let count = u32::try_from(text.lines().count()).unwrap();
            for (content, _, place) in of(form, &text) {
                prop_assert!(tokens::estimate(&content) <= MAX_TOKENS);
                prop_assert!(!content.trim().is_empty());
                let Place::Lines { first_line, last_line } = place else { panic!("no page") };
                prop_assert!(1 <= first_line && first_line <= last_line && last_line <= count);
            }
        }
    }
}
