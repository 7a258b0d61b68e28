//! Vectors of memories and of questions.

use throughline_core::engine::{Edit, Embedded, Said, Worker};
use throughline_core::model::{EntryId, Kind, Role};
use throughline_core::ports::{Embedder, MadeBy};
use throughline_testkit::model_server::BAD;
use throughline_testkit::{FakeEmbedder, FakeEmbedders};

use super::*;

fn embed(world: &World, embedder: &dyn Embedder, most: u64) -> Embedded {
    let worker = Worker { holder: throughline_testkit::stores::holder("one"), is_gone: &|_| false };
    world.engine.embedding().embed_missing(embedder, &worker, most, &mut |_, _| true).unwrap().unwrap()
}

/// An entry, a line of the profile, and two turns.
fn furnish(world: &World) {
    remember(world, "the automobile is in the garage");
    save(world, "user/profile", "- the physician is called Ada\n");
    world.engine.documents().profile().unwrap();
    let said = [Said::now(Role::User, "my vacation begins in August"), Said::now(Role::Assistant, "have a good time")];
    world.engine.sessions().observe(&"cli:a".parse().unwrap(), &said).unwrap();
}

fn asked_by(world: &World, embedders: &[&Arc<FakeEmbedder>]) -> Engine {
    let embedders = embedders.iter().map(|embedder| Arc::clone(embedder)).collect();
    world.engine.clone().with_embedders(Arc::new(FakeEmbedders(embedders)))
}

/// The text of what is nearest to a question.
fn nearest(world: &World, embedder: &Arc<FakeEmbedder>, question: &str) -> (String, Kind) {
    let engine = asked_by(world, &[embedder]);
    let (set, vectors) = engine.embedding().query_vectors(&[question]).unwrap();
    let filter = Filter { kinds: vec![Kind::Entry, Kind::Bullet, Kind::Turn], ..Filter::recallable(engine.now()) };
    let found = world.store.nearest_memories(&set.id, &vectors[0], &filter, 1).unwrap();
    let (id, kind, cosine) = found.into_iter().next().unwrap();
    assert!(set.baseline.above_mean(&vectors[0], cosine) > 1.0, "{question}");
    let marks = world.store.marks(&[id.clone(), EntryId::new("nobody")]).unwrap();
    let [Some(mark), None] = marks[..] else { panic!("{marks:?}") };
    assert_eq!(world.store.cosines(&set.id, &vectors[0], &[mark]).unwrap(), [Some(cosine)]);
    (id.to_string(), kind)
}

#[test]
fn memories_of_every_kind_are_embedded_and_found_by_their_meaning() {
    let world = place();
    furnish(&world);
    let embedder = Arc::new(FakeEmbedder::new("m"));
    let by = MadeBy::of(&*embedder);
    let before = world.engine.embedding().progress(&by).unwrap();
    assert_eq!((before.embedded, before.of, before.missing()), (0, 4, 4));
    assert_eq!(world.engine.embedding().last_progress().unwrap(), None);
    let done = embed(&world, &*embedder, u64::MAX);
    assert_eq!((done.embedded, done.missing, done.problem), (4, 0, None));
    let after = world.engine.embedding().last_progress().unwrap().unwrap();
    assert_eq!((after.model.as_str(), after.embedded, after.of), ("builtin/m", 4, 4));
    assert_eq!(nearest(&world, &embedder, "where is my car?").1, Kind::Entry);
    assert_eq!(nearest(&world, &embedder, "who is my doctor?").1, Kind::Bullet);
    assert_eq!(nearest(&world, &embedder, "when is my holiday?").1, Kind::Turn);
    assert_eq!(embedder.texts().len(), 64 + 4 + 3, "the background, the memories, the questions");
    assert_eq!(world.engine.models().spending("").unwrap(), [], "nothing for an embedder in this process");
}

#[test]
fn a_run_is_bounded_and_what_it_kept_is_searched() {
    let world = place();
    remember(&world, "the automobile is in the garage");
    (0..80).for_each(|nth| drop(remember(&world, &format!("fact number {nth}"))));
    let embedder = Arc::new(FakeEmbedder::new("m"));
    let first = embed(&world, &*embedder, 1);
    assert_eq!((first.embedded, first.missing), (32, 49), "one batch");
    assert_eq!(nearest(&world, &embedder, "where is my car?").1, Kind::Entry, "it is in the first batch");
    embedder.set_failing(true);
    let failed = embed(&world, &*embedder, u64::MAX);
    assert_eq!((failed.embedded, failed.missing), (0, 49));
    assert!(failed.problem.unwrap().contains("it is down"));
    embedder.set_failing(false);
    let rest = embed(&world, &*embedder, u64::MAX);
    assert_eq!((rest.embedded, rest.missing), (49, 0));
    assert_eq!(embedder.texts().len(), 64 + 81 + 1, "none twice");
}

