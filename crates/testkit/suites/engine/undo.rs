//! Undo and restore, of everything that can be changed.

use std::sync::Mutex;

use throughline_core::engine::{Edit, EngineError, HistoryOf, NewMemory, Outcome, Restored};
use throughline_core::model::{Change, ChangeId, ContentHash, Document, Importance, Name, Status, Verb};
use throughline_core::ports::{DocumentError, Op, Page};

use super::*;

#[test]
fn a_memory_is_undone_step_by_step() {
    let world = place();
    let id = remember_as(&world, "drink", "likes tea");
    world
        .engine
        .memories()
        .edit("drink", &Edit { content: Some("likes coffee".to_owned()), ..Edit::default() })
        .unwrap();
    world.engine.memories().forget("drink").unwrap();
    let now = || {
        let entry = world.engine.memories().show(&id).unwrap().entry;
        (entry.content, entry.status)
    };
    let undone = |verb: Verb| {
        let undone = world.engine.history().undo().unwrap();
        assert_eq!(undone.undone.verb, verb);
        assert_eq!(undone.memories.len(), 1);
    };
    undone(Verb::Forget);
    assert_eq!(now(), ("likes coffee".to_owned(), Status::Active));
    assert_eq!(recalled(&world, "coffee"), ["likes coffee"]);
    undone(Verb::Edit);
    assert_eq!(now(), ("likes tea".to_owned(), Status::Active));
    undone(Verb::Remember);
    assert_eq!(now(), ("likes tea".to_owned(), Status::Inactive));
    assert_eq!(recalled(&world, "tea"), Vec::<String>::new());
    let error = world.engine.history().undo().unwrap_err();
    assert!(matches!(error, EngineError::NothingToUndo) && error.hint().is_some());
}

#[test]
fn an_erasure_is_not_undone_and_nothing_else_is_in_its_place() {
    let world = place();
    remember_as(&world, "drink", "likes tea");
    let wrong = remember_as(&world, "food", "likes plums");
    world.engine.memories().erase(&wrong, false).unwrap();
    assert_eq!(world.engine.history().changes(1).unwrap()[0].verb, Verb::Erase);
    let error = world.engine.history().undo().unwrap_err();
    assert!(matches!(error, EngineError::WasErased) && error.hint().is_some(), "{error:?}");
    assert_eq!(recalled(&world, "tea"), ["likes tea"]);
    world.engine.history().skip().unwrap();
    assert_eq!(world.engine.history().undo().unwrap().undone.verb, Verb::Remember);
    assert_eq!(recalled(&world, "tea"), Vec::<String>::new());
}

#[test]
fn a_document_is_undone_step_by_step() {
    let world = place();
    let profile = document("user/profile");
    world.engine.documents().write(&profile, "- Ada\n", None).unwrap();
    world.engine.documents().write(&profile, "- Grace\n", None).unwrap();
    assert_eq!(world.engine.history().undo().unwrap().documents, [profile]);
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some("- Ada\n"));
    assert_eq!(recalled(&world, "Ada Grace"), ["Ada"]);
    world.engine.history().undo().unwrap();
    assert_eq!(text_of(&world, "user/profile"), None);
    assert_eq!(recalled(&world, "Ada Grace"), Vec::<String>::new());
}

#[test]
fn a_forgotten_line_comes_back_where_it_was() {
    let world = place();
    let text = "# Me\n\n- Ada\n- [sig:5] Lisbon\n\nplain words\n";
    save(&world, "user/profile", text);
    let line = recall(&world, "Lisbon").remove(0).memory.entry.id;
    world.engine.memories().forget(line.as_str()).unwrap();
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some("# Me\n\n- Ada\n\nplain words\n"));
    world.engine.history().undo().unwrap();
    assert_eq!(text_of(&world, "user/profile").as_deref(), Some(text));
    assert_eq!(recalled(&world, "Lisbon"), ["Lisbon"]);
}

#[test]
fn an_earlier_version_comes_back_as_the_newest() {
    let world = place();
    let id = remember(&world, "one");
    for text in ["two", "three"] {
        world.engine.memories().edit(&id, &Edit { content: Some(text.to_owned()), ..Edit::default() }).unwrap();
    }
    let Restored::Memory(restored) = world.engine.history().restore(&id, 1).unwrap() else { panic!("a memory") };
    assert_eq!((restored.outcome, restored.memory.entry.version), (Outcome::Updated, 4));
    assert_eq!(restored.memory.entry.content, "one");
    let Restored::Memory(again) = world.engine.history().restore(&id, 1).unwrap() else { panic!("a memory") };
    assert_eq!(again.outcome, Outcome::Unchanged);
    assert!(world.engine.history().restore(&id, 9).unwrap_err().is_not_found());
    let HistoryOf::Entry { versions } = world.engine.history().of(&id).unwrap() else { panic!("an entry") };
    let texts: Vec<_> = versions.iter().map(|version| version.entry.content.as_str()).collect();
    assert_eq!(texts, ["one", "two", "three", "one"]);
}

