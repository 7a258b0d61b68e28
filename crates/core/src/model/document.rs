//! Documents: few, short, read whole. The Markdown file is the truth; this is what was read from it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{DocumentName, EntryId, Importance, Name};

/// The digest by which writers agree on what they are replacing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// SHA-256 of the bytes, in hexadecimal.
    pub fn of(text: &str) -> Self {
        Self(data_encoding::HEXLOWER.encode(&Sha256::digest(text)))
    }

    /// The digest of a document that does not exist; no text has it.
    pub fn missing() -> Self {
        Self("missing".to_owned())
    }

    /// Wraps a digest that was stored.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The digest as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A document as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Document {
    /// Its address.
    pub name: DocumentName,
    /// The whole text.
    pub text: String,
    /// The digest of the text.
    pub hash: ContentHash,
}

impl Document {
    /// A document with its digest.
    pub fn new(name: DocumentName, text: String) -> Self {
        let hash = ContentHash::of(&text);
        Self { name, text, hash }
    }
}

/// What stands in the name of a copy between the document's own and the time.
const COPIED: &str = ".conflict-";

/// The name of the file in which a text is kept that could not be written, without its ending: `stamp` is a local time
/// as `2026-03-01-120000`, and `nth` tells those of one second apart.
pub fn copy_name(stem: &str, stamp: &str, nth: usize) -> String {
    let more = if nth > 1 { format!("-{nth}") } else { String::new() };
    format!("{stem}{COPIED}{stamp}{more}")
}

/// The document that a file of this name, without its ending, is a copy of; nothing where it is a document itself.
pub fn copied_from(stem: &str) -> Option<&str> {
    let (of, stamp) = stem.rsplit_once(COPIED)?;
    let parts: Vec<&str> = stamp.split('-').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let lengths: Vec<usize> = parts.iter().take(4).map(|part| part.len()).collect();
    (!of.is_empty() && parts.iter().all(is_number) && parts.len() <= 5 && lengths == [4, 2, 2, 6]).then_some(of)
}

/// What a new document's name differs from only in case or Unicode form, at the first of its components that is not there:
/// a file system might take the two for each other.
pub fn clash(name: &DocumentName, known: &[DocumentName]) -> Option<String> {
    let (wanted, known): (_, Vec<Vec<Part<'_>>>) = (parts(name), known.iter().map(parts).collect());
    for depth in 0..wanted.len() {
        let siblings = || known.iter().filter(|path| path.len() > depth && path[..depth] == wanted[..depth]);
        if siblings().any(|path| path[depth] == wanted[depth]) {
            continue;
        }
        let alike = |path: &&Vec<Part<'_>>| path[depth].folded() == wanted[depth].folded();
        return siblings().find(alike).map(|path| {
            let names: Vec<&str> = path[..=depth].iter().map(|part| part.name.as_str()).collect();
            names.join("/")
        });
    }
    None
}

/// A component, and whether it is the last one: a folder may have the name of a document.
#[derive(PartialEq)]
struct Part<'a> {
    name: &'a Name,
    last: bool,
}

impl Part<'_> {
    fn folded(&self) -> (String, bool) {
        (self.name.folded(), self.last)
    }
}

fn parts(name: &DocumentName) -> Vec<Part<'_>> {
    let count = name.components().count();
    name.components().enumerate().map(|(at, name)| Part { name, last: at + 1 == count }).collect()
}

/// One line or paragraph of a document that can be found on its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Bullet {
    /// Derived from the document's name and the text; never written into the file.
    pub id: EntryId,
    /// The text without its marker and weight.
    pub content: String,
    /// From `[sig:n]`, else the default.
    pub importance: Importance,
    /// Where the whole item stands in the document, its line break included.
    pub span: std::ops::Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_known_by_its_name_and_nothing_else_is() {
        for nth in 1..3 {
            assert_eq!(copied_from(&copy_name("memory", "2026-03-01-120000", nth)), Some("memory"));
        }
        for other in [
            "memory",
            "memory.conflict-",
            "a.conflict-resolution",
            ".conflict-2026-03-01-120000",
            "x.conflict-2026-3-1-1",
        ] {
            assert_eq!(copied_from(other), None, "{other}");
        }
    }
}
