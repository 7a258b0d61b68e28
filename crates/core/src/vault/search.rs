//! The vault's verbs: put documents in, take them out, search them by words and, with an embedder, by meaning.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::documents::fold_blanks;
use crate::error::{Done, EngineError};
use crate::kernel::Kernel;
use crate::model::{ContentHash, Entry, EntryId, Importance, Kind, Layer, Memory, Name, Source, Status, VaultId};
use crate::models::ModelService;
use crate::ports::{self, Embedder, MadeBy};
use crate::recall::{AskedBy, FoundBy, Hit, RecallLog, RecalledHit, Terms, Why};
use crate::text::redact::{redact, redact_keeping_lines};
use crate::vault::{
    self, Body, Chunk, Passage, PassageHit, SearchedBy, UnreadFile, VaultAnswer, VaultDocument, chunks,
};

/// More than this is no search.
const MAX_PASSAGES: usize = 100;

/// How many each side gives to choose from.
const FETCH: usize = 50;

/// Passages that a message gets.
const GIVEN: usize = 2;

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

/// Passages with their cosines, and the model that they were found by.
type Near = (Vec<(Passage, f64)>, String);

/// What a search found, and how.
#[derive(Default)]
pub(super) struct Searched {
    /// Best first.
    pub(super) hits: Vec<PassageHit>,
    /// The model, where meaning counted.
    model: Option<String>,
    /// Why it did not, where that is news.
    remark: Option<String>,
}

/// What the vault holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct VaultStats {
    /// Files.
    pub documents: u64,
    /// Passages of them.
    pub passages: u64,
    /// Vectors that searches use.
    pub vectors: u64,
    /// Passages that the model refused.
    pub refused: u64,
    /// The provider and model that made them.
    pub model: Option<String>,
}

/// The vault: documents, passages, vectors.
#[derive(Clone, Copy)]
pub struct VaultService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) candidates: &'e dyn ports::Candidates,
    pub(crate) vault_store: &'e dyn ports::Vault,
    pub(crate) vectors: &'e dyn ports::Vectors,
    pub(crate) log: RecallLog<'e>,
    pub(crate) models: ModelService<'e>,
}

