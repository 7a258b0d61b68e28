//! The vault's verbs: put documents in, take them out, search them by words and, with an embedder, by meaning.

use std::collections::HashMap;

use serde::Serialize;

use crate::model::{ContentHash, Entry, EntryId, Importance, Kind, Layer, Memory, Name, Source, Status, VaultId};
use crate::ports::{EmbedFor, Embedder, ModelError};
use crate::recall::{AskedBy, FoundBy, Hit, RecalledHit, Terms, Why};
use crate::text::redact::{redact, redact_keeping_lines};
use crate::vault::{self, Body, Chunk, Packed, PassageHit, SearchedBy, VaultAnswer, VaultDocument, checked, chunks};

use super::{Done, Engine, EngineError};

/// More than this is no search.
const MAX_PASSAGES: usize = 100;

/// How many each side gives to choose from.
const FETCH: usize = 50;

/// Passages that a message gets.
const GIVEN: usize = 2;

/// Texts that an embedder is given at once.
const EMBED_BATCH: usize = 32;

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVaultDocument {
    /// Where it is, in full.
    pub path: String,
    /// What was added: the file itself, or the folder it was found in.
    pub root: String,
    /// The collection.
    pub collection: Name,
    /// What the file system says of its age and size.
    pub stamp: String,
    /// Its size.
    pub bytes: u64,
    /// A title that its format has, where it has one.
    pub title: Option<String>,
    /// What it says.
    pub body: Body,
}

