//! The vault: documents with their chunks, and words over them.

use super::*;

pub(super) fn document(path: &str) -> VaultDocument {
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

pub(super) fn chunk(path: &str, content: &str) -> Chunk {
    Chunk {
        id: EntryId::new(format!("{path}-{content}")),
        titles: vec!["Above".to_owned()],
        place: Place::Lines { first_line: 3, last_line: 4 },
        content: content.to_owned(),
    }
}

pub(super) fn put(store: &dyn Store, path: &str, contents: &[&str]) {
    let chunks = contents.iter().map(|content| chunk(path, content)).collect();
    store.replace_documents(&[(document(path), chunks)]).unwrap();
}

pub(super) fn found(store: &dyn Store, query: &str) -> Vec<String> {
    let found = store.search_passages(&Terms::of_query(query), 10).unwrap();
    assert!(found.iter().all(|(_, bm25)| *bm25 > 0.0));
    found.into_iter().map(|(passage, _)| passage.chunk.content).collect()
}

#[test]
fn a_document_is_replaced_as_a_whole() {
    let store = make();
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

#[test]
fn a_change_of_the_vault_changes_its_token() {
    let store = make();
    let mut last = done(store.change_tokens());
    let mut seen = |what: &str| {
        let now = done(store.change_tokens());
        assert_eq!(now.since(&last), ["vault"], "{what}");
        last = now;
    };
    put(&*store, "/a.md", &["tea"]);
    seen("a new document");
    put(&*store, "/b.md", &["coffee"]);
    seen("another");
    put(&*store, "/a.md", &["green tea"]);
    seen("a changed one");
    done(store.remove_documents(&[document("/a.md").id], &[]));
    seen("one that is gone, and not the newest");
}

#[test]
fn unread_files_are_noted_and_forgotten() {
    let store = make();
    let file = |path: &str, stamp: &str| UnreadFile {
        path: path.to_owned(),
        stamp: stamp.to_owned(),
        why: "not text".to_owned(),
    };
    done(store.note_unread_files(&[file("/b", "1"), file("/a", "1")], &[]));
    done(store.note_unread_files(&[file("/b", "2")], &["/a".to_owned(), "/c".to_owned()]));
    assert_eq!(done(store.unread_files()), [file("/b", "2")]);
}
