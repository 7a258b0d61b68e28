//! Digests by which a store tells that a text is there already.

use sha2::{Digest, Sha256};

use super::{Entry, Kind, Layer, Status};

/// A digest of what an entry says and where: the same for two entries without keys that say the same in the same place.
///
/// A store keeps it under a unique key, so that of several processes that store the same text at once, one does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextDigest(String);

impl TextDigest {
    /// Of a text in a layer of a namespace, and of a project where it belongs to one.
    pub fn of(namespace: &str, layer: Layer, project: Option<&str>, content: &str) -> Self {
        let mut digest = Sha256::new();
        for part in [namespace, layer.as_str(), project.unwrap_or(""), content] {
            // The length in front of each part keeps them apart.
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        digest.update([u8::from(project.is_some())]);
        Self(data_encoding::HEXLOWER.encode(&digest.finalize()))
    }

    /// The digest in hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Entry {
    /// The digest that no other entry should have; nothing where it does not matter: a key tells an entry from others,
    /// what is inactive is not said any more, and the lines of a document are the document's.
    pub fn text_digest(&self) -> Option<TextDigest> {
        let counts = self.kind == Kind::Entry && self.status == Status::Active && self.key.is_none();
        let digest = || TextDigest::of(&self.namespace.to_string(), self.layer, self.project.as_deref(), &self.content);
        counts.then(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sample_entry;

    #[test]
    fn only_the_same_text_in_the_same_place_has_the_same_digest() {
        let entry = sample_entry("a", "likes tea");
        let digest = entry.text_digest().unwrap();
        assert_eq!(sample_entry("b", "likes tea").text_digest(), Some(digest.clone()));
        let others = [
            Entry { content: "likes tea ".to_owned(), ..entry.clone() },
            Entry { layer: Layer::Archive, ..entry.clone() },
            Entry { project: Some(String::new()), ..entry.clone() },
            Entry { project: Some("apollo".to_owned()), ..entry.clone() },
            Entry { namespace: "user/facts".parse().unwrap(), ..entry.clone() },
        ];
        assert!(others.iter().all(|other| other.text_digest().is_some_and(|other| other != digest)));
        let moved = TextDigest::of("global", Layer::Knowledge, Some("a"), "b");
        assert_ne!(moved, TextDigest::of("global", Layer::Knowledge, Some("ab"), ""), "parts stay apart");
    }

    #[test]
    fn what_need_not_be_told_apart_has_none() {
        let entry = sample_entry("a", "likes tea");
        assert_eq!(Entry { key: Some("drink".to_owned()), ..entry.clone() }.text_digest(), None);
        assert_eq!(Entry { status: Status::Inactive, ..entry.clone() }.text_digest(), None);
        assert_eq!(Entry { kind: Kind::Bullet, ..entry }.text_digest(), None);
    }
}
