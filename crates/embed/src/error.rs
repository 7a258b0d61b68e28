//! Why a model's directory cannot be used.

use std::io;
use std::path::PathBuf;

/// Why a model's directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such directory.
    #[error("there is no directory {path}", path = path.display())]
    NoDirectory {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file that every model has is not there.
    #[error("{directory} has no {file}", directory = directory.display())]
    Missing {
        /// The model's directory.
        directory: PathBuf,
        /// The file's name.
        file: &'static str,
    },
    /// A file cannot be read.
    #[error("{path} cannot be read", path = path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not in its format.
    #[error("{path} is not in its format: {why}", path = path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A model that this program cannot compute.
    #[error("this model is not supported: {what}")]
    Unsupported {
        /// What is not supported.
        what: String,
    },
}

impl LoadError {
    /// What to try next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoDirectory { .. } => "name the directory that holds the model's files",
            Self::Missing { .. } => {
                "a model needs config.json, tokenizer.json (or vocab.txt) and model.safetensors in one directory"
            }
            Self::Read { .. } => "check the file's permissions",
            Self::Malformed { .. } => "get the file again: it may have been downloaded in part",
            Self::Unsupported { .. } => {
                "use a sentence model of the BERT family, such as e5-small-v2, multilingual-e5-small or all-MiniLM-L6-v2"
            }
        }
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }
}
