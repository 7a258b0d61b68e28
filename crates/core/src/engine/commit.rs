//! One change that touches entries and documents alike: all of it, or nothing.

use crate::model::{ContentHash, Document, DocumentName, Entry, Verb};
use crate::ports::{DocumentError, Op};

use super::{Done, Engine};

impl Engine {
    /// A document as it is, empty where there is none, with what happened to it noticed.
    pub(super) fn current_document(&self, name: &DocumentName) -> Done<Document> {
        let missing = || Document { name: name.clone(), text: String::new(), hash: ContentHash::missing() };
        Ok(self.document(name)?.unwrap_or_else(missing))
    }

    /// Applies operations and documents as one change; nothing where a person was faster and all must be read again.
    pub(super) fn commit(&self, verb: Verb, ops: &[Op], documents: &[(Document, String)]) -> Done<Option<Vec<Entry>>> {
        let versions =
            documents.iter().map(|(before, after)| self.versioned(&before.name, Some(after), self.actor.who));
        let ops: Vec<Op> = ops.iter().cloned().chain(versions).collect();
        let (mut written, mut failure) = (0, None);
        let mut write = || {
            for (before, after) in documents {
                match self.documents.write(&before.name, after, &before.hash) {
                    Ok(()) => written += 1,
                    Err(error) => {
                        failure = Some(error);
                        self.take_back(&documents[..std::mem::take(&mut written)]);
                        return false;
                    }
                }
            }
            true
        };
        let applied = self.store.apply(&self.change(verb), &ops, &mut write);
        match (applied, failure) {
            (_, Some(DocumentError::Conflict { .. })) => Ok(None),
            (_, Some(error)) => Err(error.into()),
            (Err(error), None) => {
                self.take_back(&documents[..written]);
                Err(error.into())
            }
            (Ok(entries), None) => Ok(Some(entries)),
        }
    }

    /// Takes files back that belong to a change which did not come about, so that they are not taken for a person's
    /// edit. What a person saved over them meanwhile stays.
    fn take_back(&self, documents: &[(Document, String)]) {
        for (before, after) in documents {
            let ours = ContentHash::of(after);
            let put = if before.hash == ContentHash::missing() {
                self.documents.remove(&before.name, &ours)
            } else {
                self.documents.write(&before.name, &before.text, &ours)
            };
            if let Err(error) = put {
                tracing::warn!(%error, "a document could not be taken back");
            }
        }
    }
}
