//! The bullets and paragraphs of a Markdown document.
//!
//! Goes in: any text. Comes out: what can be found on its own, each with the exact bytes it stands on, so that one can
//! be replaced or removed without touching anything around it. Never happens: a change to the text itself.
//!
//! Written by hand: a Markdown parser gives events, while an edit needs the bytes of the whole item, and a person's
//! half-finished Markdown must still be readable.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::model::{Bullet, DocumentName, EntryId, Importance, Significance, derived};
use crate::text::{redact::redact, steps};

/// One block: a list item or a paragraph.
struct Block {
    span: Range<usize>,
    /// Where the text begins, after the marker.
    text_at: usize,
}

/// Everything in `text` that can be found on its own, in order.
pub fn parse(name: &DocumentName, text: &str) -> Vec<Bullet> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    blocks(text)
        .into_iter()
        .filter_map(|block| {
            let (importance, content) = weight(&text[block.text_at..block.span.end]);
            let (importance, content) = (importance.unwrap_or_default(), unwrap_lines(&content));
            if content.is_empty() {
                return None;
            }
            let nth = seen.entry(content.clone()).or_default();
            *nth += 1;
            Some(Bullet { id: id(name, &content, *nth), content, importance, span: block.span })
        })
        .collect()
}

/// The document without one bullet.
pub fn without(text: &str, bullet: &Bullet) -> String {
    [&text[..bullet.span.start], &text[bullet.span.end..]].concat()
}

/// The document without any bullet that says this; a secret in the bullet may read `[redacted:…]` in `content`.
pub fn without_content(name: &DocumentName, text: &str, content: &str) -> String {
    let says = |bullet: &Bullet| bullet.content == content || redact(&bullet.content).text == content;
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for bullet in parse(name, text).iter().filter(|bullet| says(bullet)) {
        left.push_str(&text[from..bullet.span.start]);
        from = bullet.span.end;
    }
    left.push_str(&text[from..]);
    left
}

/// The document with one bullet's text and weight replaced; its marker and place stay.
pub fn with_replaced(text: &str, bullet: &Bullet, content: &str, importance: Importance) -> String {
    let item = &text[bullet.span.clone()];
    let marker = marker_len(item).unwrap_or(0);
    let line_break = if item.ends_with("\r\n") {
        "\r\n"
    } else if item.ends_with('\n') {
        "\n"
    } else {
        ""
    };
    let weight = weight_prefix(weight(&item[marker..]).0.is_some(), importance);
    let content = unwrap_lines(content);
    let (before, after) = (&text[..bullet.span.start], &text[bullet.span.end..]);
    [before, &item[..marker], &weight, &content, line_break, after].concat()
}

/// The document with one more bullet at its end.
pub fn with_added(text: &str, content: &str, importance: Importance) -> String {
    let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(line_break);
    }
    let last_line = out.lines().next_back().unwrap_or_default();
    if !last_line.trim().is_empty() && marker_len(last_line).is_none() {
        out.push_str(line_break);
    }
    out.push_str("- ");
    out.push_str(&weight_prefix(false, importance));
    out.push_str(&unwrap_lines(content));
    out.push_str(line_break);
    out
}

fn weight_prefix(had_one: bool, importance: Importance) -> String {
    let significance = importance.significance();
    if had_one || significance != Importance::default().significance() {
        format!("[sig:{}] ", significance.value())
    } else {
        String::new()
    }
}

/// Of equal lines, each further one is told by its number.
fn id(name: &DocumentName, content: &str, nth: u32) -> EntryId {
    let (name, nth) = (name.to_string(), nth.to_string());
    let parts = [name.as_str(), content, nth.as_str()];
    EntryId::new(derived(if nth == "1" { &parts[..2] } else { &parts }))
}

/// Splits off the first `[sig:n]` that can be read, wherever it stands in the line. One behind a backtick is an example.
pub fn weight(text: &str) -> (Option<Importance>, Cow<'_, str>) {
    let text = text.trim_start();
    let Some((importance, span)) = written_weight(text) else { return (None, Cow::Borrowed(text)) };
    let before = text[..span.start].trim_end_matches([' ', '\t']);
    let after = &text[span.end..];
    (Some(importance), if before.is_empty() { Cow::Borrowed(after) } else { Cow::Owned([before, after].concat()) })
}

/// The weight that a text states, and where.
fn written_weight(text: &str) -> Option<(Importance, Range<usize>)> {
    const MARK: &str = "[sig:";
    const LONGEST: usize = 16;
    steps::count(text.len());
    text.match_indices(MARK).filter(|(at, _)| !text[..*at].ends_with('`')).find_map(|(at, _)| {
        let rest = &text[at + MARK.len()..];
        let end = rest.bytes().take(LONGEST).position(|byte| byte == b']');
        steps::count(end.unwrap_or(LONGEST.min(rest.len())));
        let digits = &rest[..end?];
        let significance = Significance::new(digits.trim().parse().ok()?).ok()?;
        Some((Importance::from(significance), at..at + MARK.len() + digits.len() + 1))
    })
}

