//! Turns that are found come with those beside them: they say what an answer was about.

use super::candidates::ids;
use super::*;

/// The word that is looked for.
const WORD: &str = "zeppelin";

/// Appends turns of one conversation, `0`, `1`, …: `u` says something, `U` with the word; `a`, `A` an assistant; `t`, `T` a
/// tool.
fn converse(store: &dyn Store, session: &str, turns: &str) {
    let said = |(n, letter): (usize, char)| {
        let role = match letter.to_ascii_lowercase() {
            'u' => Role::User,
            'a' => Role::Assistant,
            _ => Role::Tool,
        };
        let text = if letter.is_uppercase() { WORD } else { "whatever" };
        Turn { role, at: minute(n as i64), ..turn(&format!("{session}-{n}"), session, text) }
    };
    done(store.append(&turns.chars().enumerate().map(said).collect::<Vec<_>>()));
}

/// What is found, in the order of the conversation: `1 2! 3` where 2 is found and the others stand beside it; ` | ` stands
/// where two are not side by side.
fn shown(store: &dyn Store, pool: &Pool) -> String {
    let ids = ids(store, &pool.candidates);
    let mut places: Vec<usize> = (0..pool.candidates.len()).collect();
    places.sort_by_key(|at| pool.candidates[*at].created_at);
    let mut text = String::new();
    for (n, at) in places.iter().enumerate() {
        if let Some(before) = n.checked_sub(1).map(|n| places[n]) {
            text.push_str(if pool.beside.contains(&(before, *at)) { " " } else { " | " });
        }
        text.push_str(ids[*at].rsplit('-').next().unwrap());
        text.push_str(match pool.candidates[*at].found_by {
            FoundBy::Beside => "",
            FoundBy::Words => "!",
            FoundBy::Meaning => "~",
            other => panic!("{other:?}"),
        });
    }
    let side_by_side = text.matches(' ').count() - 2 * text.matches('|').count();
    assert_eq!(pool.beside.len(), side_by_side, "{text}: {:?}", pool.beside);
    text
}

fn search(store: &dyn Store, filter: Filter, also: &[&str]) -> Pool {
    let also = also.iter().map(|id| EntryId::new(*id)).collect();
    done(store.search(&Search { also, ..searching(WORD, filter, 100) }))
}

fn check(turns: &str, expected: &str) {
    let store = make();
    converse(&*store, "cli:a", turns);
    assert_eq!(shown(&*store, &search(&*store, Filter::default(), &[])), expected, "{turns}");
}

#[test]
fn a_turn_comes_with_two_on_each_side() {
    check("uauaUauaua", "2 3 4! 5 6");
    check("Uauaua", "0! 1 2");
    check("uauauA", "3 4 5!");
    check("U", "0!");
    check("uU", "0 1!");
}

#[test]
fn each_comes_once_and_only_neighbours_are_side_by_side() {
    check("uaUAuaua", "0 1 2! 3! 4 5");
    check("UauAuau", "0! 1 2 3! 4 5");
    check("UauaUau", "0! 1 2 3 4! 5 6");
    check("UauauA", "0! 1 2 3 4 5!");
    check("UauauaU", "0! 1 2 | 4 5 6!");
    check(&format!("U{}U", "au".repeat(20)), "0! 1 2 | 39 40 41!");
}

#[test]
fn what_tools_print_does_not_come_between() {
    check("uatUttau", "0 1 3! 6 7");
    check("ttUttttau", "2! 7 8");
    check("uatttTau", "0 1 5! 6 7");
    check("tttT", "3!");
}

#[test]
fn conversations_are_apart() {
    let store = make();
    for (session, turns) in [("cli:a", "uaU"), ("cli:b", "ua"), ("cli:c", "Aua")] {
        converse(&*store, session, turns);
    }
    let pool = search(&*store, Filter::default(), &[]);
    let session = |at: &usize| pool.candidates[*at].traits.session.clone();
    assert_eq!((pool.candidates.len(), pool.beside.len()), (6, 4));
    assert!(pool.beside.iter().all(|(left, right)| session(left) == session(right)), "{pool:?}");
}

