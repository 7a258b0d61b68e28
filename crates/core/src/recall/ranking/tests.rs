use jiff::tz::TimeZone;
use jiff::{SignedDuration, civil};

use std::sync::Arc;

use super::*;
use crate::model::{Entry, EntryId, Importance, Kind, Layer, Memory, Namespace, SessionId, Source, sample_entry};
use crate::recall::analysis::index_text;
use crate::recall::fold::fold;
use crate::recall::{Candidate, CandidateMark, Filter, RecallRecord, Sketch, Traits};

fn day(day: i64) -> Timestamp {
    Timestamp::from_second(day * 86_400).unwrap()
}

fn now() -> Timestamp {
    day(1000)
}

fn question(text: &str) -> Question {
    Question::of(text, &now().to_zoned(TimeZone::UTC))
}

/// A pool, and what its candidates stand for.
struct Known {
    entries: Vec<(Entry, Option<String>)>,
    beside: Vec<(usize, usize)>,
    meanings: Vec<Option<f32>>,
}

impl Known {
    fn of(entries: Vec<Entry>) -> Self {
        let meanings = vec![None; entries.len()];
        Self { entries: entries.into_iter().map(|entry| (entry, None)).collect(), beside: Vec::new(), meanings }
    }

    fn pool(&self, filter: &Filter) -> Pool {
        let candidate = |(n, (entry, speaker)): (usize, &(Entry, Option<String>))| {
            let sketch = Sketch::encode(entry, &index_text(&entry.content));
            let range = 0..sketch.len();
            Candidate {
                mark: CandidateMark::new(n as i64),
                traits: Arc::new(Traits {
                    kind: entry.kind,
                    layer: entry.layer,
                    source: entry.source,
                    importance: entry.importance,
                    session: entry.session.clone(),
                    speaker: speaker.clone(),
                }),
                created_at: entry.created_at,
                sketch: Sketch::decode(sketch.into(), range).unwrap(),
                is_admitted: filter.admits(entry),
                found_by: FoundBy::Words,
                meaning: self.meanings.get(n).copied().flatten(),
            }
        };
        let candidates = self.entries.iter().enumerate().map(candidate).collect();
        Pool { candidates, beside: self.beside.clone(), ..Pool::default() }
    }

    fn best(&self, asked: &str, filter: &Filter, ranking: Ranking, limit: usize) -> Vec<Hit> {
        let pool = self.pool(filter);
        let ranked = rank(&question(asked), &pool, (now(), ranking), |_| true, limit);
        let hit = |ranked: Ranked| {
            let (entry, speaker) = self.entries[ranked.at].clone();
            Hit { speaker, ..Hit::of(Memory::new(entry, 0, None), ranked.why) }
        };
        let mut hits = ranked.into_iter().map(hit).collect();
        order(&mut hits, ranking, limit);
        hits
    }

    fn ranked(&self, asked: &str, filter: &Filter, ranking: Ranking) -> Vec<Hit> {
        self.best(asked, filter, ranking, usize::MAX)
    }
}

fn memory(id: &str, content: &str) -> Entry {
    Entry { created_at: day(900), updated_at: day(900), ..sample_entry(id, content) }
}

/// A conversation: who spoke, and what; `t0`, `t1`, …
fn conversation(id: &str, turns: &[(&str, &str)]) -> Known {
    let session: SessionId = id.parse().unwrap();
    let said = |(n, (speaker, text)): (usize, &(&str, &str))| {
        let entry = Entry {
            id: EntryId::new(format!("t{n}")),
            kind: Kind::Turn,
            namespace: Namespace::Session(session.clone()),
            layer: Layer::Archive,
            session: Some(session.clone()),
            source: if *speaker == "assistant" { Source::Agent } else { Source::User },
            ..memory("turn", text)
        };
        (entry, Some((*speaker).to_owned()))
    };
    let entries: Vec<(Entry, Option<String>)> = turns.iter().enumerate().map(said).collect();
    let beside = (1..entries.len()).map(|at| (at - 1, at)).collect();
    Known { entries, beside, meanings: Vec::new() }
}