fn unwrap_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The length of a list marker with the blanks around it: `- `, `* `, `+ `, `1. `, `2) `.
fn marker_len(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    let rest = &line[indent..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match rest.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let blanks = rest[mark..].bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
    (blanks > 0).then_some(indent + mark + blanks)
}

fn is_rule_or_heading(line: &str) -> bool {
    let line = line.trim();
    let heading = line.trim_start_matches('#');
    let hashes = line.len() - heading.len();
    let is_heading = (1..=6).contains(&hashes) && (heading.is_empty() || heading.starts_with([' ', '\t']));
    let is_rule = line.len() >= 3 && ["-", "*", "_", "="].iter().any(|mark| line.replace(mark, "").trim().is_empty());
    is_heading || is_rule
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    let mut in_fence = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        steps::count(line.len());
        let span = at..at + line.len();
        at = span.end;
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        if is_fence {
            in_fence = !in_fence;
        }
        let inside = in_fence && !is_fence;
        let starts_item = (!inside).then(|| marker_len(line)).flatten().filter(|_| !is_rule_or_heading(line));
        if !inside && (line.trim().is_empty() || is_rule_or_heading(line)) {
            open = false;
        } else if let Some(marker) = starts_item {
            blocks.push(Block { text_at: span.start + marker, span });
            open = true;
        } else if let (true, Some(block)) = (open || inside && !blocks.is_empty(), blocks.last_mut()) {
            block.span.end = span.end;
            open = true;
        } else {
            blocks.push(Block { text_at: span.start, span });
            open = true;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::steps::check_linear;
    use proptest::prelude::*;

    fn name() -> DocumentName {
        "user/profile".parse().unwrap()
    }

    fn contents(text: &str) -> Vec<String> {
        parse(&name(), text).into_iter().map(|bullet| bullet.content).collect()
    }

    #[test]
    fn finds_items_and_paragraphs_but_no_headings() {
        let text =
            "# Me\n\nI am Ada,\nan engineer.\n\n## Likes\n- tea\n  with milk\n* [sig:5] Rust\n1. trains\n---\n\nend";
        assert_eq!(contents(text), ["I am Ada, an engineer.", "tea with milk", "Rust", "trains", "end"]);
        assert_eq!(parse(&name(), text)[2].importance.significance().value(), 5);
    }

    #[test]
    fn a_weight_counts_wherever_it_stands_in_the_line() {
        for (line, content, significance) in [
            ("- [sig:5] Never push to main", "Never push to main", 5),
            ("- Never push to main [sig:5]", "Never push to main", 5),
            ("- Never push [sig:4] to main", "Never push to main", 4),
            ("- 2026-05-07 [sig:2] Moved\n  to 2024", "2026-05-07 Moved to 2024", 2),
            ("- [sig:9] odd [sig:4]", "[sig:9] odd", 4),
            ("- write `[sig:5]` for a rule", "write `[sig:5]` for a rule", 3),
        ] {
            let found = parse(&name(), line).remove(0);
            assert_eq!((found.content.as_str(), found.importance.significance().value()), (content, significance));
        }
        let text = "- tea [sig:4]\n";
        let line = parse(&name(), text).remove(0);
        assert_eq!(with_replaced(text, &line, "coffee", line.importance), "- [sig:4] coffee\n");
    }

    #[test]
    fn keeps_everything_around_an_edit() {
        let text = "intro\r\n\r\n* one\r\n* [sig:2] two\r\n\r\noutro";
        let bullets = parse(&name(), text);
        let two = &bullets[2];
        assert_eq!(without(text, two), "intro\r\n\r\n* one\r\n\r\noutro");
        let heavy = Importance::new(1.0).unwrap();
        assert_eq!(with_replaced(text, two, "2", heavy), "intro\r\n\r\n* one\r\n* [sig:5] 2\r\n\r\noutro");
    }

    #[test]
    fn adds_to_the_list_at_the_end() {
        let plain = Importance::default();
        assert_eq!(with_added("", "a", plain), "- a\n");
        assert_eq!(with_added("- a", "b", plain), "- a\n- b\n");
        assert_eq!(with_added("# T\nprose\n", "b\nc", plain), "# T\nprose\n\n- b c\n");
    }

    #[test]
    fn equal_bullets_have_ids_of_their_own() {
        let bullets = parse(&name(), "- a\n- a\n");
        assert_ne!(bullets[0].id, bullets[1].id);
        assert_eq!(bullets[0].id, parse(&name(), "x\n\n- a")[1].id);
    }

    /// Marks that nobody closes took the square of their number.
    #[test]
    fn reading_bullets_is_linear() {
        let long = format!("- {}\n", "tea ".repeat(1000));
        check_linear("[sig:", 10, |text| parse(&name(), text));
        for piece in ["#", "```\n", "  ", "- a [sig:\n", long.as_str()] {
            check_linear(piece, 10, |text| parse(&name(), text));
        }
    }

    proptest! {
        #[test]
        fn spans_are_ordered_and_removable_on_any_text(text in any::<String>()) {
            let bullets = parse(&name(), &text);
            prop_assert!(bullets.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
            for bullet in &bullets {
                prop_assert_eq!(without(&text, bullet).len(), text.len() - bullet.span.len());
                with_replaced(&text, bullet, "x", Importance::default());
            }
        }

        #[test]
        fn an_added_bullet_is_found(text in "[ -~\n]{0,80}", content in "[a-z]{1,12}( [a-z]{1,12}){0,3}") {
            prop_assume!(!text.contains("```") && !text.contains("~~~"));
            let all = contents(&with_added(&text, &content, Importance::default()));
            prop_assert_eq!(all.last(), Some(&content));
        }
    }
}
