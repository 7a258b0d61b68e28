//! Documents: few, short, read whole. The Markdown file is the truth; this is what was read from it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{DocumentName, EntryId, Importance};

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
