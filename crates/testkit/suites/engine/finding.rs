//! Recall: what is found, in which order, and what is logged.

use std::collections::HashSet;
use std::ops::Range;

use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use throughline_core::engine::{EngineError, NewMemory};
use throughline_core::model::{EntryId, Kind, Layer, Role, Turn, Verb};
use throughline_core::ports::{Op, Page, Search};
use throughline_core::recall::{FoundBy, Projects, Question, Why};
use throughline_testkit::{Random, retrieval, stores};

use super::*;

/// The points of a breakdown make the score.
#[track_caller]
pub(super) fn explains(why: &Why, score: f64) {
    let points: f64 = why.features.iter().map(|feature| feature.points).sum();
    assert!((1.0 / (1.0 + (-points).exp()) - score).abs() < 1e-9, "{score} is not what {why} makes");
    assert!(0.0 < score && score < 1.0 && !why.features.is_empty(), "{score}: {why}");
}

/// Whose words are found, best first; what says the same as another stands behind it as its evidence.
pub(super) fn sources_of(world: &World, query: &str) -> Vec<Source> {
    let source = |id: &EntryId| world.engine.memories().show(id.as_str()).unwrap().entry.source;
    let of = |hit: &Hit| [std::slice::from_ref(&hit.memory.entry.id), &hit.evidence].concat();
    recall(world, query).iter().flat_map(of).map(|id| source(&id)).collect()
}

/// Everything that is found, however much.
fn recall_all(world: &World, query: &str) -> Vec<Hit> {
    world.engine.recall().recall(&RecallRequest { limit: 1000, ..asking(world, query) }).unwrap().hits
}

#[test]
fn a_range_that_holds_no_time_is_an_error() {
    let world = place();
    remember(&world, "likes tea");
    let now = world.engine.now();
    for (since, until) in [(now, now), (now, stores::minute(-1))] {
        let filter = Filter { since: Some(since), until: Some(until), ..Filter::default() };
        let request = RecallRequest { filter: filter.clone(), ..asking(&world, "tea") };
        for error in [
            world.engine.recall().recall(&request).unwrap_err(),
            world.engine.memories().list(&filter, &Page { limit: 9, cursor: None }).unwrap_err(),
        ] {
            assert!(matches!(error, EngineError::EmptyRange { .. }), "{error:?}");
            assert!(error.hint().is_some());
        }
    }
    let filter = Filter { since: Some(now), until: Some(stores::minute(1)), ..Filter::default() };
    assert_eq!(world.engine.recall().recall(&RecallRequest { filter, ..asking(&world, "tea") }).unwrap().hits.len(), 1);
}

#[test]
fn a_limit_of_nothing_gives_nothing() {
    let world = place();
    remember(&world, "likes tea");
    let request = RecallRequest { limit: 0, ..asking(&world, "tea") };
    assert_eq!(world.engine.recall().recall(&request).unwrap().hits, []);
    assert_eq!(recall(&world, "tea")[0].memory.recall_count, 0, "it was not counted");
}

#[test]
fn filters_narrow_a_recall() {
    let world = place();
    let new = |text: &str, tags: &[&str], layer| NewMemory {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        layer,
        ..NewMemory::fact(text)
    };
    for new in [
        new("tea one", &["hot", "project:apollo"], Layer::Knowledge),
        new("tea two", &["hot", "task:t1"], Layer::Knowledge),
        new("tea three", &[], Layer::Archive),
    ] {
        world.engine.memories().remember(&new).unwrap();
    }
    let found = |filter: Filter| {
        let hits = world.engine.recall().recall(&RecallRequest { filter, ..asking(&world, "tea") }).unwrap().hits;
        let mut texts: Vec<String> = hits.into_iter().map(|hit| hit.memory.entry.content).collect();
        texts.sort();
        texts
    };
    assert_eq!(found(Filter::default().tagged("hot")), ["tea one", "tea two"]);
    assert_eq!(found(Filter::default().tagged("hot").tagged("task:t1")), ["tea two"]);
    assert_eq!(found(Filter { projects: Projects::Only("apollo".to_owned()), ..Filter::default() }), ["tea one"]);
    assert_eq!(found(Filter { layers: vec!["timeline".parse().unwrap()], ..Filter::default() }), ["tea three"]);
}

