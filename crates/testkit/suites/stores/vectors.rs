//! Vectors of chunks.

use super::vault::{chunk, found, put};
use super::*;

fn by(model: &str) -> MadeBy {
    MadeBy { provider: "p".to_owned(), model: model.to_owned(), base_url: None }
}

/// Chunks without a vector of this model, from the beginning.
fn missing(store: &dyn Store, by: &MadeBy, limit: usize) -> Vec<(EntryId, String)> {
    done(store.without_vector(by, &ChunkMark::default(), limit)).0
}

/// Gives every chunk a vector: how many it were.
fn embed(store: &dyn Store, model: &str, dimension: usize) -> usize {
    let unembedded = missing(store, &by(model), 100);
    let vector = |nth: usize| {
        let mut vector = vec![0.1; dimension];
        vector[nth % dimension] = 1.0;
        Packed::of(&vector)
    };
    let vectors = unembedded.iter().enumerate().map(|(nth, (name, _))| (name.clone(), vector(nth))).collect();
    store.keep_vectors(&by(model), &Made { vectors, refused: Vec::new() }).unwrap();
    unembedded.len()
}

/// The one set of this model and length.
fn set(store: &dyn Store, model: &str, dimension: usize) -> Option<VectorSet> {
    store.vector_sets().unwrap().into_iter().find(|set| set.by.model == model && set.dimension == dimension)
}

fn nearest(store: &dyn Store, model: &str, query: &[f32], limit: usize) -> Vec<(Passage, f64)> {
    set(store, model, query.len()).map_or_else(Vec::new, |set| store.nearest(&set.id, query, limit).unwrap())
}

fn serving(store: &dyn Store) -> Vec<(String, usize)> {
    let sets = store.vector_sets().unwrap();
    sets.into_iter().filter(|set| set.is_serving).map(|set| (set.by.model, set.dimension)).collect()
}

