//! Text as such: its size in tokens, its beginning and end, its sentences, its secrets, its bullets, how common its words are,
//! which parts are prose, which could pass for our own marks, and which are the person's own words.

pub mod bullets;
pub mod ends;
pub mod frequency;
pub mod guard;
mod named_dates;
pub mod own_words;
pub mod prose;
pub mod redact;
pub mod relative_dates;
pub mod sections;
pub mod sentences;
pub(crate) mod steps;
pub mod tokens;
pub(crate) mod undated;

/// `1 memory`, `2 memories`.
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
