//! Vectors for the vault: in bounded steps, by one at a time.

use std::collections::HashMap;
use std::sync::Mutex;

use throughline_core::engine::{Embedded, NewVaultDocument, Worker};
use throughline_core::ports::{EmbedFor, Embedder, MadeBy, ModelError};
use throughline_core::vault::{Body, Form};

use super::*;

/// An embedder that does something before it answers.
struct Scripted<'a> {
    model: &'a str,
    before: &'a (dyn Fn() + Send + Sync),
    texts: Mutex<Vec<String>>,
}

impl Embedder for Scripted<'_> {
    fn provider(&self) -> &'static str {
        "scripted"
    }
    fn name(&self) -> &str {
        self.model
    }
    fn base_url(&self) -> Option<&str> {
        None
    }
    fn embed(&self, texts: &[String], _: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        (self.before)();
        self.texts.lock().unwrap().extend_from_slice(texts);
        Ok(texts.iter().map(|text| vec![1.0, text.len() as f32, 0.5]).collect())
    }
}

fn scripted<'a>(model: &'a str, before: &'a (dyn Fn() + Send + Sync)) -> Scripted<'a> {
    Scripted { model, before, texts: Mutex::default() }
}

fn add(world: &World, path: &str, parts: usize) {
    let text: String = (0..parts).map(|nth| format!("# Part {nth} of {path}\n\nText {nth}.\n\n")).collect();
    let file = NewVaultDocument {
        path: path.to_owned(),
        root: path.to_owned(),
        collection: "files".parse().unwrap(),
        stamp: "1".to_owned(),
        bytes: 1,
        title: None,
        body: Body::text(Form::Markdown, text),
    };
    world.engine.vault().put(vec![file], &HashMap::new()).unwrap();
}

fn embed(world: &World, embedder: &dyn Embedder, worker: &str, most: u64) -> Option<Embedded> {
    let worker = Worker { holder: throughline_testkit::stores::holder(worker), is_gone: &|_| false };
    world.engine.vault().embed_missing(embedder, &worker, most, &mut |_, _| true).unwrap()
}

#[test]
fn passages_get_their_vectors_in_bounded_steps_and_none_twice() {
    let world = place();
    add(&world, "/a.md", 100);
    let embedder = scripted("m", &|| {});
    let mut left = Vec::new();
    while left.last() != Some(&0) {
        let done = embed(&world, &embedder, "daemon", 40).unwrap();
        assert!(done.problem.is_none() && done.embedded <= 64, "{done:?}");
        let serves = world.engine.vault().vector_sets().unwrap()[0].is_serving;
        assert_eq!(serves, done.missing == 0, "it serves when it is complete");
        left.push(done.missing);
    }
    assert_eq!(left, [36, 0]);
    let mut texts = embedder.texts.into_inner().unwrap();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 100);
}

#[test]
fn two_never_do_it_at_once_and_what_comes_in_meanwhile_is_done_too() {
    let world = place();
    add(&world, "/a.md", 40);
    let other = scripted("m", &|| {});
    let meddle = || {
        assert_eq!(embed(&world, &other, "another", u64::MAX), None, "somebody is at it");
        add(&world, "/b.md", 3);
    };
    let done = embed(&world, &scripted("m", &meddle), "one", u64::MAX).unwrap();
    assert_eq!((done.embedded, done.missing), (43, 0));
    assert!(other.texts.lock().unwrap().is_empty());
    let by = MadeBy { provider: "scripted".to_owned(), model: "m".to_owned(), base_url: None };
    assert_eq!(world.engine.vault().embedding_progress(&by).unwrap().embedded, 43);
}

#[test]
fn going_back_to_the_old_model_drops_what_was_begun() {
    let world = place();
    add(&world, "/a.md", 40);
    let (old, new) = (scripted("old", &|| {}), scripted("new", &|| {}));
    embed(&world, &old, "one", u64::MAX);
    assert_eq!(embed(&world, &new, "one", 1).unwrap().missing, 8);
    assert_eq!(world.engine.vault().vector_sets().unwrap().len(), 2);
    let done = embed(&world, &old, "one", u64::MAX).unwrap();
    assert_eq!((done.embedded, done.missing), (0, 0));
    let sets = world.engine.vault().vector_sets().unwrap();
    assert_eq!((sets.len(), sets[0].by.model.as_str(), sets[0].is_serving), (1, "old", true));
}

#[test]
fn whoever_looks_takes_nothing_and_a_run_that_is_stopped_keeps_what_it_has() {
    let world = place();
    add(&world, "/a.md", 100);
    let is_embedding = || world.engine.vault().is_embedding(&|_| false).unwrap();
    let seen = Mutex::new(Vec::new());
    let look = || seen.lock().unwrap().push((is_embedding(), world.engine.vault().is_embedding(&|_| true).unwrap()));
    let embedder = scripted("m", &look);
    assert!(!is_embedding());
    let worker = Worker { holder: throughline_testkit::stores::holder("daemon"), is_gone: &|_| false };
    let done =
        world.engine.vault().embed_missing(&embedder, &worker, u64::MAX, &mut |done, _| done == 0).unwrap().unwrap();
    assert_eq!((done.embedded, done.missing, done.problem), (32, 68, None));
    assert_eq!(*seen.lock().unwrap(), [(true, false)], "somebody is at it, unless that one is gone");
    assert!(!is_embedding(), "it is given back");
}