fn texts(chunks: &[(EntryId, String)]) -> Vec<&str> {
    chunks.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn a_removed_document_leaves_nothing_to_find() {
    let store = make();
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

#[test]
fn a_chunk_that_stays_keeps_its_vector() {
    let store = make();
    put(&*store, "/a.md", &["green tea", "black coffee"]);
    assert_eq!(embed(&*store, "m", 8), 2);
    put(&*store, "/a.md", &["something new", "green tea"]);
    let unembedded = missing(&*store, &by("m"), 10);
    assert_eq!(texts(&unembedded), ["Above\nsomething new"]);
    let (_, end) = done(store.without_vector(&by("m"), &ChunkMark::default(), 10));
    assert_eq!(done(store.without_vector(&by("m"), &end, 10)), (Vec::new(), end));
    assert_eq!(set(&*store, "m", 8).unwrap().vectors, 1);
    let chunks = store.chunks_of(&VaultDocument::id_of("/a.md")).unwrap();
    assert_eq!(chunks, ["something new", "green tea"].map(|content| chunk("/a.md", content)));
}

#[test]
fn old_vectors_serve_until_the_new_ones_do() {
    let store = make();
    put(&*store, "/a.md", &["green tea", "black coffee"]);
    embed(&*store, "old", 8);
    assert!(store.serve_if_complete(&by("old")).unwrap());
    let unembedded = missing(&*store, &by("new"), 1);
    let vectors = vec![(unembedded[0].0.clone(), Packed::of(&[1.0; 16]))];
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

#[test]
fn vectors_of_another_length_are_another_set() {
    let store = make();
    put(&*store, "/a.md", &["green tea"]);
    embed(&*store, "m", 8);
    assert!(store.serve_if_complete(&by("m")).unwrap());
    for dimension in [9, 10] {
        put(&*store, &format!("/{dimension}.md"), &["black coffee"]);
        embed(&*store, "m", dimension);
        let unembedded = missing(&*store, &by("m"), 10);
        assert!(!unembedded.is_empty(), "the first ones are to be embedded again");
        assert_eq!(serving(&*store), [("m".to_owned(), 8)], "and the old ones serve");
    }
    assert_eq!(set(&*store, "m", 9), None, "what was begun is given up for what is begun later");
    embed(&*store, "m", 10);
    assert!(store.serve_if_complete(&by("m")).unwrap());
    assert_eq!(serving(&*store), [("m".to_owned(), 10)]);
}

#[test]
fn what_a_model_refused_is_not_tried_again() {
    let store = make();
    put(&*store, "/a.md", &["green tea", "black coffee"]);
    let unembedded = missing(&*store, &by("m"), 1);
    let refused = vec![(unembedded[0].0.clone(), "too long".to_owned()), (EntryId::new("gone"), "gone".to_owned())];
    store.keep_vectors(&by("m"), &Made { vectors: Vec::new(), refused }).unwrap();
    assert_eq!(texts(&missing(&*store, &by("m"), 10)), ["Above\nblack coffee"]);
    assert_eq!(missing(&*store, &by("other"), 10).len(), 2, "another model may take it");
    assert_eq!(store.refused(&by("m")).unwrap(), 1);
    assert_eq!(embed(&*store, "m", 8), 1);
    assert!(store.serve_if_complete(&by("m")).unwrap(), "all that can have one has one");
    assert_eq!(store.refused(&by("m")).unwrap(), 1);
    put(&*store, "/a.md", &["black coffee"]);
    assert_eq!(store.refused(&by("m")).unwrap(), 0, "it went with its chunk");
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn the_address_of_a_set_moves_with_its_model() {
    let store = make();
    put(&*store, "/a.md", &["green tea"]);
    embed(&*store, "m", 8);
    assert!(store.serve_if_complete(&by("m")).unwrap());
    put(&*store, "/b.md", &["black coffee"]);
    let moved = MadeBy { base_url: Some("http://elsewhere".to_owned()), ..by("m") };
    let unembedded = missing(&*store, &moved, 10);
    let vectors = vec![(unembedded[0].0.clone(), Packed::of(&[1.0; 8]))];
    store.keep_vectors(&moved, &Made { vectors, refused: Vec::new() }).unwrap();
    let sets = store.vector_sets().unwrap();
    assert_eq!((sets.len(), sets[0].by.clone(), sets[0].vectors, sets[0].is_serving), (1, moved, 2, true));
}

#[test]
fn the_nearest_come_first() {
    let store = make();
    put(&*store, "/a.md", &["one", "two", "three"]);
    embed(&*store, "m", 8);
    let near = nearest(&*store, "m", &[0.0, 1.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0], 2);
    assert_eq!(near.iter().map(|(passage, _)| passage.chunk.content.as_str()).collect::<Vec<_>>(), ["two", "three"]);
    assert!(near[0].1 > 0.8 && near[0].1 <= 1.01 && near[0].1 > near[1].1);
}

#[test]
fn chunks_without_vectors_are_paged_once_each() {
    let store = make();
    for nth in 0..5 {
        put(&*store, &format!("/{nth}.md"), &["one", "two"]);
    }
    let (mut mark, mut seen) = (ChunkMark::default(), std::collections::BTreeSet::new());
    loop {
        let (chunks, end) = done(store.without_vector(&by("m"), &mark, 3));
        if chunks.is_empty() {
            break;
        }
        assert!(chunks.len() <= 3);
        assert!(chunks.into_iter().all(|(id, _)| seen.insert(id)), "none twice");
        mark = end;
    }
    assert_eq!(seen.len(), 10);
    assert!(store.without_vector(&by("m"), &ChunkMark::new("of another store"), 3).is_err());
}

#[test]
fn an_unknown_set_finds_nothing() {
    let store = make();
    put(&*store, "/a.md", &["one"]);
    embed(&*store, "m", 8);
    assert_eq!(done(store.nearest(&VectorSetId::new("of another store"), &[1.0; 8], 9)), []);
    let other_length = set(&*store, "m", 8).unwrap().id;
    assert_eq!(done(store.nearest(&other_length, &[1.0; 9], 9)), []);
}