fn ranked(text: &str, entries: Vec<Entry>, ranking: Ranking) -> Vec<Hit> {
    Known::of(entries).ranked(text, &Filter::default(), ranking)
}

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.memory.entry.id.as_str()).collect()
}

#[track_caller]
fn check(text: &str, entries: Vec<Entry>, expected: &[&str]) {
    let mut turned = entries.clone();
    turned.reverse();
    for entries in [entries, turned] {
        let hits = ranked(text, entries, Ranking::Fused);
        assert_eq!(ids(&hits), expected);
        for hit in &hits {
            assert!((hit.score - hit.why.score()).abs() < 1e-9, "the breakdown explains the score: {}", hit.why);
            assert!(0.0 < hit.score && hit.score < 1.0, "{}", hit.score);
        }
    }
}

#[test]
fn the_person_before_the_assistant_before_the_program() {
    let of = |id: &str, source| Entry { source, ..memory(id, "the deploy runs on friday") };
    let all = vec![of("agent", Source::Agent), of("system", Source::System), of("user", Source::User)];
    check("when is the deploy?", all, &["user", "agent", "system"]);
}

#[test]
fn newer_and_weightier_come_first_but_only_mildly() {
    let old = || memory("old", "the deploy runs on friday");
    let new = || Entry { updated_at: day(999), ..memory("new", "the deploy runs on friday") };
    let weighty =
        || Entry { importance: Importance::new(0.9).unwrap(), ..memory("weighty", "the deploy runs on friday") };
    check("when is the deploy?", vec![old(), new()], &["new", "old"]);
    check("when is the deploy?", vec![old(), weighty()], &["weighty", "old"]);
    let both = Entry { importance: Importance::new(1.0).unwrap(), ..new() };
    let better_words = memory("better", "the deploy of the shop runs on friday");
    check("when is the deploy of the shop?", vec![both, better_words], &["better", "new"]);
}

#[test]
fn a_correction_stands_before_all_on_its_subject_and_nothing_else() {
    let said = |id: &str, content: &str, tags: &[&str]| Entry {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..memory(id, content)
    };
    let old = || said("old", "the deploy of the shop runs on friday at noon", &[]);
    let new = || said("new", "the deploy runs on thursday", &[CORRECTION_TAG]);
    let other = || said("other", "friday noon is the time of the release party in the shop", &[]);
    let asked = "does the deploy of the shop run on friday at noon?";
    check(asked, vec![old(), new(), other()], &["new", "old", "other"]);
    check(asked, vec![new(), other()], &["other", "new"]);
    let claimed = Entry { source: Source::Agent, ..new() };
    check(asked, vec![old(), claimed.clone()], &["old", "new"]);
    let replaced = Entry { supersedes: vec![EntryId::new("older")], ..claimed };
    check(asked, vec![old(), replaced], &["new", "old"]);
}

#[test]
fn plain_words_look_at_nothing_else() {
    let tags = vec![CORRECTION_TAG.to_owned()];
    let best = Entry { importance: Importance::new(1.0).unwrap(), updated_at: now(), tags, ..memory("a", "a deploy") };
    let least = Entry { source: Source::System, updated_at: day(1), ..memory("b", "a deploy") };
    let hits = ranked("deploy", vec![best, least], Ranking::Bm25);
    assert_eq!(hits[0].score, hits[1].score);
    let names: Vec<&str> = hits[0].why.features.iter().map(|feature| feature.name.as_str()).collect();
    assert_eq!(names, ["own", "base"]);
}

#[test]
fn equal_scores_are_in_order_of_date_and_id() {
    let at = |id: &str, day_of| Entry { updated_at: day(day_of), ..memory(id, "the deploy") };
    let hits = ranked("deploy", vec![at("c", 1), at("a", 1), at("b", 2)], Ranking::Bm25);
    assert_eq!(ids(&hits), ["b", "a", "c"]);
}

