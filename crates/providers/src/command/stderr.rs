//! What a program says about its failure: the end of its output, without the prompt and without secrets.

use std::collections::HashSet;

use throughline_core::text::redact::redact;

/// How many lines, and how many characters of them.
const LINES: usize = 3;
const CHARACTERS: usize = 400;

/// The last lines of an output on one line; `None` where it has none. Some programs repeat their prompt, which is memory and
/// has no place in an error.
pub(super) fn told(output: &[u8], prompt: &str) -> Option<String> {
    let own: HashSet<&str> = prompt.lines().map(str::trim).collect();
    let text = String::from_utf8_lossy(output);
    let lines: Vec<String> =
        text.lines().map(plain).filter(|line| !line.is_empty() && !own.contains(line.as_str())).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(LINES)).map(String::as_str).collect::<Vec<_>>().join("; ");
    let last = redact(&last).text;
    let over = last.chars().count().saturating_sub(CHARACTERS);
    let kept: String = last.chars().skip(over).collect();
    (!kept.is_empty()).then_some(kept)
}

/// A line without colours and control characters.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // The escape sequences that colour text end with a letter.
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else if !character.is_control() {
            plain.push(character);
        }
    }
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told_without_the_prompt() {
        let prompt = "Task: summary\n\nI live in Porto\n";
        for (output, expected) in [
            ("", None),
            ("\n \n", None),
            ("one\ntwo\nthree\nfour\n", Some("two; three; four")),
            ("user\nTask: summary\n  I live in Porto\n\u{1b}[31mERROR\u{1b}[0m: no key\n", Some("user; ERROR: no key")),
        ] {
            assert_eq!(told(output.as_bytes(), prompt).as_deref(), expected);
        }
        assert_eq!(told("é".repeat(1000).as_bytes(), "").map(|told| told.chars().count()), Some(CHARACTERS));
        let key = format!("key sk-ant-api03-{} is wrong", "a1B2c3D4".repeat(10));
        assert!(!told(key.as_bytes(), "").unwrap_or_default().contains("a1B2"), "{:?}", told(key.as_bytes(), ""));
    }
}
