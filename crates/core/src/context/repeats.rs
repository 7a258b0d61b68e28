//! The same sentence is given once, also where a memory, a turn and a document hold it: text is compared, not ids. Pure.

use crate::recall::Hit;
use crate::text::sentences::{is_cjk, is_word_char, sentences};

/// A line or a sentence of fewer words than this may stand twice: "Done." is no statement.
const SHORTEST: usize = 3;

/// What stands between two clauses.
const CLAUSE_MARKS: [char; 4] = [',', ';', '，', '；'];

/// How many words are told apart that stand in view, about.
const KNOWN_BITS: usize = 1 << 14;

/// What stands in view already, word by word.
#[derive(Debug, Default)]
pub(super) struct SeenText {
    /// Its sentences, each between marks, their words between blanks: no part of a word is found, and nothing that goes
    /// on from one sentence into the next.
    words: String,
    /// A bit for each of its words: most texts have a word that stands nowhere in view, and need no closer look.
    known: Vec<u64>,
}

impl SeenText {
    pub(super) fn add(&mut self, text: &str) {
        self.known.resize(KNOWN_BITS / 64, 0);
        for sentence in sentences(text) {
            self.words.push_str("| ");
            let Words { text, .. } = words(sentence);
            for (at, bit) in text.split(' ').map(place) {
                self.known[at] |= bit;
            }
            self.words.extend([text.as_str(), if text.is_empty() { "" } else { " " }]);
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

    /// Whether every sentence of a text is there: a short one as a sentence, a longer one also within another, or by its clauses.
    pub(super) fn has(&self, text: &str) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let sentences = sentences(text);
        if !sentences.iter().all(|sentence| self.may_have(sentence)) {
            return false;
        }
        let mut said = sentences.into_iter().filter(|sentence| words(sentence).count > 0).peekable();
        said.peek().is_some() && said.all(|sentence| self.has_sentence(sentence))
    }

    /// Whether a sentence is there, or each of its clauses: of "I am Ada, I live in Lisbon" two memories are made.
    fn has_sentence(&self, sentence: &str) -> bool {
        let is_there = |part: &str| {
            let Words { text, count } = words(part);
            let mark = if count < SHORTEST { "|" } else { "" };
            self.words.contains(&format!("{mark} {text} {mark}"))
        };
        is_there(sentence) || sentence.contains(CLAUSE_MARKS) && sentence.split(CLAUSE_MARKS).all(is_there)
    }

    /// False where an English sentence has a word that stands nowhere in view.
    fn may_have(&self, sentence: &str) -> bool {
        let is_known = |word: &str| {
            let (at, bit) = place(word);
            self.known.get(at).is_some_and(|bits| bits & bit != 0)
        };
        !sentence.is_ascii()
            || sentence.split(|c: char| !c.is_ascii_alphanumeric()).all(|word| word.is_empty() || is_known(word))
    }
}

/// The bit of a word, whatever the case of its English letters.
fn place(word: &str) -> (usize, u64) {
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193);
    let at = word.bytes().fold(0x811c_9dc5, hash) as usize % KNOWN_BITS;
    (at / 64, 1 << (at % 64))
}

/// The words of a text, lower-cased, without marks, a blank between two of them.
#[derive(Default, PartialEq)]
struct Words {
    text: String,
    count: usize,
}

impl Words {
    fn begin(&mut self) {
        if self.count > 0 {
            self.text.push(' ');
        }
        self.count += 1;
    }
}

/// Where words are not set apart, a letter is a word.
fn words(text: &str) -> Words {
    if text.is_ascii() {
        return ascii_words(text);
    }
    let mut words = Words::default();
    let mut is_in_word = false;
    for c in text.chars() {
        let is_letter_alone = is_cjk(c) && c.is_alphanumeric();
        let is_of_word = is_letter_alone || is_word_char(c);
        if is_of_word && (is_letter_alone || !is_in_word) {
            words.begin();
        }
        if is_of_word {
            words.text.extend(c.to_lowercase());
        }
        is_in_word = is_of_word && !is_letter_alone;
    }
    words
}

/// The same for English text, and the like.
fn ascii_words(text: &str) -> Words {
    let mut words = Words { text: String::with_capacity(text.len()), count: 0 };
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        words.begin();
        words.text.push_str(word);
    }
    words.text.make_ascii_lowercase();
    words
}

/// The blocks of an opening without bullets that an earlier bullet says already, and without headings that nothing is left
/// under. A block of which only its title is left goes too.
pub(super) fn without_repeats(blocks: Vec<String>) -> Vec<String> {
    let mut seen: Vec<Words> = Vec::new();
    let mut kept = Vec::new();
    for block in blocks {
        let (mut lines, mut has_repeats) = (Vec::new(), false);
        for line in block.lines() {
            let said = bullet(line).map(words).filter(|said| said.count >= SHORTEST).unwrap_or_default();
            let is_repeated = said.count > 0 && seen.contains(&said);
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
        check("...", false);
        check("I live in Lisbon...", true);
        check("I live, in: Lisbon", true);
        check("I live in Lisbon 2", false);
        check("My name is Ada, I live in Lisbon, the launch is on 3 May.", true);
        check("My name is Ada, I live in Porto", false);
        check("Yes, I live in Lisbon", false);
        check("1. I live in Lisbon\n2. My name is Ada", true);
        check("Ich lebe in Köln", false);
        view_of_accents();
    }

    fn view_of_accents() {
        let mut view = SeenText::default();
        view.add("Élodie lives in Köln now");
        assert!(view.has("ÉLODIE LIVES IN KÖLN NOW"));
        assert!(view.has("lives in Köln"));
        assert!(!view.has("lives in Koln"));
        assert!(!SeenText::default().has("anything"));
    }

    #[test]
    fn english_words_are_read_as_any_others() {
        for text in ["I live in  LISBON!", "a-b_c d's 3.5", "", "...", " x ", "UPPER lower 12ab"] {
            let slowly = words(&format!("{text} é"));
            let quickly = words(text);
            let (expected, _) = slowly.text.rsplit_once('é').unwrap();
            assert_eq!((quickly.text.as_str(), quickly.count + 1), (expected.trim_end(), slowly.count), "{text:?}");
        }
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
