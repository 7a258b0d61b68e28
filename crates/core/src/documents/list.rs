//! The documents there are, and those that there could be: what a person sees on the shelf.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::{DocumentService, IDENTITY_LIMIT, IdentityUsage, working};
use crate::error::{Done, EngineError};
use crate::model::{DocumentName, Name};
use crate::text::tokens;

/// What is shown of a line that was found, in characters.
const LINE_CHARS: usize = 200;

/// A document on the shelf.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ListedDocument {
    /// Its address.
    pub name: DocumentName,
    /// Its first heading, or its name.
    pub title: String,
    /// Whether it was written yet.
    pub exists: bool,
    /// How long it is.
    pub chars: usize,
    /// How long it is, in tokens.
    pub tokens: usize,
    /// How long it may be, where that is limited.
    pub limit: DocumentLimit,
    /// How full identity is, where it is the profile.
    pub usage: Option<IdentityUsage>,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// When it stops being given, where it is working memory.
    pub expires_at: Option<Timestamp>,
    /// The project whose memory file it is.
    pub project: Option<Name>,
    /// Of a search, the first line with one of the words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// How long a document may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct DocumentLimit {
    /// In characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chars: Option<usize>,
    /// In tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
}

/// Every document.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Shelf {
    /// The person's own first, then those of projects.
    pub documents: Vec<ListedDocument>,
}

impl DocumentService<'_> {
    /// Every document of the person and of the projects, those that are not written yet included.
    pub fn list(&self) -> Done<Shelf> {
        let listed = self.everything()?.into_iter().map(|name| Ok(self.listed(name)?.0));
        Ok(Shelf { documents: listed.collect::<Done<_>>()? })
    }

    /// The documents that have all of these words in their names or their text, each with a line that has one.
    pub fn search(&self, words: &str) -> Done<Shelf> {
        let words = words.to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut documents = Vec::new();
        for name in self.everything()? {
            let (document, text) = self.listed(name)?;
            let low = format!("{}\n{}", document.name, text).to_lowercase();
            if document.exists && words.iter().all(|word| low.contains(word)) {
                documents.push(ListedDocument { line: line_with(&words, &text), ..document });
            }
        }
        Ok(Shelf { documents })
    }

    fn everything(&self) -> Done<Vec<DocumentName>> {
        let mut names = Vec::new();
        if let Some(own) = &self.kernel.settings.namespace {
            let usual = [DocumentName::profile, DocumentName::patterns, DocumentName::working, DocumentName::memory];
            names.extend(usual.map(|name| name(own)));
            let others = self.files.list(own)?;
            names.extend(others.into_iter().filter(|name| !usual.iter().any(|usual| usual(own) == *name)));
        }
        names.extend(self.project_documents()?);
        Ok(names)
    }

    /// A document and its text. One that cannot be read is listed without it.
    fn listed(&self, name: DocumentName) -> Done<(ListedDocument, String)> {
        let text = match self.get(&name) {
            Err(EngineError::Document(error)) => {
                tracing::warn!(%error, "a document cannot be read");
                None
            }
            document => document?.map(|document| document.text),
        };
        let exists = text.is_some();
        let text = text.unwrap_or_default();
        let updated_at = if exists { self.history.document_changed_at(&name)? } else { None };
        let working = name.is_working().then(|| working::parse(&text)).flatten();
        let limit = DocumentLimit {
            chars: name.is_profile().then_some(IDENTITY_LIMIT),
            tokens: name.is_working().then_some(self.kernel.settings.working.max_tokens),
        };
        let document = ListedDocument {
            title: title(&name, &text),
            exists,
            chars: text.chars().count(),
            tokens: tokens::estimate(&text),
            limit,
            usage: (exists && name.is_profile()).then(|| IdentityUsage::of(&text)),
            updated_at,
            expires_at: working.map(|working| working.expires_at),
            project: name.as_project().cloned(),
            line: None,
            name,
        };
        Ok((document, text))
    }
}

/// The first line that has one of the words, without what Markdown puts in front of it.
fn line_with(words: &[&str], text: &str) -> Option<String> {
    let has_one = |line: &&str| {
        let low = line.to_lowercase();
        words.iter().any(|word| low.contains(word))
    };
    let line = text.lines().find(has_one)?;
    let line = line.trim_start_matches(['#', '>', '-', '*', '+', ' ', '\t']).trim_end();
    Some(line.chars().take(LINE_CHARS).collect())
}

fn title(name: &DocumentName, text: &str) -> String {
    let heading = text.lines().find_map(|line| line.trim_start().strip_prefix("# ")).map(str::trim);
    let last = || name.components().last().map(Name::to_string).unwrap_or_default();
    heading.filter(|heading| !heading.is_empty()).map_or_else(last, str::to_owned)
}