/// What became of embedding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Embedded {
    /// Provider and model.
    pub model: String,
    /// Chunks that have a vector now and had none before.
    pub embedded: u64,
    /// Chunks that have none yet.
    pub missing: u64,
    /// Why, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Engine {
    /// Every document of the vault, by path.
    pub fn vault_documents(&self) -> Done<Vec<VaultDocument>> {
        Ok(self.store.vault_documents()?)
    }

    /// Indexes files, all of them or none; gives how many had really changed. Secrets are taken out first.
    pub fn vault_put(&self, files: Vec<NewVaultDocument>, known: &HashMap<VaultId, VaultDocument>) -> Done<u64> {
        let mut changed = Vec::new();
        for file in files {
            let (document, chunks) = self.document_of(file);
            match known.get(&document.id) {
                Some(before) if before.hash == document.hash && before.collection == document.collection => {
                    self.store.restamp_document(&VaultDocument { root: before.root.clone(), ..document })?;
                }
                _ => changed.push((document, chunks)),
            }
        }
        if !changed.is_empty() {
            self.store.replace_documents(&changed)?;
        }
        Ok(changed.len() as u64)
    }

    fn document_of(&self, file: NewVaultDocument) -> (VaultDocument, Vec<Chunk>) {
        let body = without_secrets(file.body);
        let chunks = chunks(&file.path, &body);
        let name = file.path.rsplit(['/', '\\']).next().unwrap_or(&file.path);
        let title = file.title.map(|title| redact(&title).text.into_owned());
        let title = title.or_else(|| vault::title(&body)).unwrap_or_else(|| name.to_owned());
        let document = VaultDocument {
            id: VaultDocument::id_of(&file.path),
            root: file.root,
            collection: file.collection,
            title,
            hash: hash(&body),
            stamp: file.stamp,
            bytes: file.bytes,
            chunks: chunks.len() as u64,
            updated_at: self.clock.now(),
            path: file.path,
        };
        (document, chunks)
    }

    /// Takes documents out: their text, index and vectors are gone.
    pub fn vault_remove(&self, ids: &[VaultId]) -> Done<u64> {
        Ok(if ids.is_empty() { 0 } else { self.store.remove_documents(ids)? })
    }

    /// Finds passages by plain text, best first, and notes in the log what was found. Without an embedder, or with one
    /// that fails, the words decide alone.
    pub fn vault_search(&self, query: &str, limit: usize, embedder: Option<&dyn Embedder>) -> Done<VaultAnswer> {
        let (hits, searched_by, remark) = self.vault_find(query, limit, embedder)?;
        let recalled = hits.iter().map(|hit| recalled(hit, false)).collect();
        Ok(VaultAnswer {
            recall_id: self.note_recalled((AskedBy::Person, None), query, recalled),
            hits,
            searched_by,
            remark,
        })
    }

    /// Finds without a trace.
    pub(super) fn vault_find(
        &self,
        query: &str,
        limit: usize,
        embedder: Option<&dyn Embedder>,
    ) -> Done<(Vec<PassageHit>, SearchedBy, Option<String>)> {
        let limit = limit.min(MAX_PASSAGES);
        let fetch = FETCH.max(limit);
        let terms = Terms::of_query(query);
        let words = if terms.is_empty() { Vec::new() } else { self.store.search_passages(&terms, fetch)? };
        let (near, remark) = match embedder.map(|embedder| self.near(query, fetch, embedder)) {
            Some(Ok(near)) => (near, None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let searched_by = if near.is_some() { SearchedBy::WordsAndMeaning } else { SearchedBy::Words };
        let found = vault::fuse(words, near, limit);
        Ok((found.into_iter().map(PassageHit::of).collect(), searched_by, remark))
    }

    /// What is near in meaning; nothing where there are no vectors to compare with, and why not where that is news.
    fn near(
        &self,
        query: &str,
        fetch: usize,
        embedder: &dyn Embedder,
    ) -> Result<Option<Vec<(vault::Passage, f64)>>, String> {
        if query.trim().is_empty() {
            return Ok(None);
        }
        let sets = self.store.vector_sets().map_err(|error| error.to_string())?;
        let Some(set) = sets.into_iter().find(|set| set.is_serving) else {
            return Err("no vectors yet: `throughline vault add` makes them".to_owned());
        };
        if set.model != model_of(embedder) {
            return Err(format!(
                "the vectors are of {}, not of {}: `throughline vault add` makes new ones",
                set.model,
                model_of(embedder)
            ));
        }
        let texts = [redact(query).text.into_owned()];
        let vector =
            embed(embedder, &texts, EmbedFor::Searching, Some(set.dimension)).map_err(|error| error.to_string())?;
        let query = vector.first().ok_or("no vector came back")?;
        Ok(Some(self.store.nearest(&set.model, query, fetch).map_err(|error| error.to_string())?))
    }

    /// Gives every chunk a vector of this embedder, a batch at a time; what is kept is kept, whatever happens next. The
    /// vectors of another model serve until the last of the new ones is there.
    pub fn vault_embed(&self, embedder: &dyn Embedder, progress: &mut dyn FnMut(u64, u64)) -> Done<Embedded> {
        let model = model_of(embedder);
        let mut done = Embedded { model: model.clone(), ..Embedded::default() };
        let mut dimension = None;
        loop {
            let (batch, missing) = self.store.without_vector(&model, EMBED_BATCH)?;
            progress(done.embedded, done.embedded + missing);
            if batch.is_empty() {
                if self.store.vector_sets()?.iter().any(|set| set.model == model && !set.is_serving) {
                    self.store.serve_vectors(&model)?;
                }
                return Ok(done);
            }
            done.missing = missing;
            let texts: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
            // A model whose vectors have another length than the last time is another model, whatever its name says;
            // one that changes its mind in between is none at all.
            let vectors = match embed(embedder, &texts, EmbedFor::Storing, dimension) {
                Ok(vectors) => vectors,
                Err(error) => {
                    done.problem = Some(error.to_string());
                    return Ok(done);
                }
            };
            dimension = vectors.first().map(Vec::len);
            let packed: Vec<(i64, Packed)> =
                batch.iter().zip(&vectors).map(|((name, _), vector)| (*name, Packed::of(vector))).collect();
            self.store.keep_vectors(&model, &packed)?;
            done.embedded += packed.len() as u64;
            done.missing = missing.saturating_sub(packed.len() as u64);
        }
    }

    /// Passages that fit a message, as hits that stand beside memories: cited, and found by words alone, because no reply
    /// waits for an embedder. Nothing where they are not wanted or cannot be found.
    pub(super) fn passages_for(&self, message: &str) -> Vec<Hit> {
        if !self.settings.inject_vault {
            return Vec::new();
        }
        let found = self.vault_find(message, GIVEN, None).unwrap_or_else(|error| {
            tracing::warn!(%error, "the vault cannot be searched; going on without");
            (Vec::new(), SearchedBy::Words, None)
        });
        found.0.into_iter().map(|passage| as_hit(&passage)).collect()
    }

    /// The documents that `reference` names: a path, a folder, an id or its beginning, or `vault/<name>`.
    pub fn vault_named(&self, reference: &str, path: &str) -> Done<Vec<VaultDocument>> {
        let below = format!("{}/", path.trim_end_matches('/'));
        let collection = reference.strip_prefix("vault/");
        let is_id = |id: &str| reference.len() >= 6 && id.starts_with(reference);
        let is_meant = |document: &VaultDocument| {
            document.path == path
                || document.path.starts_with(&below)
                || is_id(document.id.as_str())
                || collection.is_some_and(|name| document.collection.as_str() == name)
        };
        let found: Vec<_> = self.store.vault_documents()?.into_iter().filter(is_meant).collect();
        if found.is_empty() {
            return Err(EngineError::NoVaultDocument { reference: reference.to_owned() });
        }
        Ok(found)
    }
}

/// A passage in the shape of a memory: knowledge that a file holds, with its citation in front.
fn as_hit(passage: &PassageHit) -> Hit {
    let entry = Entry {
        id: passage.id.clone(),
        kind: Kind::Chunk,
        namespace: passage.namespace.clone(),
        layer: Layer::Knowledge,
        key: None,
        content: format!("{}: {}", passage.citation, passage.content),
        source: Source::System,
        status: Status::Active,
        importance: Importance::default(),
        tags: Vec::new(),
        session: None,
        task: None,
        project: None,
        created_at: passage.updated_at,
        updated_at: passage.updated_at,
        expires_at: None,
        supersedes: Vec::new(),
        provenance: Vec::new(),
        version: 1,
    };
    let RecalledHit { score, why, .. } = recalled(passage, false);
    Hit { memory: Memory::new(entry, 0, None), speaker: None, score, why }
}

/// What the log keeps of a passage.
pub(super) fn recalled(hit: &PassageHit, given: bool) -> RecalledHit {
    let found_by = if hit.why.bm25 > 0.0 { FoundBy::Words } else { hit.why.found_by };
    let why = Why { found_by, bm25: hit.score, recency: 1.0, trust: 1.0, significance: 1.0, correction: 1.0 };
    RecalledHit { id: EntryId::new(hit.id.as_str()), kind: Kind::Chunk, score: hit.score, why, given }
}

/// Provider and model, by which a set of vectors is known.
fn model_of(embedder: &dyn Embedder) -> String {
    format!("{}/{}", embedder.provider(), embedder.name())
}

/// Vectors that can be used, or why not.
fn embed(
    embedder: &dyn Embedder,
    texts: &[String],
    purpose: EmbedFor,
    expected: Option<usize>,
) -> Result<Vec<Vec<f32>>, ModelError> {
    let vectors = embedder.embed(texts, purpose)?;
    let malformed =
        |why: vault::VectorError| ModelError::Malformed { provider: embedder.provider(), why: why.to_string() };
    checked(texts.len(), &vectors, expected).map_err(malformed)?;
    Ok(vectors)
}

fn without_secrets(body: Body) -> Body {
    match body {
        Body::Text { form, text, lines } => {
            Body::Text { form, text: redact_keeping_lines(&text).text.into_owned(), lines }
        }
        Body::Pages(pages) => Body::Pages(pages.iter().map(|page| redact(page).text.into_owned()).collect()),
    }
}

fn hash(body: &Body) -> ContentHash {
    match body {
        Body::Text { text, .. } => ContentHash::of(text),
        Body::Pages(pages) => ContentHash::of(&pages.join("\u{c}")),
    }
}