#[test]
fn an_earlier_version_of_a_document_comes_back() {
    let world = place();
    let notes = document("user/notes");
    world.engine.documents().write(&notes, "one", None).unwrap();
    world.engine.documents().write(&notes, "two", None).unwrap();
    world.engine.history().restore("user/notes", 1).unwrap();
    assert_eq!(text_of(&world, "user/notes").as_deref(), Some("one"));
    let HistoryOf::Document { versions } = world.engine.history().of("user/notes").unwrap() else {
        panic!("a document")
    };
    assert_eq!(versions.len(), 3);
}

#[test]
fn a_key_that_looks_like_an_address_is_a_key() {
    let world = place();
    let new = NewMemory { key: Some("team/owner".to_owned()), ..NewMemory::fact("Ada owns the team") };
    world.engine.memories().remember(&new).unwrap();
    let HistoryOf::Entry { versions } = world.engine.history().of("team/owner").unwrap() else { panic!("an entry") };
    assert_eq!(versions.len(), 1);
    assert!(matches!(world.engine.history().restore("team/owner", 1), Ok(Restored::Memory(_))));
}

/// What was left out of the history must not come back as `[redacted:…]` over the person's own words.
#[test]
fn a_secret_in_a_persons_file_is_never_overwritten_by_its_redaction() {
    let world = place();
    let profile = document("user/profile");
    let by_hand = "- key AKIAIOSFODNN7EXAMPLE\n- likes tea\n";
    world.documents.write(&profile, by_hand, &ContentHash::missing()).unwrap();
    let list = |world: &World| {
        world.engine.memories().list(&Filter::default(), &Page { limit: 9, cursor: None }).unwrap().memories
    };
    let secret = list(&world).into_iter().find(|memory| memory.entry.content.contains("redacted")).unwrap();
    let heavier = Edit { importance: Some(Importance::new(1.0).unwrap()), ..Edit::default() };
    world.engine.memories().edit(secret.entry.id.as_str(), &heavier).unwrap();
    let text = || world.documents.read(&profile).unwrap().unwrap().text;
    assert_eq!(text(), "- [sig:5] key AKIAIOSFODNN7EXAMPLE\n- likes tea\n");
    assert!(matches!(world.engine.history().undo(), Err(EngineError::LeftOut { .. })));
    assert!(matches!(world.engine.history().restore("user/profile", 1), Err(EngineError::LeftOut { .. })));
    assert!(text().contains("AKIAIOSFODNN7EXAMPLE"), "the person's own file is as it was");
    world.engine.history().skip().unwrap();
    world.engine.history().skip().unwrap();
    assert!(
        matches!(world.engine.history().undo(), Err(EngineError::NothingToUndo)),
        "what is left alone blocks nothing"
    );
    world.engine.memories().erase(secret.entry.id.as_str(), false).unwrap();
    assert_eq!(text(), "- likes tea\n");
}

/// Documents of which one write or removal fails: the second, the third.
#[derive(Default)]
struct Failing {
    inner: MemoryDocuments,
    steps_left: Mutex<Option<usize>>,
}

impl Failing {
    fn at(&self, nth: usize) {
        *self.steps_left.lock().unwrap() = Some(nth);
    }

    fn step(&self, name: &DocumentName) -> Result<(), DocumentError> {
        let mut left = self.steps_left.lock().unwrap();
        *left = left.map(|left| left.wrapping_sub(1));
        if *left != Some(0) {
            return Ok(());
        }
        let source = std::io::Error::other("the disk is gone");
        Err(DocumentError::Io { doing: "write", name: name.to_string(), source })
    }
}