#[test]
fn of_equal_turns_the_order_of_the_conversation_is_kept() {
    let mut pool = conversation("cli:a", &[("Ann", "the deploy"), ("Ann", "of shoes"), ("Ann", "of hats")]);
    for ((entry, _), minute) in pool.entries.iter_mut().zip([0, 1, 2]) {
        entry.updated_at = day(900) + SignedDuration::from_mins(minute);
    }
    let hits = pool.ranked("deploy", &Filter::default(), Ranking::Bm25);
    assert_eq!(ids(&hits), ["t0", "t1", "t2"]);
}

#[test]
fn a_summary_stands_behind_a_memory_that_fits_as_well() {
    let summary = Entry { layer: Layer::Archive, ..memory("a", "the deploy is on friday at noon") };
    let hits = ranked("deploy noon", vec![summary, memory("b", "the deploy is on friday at noon")], Ranking::Fused);
    assert_eq!(ids(&hits), ["b", "a"]);
    assert_eq!(hits[0].score, hits[1].score, "it fits as surely");
}

#[test]
fn what_was_said_stands_before_the_summary_that_repeats_it() {
    let mut pool = conversation("cli:a", &[("Ann", "we deploy on fridays at noon"), ("Bob", "good to know")]);
    let summary = "Ann said: we deploy on fridays at noon. The shop moves to another town.";
    pool.entries.push((Entry { layer: Layer::Archive, ..memory("s", summary) }, None));
    pool.entries.push((Entry { layer: Layer::Archive, ..memory("other", "the deploy of another town") }, None));
    let mut hits = pool.ranked("when do we deploy?", &Filter::default(), Ranking::Fused);
    for turned in [false, true] {
        if turned {
            hits.reverse();
        }
        let folded = fold(hits.clone());
        let turn = folded.iter().find(|hit| hit.memory.entry.id.as_str() == "t0").expect("it stands");
        assert_eq!(turn.evidence, [EntryId::new("s")]);
        assert!(ids(&folded).contains(&"other") && !ids(&folded).contains(&"s"), "{:?}", ids(&folded));
    }
}

#[test]
fn a_score_depends_on_the_candidate_alone() {
    let of = |n: usize| memory(&format!("m{n}"), &format!("the deploy of shop number {n} runs on friday"));
    let alone = ranked("the deploy of shop 7", vec![of(7)], Ranking::Fused);
    let among = ranked("the deploy of shop 7", (0..200).map(of).collect(), Ranking::Fused);
    assert_eq!(among[0], alone[0]);
}

#[test]
fn more_of_the_question_is_surer() {
    let all = vec![
        memory("none", "the weather is fine"),
        memory("one", "the observatory is closed"),
        memory("three", "the keys of the observatory are with marta"),
        memory("two", "marta works at the observatory"),
    ];
    check("does marta have the keys of the observatory?", all, &["three", "two", "one", "none"]);
}

#[test]
fn the_sentence_that_fits_best_counts() {
    let (first, second) =
        ("The observatory in Coimbra ordered a theodolite.", "Who collects porcelain elephants in Lisbon?");
    let scores = |message: String| {
        let known = [memory("first", "the observatory ordered a theodolite"), memory("other", "theodolite elephants")];
        let hits = ranked(&message, known.to_vec(), Ranking::Fused);
        assert_eq!(ids(&hits), ["first", "other"], "a whole sentence before words of several");
        hits
    };
    let (earlier, last) = (scores(format!("{first} {second}")), scores(format!("{second} {first}")));
    assert!(last[0].score > earlier[0].score, "the last sentence counts most: {} {}", last[0].why, earlier[0].why);
    let discount = |hit: &Hit| {
        let of_sentence = hit.why.features.iter().find(|feature| feature.name == "one_sentence");
        of_sentence.expect("a sentence of a message").points
    };
    assert!(discount(&earlier[0]) < discount(&last[0]) && discount(&last[0]) < 0.0, "{}", earlier[0].why);
}

