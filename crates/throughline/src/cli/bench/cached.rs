//! Vectors that were made before: a benchmark that runs twice embeds nothing twice.
//!
//! Goes in: an embedder and a file. Comes out: an embedder that asks the other one only for texts which the file does not
//! have. The file is only appended to; a record that was cut off is dropped when it is opened.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use throughline_core::model::ContentHash;
use throughline_core::ports::{EmbedFor, Embedder, ModelError};

/// A digest in hexadecimal, as it stands in the file.
const DIGEST: usize = 64;

type Vectors = HashMap<String, Vec<f32>>;

/// Vectors by the digest of what they were made of, in memory and in a file.
pub(super) struct VectorCache {
    kept: Mutex<(File, Vectors)>,
}

impl VectorCache {
    /// Opens the file, or begins it.
    pub(super) fn open(path: &Path) -> std::io::Result<Self> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (vectors, whole) = read(&bytes);
        file.set_len(whole as u64)?;
        Ok(Self { kept: Mutex::new((file, vectors)) })
    }

    fn find(&self, keys: &[String]) -> Vec<Option<Vec<f32>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().map(|key| kept.1.get(key).cloned()).collect()
    }

    /// Keeps vectors in memory and, if it can be written, in the file.
    fn keep(&self, new: Vec<(String, Vec<f32>)>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, vectors) = &mut *kept;
        let records: Vec<u8> = new.iter().flat_map(|(key, vector)| record(key, vector)).collect();
        if let Err(error) = file.write_all(&records) {
            tracing::warn!(%error, "vectors are not cached");
        }
        vectors.extend(new);
    }
}

fn record(key: &str, vector: &[f32]) -> Vec<u8> {
    let length = u32::try_from(vector.len()).unwrap_or_default();
    let numbers = vector.iter().flat_map(|number| number.to_le_bytes());
    key.bytes().chain(length.to_le_bytes()).chain(numbers).collect()
}

/// The vectors of a file, and how many of its bytes are whole records.
fn read(bytes: &[u8]) -> (Vectors, usize) {
    let (mut vectors, mut at) = (HashMap::new(), 0);
    while let Some((key, vector, size)) = first_record(&bytes[at..]) {
        vectors.insert(key, vector);
        at += size;
    }
    (vectors, at)
}

fn first_record(bytes: &[u8]) -> Option<(String, Vec<f32>, usize)> {
    let (key, rest) = bytes.split_at_checked(DIGEST)?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let size = usize::try_from(u32::from_le_bytes(*length)).ok()?.checked_mul(4)?;
    let numbers = rest.get(..size)?.chunks_exact(4);
    let vector = numbers.map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
    Some((String::from_utf8(key.to_vec()).ok()?, vector, DIGEST + 4 + size))
}

/// An embedder that remembers.
pub(super) struct CachedEmbedder {
    inner: Arc<dyn Embedder>,
    cache: Arc<VectorCache>,
}

impl CachedEmbedder {
    pub(super) fn new(inner: Arc<dyn Embedder>, cache: Arc<VectorCache>) -> Self {
        Self { inner, cache }
    }

    /// What a vector is kept under: the model, what it is for, and the text.
    fn key(&self, text: &str, purpose: EmbedFor) -> String {
        let (provider, name, place) = (self.provider(), self.name(), self.base_url().unwrap_or_default());
        ContentHash::of(&format!("{provider}\n{name}\n{place}\n{purpose:?}\n{text}")).as_str().to_owned()
    }
}

impl Embedder for CachedEmbedder {
    fn provider(&self) -> &'static str {
        self.inner.provider()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn knows(&self, text: &str) -> bool {
        self.inner.knows(text)
    }

    fn base_url(&self) -> Option<&str> {
        self.inner.base_url()
    }

    fn embed(&self, texts: &[String], purpose: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        let keys: Vec<String> = texts.iter().map(|text| self.key(text, purpose)).collect();
        let found = self.cache.find(&keys);
        let missing = |at: &usize| found[*at].is_none();
        let asked: Vec<usize> = (0..texts.len()).filter(missing).collect();
        if asked.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        let wanted: Vec<String> = asked.iter().map(|at| texts[*at].clone()).collect();
        let made = self.inner.embed(&wanted, purpose)?;
        if made.len() != asked.len() {
            // The caller checks the number, and says what is wrong.
            return Ok(made);
        }
        self.cache.keep(asked.iter().map(|at| keys[*at].clone()).zip(made.iter().cloned()).collect());
        let mut made = made.into_iter();
        Ok(found.into_iter().filter_map(|vector| vector.or_else(|| made.next())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Counting(Mutex<Vec<String>>);

    impl Embedder for Counting {
        fn provider(&self) -> &'static str {
            "test"
        }

        fn name(&self) -> &'static str {
            "lengths"
        }

        fn base_url(&self) -> Option<&str> {
            None
        }

        fn embed(&self, texts: &[String], _: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
            self.0.lock().unwrap().extend(texts.iter().cloned());
            Ok(texts.iter().map(|text| vec![text.len() as f32, 0.5]).collect())
        }
    }

    fn ask(file: &Path, texts: &[&str]) -> (Vec<f32>, Vec<String>) {
        let inner = Arc::new(Counting::default());
        let cached = CachedEmbedder::new(Arc::clone(&inner) as _, Arc::new(VectorCache::open(file).unwrap()));
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let vectors = cached.embed(&texts, EmbedFor::Storing).unwrap();
        let asked = inner.0.lock().unwrap().clone();
        (vectors.iter().map(|vector| vector[0]).collect(), asked)
    }

    #[test]
    fn a_second_run_asks_only_for_what_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("below/vectors");
        assert_eq!(ask(&file, &["a", "bb"]), (vec![1.0, 2.0], vec!["a".to_owned(), "bb".to_owned()]));
        assert_eq!(ask(&file, &["bb", "ccc", "a"]), (vec![2.0, 3.0, 1.0], vec!["ccc".to_owned()]));
        assert_eq!(ask(&file, &["ccc"]), (vec![3.0], vec![]));
    }

    #[test]
    fn a_record_that_was_cut_off_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("vectors");
        ask(&file, &["a", "bb"]);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() - 3]).unwrap();
        assert_eq!(ask(&file, &["a", "bb"]), (vec![1.0, 2.0], vec!["bb".to_owned()]));
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
    }

    #[test]
    fn the_purpose_is_part_of_the_key() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Arc::new(VectorCache::open(&dir.path().join("vectors")).unwrap());
        let cached = CachedEmbedder::new(Arc::new(Counting::default()), cache);
        assert_ne!(cached.key("a", EmbedFor::Storing), cached.key("a", EmbedFor::Searching));
    }
}