#[test]
fn what_is_wanted_anyway_comes_with_its_neighbours() {
    let store = make();
    insert(&*store, entry("e", "something else"));
    converse(&*store, "cli:a", "uauaua");
    let pool = search(&*store, Filter { kinds: vec![Kind::Turn], ..Filter::default() }, &["cli:a-2", "e", "nobody"]);
    assert_eq!(shown(&*store, &pool), "0 1 2~ 3 4");
    let memories = Filter { kinds: vec![Kind::Entry], ..Filter::default() };
    let pool = search(&*store, memories, &["cli:a-2", "e", "nobody"]);
    let found_by: Vec<_> = pool.candidates.iter().map(|found| found.found_by).collect();
    assert_eq!((ids(&*store, &pool.candidates), found_by), (vec!["e".to_owned()], vec![FoundBy::Meaning]));
    assert!(pool.beside.is_empty());
}

#[test]
fn what_is_found_by_its_words_and_wanted_anyway_is_there_once() {
    let store = make();
    insert(&*store, entry("e", WORD));
    converse(&*store, "cli:a", "uU");
    let pool = search(&*store, Filter::default(), &["e", "cli:a-1"]);
    let found: Vec<FoundBy> = pool.candidates.iter().map(|found| found.found_by).collect();
    assert_eq!(found, [FoundBy::Words, FoundBy::Beside, FoundBy::Words]);
}

#[test]
fn what_the_filter_leaves_out_is_not_found_but_stands_beside() {
    let store = make();
    converse(&*store, "cli:a", "AuUAu");
    let found = |filter: Filter| shown(&*store, &search(&*store, filter, &["cli:a-0", "cli:a-3"]));
    assert_eq!(found(Filter { source: Some(Source::User), ..Filter::default() }), "0 1 2! 3 4");
    assert_eq!(found(Filter { since: Some(minute(3)), ..Filter::default() }), "1 2 3! 4");
    assert_eq!(found(Filter { until: Some(minute(1)), ..Filter::default() }), "0! 1 2");
    assert_eq!(found(Filter { layers: vec![Layer::Knowledge], ..Filter::default() }), "");
}

#[test]
fn neighbours_do_not_count_toward_the_limit() {
    let store = make();
    converse(&*store, "cli:a", "uaUua");
    converse(&*store, "cli:b", "uaU");
    insert(&*store, entry("e", WORD));
    for (limit, expected) in [(0, 0), (1, 1), (2, 2), (9, 2)] {
        let pool = done(store.search(&searching(WORD, Filter::default(), limit)));
        let found = |kind| {
            let is_found = |found: &&Candidate| found.traits.kind == kind && found.found_by == FoundBy::Words;
            pool.candidates.iter().filter(is_found).count()
        };
        assert_eq!((found(Kind::Turn), found(Kind::Entry)), (expected, expected.min(1)), "of each kind {limit}");
    }
}

#[test]
fn a_turn_says_who_spoke_and_what_the_index_has_of_it() {
    let store = make();
    let said = Turn { speaker: Some("Grace".to_owned()), ..turn("t1", "cli:a", "Two zeppelins landed") };
    done(store.append(&[said, turn("t2", "cli:a", "Really?")]));
    let pool = search(&*store, Filter::default(), &[]);
    let [grace, other] = pool.candidates.as_slice() else { panic!("{pool:?}") };
    assert_eq!((grace.traits.speaker.as_deref(), other.traits.speaker.as_deref()), (Some("Grace"), None));
    assert!(grace.sketch.has(WORD) && grace.sketch.has("land"), "{grace:?}");
    assert!(!other.sketch.is_empty(), "what stands beside is read too");
}