impl VaultService<'_> {
    /// Every document of the vault, by path.
    pub fn documents(&self) -> Done<Vec<VaultDocument>> {
        Ok(self.vault_store.vault_documents()?)
    }

    /// Indexes files, all of them or none; gives how many had really changed. Secrets are taken out first.
    pub fn put(&self, files: Vec<NewVaultDocument>, known: &HashMap<VaultId, VaultDocument>) -> Done<u64> {
        let mut changed = Vec::new();
        for file in files {
            let (document, chunks) = self.document_of(file);
            match known.get(&document.id) {
                Some(before) if before.hash == document.hash && before.collection == document.collection => {
                    self.vault_store.restamp_document(&VaultDocument { root: before.root.clone(), ..document })?;
                }
                _ => changed.push((document, chunks)),
            }
        }
        if !changed.is_empty() {
            self.vault_store.replace_documents(&changed)?;
        }
        Ok(changed.len() as u64)
    }

    fn document_of(&self, file: NewVaultDocument) -> (VaultDocument, Vec<Chunk>) {
        let body = without_secrets(file.body);
        let chunks = chunks(&file.path, &body);
        let name = file_name(&file.path);
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
            updated_at: self.kernel.now,
            path: file.path,
        };
        (document, chunks)
    }

    /// Takes documents out: their text, index and vectors are gone. Those at `left_out` stay out although their files
    /// are where files are noticed, until [`VaultService::take_in`] says otherwise.
    pub fn remove(&self, ids: &[VaultId], left_out: &[String]) -> Done<u64> {
        Ok(if ids.is_empty() && left_out.is_empty() { 0 } else { self.vault_store.remove_documents(ids, left_out)? })
    }

    /// The files that a person took out for good.
    pub fn left_out(&self) -> Done<Vec<String>> {
        Ok(self.vault_store.left_out()?)
    }

    /// These files are not left out any more.
    pub fn take_in(&self, paths: &[String]) -> Done<()> {
        if !paths.is_empty() {
            self.vault_store.take_in_again(paths)?;
        }
        Ok(())
    }

    /// Files that gave no text when they were last read, by path.
    pub fn unread(&self) -> Done<Vec<UnreadFile>> {
        Ok(self.vault_store.unread_files()?)
    }

    /// Notes files that gave no text, and forgets what was noted of those at `others`.
    pub fn note_unread(&self, unread: &[UnreadFile], others: &[String]) -> Done<()> {
        if !unread.is_empty() || !others.is_empty() {
            self.vault_store.note_unread_files(unread, others)?;
        }
        Ok(())
    }

    /// What the vault holds.
    pub(crate) fn stats(&self) -> Done<VaultStats> {
        let (documents, passages) = self.vault_store.vault_size()?;
        let stats = VaultStats { documents, passages, ..VaultStats::default() };
        let Some(set) = self.vectors.vector_sets()?.into_iter().find(|set| set.is_serving) else { return Ok(stats) };
        let refused = self.vectors.refused(&set.by)?;
        Ok(VaultStats { vectors: set.vectors, refused, model: Some(set.by.to_string()), ..stats })
    }

    /// Finds passages by plain text, best first, and notes in the log what was found. Without an embedder, or with one
    /// that fails, the words decide alone.
    pub fn search(&self, query: &str, limit: usize, embedder: Option<&dyn Embedder>) -> Done<VaultAnswer> {
        let Searched { hits, model, remark } = self.find(query, limit, embedder)?;
        let recalled = hits.iter().map(|hit| recalled(hit, false)).collect();
        Ok(VaultAnswer {
            recall_id: self.log.note_recalled((AskedBy::Person, None), query, recalled),
            hits,
            searched_by: if model.is_some() { SearchedBy::WordsAndMeaning } else { SearchedBy::Words },
            model,
            remark,
            embedding: None,
        })
    }

    /// Finds without a trace.
    pub(super) fn find(&self, query: &str, limit: usize, embedder: Option<&dyn Embedder>) -> Done<Searched> {
        let limit = limit.min(MAX_PASSAGES);
        let fetch = FETCH.max(limit);
        let terms = Terms::of_query(query);
        let words = if terms.is_empty() { Vec::new() } else { self.candidates.search_passages(&terms, fetch)? };
        let (near, remark) = match embedder.map(|embedder| self.near(query, fetch, embedder)) {
            Some(Ok(near)) => (near, None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let (near, model) = near.unzip();
        let found = vault::fuse(words, near, limit);
        Ok(Searched { hits: found.into_iter().map(PassageHit::of).collect(), model, remark })
    }

    /// What is near in meaning, and by which model; nothing where there is nothing to compare, and why not where that is
    /// news. `embedder` is whoever made the vectors that serve, or whoever is set up.
    fn near(&self, query: &str, fetch: usize, embedder: &dyn Embedder) -> Result<Option<Near>, String> {
        if query.trim().is_empty() {
            return Ok(None);
        }
        let sets = self.vectors.vector_sets().map_err(|error| error.to_string())?;
        let Some(set) = sets.into_iter().find(|set| set.is_serving) else {
            return Err("no vectors yet: `throughline vault add` makes them".to_owned());
        };
        let by = MadeBy::of(embedder);
        if !set.by.is_same(&by) {
            return Err(format!("the vectors are of {}, not of {by}", set.by));
        }
        let query = redact(query).text.into_owned();
        let vector = self.embed_query(query, embedder, set.dimension);
        let vector = vector.map_err(|error| format!("{}: {error}", set.by))?;
        let near = self.vectors.nearest(&set.id, &vector, fetch).map_err(|error| error.to_string())?;
        Ok(Some((near, set.by.to_string())))
    }

    /// Passages that fit a message, as hits that stand beside memories: cited, and found by words alone, because no reply
    /// waits for an embedder. Nothing where they are not wanted or cannot be found.
    pub(crate) fn passages_for(&self, message: &str) -> Vec<Hit> {
        if !self.kernel.settings.inject_vault {
            return Vec::new();
        }
        let found = self.find(message, GIVEN, None).unwrap_or_else(|error| {
            tracing::warn!(%error, "the vault cannot be searched; going on without");
            Searched::default()
        });
        found.hits.iter().map(as_hit).collect()
    }

    /// The vault as Markdown, nothing where it is empty: every collection with its documents, or one collection, or the
    /// passages of one document in order, by its id, the beginning of it, or the name of its file.
    pub(crate) fn text(&self, name: Option<&str>) -> Done<Option<String>> {
        let documents = self.vault_store.vault_documents()?;
        let Some(name) = name else {
            let mut parts: BTreeMap<&Name, Vec<&VaultDocument>> = BTreeMap::new();
            documents.iter().for_each(|document| parts.entry(&document.collection).or_default().push(document));
            let parts: Vec<String> = parts.iter().map(|(collection, all)| listed(collection.as_str(), all)).collect();
            return Ok((!parts.is_empty()).then(|| parts.join("\n")));
        };
        let collected: Vec<&VaultDocument> =
            documents.iter().filter(|document| document.collection.as_str() == name).collect();
        if !collected.is_empty() {
            return Ok(Some(listed(name, &collected)));
        }
        let is_named = |document: &&VaultDocument| {
            let is_id = name.len() >= 6 && document.id.as_str().starts_with(name);
            is_id || file_name(&document.path) == name
        };
        let mut named: Vec<&VaultDocument> = documents.iter().filter(is_named).collect();
        match (named.pop(), named.is_empty()) {
            (None, _) => Ok(None),
            (Some(one), true) => Ok(Some(whole(one, &self.vault_store.chunks_of(&one.id)?))),
            (Some(last), false) => {
                let ids = named.into_iter().chain([last]).map(|document| EntryId::new(document.id.as_str())).collect();
                Err(EngineError::Ambiguous { what: "documents of the vault", reference: name.to_owned(), ids })
            }
        }
    }

    /// The documents that `reference` names: a path, a folder, an id or its beginning, or `vault/<name>`.
    pub fn named(&self, reference: &str, path: &str) -> Done<Vec<VaultDocument>> {
        let below = format!("{}/", path.trim_end_matches('/'));
        let collection = reference.strip_prefix("vault/");
        let is_id = |id: &str| reference.len() >= 6 && id.starts_with(reference);
        let is_meant = |document: &VaultDocument| {
            document.path == path
                || document.path.starts_with(&below)
                || is_id(document.id.as_str())
                || collection.is_some_and(|name| document.collection.as_str() == name)
        };
        let found: Vec<_> = self.vault_store.vault_documents()?.into_iter().filter(is_meant).collect();
        if found.is_empty() {
            return Err(EngineError::NoVaultDocument { reference: reference.to_owned() });
        }
        Ok(found)
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A collection: a line for each document. What a file is called stays on its line.
fn listed(collection: &str, documents: &[&VaultDocument]) -> String {
    let line = |document: &&VaultDocument| {
        let passages = if document.chunks == 1 { "passage" } else { "passages" };
        let (title, path) = (fold_blanks(&document.title), fold_blanks(&document.path));
        let id = document.id.as_str().get(..8).unwrap_or(document.id.as_str());
        format!("- {title} ({path}; {} {passages}; vault/{id})\n", document.chunks)
    };
    format!("# vault/{collection}\n\n{}", documents.iter().map(line).collect::<String>())
}

/// A document: its passages in order, each below its place.
fn whole(document: &VaultDocument, chunks: &[Chunk]) -> String {
    let passage = |chunk: &Chunk| {
        let above = if chunk.titles.is_empty() { String::new() } else { format!("  {}", chunk.titles.join(" > ")) };
        let place = chunk.place.citation(file_name(&document.path));
        format!("\n**{}**\n\n{}\n", fold_blanks(&format!("{place}{above}")), chunk.content.trim_end())
    };
    let passages: String = chunks.iter().map(passage).collect();
    format!("# {}\n\n{}\n{passages}", fold_blanks(&document.title), fold_blanks(&document.path))
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
    Hit { score, ..Hit::of(Memory::new(entry, 0, None), why) }
}

/// What the log keeps of a passage.
pub(crate) fn recalled(hit: &PassageHit, given: bool) -> RecalledHit {
    let found_by = if hit.why.bm25 > 0.0 { FoundBy::Words } else { hit.why.found_by };
    let why = Why::only(found_by);
    RecalledHit {
        id: EntryId::new(hit.id.as_str()),
        kind: Kind::Chunk,
        score: hit.score,
        why,
        given,
        evidence: Vec::new(),
    }
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
