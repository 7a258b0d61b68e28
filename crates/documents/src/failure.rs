//! What can go wrong below, before it is known to the caller by the document's name.

use std::io;

use throughline_core::model::DocumentName;
use throughline_core::ports::DocumentError;

#[derive(Debug)]
pub(crate) enum Failure {
    Conflict,
    Clash(String),
    NotPlain,
    NotText(&'static str),
    Unreachable,
    Io(&'static str, io::Error),
}

impl Failure {
    /// For `map_err`: names what was tried.
    pub(crate) fn io(doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io(doing, source)
    }

    pub(crate) fn of(self, name: &DocumentName) -> DocumentError {
        let name = name.clone();
        match self {
            Self::Conflict => DocumentError::Conflict { name },
            Self::Clash(existing) => DocumentError::Clash { name, existing },
            Self::NotPlain => DocumentError::NotPlain { name },
            Self::NotText(why) => DocumentError::NotText { name, why },
            Self::Unreachable => DocumentError::Unreachable { name },
            Self::Io(doing, source) => DocumentError::Io { doing, name: name.to_string(), source },
        }
    }
}