#[test]
fn a_turn_counts_with_what_stands_beside_it() {
    let pool = conversation(
        "chat:a",
        &[
            ("Ada", "Good morning"),
            ("Ada", "Who has the keys of the observatory?"),
            ("Ben", "Marta has."),
            ("Ada", "Fine"),
        ],
    );
    let hits = pool.ranked("the keys of the observatory", &Filter::default(), Ranking::Fused);
    assert!(hits.iter().position(|hit| hit.memory.entry.id.as_str() == "t2") < Some(2), "{hits:?}");
    assert_eq!(hits.len(), 4);
    assert!(hits[0].speaker.is_some(), "it is said who spoke");
}

#[test]
fn what_the_filter_leaves_out_is_a_neighbour_only() {
    let turns = [("Ada", "Who has the keys of the observatory?"), ("assistant", "Marta has them.")];
    let pool = conversation("chat:a", &turns);
    let filter = Filter { source: Some(Source::Agent), ..Filter::default() };
    let hits = pool.ranked("the keys of the observatory", &filter, Ranking::Fused);
    assert_eq!(ids(&hits), ["t1"]);
    let alone = conversation("chat:a", &turns[1..]);
    let without = alone.ranked("the keys of the observatory", &filter, Ranking::Fused);
    assert!(hits[0].score > without[0].score, "what it answers counts for it");
}

#[test]
fn the_speaker_whom_a_question_names_comes_first() {
    let said = "I painted a lighthouse";
    let pool = conversation("chat:a", &[("Ada", said), ("Ben", "hm"), ("Cleo", "so"), ("Ben", "well"), ("Ben", said)]);
    for (asked, expected) in [("what did Ben paint?", "t4"), ("what did ada paint?", "t0")] {
        let hits = pool.ranked(asked, &Filter::default(), Ranking::Fused);
        assert_eq!(ids(&hits)[0], expected, "{asked}");
    }
}

#[test]
fn what_was_said_at_the_time_that_is_asked_about_comes_first() {
    let at = |id: &str, date: civil::Date| {
        let at = date.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
        Entry { created_at: at, updated_at: at, ..memory(id, "we ordered a lens") }
    };
    let all = || vec![at("march", civil::date(1972, 3, 3)), at("may", civil::date(1972, 5, 3))];
    check("which lens did we order in March 1972?", all(), &["march", "may"]);
    check("which lens did we order in May 1972?", all(), &["may", "march"]);
}

#[test]
fn the_weightiest_feature_is_named_first() {
    let hits = ranked("the keys of the observatory", vec![memory("a", "marta has the keys")], Ranking::Fused);
    let features = &hits[0].why.features;
    let weighed = features.iter().filter(|feature| feature.name != "base").map(|feature| feature.points.abs());
    assert!(weighed.is_sorted_by(|a, b| a >= b), "{}", hits[0].why);
    assert!(features.iter().all(|feature| feature.points != 0.0), "what adds nothing is not named");
    assert!(hits[0].why.to_string().contains("own +"), "{}", hits[0].why);
}

#[test]
fn what_older_versions_logged_is_read() {
    let old = r#"{"recall_id": "r1", "at": "2026-03-01T12:00:00Z", "query": "tea", "hits": [{"id": "a", "kind": "entry",
        "score": 2.31, "why": {"found_by": "words", "bm25": 1.9, "recency": 1.1, "trust": 1.1, "significance": 1.0}}]}"#;
    let record: RecallRecord = serde_json::from_str(old).unwrap();
    assert_eq!((record.hits[0].score, &record.hits[0].why), (2.31, &Why::only(FoundBy::Words)));
    let again: RecallRecord = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
    assert_eq!(again, record);
}

