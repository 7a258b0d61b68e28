//! HTML as Markdown-like text, and the line of the file for each line of it.

use std::collections::HashMap;

use html2text::config;
use throughline_core::vault::{Body, Form};

use crate::Skip;
use crate::limits::MAX_TEXT;
use crate::pdf::short;
use crate::read::Contents;

/// So wide that no paragraph of prose is broken.
const WIDTH: usize = 2000;

/// How deep elements may nest: as deep as browsers take them. Deeper ones cost the square of their depth.
const MAX_DEPTH: usize = 512;

pub(crate) fn contents(source: &str) -> Result<Contents, Skip> {
    if depth(source) > MAX_DEPTH {
        return Err(Skip::Damaged(format!("its elements nest deeper than {MAX_DEPTH}")));
    }
    let plain = config::plain_no_decorate().link_footnotes(false).no_table_borders();
    let text =
        plain.string_from_read(source.as_bytes(), WIDTH).map_err(|error| Skip::Damaged(short(&error.to_string())))?;
    if text.len() > MAX_TEXT {
        return Err(Skip::Damaged(format!("it makes more than {} MB of text", MAX_TEXT >> 20)));
    }
    let lines = lines(source, &text);
    Ok(Contents { title: title(source), body: Body::Text { form: Form::Markdown, text, lines } })
}

/// Elements that have no end tag, or need none.
const UNENDED: &[&str] = &[
    "area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html", "img", "input", "li",
    "link", "meta", "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
];

/// How deep elements nest at most, read off their tags alone.
fn depth(source: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in source.split('<').skip(1) {
        let is_end = tag.starts_with('/');
        let name = tag.trim_start_matches('/');
        let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len()).min(16);
        let name = name[..end].to_ascii_lowercase();
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) && !UNENDED.contains(&name.as_str()) {
            depth = if is_end { depth.saturating_sub(1) } else { depth + 1 };
            deepest = deepest.max(depth);
        }
    }
    deepest
}

/// What stands between `<title>` and `</title>`.
fn title(source: &str) -> Option<String> {
    // Lowering ASCII letters moves no byte.
    let lower = source.to_ascii_lowercase();
    let start = lower.find("<title").and_then(|at| lower[at..].find('>').map(|end| at + end + 1))?;
    let end = start + lower[start..].find("</title")?;
    let title = source[start..end].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = title.chars().take(200).collect();
    (!title.is_empty()).then_some(title)
}

/// For each line of the text, the line of the source where its first words stand: looked for from where the line before
/// was found, so that the places only ever move forward.
fn lines(source: &str, text: &str) -> Vec<u32> {
    let mut finder = Finder::new(source);
    text.lines().map(|line| finder.line_of(line)).collect()
}

/// How many places of a word are compared with a line: text that repeats itself would otherwise cost its length for each line.
const COMPARED: usize = 32;

/// How far ahead a single word counts as found.
const NEAR: usize = 4000;

/// Where the lines of a text stand in the source.
struct Finder<'a> {
    source: &'a str,
    /// Where each word begins, in order; of long ones, what a line's first words can have.
    places: HashMap<&'a str, Vec<usize>>,
    at: usize,
    line: u32,
}

impl<'a> Finder<'a> {
    fn new(source: &'a str) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, word) in words(source) {
            places.entry(beginning(word)).or_default().push(at);
        }
        Self { source, places, at: 0, line: 1 }
    }

    fn line_of(&mut self, line: &str) -> u32 {
        if let Some(place) = first_words(line).and_then(|words| self.place_of(words)) {
            let breaks = self.source[self.at..place].bytes().filter(|byte| *byte == b'\n').count();
            self.line = self.line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
            self.at = place;
        }
        self.line
    }

    /// Where words stand; where markup stands between them, the first of them, if it is near.
    fn place_of(&self, words: &str) -> Option<usize> {
        let first = words.split(' ').next()?;
        let whole = self.compared(first).find(|place| self.source[*place..].starts_with(words));
        let is_near = |place: &usize| first.chars().count() >= 3 && *place < self.at + NEAR;
        whole.or_else(|| self.compared(first).next().filter(is_near))
    }

    /// The next places of a word.
    fn compared(&self, word: &str) -> impl Iterator<Item = usize> {
        let places = self.places.get(word).map_or(&[][..], Vec::as_slice);
        let next = places.partition_point(|place| *place < self.at);
        places[next..].iter().copied().take(COMPARED)
    }
}

