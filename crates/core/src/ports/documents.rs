//! Documents: Markdown files that a person may edit at any time, or rows of a store that several machines share.

use std::path::{Path, PathBuf};

use crate::model::{ContentHash, Document, DocumentName, Name};

use super::StoreError;

/// Why a document could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The file is not what the writer thought it would replace.
    #[error("`{name}` was changed by somebody else in the meantime")]
    Conflict {
        /// Which document.
        name: DocumentName,
    },
    /// Somebody else changed it again and again; what was to be written is kept beside it.
    #[error(
        "`{name}` is being changed by somebody else again and again; what was to be written is in `{copy}` beside it"
    )]
    KeptBeside {
        /// Which document.
        name: DocumentName,
        /// The file's name.
        copy: String,
    },
    /// Another document has the same name, but for case or Unicode form.
    #[error("`{name}` differs from the existing `{existing}` only in case or Unicode form")]
    Clash {
        /// What was asked for.
        name: DocumentName,
        /// What is there.
        existing: String,
    },
    /// A link or something else that is not a plain file or directory.
    #[error("`{name}` is not a plain file inside the memory directory")]
    NotPlain {
        /// Which document.
        name: DocumentName,
    },
    /// Not UTF-8, or far too large for a document.
    #[error("`{name}` is not readable as text: {why}")]
    NotText {
        /// Which document.
        name: DocumentName,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The directory that the document stands in is not there: a disk is not mounted, or a folder has another name.
    #[error("`{name}` cannot be reached: the directory of the project is not there")]
    Unreachable {
        /// Which document.
        name: DocumentName,
    },
    /// The file system said no.
    #[error("cannot {doing} `{name}`")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Which document.
        name: String,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// The store that keeps the documents said no.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A document, and its stamp or why that cannot be told.
pub type Stamped = (DocumentName, Result<Option<String>, DocumentError>);

impl DocumentError {
    /// What to try next.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Conflict { .. } => "read it again, apply your change to what it says now, and write that",
            Self::KeptBeside { .. } => {
                "the file itself is as it was saved; move what is missing over, then delete the copy"
            }
            Self::Clash { .. } => "use the existing name",
            Self::NotPlain { .. } => "replace the link by the file itself",
            Self::NotText { .. } => "documents are short UTF-8 text; keep anything else in the vault",
            Self::Unreachable { .. } => {
                "nothing was changed; `throughline project add NAME --dir DIR` says where the project is now"
            }
            Self::Io { .. } | Self::Store(_) => return None,
        })
    }
}

/// A directory that is a project by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Where it begins.
    pub top: PathBuf,
    /// The directory of its project: another one for a linked worktree, which shares that of the main checkout.
    pub project: PathBuf,
}

/// Documents: Markdown files that a person may edit at any time.
pub trait Documents: Send + Sync {
    /// Reads a document; none if there is none.
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError>;
    /// Reads the document of a project as if the project were in this directory, wherever it is registered. The same
    /// as [`read`](Self::read) where documents have no directories.
    fn read_in(&self, name: &DocumentName, dir: &str) -> Result<Option<Document>, DocumentError> {
        let _ = dir;
        self.read(name)
    }
    /// The checkout that a directory, given without links in its path, lies in: under version control, else with a memory
    /// file; none where documents have no directories.
    fn checkout(&self, dir: &Path) -> Option<Checkout> {
        let _ = dir;
        None
    }
    /// Replaces the text whose digest is `expected` ([`ContentHash::missing`] for a new one): whole or not at all,
    /// durable when it returns, and never over an edit that the caller has not seen.
    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError>;
    /// Removes the file whose digest is `expected`.
    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError>;
    /// Keeps a text that could not be written beside the document ([`copy_name`](crate::model::copy_name)), never over
    /// anything, and as private as the document; gives the file's name.
    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError>;
    /// The files that were kept beside a document, sorted.
    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError>;
    /// Every document of a namespace, sorted; what was kept beside one is none.
    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError>;
    /// A cheap stamp that changes whenever the file may have changed; none if there is none.
    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError>;
    /// Every document of a namespace with its stamp, sorted: what a verb looks at before it reads any.
    fn stamps(&self, namespace: &Name) -> Result<Vec<Stamped>, DocumentError> {
        let stamped = |name: DocumentName| {
            let stamp = self.stamp(&name);
            (name, stamp)
        };
        Ok(self.list(namespace)?.into_iter().map(stamped).collect())
    }
    /// Says that this text is about to be put there by a change that is not committed yet ([`ContentHash::missing`]: that
    /// the file is about to go). A text that is in the file and in no change was left by a writer that died.
    fn announce(&self, name: &DocumentName, hash: &ContentHash) -> Result<(), DocumentError> {
        let _ = (name, hash);
        Ok(())
    }
    /// What was announced for a document and not settled.
    fn announced(&self, name: &DocumentName) -> Option<ContentHash> {
        let _ = name;
        None
    }
    /// The change came about, or was taken back: nothing is announced any more.
    fn settle(&self, name: &DocumentName) {
        let _ = name;
    }
}
