//! The vault: documents with their chunks, words over them, and vectors.

use std::sync::Arc;

use throughline_core::model::{ContentHash, EntryId};
use throughline_core::ports::{Made, MadeBy, Store, VectorSet};
use throughline_core::recall::Terms;
use throughline_core::vault::{Chunk, Packed, Passage, Place, VaultDocument};

use super::{Check, Make, checks, done, minute};

pub(super) const CHECKS: &[Check] = checks![
    a_document_is_replaced_as_a_whole,
    a_removed_document_leaves_nothing_to_find,
    every_change_of_the_vault_is_felt_in_the_pulse,
    a_chunk_that_stays_keeps_its_vector,
    old_vectors_serve_until_the_new_ones_do,
    vectors_of_another_length_are_another_set,
    what_a_model_refused_is_not_tried_again,
    the_address_of_a_set_moves_with_its_model,
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

fn by(model: &str) -> MadeBy {
    MadeBy { provider: "p".to_owned(), model: model.to_owned(), base_url: None }
}

/// Gives every chunk a vector: how many it were.
fn embed(store: &dyn Store, model: &str, dimension: usize) -> usize {
    let missing = store.without_vector(&by(model), 0, 100).unwrap();
    let vector = |nth: usize| {
        let mut vector = vec![0.1; dimension];
        vector[nth % dimension] = 1.0;
        Packed::of(&vector)
    };
    let vectors = missing.iter().enumerate().map(|(nth, (name, _))| (*name, vector(nth))).collect();
    store.keep_vectors(&by(model), &Made { vectors, refused: Vec::new() }).unwrap();
    missing.len()
}

/// The one set of this model and length.
fn set(store: &dyn Store, model: &str, dimension: usize) -> Option<VectorSet> {
    store.vector_sets().unwrap().into_iter().find(|set| set.by.model == model && set.dimension == dimension)
}

fn nearest(store: &dyn Store, model: &str, query: &[f32], limit: usize) -> Vec<(Passage, f64)> {
    set(store, model, query.len()).map_or_else(Vec::new, |set| store.nearest(set.row, query, limit).unwrap())
}

fn serving(store: &dyn Store) -> Vec<(String, usize)> {
    let sets = store.vector_sets().unwrap();
    sets.into_iter().filter(|set| set.is_serving).map(|set| (set.by.model, set.dimension)).collect()
}

fn texts(missing: &[(i64, String)]) -> Vec<&str> {
    missing.iter().map(|(_, text)| text.as_str()).collect()
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

fn every_change_of_the_vault_is_felt_in_the_pulse(make: Make<'_>) {
    let store = make();
    let mut last = done(store.pulse());
    let mut felt = |what: &str| {
        let now = done(store.pulse());
        assert_eq!(now.since(&last), ["vault"], "{what}");
        last = now;
    };
    put(&*store, "/a.md", &["tea"]);
    felt("a new document");
    put(&*store, "/b.md", &["coffee"]);
    felt("another");
    put(&*store, "/a.md", &["green tea"]);
    felt("a changed one");
    done(store.remove_documents(&[document("/a.md").id], &[]));
    felt("one that is gone, and not the newest");
}

fn a_removed_document_leaves_nothing_to_find(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea"]);
    embed(&*store, "m", 8);
    assert!(store.serve_if_complete(&by("m")).unwrap());
    let ids = [VaultDocument::id_of("/a.md"), VaultDocument::id_of("/x")];
    assert_eq!(store.remove_documents(&ids, &["/a.md".to_owned()]).unwrap(), 1);
    assert_eq!((store.vault_documents().unwrap(), found(&*store, "tea")), (vec![], vec![]));
    assert_eq!((store.vault_size().unwrap(), nearest(&*store, "m", &[1.0; 8], 5)), ((0, 0), vec![]));
    assert_eq!(store.left_out().unwrap(), ["/a.md"]);
    store.take_in_again(&["/a.md".to_owned()]).unwrap();
    assert_eq!(store.left_out().unwrap(), [""; 0]);
    assert_eq!(store.check().unwrap(), [""; 0]);
}

fn a_chunk_that_stays_keeps_its_vector(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea", "black coffee"]);
    assert_eq!(embed(&*store, "m", 8), 2);
    put(&*store, "/a.md", &["something new", "green tea"]);
    let missing = store.without_vector(&by("m"), 0, 10).unwrap();
    assert_eq!(texts(&missing), ["Above\nsomething new"]);
    assert_eq!(store.without_vector(&by("m"), missing[0].0, 10).unwrap(), []);
    assert_eq!(set(&*store, "m", 8).unwrap().vectors, 1);
    let chunks = store.chunks_of(&VaultDocument::id_of("/a.md")).unwrap();
    assert_eq!(chunks, ["something new", "green tea"].map(|content| chunk("/a.md", content)));
}

fn old_vectors_serve_until_the_new_ones_do(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea", "black coffee"]);
    embed(&*store, "old", 8);
    assert!(store.serve_if_complete(&by("old")).unwrap());
    let missing = store.without_vector(&by("new"), 0, 1).unwrap();
    let vectors = vec![(missing[0].0, Packed::of(&[1.0; 16]))];
    store.keep_vectors(&by("new"), &Made { vectors, refused: Vec::new() }).unwrap();
    assert!(!store.serve_if_complete(&by("new")).unwrap(), "one is missing");
    assert!(!store.serve_if_complete(&by("never seen")).unwrap());
    assert_eq!(serving(&*store), [("old".to_owned(), 8)]);
    assert_eq!(nearest(&*store, "old", &[1.0; 8], 5).len(), 2);
    embed(&*store, "new", 16);
    assert!(store.serve_if_complete(&by("new")).unwrap());
    assert_eq!(serving(&*store), [("new".to_owned(), 16)]);
    assert_eq!(store.vector_sets().unwrap().len(), 1, "the old ones are gone");
    assert_eq!(store.check().unwrap(), [""; 0]);
}

fn vectors_of_another_length_are_another_set(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea"]);
    embed(&*store, "m", 8);
    assert!(store.serve_if_complete(&by("m")).unwrap());
    for dimension in [9, 10] {
        put(&*store, &format!("/{dimension}.md"), &["black coffee"]);
        embed(&*store, "m", dimension);
        let missing = store.without_vector(&by("m"), 0, 10).unwrap();
        assert!(!missing.is_empty(), "the first ones are to be embedded again");
        assert_eq!(serving(&*store), [("m".to_owned(), 8)], "and the old ones serve");
    }
    assert_eq!(set(&*store, "m", 9), None, "what was begun is given up for what is begun later");
    embed(&*store, "m", 10);
    assert!(store.serve_if_complete(&by("m")).unwrap());
    assert_eq!(serving(&*store), [("m".to_owned(), 10)]);
}

fn what_a_model_refused_is_not_tried_again(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea", "black coffee"]);
    let missing = store.without_vector(&by("m"), 0, 1).unwrap();
    let refused = vec![(missing[0].0, "too long".to_owned()), (9999, "gone".to_owned())];
    store.keep_vectors(&by("m"), &Made { vectors: Vec::new(), refused }).unwrap();
    assert_eq!(texts(&store.without_vector(&by("m"), 0, 10).unwrap()), ["Above\nblack coffee"]);
    assert_eq!(store.without_vector(&by("other"), 0, 10).unwrap().len(), 2, "another model may take it");
    assert_eq!(store.refused(&by("m")).unwrap(), 1);
    assert_eq!(embed(&*store, "m", 8), 1);
    assert!(store.serve_if_complete(&by("m")).unwrap(), "all that can have one has one");
    assert_eq!(store.refused(&by("m")).unwrap(), 1);
    put(&*store, "/a.md", &["black coffee"]);
    assert_eq!(store.refused(&by("m")).unwrap(), 0, "it went with its chunk");
    assert_eq!(store.check().unwrap(), [""; 0]);
}

fn the_address_of_a_set_moves_with_its_model(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["green tea"]);
    embed(&*store, "m", 8);
    assert!(store.serve_if_complete(&by("m")).unwrap());
    put(&*store, "/b.md", &["black coffee"]);
    let moved = MadeBy { base_url: Some("http://elsewhere".to_owned()), ..by("m") };
    let missing = store.without_vector(&moved, 0, 10).unwrap();
    let vectors = vec![(missing[0].0, Packed::of(&[1.0; 8]))];
    store.keep_vectors(&moved, &Made { vectors, refused: Vec::new() }).unwrap();
    let sets = store.vector_sets().unwrap();
    assert_eq!((sets.len(), sets[0].by.clone(), sets[0].vectors, sets[0].is_serving), (1, moved, 2, true));
}

fn the_nearest_come_first(make: Make<'_>) {
    let store: Arc<dyn Store> = make();
    put(&*store, "/a.md", &["one", "two", "three"]);
    embed(&*store, "m", 8);
    let near = nearest(&*store, "m", &[0.0, 1.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0], 2);
    assert_eq!(near.iter().map(|(passage, _)| passage.chunk.content.as_str()).collect::<Vec<_>>(), ["two", "three"]);
    assert!(near[0].1 > 0.8 && near[0].1 <= 1.01 && near[0].1 > near[1].1);
}
