//! Which text is about to be put into a document, by a change that is not committed yet: one small file for each document
//! while it is written, in the directory of the memory, with the digest of that text and nothing else.
//!
//! It is not made durable: after a loss of power a text without its change may pass for a person's edit. A process that is
//! killed leaves its mark.

use std::io::{self, Write as _};

use cap_std::fs::Dir;
use throughline_core::model::{ContentHash, DocumentName};

use crate::sys::Privacy;
use crate::{plain, sys};

/// The file for a document, whatever characters its name has.
fn file(name: &DocumentName) -> String {
    let digest = ContentHash::of(&name.to_string());
    format!(".throughline-{}.mark", digest.as_str().chars().take(16).collect::<String>())
}

pub(crate) fn set(root: &Dir, name: &DocumentName, hash: &ContentHash) -> io::Result<()> {
    clear(root, name);
    sys::create_file(root, &file(name), Privacy::Owner)?.write_all(hash.as_str().as_bytes())
}

pub(crate) fn get(root: &Dir, name: &DocumentName) -> Option<ContentHash> {
    plain::read(root, &file(name)).ok().flatten().map(ContentHash::stored)
}

pub(crate) fn clear(root: &Dir, name: &DocumentName) {
    match root.remove_file(file(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(%name, %error, "the mark of a change that is over stays");
        }
        _ => {}
    }
}