#[test]
fn a_text_without_a_vector_is_weighed_by_its_words_among_others_that_have_one() {
    let score = |others: Option<f32>| {
        let exact = Entry { updated_at: day(999), ..memory("exact", "Ada's train leaves at ten") };
        let mut known = Known::of(vec![exact, memory("other", "The bus is late on Mondays")]);
        known.meanings[1] = others;
        let hits = known.ranked("which train?", &Filter::default(), Ranking::Fused);
        hits.iter().find(|hit| hit.memory.entry.id.as_str() == "exact").unwrap().score
    };
    assert_eq!(score(Some(0.9)), score(None), "a store that is half embedded hides nothing");
}

/// Short texts that resemble each other all mean nearly the same to an embedder.
#[test]
fn a_text_with_every_word_stands_first_whatever_vectors_say() {
    for asked in ["question 2321", "2321", "otter 2321"] {
        let texts = ["Question 2323 about the fox", "Question 2321 about the otter", "Question 1617 about the otter"];
        let turns = texts
            .into_iter()
            .enumerate()
            .flat_map(|(n, text)| conversation(&format!("web:{n}"), &[("Ada", text)]).entries);
        let turns = turns
            .enumerate()
            .map(|(n, (entry, speaker))| (Entry { id: EntryId::new(format!("t{n}")), ..entry }, speaker));
        let entries: Vec<_> = turns.collect();
        let known = Known { entries, beside: Vec::new(), meanings: vec![Some(1.2), Some(0.8), Some(1.2)] };
        let hits = known.ranked(asked, &Filter::default(), Ranking::Fused);
        assert_eq!(hits[0].memory.entry.id.as_str(), "t1", "{asked}: {}", hits[0].why);
        assert!(hits[0].score > 0.5, "{asked}: {}", hits[0].score);
    }
}

#[test]
fn words_that_few_candidates_have_decide_the_order_and_not_the_score() {
    let rare = || memory("rare", "the kettle is on the left");
    let common = || memory("common", "the ladder is on the left");
    let others = |count: usize| (0..count).map(|n| memory(&format!("x{n}"), &format!("the ladder of house {n}")));
    let among = |count: usize| {
        ranked("kettle ladder", [rare(), common()].into_iter().chain(others(count)).collect(), Ranking::Fused)
    };
    let score = |hits: &[Hit], id: &str| hits.iter().find(|hit| hit.memory.entry.id.as_str() == id).unwrap().score;
    let (few, many) = (among(0), among(40));
    for id in ["rare", "common"] {
        assert_eq!(score(&few, id), score(&many, id), "{id} fits as surely among many as among few");
    }
    let gap = |hits: &[Hit]| {
        let points = |id: &str| hits.iter().find(|hit| hit.memory.entry.id.as_str() == id).unwrap().why.order_points();
        points("rare") - points("common")
    };
    assert!(gap(&many) > gap(&few), "{} {}", gap(&many), gap(&few));
}

#[test]
fn where_one_person_speaks_every_turn_stands_alone() {
    let score = |speaker: &str| {
        let pool = conversation("chat:1", &[("Ada", "Where does the ferry leave?"), (speaker, "From pier nine.")]);
        let hits = pool.ranked("ferry leave", &Filter::default(), Ranking::Fused);
        hits.iter().find(|hit| hit.memory.entry.id.as_str() == "t1").unwrap().score
    };
    assert!(score("Tom") > 2.0 * score("Ada"), "{} {}", score("Tom"), score("Ada"));
}

#[test]
fn the_best_of_many_are_the_best_of_all() {
    let of = |n: usize| memory(&format!("m{n:02}"), &format!("the deploy of shop number {} runs on friday", n % 9));
    let mut entries: Vec<Entry> = (0..60).map(of).collect();
    entries[41].tags = vec![CORRECTION_TAG.to_owned()];
    let known = Known::of(entries);
    for asked in ["the deploy of shop 7", "friday", "deploy number 3"] {
        let all = known.ranked(asked, &Filter::default(), Ranking::Fused);
        for limit in [0, 1, 7, 59, 60, 61] {
            let best = known.best(asked, &Filter::default(), Ranking::Fused, limit);
            assert_eq!(best, all[..limit.min(60)], "{asked}, {limit}");
        }
    }
}
