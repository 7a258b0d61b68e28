//! The vault: documents with their chunks, words over them, and vectors.

use std::sync::Arc;

use throughline_core::model::{ContentHash, EntryId};
use throughline_core::ports::Store;
use throughline_core::recall::Terms;
use throughline_core::vault::{Chunk, Packed, Place, VaultDocument};

use super::{Check, Make, checks, minute};

pub(super) const CHECKS: &[Check] = checks![
    a_document_is_replaced_as_a_whole,
    a_removed_document_leaves_nothing_to_find,
    a_chunk_that_stays_keeps_its_vector,
    old_vectors_serve_until_the_new_ones_do,
    vectors_of_another_length_begin_anew,
    the_nearest_come_first,
];

fn document(path: &str) -> VaultDocument {
    VaultDocument {
        id: VaultDocument::id_of(path),
        path: path.to_owned(),
        root: path.to_owned(),
        collection: "files".parse().unwrap(),
        title: "Title".to_owned(),
        hash: ContentHash::of(path),
        stamp: "1".to_owned(),
        bytes: 1,
        chunks: 0,
        updated_at: minute(0),
    }
}

fn chunk(path: &str, content: &str) -> Chunk {
    Chunk {
        id: EntryId::new(format!("{path}-{content}")),
        titles: vec!["Above".to_owned()],
        place: Place::Lines { first_line: 3, last_line: 4 },
        content: content.to_owned(),
    }
}

fn put(store: &dyn Store, path: &str, contents: &[&str]) {
    let chunks = contents.iter().map(|content| chunk(path, content)).collect();
    store.replace_documents(&[(document(path), chunks)]).unwrap();
}

fn found(store: &dyn Store, query: &str) -> Vec<String> {
    let found = store.search_passages(&Terms::of_query(query), 10).unwrap();
    assert!(found.iter().all(|(_, bm25)| *bm25 > 0.0));
    found.into_iter().map(|(passage, _)| passage.chunk.content).collect()
}

/// Gives every chunk a vector: how many it were.
fn embed(store: &dyn Store, model: &str, dimension: usize) -> usize {
    let (missing, count) = store.without_vector(model, 100).unwrap();
    assert_eq!(missing.len() as u64, count);
    let vector = |nth: usize| {
        let mut vector = vec![0.1; dimension];
        vector[nth % dimension] = 1.0;
        Packed::of(&vector)
    };
    let packed: Vec<_> = missing.iter().enumerate().map(|(nth, (name, _))| (*name, vector(nth))).collect();
    store.keep_vectors(model, &packed).unwrap();
    missing.len()
}

fn serving(store: &dyn Store) -> Vec<String> {
    let sets = store.vector_sets().unwrap();
    sets.into_iter().filter(|set| set.is_serving).map(|set| set.model).collect()
}

fn a_document_is_replaced_as_a_whole(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea", "black coffee"]);
    put(&*store, "/a.md", &["green tea", "red wine"]);
    put(&*store, "/b.md", &["white milk"]);
    let documents = store.vault_documents().unwrap();
    assert_eq!(
        documents.iter().map(|each| (each.path.as_str(), each.chunks)).collect::<Vec<_>>(),
        [("/a.md", 2), ("/b.md", 1)]
    );
    assert_eq!(found(&*store, "coffee"), [""; 0]);
    assert_eq!(found(&*store, "wine"), ["red wine"]);
    let (passage, _) = store.search_passages(&Terms::of_query("tea"), 1).unwrap().remove(0);
    assert_eq!(passage.chunk, chunk("/a.md", "green tea"));
    assert_eq!((passage.path.as_str(), passage.document), ("/a.md", VaultDocument::id_of("/a.md")));
    assert_eq!(found(&*store, "above").len(), 3, "titles are words too");
}

fn a_removed_document_leaves_nothing_to_find(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea"]);
    embed(&*store, "m", 8);
    store.serve_vectors("m").unwrap();
    assert_eq!(store.remove_documents(&[VaultDocument::id_of("/a.md"), VaultDocument::id_of("/x")]).unwrap(), 1);
    assert_eq!((store.vault_documents().unwrap(), found(&*store, "tea")), (vec![], vec![]));
    assert_eq!(store.nearest("m", &[1.0; 8], 5).unwrap(), []);
    assert_eq!(store.check().unwrap(), [""; 0]);
}

fn a_chunk_that_stays_keeps_its_vector(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea", "black coffee"]);
    assert_eq!(embed(&*store, "m", 8), 2);
    put(&*store, "/a.md", &["something new", "green tea"]);
    let (missing, _) = store.without_vector("m", 10).unwrap();
    assert_eq!(missing.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["Above\nsomething new"]);
}

fn old_vectors_serve_until_the_new_ones_do(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea"]);
    embed(&*store, "old", 8);
    store.serve_vectors("old").unwrap();
    embed(&*store, "new", 16);
    assert_eq!(serving(&*store), ["old"]);
    assert_eq!(store.nearest("old", &[1.0; 8], 5).unwrap().len(), 1);
    store.serve_vectors("new").unwrap();
    assert_eq!(serving(&*store), ["new"]);
    assert_eq!(store.vector_sets().unwrap().len(), 1, "the old ones are gone");
    assert_eq!(store.nearest("old", &[1.0; 8], 5).unwrap(), []);
}

fn vectors_of_another_length_begin_anew(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea"]);
    embed(&*store, "m", 8);
    put(&*store, "/b.md", &["black coffee"]);
    embed(&*store, "m", 9);
    let (missing, _) = store.without_vector("m", 10).unwrap();
    assert_eq!(missing.len(), 1, "the first one is to be embedded again");
    assert_eq!(store.nearest("m", &[1.0; 8], 5).unwrap(), [], "and nothing is compared across lengths");
}

fn the_nearest_come_first(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["one", "two", "three"]);
    embed(&*store, "m", 8);
    let near = store.nearest("m", &[0.0, 1.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0], 2).unwrap();
    assert_eq!(near.iter().map(|(passage, _)| passage.chunk.content.as_str()).collect::<Vec<_>>(), ["two", "three"]);
    assert!(near[0].1 > 0.8 && near[0].1 <= 1.01 && near[0].1 > near[1].1);
}