#[test]
fn every_recall_is_logged_and_counted() {
    let world = place();
    let id = remember(&world, "likes tea");
    world.clock.advance(days(1));
    let first = world.engine.recall().recall(&asking(&world, "what about tea?")).unwrap();
    let [hit] = first.hits.as_slice() else { panic!("{first:?}") };
    recall(&world, "zebra");
    let [second, logged] = &world.engine.recall().log(9).unwrap()[..] else { panic!("two were made") };
    assert_eq!((second.query.as_str(), second.hits.len()), ("zebra", 0));
    assert_eq!(
        (logged.query.as_str(), &logged.recall_id, logged.at),
        ("what about tea?", &first.recall_id, world.engine.now())
    );
    let kept = &logged.hits[0];
    assert_eq!((kept.id.as_str(), kept.kind, kept.score, &kept.why), (id.as_str(), Kind::Entry, hit.score, &hit.why));
    let memory = world.engine.memories().show(&id).unwrap();
    assert_eq!((memory.recall_count, memory.last_recalled_at), (1, Some(world.engine.now())));
}

#[test]
fn the_points_of_the_features_make_the_score() {
    let world = place();
    for n in 0..20 {
        remember(&world, &format!("tea number {n} {}", "and more ".repeat(n)));
        world.clock.advance(days(3));
    }
    let hits = recall(&world, "tea number 7");
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    for hit in &hits {
        explains(&hit.why, hit.score);
        for name in ["own", "recency", "trust"] {
            let feature = hit.why.features.iter().find(|feature| feature.name == name);
            assert!(feature.is_some_and(|feature| feature.points > 0.0), "{name}: {}", hit.why);
        }
    }
}

#[test]
fn the_person_is_believed_before_the_assistant_before_the_program() {
    let world = place();
    for (key, source) in [("c", Source::System), ("a", Source::User), ("b", Source::Agent)] {
        world.engine.memories().remember(&NewMemory { source, ..keyed(key, "the deploy is on Friday") }).unwrap();
    }
    assert_eq!(sources_of(&world, "deploy"), [Source::User, Source::Agent, Source::System]);
}

#[test]
fn letters_are_looked_for_where_no_word_is_found() {
    let world = place();
    remember(&world, "the database is slow");
    remember(&world, "it is 100% done");
    remember(&world, "it is 1000 done");
    remember_as(&world, "snake_case", "naming");
    for (query, expected) in [
        ("atabas", "the database is slow"),
        ("00%", "it is 100% done"),
        ("nake_c", "naming"),
        ("TABA", "the database is slow"),
    ] {
        let hits = recall(&world, query);
        let [hit] = hits.as_slice() else { panic!("{query}: {hits:?}") };
        assert_eq!((hit.memory.entry.content.as_str(), hit.why.found_by), (expected, FoundBy::Substring), "{query}");
    }
    assert_eq!(recall(&world, "database")[0].why.found_by, FoundBy::Words);
    assert_eq!(recalled(&world, "a%e"), Vec::<String>::new());
    assert_eq!(recalled(&world, "100%")[0], "it is 100% done");
}

#[test]
fn every_script_is_found_by_its_words() {
    let world = place();
    let table = [
        ("我喜欢喝茶和咖啡", &["茶", "咖啡", "喝茶", "喜欢"][..]),
        ("部署在星期五进行", &["部署", "星期五", "星期"]),
        ("東京の会社で働いています", &["東京", "会社", "京"]),
        ("データベースが遅い", &["データ", "データベース", "遅い", "ﾃﾞｰﾀ"]),
        ("서울에서 개발자로 일합니다", &["서울", "개발자"]),
        ("我们用Rust写parser代码", &["rust", "PARSER", "代码"]),
        ("Café in São Paulo, naïve Straße", &["cafe", "Sao", "NAIVE", "strasse"]),
        ("resume of Jose", &["résumé", "José"]),
        ("She deployed the running services", &["deploy", "deploying", "run", "service"]),
        ("Поезд приходит утром", &["ПОЕЗД", "утром"]),
    ];
    for (text, _) in table {
        remember(&world, text);
    }
    for (text, queries) in table {
        for query in queries {
            let hits = recall(&world, query);
            let Some(first) = hits.first() else { panic!("{query:?} does not find {text:?}") };
            assert_eq!((first.memory.entry.content.as_str(), first.why.found_by), (text, FoundBy::Words), "{query:?}");
        }
    }
}

