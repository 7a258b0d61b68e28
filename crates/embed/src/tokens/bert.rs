//! BERT's tokenizer: text is cleaned and split into words at white space, punctuation and CJK characters; a word is split
//! into the longest pieces that the vocabulary knows.

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

use super::Vocabulary;

/// BERT's tokenizer.
#[derive(Debug)]
pub(crate) struct WordPiece {
    /// The tokens.
    pub(crate) vocabulary: Vocabulary,
    /// What stands for a word that cannot be split.
    pub(crate) unknown: u32,
    /// What continuing pieces begin with in the vocabulary.
    pub(crate) prefix: String,
    /// A word of more characters is unknown.
    pub(crate) longest_word: usize,
    /// Whether text is lowercased.
    pub(crate) lowercase: bool,
    /// Whether accents are removed.
    pub(crate) strip_accents: bool,
}

impl WordPiece {
    /// The usual settings of a lowercasing BERT.
    pub(crate) fn new(vocabulary: Vocabulary, unknown: u32) -> Self {
        let prefix = "##".to_owned();
        Self { vocabulary, unknown, prefix, longest_word: 100, lowercase: true, strip_accents: true }
    }

    /// Appends tokens until there are `limit`.
    pub(crate) fn encode(&self, text: &str, limit: usize, tokens: &mut Vec<u32>) {
        let clean = text.chars().filter(|letter| !is_control(*letter));
        if self.strip_accents {
            let bare = clean.nfd().filter(|letter| letter.general_category() != GeneralCategory::NonspacingMark);
            self.words(bare, limit, tokens);
        } else {
            self.words(clean, limit, tokens);
        }
        tokens.truncate(limit);
    }

    fn words(&self, letters: impl Iterator<Item = char>, limit: usize, tokens: &mut Vec<u32>) {
        let mut word = Word::default();
        for letter in letters {
            let is_apart = is_punctuation(letter) || is_cjk(letter);
            if is_apart || letter.is_whitespace() {
                self.split(&mut word, tokens);
            }
            if is_apart {
                word.push(letter);
                self.split(&mut word, tokens);
            } else if !letter.is_whitespace() {
                // A word that is too long anyway is not collected.
                if word.length > self.longest_word {
                    continue;
                }
                if self.lowercase {
                    letter.to_lowercase().for_each(|letter| word.push(letter));
                } else {
                    word.push(letter);
                }
            }
            if tokens.len() >= limit {
                return;
            }
        }
        self.split(&mut word, tokens);
    }

    /// Appends the pieces of a word and empties it.
    fn split(&self, word: &mut Word, tokens: &mut Vec<u32>) {
        let Word { text, length } = std::mem::take(word);
        if text.is_empty() {
            return;
        }
        let before = tokens.len();
        if length > self.longest_word || !self.pieces(text, tokens) {
            tokens.truncate(before);
            tokens.push(self.unknown);
        }
    }

    /// Longest match first; false where some of it cannot be matched.
    fn pieces(&self, mut rest: String, tokens: &mut Vec<u32>) -> bool {
        let mut known = 0;
        while rest.len() > known {
            let ends = rest.char_indices().map(|(start, letter)| start + letter.len_utf8()).filter(|end| *end > known);
            let ends: Vec<usize> = ends.collect();
            let piece = |end: &usize| self.vocabulary.get(&rest[..*end]).map(|number| (*end, number));
            let Some((end, number)) = ends.iter().rev().find_map(piece) else { return false };
            tokens.push(number);
            rest.replace_range(..end, &self.prefix);
            known = self.prefix.len();
        }
        true
    }
}

#[derive(Default)]
struct Word {
    text: String,
    /// In characters.
    length: usize,
}

impl Word {
    fn push(&mut self, letter: char) {
        self.text.push(letter);
        self.length += 1;
    }
}

/// Control, format and private characters; tab and line ends are white space.
fn is_control(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_control() && !matches!(letter, '\t' | '\n' | '\r');
    }
    letter == '\u{fffd}'
        || matches!(
            letter.general_category(),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        )
}

fn is_punctuation(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_punctuation();
    }
    letter.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks that BERT takes apart: Chinese characters, but neither kana nor Hangul.
fn is_cjk(letter: char) -> bool {
    matches!(u32::from(letter),
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f | 0x2b740..=0x2b81f
        | 0x2b820..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}
