//! Text as such: its size in tokens, its beginning and end, its sentences, its secrets, its bullets, how common its words are,
//! which of it is prose, and which of that are the person's own words.

pub mod bullets;
pub mod ends;
pub mod frequency;
mod named_dates;
pub mod own_words;
pub mod prose;
pub mod redact;
pub mod relative_dates;
pub mod sections;
pub mod sentences;
pub mod tokens;

/// `1 memory`, `2 memories`.
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