#[test]
fn no_query_fails() {
    let world = place();
    remember(&world, "likes \"tea\" (100%) with c:\\temp");
    world.store.append(&[stores::turn("t", "cli:a", "tea NEAR milk")]).unwrap();
    let never_fails = |query: &str| {
        let filter = Filter { kinds: vec![Kind::Entry, Kind::Bullet, Kind::Turn], ..Filter::default() };
        let request = RecallRequest { filter, ..asking(&world, query) };
        world.engine.recall().recall(&request).map(drop).unwrap_or_else(|error| panic!("{query:?}: {error:?}"));
    };
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    let syntax = prop_oneof![
        any::<String>(),
        "[\"'()*^:+{}%_\\\\ a-cAND\\-]{0,24}",
        proptest::collection::vec(any::<u8>(), 0..60).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    ];
    TestRunner::new(config)
        .run(&syntax, |query| {
            never_fails(&query);
            Ok(())
        })
        .unwrap();
}

#[test]
fn no_query_is_too_long() {
    let world = place();
    remember(&world, "likes tea");
    for query in ["tea ".repeat(30_000), "x".repeat(100_000), "用户".repeat(30_000), "?!".repeat(50_000)] {
        if let Err(error) = world.engine.recall().recall(&asking(&world, &query)) {
            panic!("{:?}…: {error:?}", &query[..6]);
        }
    }
}

#[test]
fn a_score_does_not_depend_on_what_else_is_stored() {
    let five = [
        "The deploy of the shop runs on Friday at noon",
        "Marta keeps the keys of the observatory in Coimbra",
        "the shop sells green tea and black tea",
        "我们把数据库部署在里斯本",
        "likes to deploy before lunch",
    ];
    let questions =
        ["when is the deploy of the shop?", "who has the keys of the observatory", "green tea", "数据库部署"];
    let world = place();
    five.iter().for_each(|text| drop(remember(&world, text)));
    let scores = || -> Vec<Vec<(String, f64)>> {
        let found = |question: &&str| {
            let hits = recall_all(&world, question).into_iter();
            let known = hits.filter(|hit| five.contains(&hit.memory.entry.content.as_str()));
            known.map(|hit| (hit.memory.entry.content, hit.score)).collect()
        };
        questions.iter().map(found).collect()
    };
    let alone = scores();
    assert!(alone.iter().all(|found| !found.is_empty()), "{alone:?}");
    let other = |n: usize| {
        let text = if n.is_multiple_of(50) { "tea, a key, a shop or a deploy" } else { "something else entirely" };
        Op::Insert(stores::entry(&format!("other{n}"), &format!("{text} {n} x{n} y{n} z{n}")))
    };
    stores::apply(&*world.store, Verb::Import, &(0..2000).map(other).collect::<Vec<_>>()).unwrap();
    assert!(recall_all(&world, "tea").len() > 40, "some of the others are found too");
    assert_eq!(scores(), alone);
}

#[test]
fn a_word_that_half_of_the_memories_have_is_found() {
    for count in [1, 2, 3, 10] {
        let world = place();
        for n in 0..count {
            let about = if n % 2 == 0 { "coffee" } else { "water" };
            remember(&world, &format!("drinks {about} number {n}"));
        }
        let hits = recall(&world, "what about coffee?");
        assert!(hits.len() >= usize::div_ceil(count, 2), "{hits:?}");
        let all_with_it = hits.iter().take(usize::div_ceil(count, 2));
        assert!(all_with_it.into_iter().all(|hit| hit.memory.entry.content.contains("coffee")), "{hits:?}");
    }
}

#[test]
fn a_turn_is_shown_by_its_id_and_explained() {
    let world = place();
    let said = Turn { speaker: Some("Grace".to_owned()), ..stores::turn("t1", "cli:a", "Marta runs the observatory") };
    world.store.append(&[said, stores::turn("t2", "cli:a", "Good.")]).unwrap();
    let turn = world.engine.recall().said(&EntryId::new("t1")).unwrap().unwrap();
    assert_eq!(
        (turn.memory.entry.content.as_str(), turn.speaker.as_deref()),
        ("Marta runs the observatory", Some("Grace"))
    );
    assert_eq!(world.engine.recall().said(&EntryId::new("nobody")).unwrap(), None);
    let recall = world.engine.recall().recall(&asking(&world, "observatory")).unwrap();
    let told = world.engine.recall().explain_recall(recall.recall_id.as_str(), None).unwrap();
    let contents: Vec<Option<&str>> = told.found_but_not_given.iter().map(|used| used.content.as_deref()).collect();
    assert_eq!(contents, [Some("Marta runs the observatory"), Some("Good.")]);
}