/// The words of a text, and where each begins.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let at = text.len() - rest.len();
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        (!word.is_empty()).then_some((at, word))
    })
}

/// The first words of a line, if they are long enough to be found again.
fn first_words(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = line.find(|c: char| !(c.is_alphanumeric() || c == ' ')).unwrap_or(line.len());
    let words = line[..end].trim_end();
    let short = beginning(words);
    (short.chars().count() >= 3).then_some(short)
}

fn beginning(words: &str) -> &str {
    words.char_indices().nth(24).map_or(words, |(at, _)| &words[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!doctype html>\n<html><head><title>The  Guide &amp; more</title>\n<style>p { x: y }</style></head>\n\
        <body>\n<script>var secret = 'Start here';</script>\n<h1>Guide</h1>\n\n<p>Start here,\nplease.</p>\n\
        <h2>Tea &amp; cake</h2>\n<ul><li>Green <b>tea</b></li></ul>\n</body></html>";

    #[test]
    fn a_page_becomes_headings_and_text_with_the_lines_of_the_file() {
        let contents = contents(PAGE).unwrap();
        assert_eq!(contents.title.as_deref(), Some("The Guide & more"));
        let chunks = throughline_core::vault::chunks("a.html", &contents.body);
        let found: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.content.as_str(), chunk.titles.join("/"), chunk.place.citation("a")))
            .collect();
        assert_eq!(found[0].0, "Start here, please.");
        assert_eq!((found[0].1.as_str(), found[1].1.as_str()), ("Guide", "Guide/Tea & cake"));
        assert!(found[1].0.contains("Green tea"), "{found:?}");
        assert_eq!(found[1].2, "a:11");
    }

    /// The words of every line stand in the source a thousand times, and never as the line has them.
    #[test]
    fn a_line_is_compared_with_a_bounded_number_of_places() {
        let source = "<p>abc&#32;def</p>".repeat(1000);
        let mut finder = Finder::new(&source);
        assert_eq!(finder.compared("abc").count(), COMPARED);
        assert_eq!(finder.place_of("abc def"), Some(3), "its first word is near");
        assert_eq!(finder.line_of("nowhere in it"), 1);
        assert_eq!(lines(&source, &"abc def\n".repeat(1000)).len(), 1000);
    }

    #[test]
    fn a_line_is_found_behind_a_long_script() {
        let source = format!("<script>{}</script>\n<p>Green tea</p>", "x = 1;\n".repeat(50_000));
        assert_eq!(lines(&source, "Green tea"), [50_002]);
    }

    #[test]
    fn elements_that_nest_too_deep_are_not_read() {
        assert_eq!(depth("<ul><li>a<li>b</ul><p>x<br><DIV><b>y</b></div> 1 < 2 <3 </x><!-- c -->"), 2);
        assert_eq!(depth(&"<p>a<br>".repeat(1000)), 0);
        let deep = |n: usize| format!("{}deep{}", "<div>".repeat(n), "</div>".repeat(n));
        assert!(contents(&deep(MAX_DEPTH)).is_ok());
        assert!(matches!(contents(&deep(MAX_DEPTH + 1)), Err(Skip::Damaged(_))));
    }

    #[test]
    fn no_page_breaks_the_program() {
        for page in ["", "<", "<title>", "<p", "&#xffffffff;", "<table><tr><td colspan=99999999>x</table>"] {
            let _ = contents(page);
        }
        let deep = format!("{}deep{}", "<div>".repeat(1_000), "</div>".repeat(1_000));
        let _ = contents(&deep);
    }
}