#[test]
fn a_question_has_no_vector_where_none_can_be_had() {
    let world = place();
    furnish(&world);
    let embedder = Arc::new(FakeEmbedder::new("m"));
    let ask = |engine: &Engine| engine.embedding().query_vectors(&["where is my car?"]);
    assert_eq!(ask(&asked_by(&world, &[&embedder])), None, "no set");
    embed(&world, &*embedder, u64::MAX);
    assert_eq!(ask(&world.engine), None, "no embedder");
    let engine = asked_by(&world, &[&embedder]);
    assert!(ask(&engine).is_some());
    let (_, vectors) = engine.embedding().query_vectors(&["my car", "a doctor"]).unwrap();
    assert_eq!(vectors.len(), 2);
    let length: f32 = vectors[0].iter().map(|number| number * number).sum();
    assert!((length - 1.0).abs() < 1e-3);
    assert_eq!(engine.embedding().query_vectors(&[]), None);
    assert_eq!(engine.embedding().query_vectors(&["my car", " "]), None);
    embedder.set_failing(true);
    assert_eq!(ask(&engine), None, "it fails");
    embedder.set_failing(false);
    embedder.set_dimension(9);
    assert_eq!(ask(&engine), None, "another model by the same name");
}

#[test]
fn questions_go_to_the_earlier_model_until_the_new_one_has_more() {
    let world = place();
    (0..60).for_each(|nth| drop(remember(&world, &format!("fact number {nth}"))));
    let (old, new) = (Arc::new(FakeEmbedder::new("old")), Arc::new(FakeEmbedder::new("new")));
    embed(&world, &*old, u64::MAX);
    let model = |embedders: &[&Arc<FakeEmbedder>]| {
        let asked = asked_by(&world, embedders).embedding().query_vectors(&["which fact?"]);
        asked.map(|(set, _)| set.by.model)
    };
    let begun = embed(&world, &*new, 1);
    assert_eq!((begun.embedded, begun.missing), (32, 28));
    assert_eq!(model(&[&old, &new]).as_deref(), Some("old"));
    assert_eq!(model(&[&new]).as_deref(), Some("new"), "where the old one cannot be asked any more");
    old.set_failing(true);
    assert_eq!(model(&[&old, &new]).as_deref(), Some("new"), "or fails");
    embed(&world, &*new, u64::MAX);
    assert_eq!(model(&[&old, &new]).as_deref(), Some("new"));
    assert_eq!(model(&[&old]), None, "its vectors are gone");
}

#[test]
fn what_is_refused_keeps_nothing_else_from_its_vector() {
    let world = place();
    let refused = remember(&world, &format!("a {BAD} crossed the road"));
    (0..5).for_each(|nth| drop(remember(&world, &format!("fact number {nth}"))));
    let embedder = Arc::new(FakeEmbedder::new("m"));
    let done = embed(&world, &*embedder, u64::MAX);
    assert_eq!((done.embedded, done.refused, done.missing, done.problem), (5, 1, 0, None));
    assert_eq!(embed(&world, &*embedder, u64::MAX).refused, 0, "not tried again");
    let edit = Edit { content: Some("a horse crossed the road".to_owned()), ..Edit::default() };
    world.engine.memories().edit(&refused, &edit).unwrap();
    assert_eq!(embed(&world, &*embedder, u64::MAX).embedded, 1, "until its text changes");
}

#[test]
fn a_model_whose_vectors_change_their_length_begins_anew() {
    let world = place();
    furnish(&world);
    let embedder = Arc::new(FakeEmbedder::new("m"));
    embed(&world, &*embedder, u64::MAX);
    embedder.set_dimension(48);
    remember(&world, "the newest fact");
    let done = embed(&world, &*embedder, u64::MAX);
    assert_eq!((done.missing, done.problem), (0, None));
    let sets = world.store.memory_sets().unwrap();
    assert_eq!((sets.len(), sets[0].dimension()), (1, 48));
    assert_eq!(world.store.count_memory_vectors(&sets[0].id).unwrap(), (5, 0));
    assert_eq!(nearest(&world, &embedder, "where is my car?").1, Kind::Entry);
}

#[test]
fn two_runs_never_embed_at_once_and_a_stopped_run_keeps_its_vectors() {
    let world = place();
    (0..80).for_each(|nth| drop(remember(&world, &format!("fact number {nth}"))));
    let embedder = FakeEmbedder::new("m");
    let worker = |name: &str| Worker { holder: throughline_testkit::stores::holder(name), is_gone: &|_| false };
    let service = world.engine.embedding();
    let mut progress = Vec::new();
    let done = service
        .embed_missing(&embedder, &worker("one"), u64::MAX, &mut |done, of| {
            assert!(service.is_embedding(&|_| false).unwrap() && !service.is_embedding(&|_| true).unwrap());
            let other = service.embed_missing(&embedder, &worker("two"), u64::MAX, &mut |_, _| true).unwrap();
            assert_eq!(other, None, "another run is at it");
            progress.push((done, of));
            done < 64
        })
        .unwrap()
        .unwrap();
    assert_eq!((done.embedded, done.missing, progress), (64, 16, vec![(0, 80), (32, 80), (64, 80)]));
    assert!(!service.is_embedding(&|_| false).unwrap());
}

#[test]
fn a_remote_embedder_keeps_the_ledger_and_the_budget() {
    let mut world = place();
    remember(&world, "the automobile is in the garage");
    let embedder = FakeEmbedder::of("ollama", "m");
    embed(&world, &embedder, u64::MAX);
    let spent = world.engine.models().spending("").unwrap();
    assert_eq!((spent.len(), spent[0].provider.as_str(), spent[0].calls), (1, "ollama", 2));
    remember(&world, "another fact");
    world.world =
        World::build(world.fresh.store(), Arc::clone(&world.world.documents), |settings| settings.daily_tokens = 1);
    let done = embed(&world, &embedder, u64::MAX);
    assert_eq!((done.embedded, done.missing), (0, 1));
    assert!(done.problem.unwrap().contains("budget"));
}