impl Documents for Failing {
    fn read(&self, name: &DocumentName) -> Result<Option<Document>, DocumentError> {
        self.inner.read(name)
    }
    fn write(&self, name: &DocumentName, text: &str, expected: &ContentHash) -> Result<(), DocumentError> {
        self.step(name)?;
        self.inner.write(name, text, expected)
    }
    fn remove(&self, name: &DocumentName, expected: &ContentHash) -> Result<(), DocumentError> {
        self.step(name)?;
        self.inner.remove(name, expected)
    }
    fn keep_beside(&self, name: &DocumentName, text: &str, stamp: &str) -> Result<String, DocumentError> {
        self.inner.keep_beside(name, text, stamp)
    }
    fn kept_beside(&self, name: &DocumentName) -> Result<Vec<String>, DocumentError> {
        self.inner.kept_beside(name)
    }
    fn list(&self, namespace: &Name) -> Result<Vec<DocumentName>, DocumentError> {
        self.inner.list(namespace)
    }
    fn stamp(&self, name: &DocumentName) -> Result<Option<String>, DocumentError> {
        self.inner.stamp(name)
    }
}

const TOUCHED: [&str; 3] = ["user/patterns", "user/profile", "user/working"];

/// One change to several documents, as a consolidation makes it: one is new, one is rewritten, one goes away.
fn touch_several(world: &World) {
    for name in &TOUCHED[1..] {
        world.engine.documents().write(&document(name), &format!("- {name} before\n"), None).unwrap();
    }
    let (actor, at) = (Actor::new(Source::System, "test"), world.engine.now());
    let change = Change { id: ChangeId::new("touchseveral2222"), actor, verb: Verb::Consolidate, at, undoes: None };
    let texts = [Some("- new\n"), Some("- after\n"), None];
    let named = || TOUCHED.iter().map(|name| document(name)).zip(texts);
    let ops: Vec<Op> = named().map(|(name, text)| Op::document(name, text.map(str::to_owned))).collect();
    let mut write = || {
        for (name, text) in named() {
            let before = world.documents.read(&name).unwrap().map_or_else(ContentHash::missing, |found| found.hash);
            match text {
                Some(text) => world.documents.write(&name, text, &before).unwrap(),
                None => world.documents.remove(&name, &before).unwrap(),
            }
        }
        true
    };
    world.store.apply(&change, &ops, &mut write).unwrap();
}

fn texts(world: &World) -> [Option<String>; 3] {
    TOUCHED.map(|name| text_of(world, name))
}

/// Nothing of a failed undo is there: no file, no version, and nothing that looks like a person's edit.
fn undo_leaves_nothing(world: &World) {
    let before = texts(world);
    let versions = || TOUCHED.map(|name| world.store.document_versions(&document(name)).unwrap().len());
    let known = versions();
    assert!(world.engine.history().undo().is_err());
    assert_eq!(texts(world), before);
    recall(world, "after");
    assert_eq!(versions(), known, "nothing was taken for a person's edit");
    assert_eq!(world.engine.history().changes(1).unwrap()[0].id.as_str(), "touchseveral2222");
}

#[test]
fn an_undo_of_which_one_file_fails_takes_the_others_back() {
    for nth in 1..=3 {
        let documents = Arc::new(Failing::default());
        let world = place_with(Arc::clone(&documents) as Arc<dyn Documents>, |_| {});
        touch_several(&world);
        documents.at(nth);
        undo_leaves_nothing(&world);
        world.engine.history().undo().unwrap();
        let put_back = [None, Some("- user/profile before\n".to_owned())];
        assert_eq!(texts(&world)[..2], put_back, "the {nth}. failed once");
        assert!(texts(&world)[2].as_deref().unwrap().contains("- user/working before"));
    }
}

#[test]
fn an_undo_that_the_store_does_not_commit_takes_its_files_back() {
    let world = place();
    touch_several(&world);
    world.fresh.refuse_commits();
    undo_leaves_nothing(&world);
    world.fresh.allow_commits();
    world.engine.history().undo().unwrap();
    assert_eq!(text_of(&world, "user/patterns"), None);
}

#[test]
fn a_write_that_the_store_does_not_commit_takes_its_file_back() {
    let world = place();
    let notes = document("user/notes");
    world.fresh.refuse_commits();
    assert!(world.engine.documents().write(&notes, "- one\n", None).is_err());
    assert_eq!(text_of(&world, "user/notes"), None);
    world.fresh.allow_commits();
    world.engine.documents().write(&notes, "- one\n", None).unwrap();
    world.fresh.refuse_commits();
    assert!(world.engine.documents().write(&notes, "- two\n", None).is_err());
    assert_eq!(text_of(&world, "user/notes").as_deref(), Some("- one\n"));
    world.fresh.allow_commits();
    assert_eq!(recalled(&world, "one two"), ["one"]);
    let versions = world.store.document_versions(&notes).unwrap();
    assert_eq!(versions.len(), 1, "nothing was taken for a person's edit: {versions:?}");
}
