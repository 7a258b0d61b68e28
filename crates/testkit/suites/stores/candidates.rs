//! Candidates: what is found, in which order, and that no text can break a search.

use std::collections::BTreeSet;

use super::*;

pub(super) fn search(store: &dyn Store, query: &str, filter: Filter, limit: usize) -> Vec<String> {
    let pool = done(store.search(&searching(query, filter, limit)));
    let found: Vec<Candidate> =
        pool.candidates.into_iter().filter(|candidate| candidate.found_by == FoundBy::Words).collect();
    found.iter().for_each(|found| has_a_term_of(query, found));
    ids(store, &found)
}

/// The ids of candidates. What ranking reads of each agrees with what it stands for.
pub(super) fn ids(store: &dyn Store, candidates: &[Candidate]) -> Vec<String> {
    let marks: Vec<CandidateMark> = candidates.iter().map(|candidate| candidate.mark).collect();
    let retrieved = done(store.fetch(&marks));
    let id = |(candidate, retrieved): (&Candidate, Option<Retrieved>)| {
        let Retrieved { memory, speaker } = retrieved.expect("it was just found");
        let (entry, traits) = (memory.entry, &candidate.traits);
        assert_eq!((traits.kind, traits.layer, traits.source), (entry.kind, entry.layer, entry.source));
        assert_eq!((&traits.session, &traits.speaker), (&entry.session, &speaker));
        assert_eq!((traits.importance, candidate.created_at), (entry.importance, entry.created_at));
        assert!(
            analysis::index_text(&entry.content).split(' ').all(|term| candidate.sketch.has(term) || term.is_empty())
        );
        entry.id.to_string()
    };
    candidates.iter().zip(retrieved).map(id).collect()
}

/// What is found has one of the words: in its text as the index has it, which ranking reads.
#[track_caller]
fn has_a_term_of(query: &str, found: &Candidate) {
    let terms = Terms::of_query(query);
    assert!(terms.as_slice().iter().any(|term| found.sketch.has(term)), "{query:?}: {found:?}");
    assert_eq!(found.meaning, None, "a store knows nothing of a question's meaning");
    assert!(found.is_admitted);
}

pub(super) fn found(store: &dyn Store, query: &str) -> Vec<String> {
    let mut ids = search(store, query, Filter::default(), 100);
    ids.sort();
    ids
}

pub(super) fn by_letters(store: &dyn Store, needle: &str) -> Vec<String> {
    let candidates = done(store.contains(&[needle.to_owned()], &Filter::default(), 100));
    let mut ids: Vec<String> = candidates.into_iter().map(|found| found.memory.entry.id.to_string()).collect();
    ids.sort();
    ids
}

#[test]
fn words_are_found_in_key_content_and_tags() {
    let store = make();
    insert(&*store, keyed("a", "favourite-drink", "tea"));
    insert(&*store, entry("b", "drinks coffee on Mondays"));
    insert(&*store, Entry { tags: vec!["morning drink".to_owned()], ..entry("c", "milk") });
    assert_eq!(found(&*store, "drink"), ["a", "b", "c"]);
    assert_eq!(found(&*store, "COFFEE?"), ["b"]);
    assert_eq!(found(&*store, "favourite"), ["a"]);
    assert_eq!(found(&*store, "morning"), ["c"]);
    assert_eq!(found(&*store, "tea milk"), ["a", "c"], "any of the words");
    assert!(found(&*store, "water").is_empty());
}

#[test]
fn texts_are_read_by_the_ids_of_memories_and_turns() {
    let store = make();
    insert(&*store, entry("a", "likes tea"));
    insert(&*store, entry("b", "likes milk"));
    let texts = |ids: &[&str]| done(store.texts(&ids.iter().map(|id| EntryId::new(*id)).collect::<Vec<_>>()));
    assert_eq!(texts(&["b", "nobody", "a"]), ["likes milk", "likes tea"]);
    assert_eq!(texts(&[]), [""; 0]);
}

#[test]
fn what_was_changed_is_found_by_its_new_words_only() {
    let store = make();
    let first = insert(&*store, keyed("a", "drink", "tea"));
    update(&*store, Entry { content: "coffee".to_owned(), key: Some("beverage".to_owned()), ..first });
    assert_eq!(found(&*store, "coffee"), ["a"]);
    assert_eq!(found(&*store, "beverage"), ["a"]);
    assert!(found(&*store, "tea").is_empty() && found(&*store, "drink").is_empty());
}

#[test]
fn more_of_a_word_comes_first() {
    let store = make();
    let texts =
        [("once", "tea one two three four"), ("thrice", "tea tea tea one two"), ("twice", "tea tea one two three")];
    let ops = texts.map(|(id, text)| Op::Insert(entry(id, text)));
    done(apply(&*store, Verb::Remember, &ops));
    for n in 0..20 {
        insert(&*store, entry(&format!("other{n}"), &format!("something else entirely {n}")));
    }
    let best = |limit| BTreeSet::from_iter(search(&*store, "tea", Filter::default(), limit));
    for (limit, expected) in [(1, &["thrice"][..]), (2, &["thrice", "twice"]), (9, &["thrice", "twice", "once"])] {
        assert_eq!(best(limit), expected.iter().map(|&id| id.to_owned()).collect(), "the best {limit}");
    }
    assert_eq!(search(&*store, "tea four", Filter::default(), 1), ["once"], "a rare word weighs more");
}

#[test]
fn a_search_keeps_to_its_limit() {
    let store = make();
    for n in 0..7 {
        insert(&*store, entry(&format!("e{n}"), &format!("tea {n}")));
    }
    for limit in [0, 1, 6, 7, 8] {
        assert_eq!(search(&*store, "tea", Filter::default(), limit).len(), limit.min(7));
        let letters = done(store.contains(&["ea".to_owned()], &Filter::default(), limit));
        assert_eq!(letters.len(), limit.min(7));
    }
}