#[test]
fn turns_are_found_beside_memories_unless_they_are_left_out() {
    let world = place();
    remember(&world, "the observatory is in Coimbra");
    let said = |id: &str, text: &str| stores::turn(id, "cli:a", text);
    let answer = Turn { role: Role::Assistant, ..said("t2", "Marta does.") };
    world.store.append(&[said("t1", "Who runs the observatory?"), answer]).unwrap();
    let kinds = |kinds: Vec<Kind>| {
        let filter = Filter { kinds, ..Filter::default() };
        let request = RecallRequest { filter, ..asking(&world, "observatory") };
        let hits = world.engine.recall().recall(&request).unwrap().hits;
        hits.into_iter().map(|hit| (hit.memory.entry.content, hit.why.found_by)).collect::<Vec<_>>()
    };
    let mut all = kinds(Vec::new());
    all.sort_by_key(|(text, _)| text.clone());
    let expected = [
        ("Marta does.", FoundBy::Beside),
        ("Who runs the observatory?", FoundBy::Words),
        ("the observatory is in Coimbra", FoundBy::Words),
    ];
    assert_eq!(all, expected.map(|(text, found_by)| (text.to_owned(), found_by)));
    assert_eq!(kinds(vec![Kind::Entry]).len(), 1);
    assert_eq!(kinds(vec![Kind::Turn]).len(), 2);
}

/// Texts of the words that ordinary memories have, as often as those have them: most questions fit hundreds.
fn mixed(count: usize, lengths: Range<usize>, random: &mut Random) -> Vec<String> {
    let words: Vec<&str> = retrieval::ordinary().into_iter().flat_map(|text| text.split(' ')).collect();
    let mut text = || {
        let length = lengths.start + random.below(lengths.len());
        (0..length).filter_map(|_| random.one_of(&words).copied()).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(|_| text()).collect()
}

/// How many memories and turns have a word of a question.
fn fitting(world: &World, query: &str) -> [usize; 2] {
    let terms = Question::of(query, &world.engine.now().to_zoned(TimeZone::UTC)).terms();
    [Kind::Entry, Kind::Turn].map(|kind| {
        let filter = Filter { kinds: vec![kind], ..Filter::default() };
        let search = Search { terms: terms.clone(), also: Vec::new(), filter, limit: 100_000, turns: 100_000 };
        let pool = world.store.search(&search).unwrap();
        pool.candidates.iter().filter(|candidate| candidate.found_by == FoundBy::Words).count()
    })
}

/// A recall weighs the best candidates by BM25 alone: 240 memories and 120 turns. With the largest limit it weighs everything here
/// that has a word of the question: the formula without a choice before it.
#[test]
fn the_first_ten_are_those_of_the_exhaustive_formula() {
    const AT_LEAST: f64 = 0.98;
    const FEWEST_WEIGHED: usize = 120;
    const ALL: usize = 1000;
    let world = place();
    let mut random = Random::new(16);
    let ordinary = retrieval::ordinary().into_iter().map(str::to_owned);
    let texts: Vec<String> = ordinary.chain(mixed(5000, 8..20, &mut random)).collect();
    let entry = |(nth, text): (usize, &String)| Op::Insert(stores::entry(&format!("m{nth}"), text));
    let facts: Vec<Op> = texts.iter().step_by(2).enumerate().map(entry).collect();
    stores::apply(&*world.store, Verb::Import, &facts).unwrap();
    let turn = |(nth, text): (usize, &String)| stores::turn(&format!("t{nth}"), &format!("cli:{}", nth / 25), text);
    let turns: Vec<Turn> = texts.iter().skip(1).step_by(2).enumerate().map(turn).collect();
    world.store.append(&turns).unwrap();
    let ten = |limit: usize, query: &str| -> HashSet<EntryId> {
        let hits = world.engine.recall().look(&RecallRequest { limit, ..asking(&world, query) }).unwrap();
        hits.into_iter().take(10).map(|hit| hit.memory.entry.id).collect()
    };
    let (mut overlaps, mut of_many) = (Vec::new(), 0);
    for query in &mixed(80, 8..18, &mut random) {
        let fitting = fitting(&world, query);
        // Of more, the largest limit would not be all.
        if fitting.iter().any(|count| *count > ALL) {
            continue;
        }
        of_many += usize::from(fitting.iter().all(|count| *count > FEWEST_WEIGHED));
        let (chosen, all) = (ten(10, query), ten(ALL, query));
        overlaps.push(if all.is_empty() { 1.0 } else { chosen.intersection(&all).count() as f64 / all.len() as f64 });
    }
    assert!(
        of_many * 5 > overlaps.len() * 3,
        "only {of_many} of {} questions fit more than is weighed",
        overlaps.len()
    );
    let mean = overlaps.iter().sum::<f64>() / overlaps.len() as f64;
    assert!(mean >= AT_LEAST, "{mean}");
}
