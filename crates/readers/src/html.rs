//! HTML as Markdown-like text, and the line of the file for each line of it.

use html2text::config;
use throughline_core::vault::{Body, Form};

use crate::Skip;
use crate::pdf::guarded;
use crate::read::Contents;

/// So wide that no paragraph of prose is broken.
const WIDTH: usize = 2000;

pub(crate) fn contents(source: &str) -> Result<Contents, Skip> {
    let html = source.to_owned();
    let text = guarded(move || {
        let plain = config::plain_no_decorate().link_footnotes(false).no_table_borders();
        plain.string_from_read(html.as_bytes(), WIDTH).map_err(|error| error.to_string())
    })?;
    let lines = lines(source, &text);
    Ok(Contents { title: title(source), body: Body::Text { form: Form::Markdown, text, lines } })
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
    let (mut at, mut line) = (0, 1_u32);
    let mut found = Vec::new();
    for each in text.lines() {
        if let Some(step) = first_words(each).and_then(|words| place_of(&source[at..], words)) {
            let breaks = source[at..at + step].bytes().filter(|byte| *byte == b'\n').count();
            line = line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
            at += step;
        }
        found.push(line);
    }
    found
}

/// Where words stand; where markup stands between them, the first of them, if it is near.
fn place_of(rest: &str, words: &str) -> Option<usize> {
    const NEAR: usize = 4000;
    let first = words.split(' ').next().filter(|word| word.chars().count() >= 3);
    rest.find(words).or_else(|| rest.find(first?).filter(|at| *at < NEAR))
}

/// The first words of a line, if they are long enough to be found again.
fn first_words(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = line.find(|c: char| !(c.is_alphanumeric() || c == ' ')).unwrap_or(line.len());
    let words = line[..end].trim_end();
    let short = words.char_indices().nth(24).map_or(words, |(at, _)| &words[..at]);
    (short.chars().count() >= 3).then_some(short)
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

    #[test]
    fn no_page_breaks_the_program() {
        for page in ["", "<", "<title>", "<p", "&#xffffffff;", "<table><tr><td colspan=99999999>x</table>"] {
            let _ = contents(page);
        }
        let deep = format!("{}deep{}", "<div>".repeat(1_000), "</div>".repeat(1_000));
        let _ = contents(&deep);
    }
}