#[test]
fn no_text_can_break_a_search() {
    let store = make();
    insert(&*store, entry("a", "harmless"));
    done(store.append(&[turn("t", "cli:a", "harmless")]));
    let long = "many words ".repeat(5000);
    let hostile = [
        "",
        " ",
        "\"",
        "\"\"",
        "'",
        "*",
        "tea*",
        "^tea",
        "tea NEAR tea",
        "NOT",
        "AND OR NOT",
        "{terms}: x",
        "terms : x",
        "a + b",
        "(",
        ")",
        "-tea",
        "\0",
        "tea\0",
        "\u{feff}",
        "\u{202e}",
        "🦀",
        "é",
        "'; DROP TABLE entries; --",
        "NULL",
        "\\",
        "%",
        "_",
        "?1",
        ":x",
        "@x",
        "$x",
        "entry_words",
        "rank",
        "𠮷",
        "\u{10ffff}",
        "\u{fffd}",
        "\t\n\r",
        &long,
    ];
    let kinds = vec![Kind::Entry, Kind::Bullet, Kind::Turn];
    for text in hostile {
        let filter = Filter { kinds: kinds.clone(), ..Filter::default() };
        search(&*store, text, filter.clone(), 10);
        done(store.contains(&[text.to_owned()], &filter, 10));
        done(store.resolve(text));
        done(store.keyed(&address("global"), Some(text), text));
        done(store.list(
            &Filter { tags: vec![text.to_owned()], task: Some(text.to_owned()), ..filter },
            &Page { limit: 9, cursor: None },
        ));
    }
    assert_eq!(done(store.contains(&[], &Filter::default(), 10)).len(), 0);
    assert_eq!(found(&*store, "harmless"), ["a", "t"]);
}

#[test]
fn letters_stand_for_themselves() {
    let store = make();
    insert(&*store, entry("percent", "it is 100% done"));
    insert(&*store, entry("number", "it is 1000 done"));
    insert(&*store, entry("under", "the name is a_b here"));
    insert(&*store, entry("letter", "the name is axb here"));
    insert(&*store, entry("slash", r"the path is c:\temp"));
    insert(&*store, keyed("key", "data_base", "nothing"));
    assert_eq!(by_letters(&*store, "100%"), ["percent"]);
    assert_eq!(by_letters(&*store, "a_b"), ["key", "under"]);
    assert_eq!(by_letters(&*store, r":\t"), ["slash"]);
    assert_eq!(by_letters(&*store, "%"), ["percent"]);
    assert_eq!(by_letters(&*store, "_"), ["key", "under"]);
    assert_eq!(by_letters(&*store, r"\"), ["slash"]);
    assert_eq!(by_letters(&*store, "100_"), Vec::<String>::new());
    assert_eq!(by_letters(&*store, "NAME IS A"), ["letter", "under"], "case of ASCII letters aside");
    assert_eq!(by_letters(&*store, "done\0"), Vec::<String>::new(), "nothing ends at a NUL");
}

#[test]
fn a_longer_needle_than_any_pattern_is_no_error() {
    let store = make();
    insert(&*store, entry("a", "harmless"));
    for needle in ["x".repeat(60_000), "%".repeat(60_000), "用".repeat(40_000)] {
        assert!(done(store.contains(&[needle], &Filter::default(), 10)).is_empty());
    }
}

#[test]
fn more_needles_come_first_whatever_the_kind() {
    let store = make();
    insert(&*store, entry("one", "has needle"));
    insert(&*store, entry("two", "has needle and pin"));
    done(store.append(&[turn("three", "cli:a", "needle, pin and thimble")]));
    let needles = ["needle", "pin", "thimble"].map(str::to_owned);
    let filter = Filter { kinds: vec![Kind::Entry, Kind::Turn], ..Filter::default() };
    let candidates = done(store.contains(&needles, &filter, 2));
    let ids: Vec<&str> = candidates.iter().map(|found| found.memory.entry.id.as_str()).collect();
    assert_eq!(ids, ["three", "two"]);
}

#[test]
fn turns_are_found_by_word_and_speaker() {
    let store = make();
    let said =
        Turn { speaker: Some("Grace".to_owned()), role: Role::Assistant, ..turn("t1", "cli:a", "the parser works") };
    done(store.append(&[said, turn("t2", "cli:b", "which parser?")]));
    insert(&*store, entry("e", "wrote a parser"));
    assert_eq!(found(&*store, "parser"), ["e", "t1", "t2"], "nothing is left out unless the filter says so");
    let memories = Filter { kinds: vec![Kind::Entry, Kind::Bullet], ..Filter::default() };
    assert_eq!(search(&*store, "parser", memories, 9), ["e"]);
    let turns = Filter { kinds: vec![Kind::Turn], ..Filter::default() };
    assert_eq!(search(&*store, "grace", turns.clone(), 9), ["t1"]);
    let mut both = search(&*store, "parsers", turns.clone(), 9);
    both.sort();
    assert_eq!(both, ["t1", "t2"]);
    let candidates = done(store.contains(&["arser wor".to_owned()], &turns, 9));
    let [one] = candidates.as_slice() else { panic!("{candidates:?}") };
    assert_eq!(one.speaker.as_deref(), Some("Grace"));
    let entry = &one.memory.entry;
    assert_eq!((entry.kind, entry.source, entry.content.as_str()), (Kind::Turn, Source::Agent, "the parser works"));
    assert_eq!(entry.namespace, address("sessions/cli:a"));
}
