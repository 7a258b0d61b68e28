//! What the classifier sees of a sentence: its words and short sequences of them, by language; groups of phrases that mean
//! the same in all of them; where it begins, and its shape.
//!
//! Numbers and names are one feature each: which port or whose birthday it is does not decide whether it is worth keeping.

use throughline_core::text::sentences::{is_cjk, is_word_char};

use super::groups;
use super::language::{Language, language};
use super::lexicon::fold;

/// Longer sentences are read so far.
const MAX_TOKENS: usize = 60;

/// The language of a sentence and its features, each once; none where the language is unknown.
pub fn features(sentence: &str) -> Option<(Language, Vec<String>)> {
    let language = language(sentence)?;
    let tokens = tokens(sentence);
    let mut found: Vec<String> =
        sequences(&tokens, language).into_iter().map(|words| format!("{} {words}", language.code())).collect();
    found.extend(groups::in_sentence(sentence, language).into_iter().map(|group| format!("[{group}]")));
    found.extend(shape(sentence, &tokens));
    found.sort_unstable();
    found.dedup();
    Some((language, found))
}

/// Words in lower case, single Han characters, `#` for numbers, `Name` for names.
fn tokens(sentence: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = sentence.trim();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| is_word_char(c) || matches!(c, '\'' | '’' | '_');
        let len = if is_word_char(first) { rest.find(|c| !is_part(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(len);
        if is_word_char(first) {
            tokens.push(word(token, tokens.is_empty()));
        } else if is_cjk(first) && first.is_alphanumeric() {
            tokens.push(token.to_owned());
        } else if matches!(first, ',' | '，' | ';' | '；' | ':' | '：' | '、') {
            tokens.push(",".to_owned());
        }
        if tokens.len() == MAX_TOKENS {
            break;
        }
        rest = after.trim_start();
    }
    tokens
}

fn word(token: &str, is_first: bool) -> String {
    if token.starts_with(|c: char| c.is_ascii_digit()) {
        return "#".to_owned();
    }
    let folded: String = token.chars().map(fold).collect();
    let is_capital = token.starts_with(char::is_uppercase) && !folded.starts_with("i'") && folded != "i";
    if is_capital && !is_first { "Name".to_owned() } else { folded }
}

/// Sequences of one to three tokens; those at the beginning once more as such.
fn sequences(tokens: &[String], language: Language) -> Vec<String> {
    let glue = if language == Language::Chinese { "" } else { " " };
    let mut found = Vec::new();
    for size in 1..=3 {
        for window in tokens.windows(size) {
            found.push(window.join(glue));
        }
        if tokens.len() >= size {
            found.push(format!("^{}", tokens[..size].join(glue)));
        }
    }
    found
}

fn shape(sentence: &str, tokens: &[String]) -> Vec<String> {
    let text = sentence.trim();
    let has = |token: &str| tokens.iter().any(|known| known == token);
    let mut found = vec![format!("length {}", length(tokens.len()))];
    let ends = [(".。", "ends ."), ("!！", "ends !"), ("?？", "ends ?"), ("…", "ends …")];
    found.extend(
        ends.iter().filter(|(marks, _)| text.ends_with(|c| marks.contains(c))).map(|(_, name)| (*name).to_owned()),
    );
    found.extend((has("Name") || has("#")).then(|| "specific".to_owned()));
    found.extend(text.contains(['"', '“', '”', '「', '«', '„']).then(|| "quotes".to_owned()));
    found
}

fn length(tokens: usize) -> &'static str {
    match tokens {
        0..=3 => "1",
        4..=6 => "2",
        7..=10 => "3",
        11..=16 => "4",
        17..=26 => "5",
        _ => "6",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_one_feature_each() {
        let (language, found) = features("My manager is Ines, room 12.").unwrap();
        assert_eq!(language, Language::English);
        for wanted in [
            "en manager is Name",
            "en room #",
            "en ^my manager",
            "[my]",
            "[colleague]",
            "specific",
            "ends .",
            "length 3",
        ] {
            assert!(found.iter().any(|feature| feature == wanted), "{wanted} in {found:?}");
        }
    }

    #[test]
    fn han_characters_are_read_one_by_one() {
        let (language, found) = features("我们用 pnpm").unwrap();
        assert_eq!(language, Language::Chinese);
        for wanted in ["zh 我们用", "zh ^我们", "zh 用pnpm", "[uses]"] {
            assert!(found.iter().any(|feature| feature == wanted), "{wanted} in {found:?}");
        }
    }
}
