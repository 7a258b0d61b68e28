//! The same sentence is given once, whatever it is kept as: text is compared, not ids. Pure.

use crate::recall::Hit;
use crate::text::sentences::{is_cjk, is_word_char, sentences};

/// A line or a sentence of fewer words than this may stand twice: "Done." is no statement.
const SHORTEST: usize = 3;

/// What stands in view already, word by word.
#[derive(Debug, Default)]
pub(super) struct SeenText {
    /// Its sentences, each between marks, their words between blanks: no part of a word is found, and nothing that goes
    /// on from one sentence into the next.
    words: String,
}

impl SeenText {
    pub(super) fn add(&mut self, text: &str) {
        for sentence in sentences(text) {
            self.words.push_str("| ");
            self.words.extend(words(sentence).iter().flat_map(|word| [word.as_str(), " "]));
        }
        self.words.push('|');
    }

    /// Leaves out memories that say only what is in view or given before them, and what would be shown beside one and is
    /// given anyway.
    pub(super) fn leave_out_repeats(&mut self, given: &mut Vec<Hit>) {
        given.retain(|hit| {
            let is_new = !self.has(&hit.memory.entry.content);
            if is_new {
                self.add(&hit.memory.entry.content);
            }
            is_new
        });
        for hit in given {
            hit.beside = hit.beside.take().filter(|beside| !self.has(&beside.content));
        }
    }

    /// Whether every sentence of a text is there: a short one as a sentence, a longer one also within another.
    pub(super) fn has(&self, text: &str) -> bool {
        let said: Vec<Vec<String>> = sentences(text).into_iter().map(words).filter(|said| !said.is_empty()).collect();
        let is_there = |said: &Vec<String>| {
            let mark = if said.len() < SHORTEST { "|" } else { "" };
            self.words.contains(&format!("{mark} {} {mark}", said.join(" ")))
        };
        !said.is_empty() && said.iter().all(is_there)
    }
}

/// The words of a text, lower-cased, without marks. Where words are not set apart, a letter is a word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if is_cjk(c) && c.is_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            words.push(c.to_string());
        } else if is_word_char(c) {
            word.extend(c.to_lowercase());
        } else {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// The blocks of an opening without bullets that an earlier bullet says already, and without headings that nothing is left
/// under. A block of which only its title is left goes too.
pub(super) fn without_repeats(blocks: Vec<String>) -> Vec<String> {
    let mut seen: Vec<Vec<String>> = Vec::new();
    let mut kept = Vec::new();
    for block in blocks {
        let (mut lines, mut has_repeats) = (Vec::new(), false);
        for line in block.lines() {
            let said = bullet(line).map(words).filter(|said| said.len() >= SHORTEST).unwrap_or_default();
            let is_repeated = !said.is_empty() && seen.contains(&said);
            has_repeats |= is_repeated;
            if !is_repeated {
                seen.push(said);
                lines.push(line);
            }
        }
        let block = if has_repeats { without_empty_sections(&lines).join("\n").trim_end().to_owned() } else { block };
        kept.extend((block.lines().count() > 1).then_some(block));
    }
    kept
}

/// What an item of a list says. A heading names what stands below it and may say the same.
fn bullet(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("- ")
}

/// How deep a heading is.
fn depth(line: &str) -> Option<usize> {
    let depth = line.chars().take_while(|c| *c == '#').count();
    (depth > 0 && line[depth..].starts_with(' ')).then_some(depth)
}

/// Lines without the subheadings that stand above nothing. A heading of the second level names a thread and stays.
fn without_empty_sections<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut kept: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let next = lines[at + 1..].iter().find(|line| !line.trim().is_empty());
        let is_empty = depth(line)
            .filter(|depth| *depth > 2)
            .is_some_and(|own| next.is_none_or(|next| depth(next).is_some_and(|next| next <= own)));
        let is_doubled_blank = line.trim().is_empty() && kept.last().is_none_or(|last| last.trim().is_empty());
        if !is_empty && !is_doubled_blank {
            kept.push(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_in_view_if_each_of_its_sentences_is() {
        let mut view = SeenText::default();
        view.add("- My name is Ada.\n- I live in Lisbon\n- 我住在里斯本");
        view.add("The launch is on 3 May");
        let check = |text: &str, is_there: bool| assert_eq!(view.has(text), is_there, "{text}");
        check("I live in  LISBON!", true);
        check("My name is Ada. I live in Lisbon.", true);
        check("My name is Ada. I live in Porto.", false);
        check("My name is Ad", false);
        check("Lisbon", false);
        check("live in Lisbon", true);
        check("Lisbon The launch is on", false);
        check("我住在里斯本。", true);
        check("", false);
    }

    #[test]
    fn a_bullet_that_stands_above_is_left_out() {
        let blocks = vec![
            "--- Who you're talking to ---\n- My name is Ada.\n- Tea, please".to_owned(),
            "--- Recent context ---\n## The launch is on 3 May\n\n### Working on\n- My name is Ada\n\n### Open\n- My name is \
             Ada!\n- Call the printer\n- Tea, please"
                .to_owned(),
        ];
        let told = without_repeats(blocks.clone());
        assert_eq!(told[0], blocks[0]);
        let recent = "--- Recent context ---\n## The launch is on 3 May\n\n### Open\n- Call the printer\n- Tea, please";
        assert_eq!(told[1], recent);
        let all = vec![blocks[0].clone(), "--- Recent context ---\n- My name is Ada.".to_owned()];
        assert_eq!(without_repeats(all), blocks[..1]);
    }
}
