//! The vault: whole files that are searched in passages. Text goes in, chunks with their titles and places come out;
//! vectors are packed and compared, and what words and meaning found becomes one order.
//!
//! Never happens here: reading a file, calling an embedder, a chunk beyond its cap, a place that is not in the file.

mod blocks;
mod chunking;
mod embed;
mod fusion;
mod search;
mod vectors;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::model::{ContentHash, EntryId, Kind, Name, Namespace, RecallId, VaultId, derived};

pub(crate) use chunking::title;
pub use chunking::{MAX_TOKENS, TARGET_TOKENS, chunks};
pub use embed::Embedded;
pub use fusion::{Found, PassageWhy, fuse};
pub use search::{NewVaultDocument, VaultService, VaultStats};
pub(crate) use vectors::unit;
pub use vectors::{Packed, Sought, VectorError, checked, exact_limit, hamming, rescored};

/// How text is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Form {
    /// Along headings and paragraphs; fenced code stays whole.
    Markdown,
    /// At blank lines before lines that are not indented.
    Code,
    /// Along paragraphs.
    #[default]
    Plain,
}

/// What was read out of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// Text with lines.
    Text {
        /// How it is divided.
        form: Form,
        /// The text.
        text: String,
        /// For text that was made from the file: the file's line for each line of it. Empty: they are the same.
        lines: Vec<u32>,
    },
    /// Text by page.
    Pages(Vec<String>),
}

impl Body {
    /// Text as it stands in the file.
    pub fn text(form: Form, text: impl Into<String>) -> Self {
        Self::Text { form, text: text.into(), lines: Vec::new() }
    }
}

/// Where a chunk stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum Place {
    /// In these lines, counted from 1.
    Lines {
        /// The first.
        first_line: u32,
        /// The last.
        last_line: u32,
    },
    /// On this page, counted from 1.
    Page {
        /// The page.
        page: u32,
    },
}

impl Place {
    /// `file:12`, or `file, page 3`.
    pub fn citation(self, path: &str) -> String {
        match self {
            Self::Lines { first_line, .. } => format!("{path}:{first_line}"),
            Self::Page { page } => format!("{path}, page {page}"),
        }
    }
}

/// A file that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct VaultDocument {
    /// Derived from the path: the same file has the same one.
    pub id: VaultId,
    /// Where the file is, in full.
    pub path: String,
    /// What was added: the file itself, or the folder it was found in.
    pub root: String,
    /// The collection it belongs to: `vault/<name>`.
    pub collection: Name,
    /// Its first heading, or its name.
    pub title: String,
    /// The digest of what was read.
    pub hash: ContentHash,
    /// What the file system says of its age and size: as long as that stays, it is not read again.
    pub stamp: String,
    /// Its size.
    pub bytes: u64,
    /// How many chunks it has.
    pub chunks: u64,
    /// When it was last indexed.
    pub updated_at: Timestamp,
}

/// A file that gave no text: it is not read again until it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadFile {
    /// Where it is, in full.
    pub path: String,
    /// What was read, and by which reader: as long as that stays, so does the outcome.
    pub stamp: String,
    /// Why, as its reader put it.
    pub why: String,
}

impl VaultDocument {
    /// The id of the document at this path.
    pub fn id_of(path: &str) -> VaultId {
        VaultId::new(derived(&["vault", path]))
    }
}

/// A passage of a document: what is found, and cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Derived from the path and the text.
    pub id: EntryId,
    /// The headings above it, the outermost first.
    pub titles: Vec<String>,
    /// Where it stands.
    pub place: Place,
    /// Its text.
    pub content: String,
}

/// A chunk's text with what stands above it: what an embedder is given.
pub fn in_context(titles: &[String], content: &str, document_title: &str) -> String {
    let above = if titles.is_empty() { document_title.to_owned() } else { titles.join(" > ") };
    format!("{above}\n{content}")
}

/// What a chunk is found by: the file's name, the titles and the text.
pub fn searched(titles: &[String], content: &str, path: &str, document_title: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_said = titles.first().is_some_and(|first| first == document_title) || file == document_title;
    let title = if is_said { "" } else { document_title };
    format!("{file}\n{title}\n{}\n{content}", titles.join("\n"))
}

/// A chunk with the file it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The chunk.
    pub chunk: Chunk,
    /// The file.
    pub path: String,
    /// The file's title.
    pub title: String,
    /// The document.
    pub document: VaultId,
    /// Its collection.
    pub collection: Name,
    /// When it was indexed.
    pub updated_at: Timestamp,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PassageHit {
    /// The chunk.
    pub id: EntryId,
    /// Always `chunk`.
    pub kind: Kind,
    /// `vault/<name>`.
    pub namespace: Namespace,
    /// The text.
    pub content: String,
    /// `file:line`, or `file, page n`.
    pub citation: String,
    /// The file.
    pub path: String,
    /// The document.
    pub document: VaultId,
    /// The file's title.
    pub title: String,
    /// The headings above it, the outermost first.
    pub titles: Vec<String>,
    /// Where it stands, its fields at the same level.
    #[serde(flatten)]
    pub place: Place,
    /// When it was indexed.
    pub updated_at: Timestamp,
    /// Higher is better; comparable within one search only.
    pub score: f64,
    /// How the score came about.
    pub why: PassageWhy,
}

impl PassageHit {
    pub(crate) fn of(found: Found) -> Self {
        let Passage { chunk, path, title, document, collection, updated_at } = found.passage;
        Self {
            id: chunk.id,
            kind: Kind::Chunk,
            namespace: Namespace::Vault(collection),
            content: chunk.content,
            citation: chunk.place.citation(&path),
            path,
            document,
            title,
            titles: chunk.titles,
            place: chunk.place,
            updated_at,
            score: found.why.score,
            why: found.why,
        }
    }
}

/// How a search went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchedBy {
    /// By words alone.
    Words,
    /// By words and by meaning.
    WordsAndMeaning,
}

/// How far a model is with the passages of the vault, or with the memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct EmbeddingProgress {
    /// Provider and model.
    pub model: String,
    /// How many have a vector.
    pub embedded: u64,
    /// How many it refused.
    pub refused: u64,
    /// How many there are.
    pub of: u64,
}

impl EmbeddingProgress {
    /// How many are still to be embedded.
    pub fn missing(&self) -> u64 {
        self.of.saturating_sub(self.embedded + self.refused)
    }
}

/// The answer of a search.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct VaultAnswer {
    /// Names this search in the recall log.
    pub recall_id: RecallId,
    /// Best first.
    pub hits: Vec<PassageHit>,
    /// How it was searched.
    pub searched_by: SearchedBy,
    /// The provider and model whose vectors served, where meaning counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why not by meaning, where an embedder is set up and could not help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// How far the model that is set up is with the passages, while it is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<EmbeddingProgress>,
}

/// What the vault holds.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VaultListing {
    /// By path.
    pub documents: Vec<VaultDocument>,
    /// Files of the vault's own folder that the person took out.
    pub left_out: Vec<String>,
    /// How far a model is that is giving passages their vectors.
    pub embedding: Option<EmbeddingProgress>,
}

/// The receipt for documents that were taken out of the vault.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VaultRemoved {
    /// How many there were.
    pub removed: u64,
    /// Which.
    pub ids: Vec<VaultId>,
    /// Files that would be noticed again, and are left out from now on.
    pub left_out: Vec<String>,
}
