//! The recall log, conversations and counts.

use throughline_core::model::{Position, RecallId, Session, SessionId};
use throughline_core::ports::{Op, StoreStats};
use throughline_core::recall::{AskedBy, FoundBy, RecallRecord, RecalledHit, Why};

use super::*;

pub(super) const CHECKS: &[Check] = checks![
    recalls_are_noted_the_newest_first,
    recalls_are_known_by_their_conversation,
    every_hit_is_counted,
    turns_keep_their_order,
    a_turn_is_said_once,
    the_latest_session_comes_first,
    stats_count_what_is_there,
];

/// A recall that returned these.
pub(super) fn recall(id: &str, query: &str, at: i64, hits: &[&str]) -> RecallRecord {
    let why = Why { found_by: FoundBy::Words, bm25: 1.5, recency: 1.1, trust: 1.1, significance: 1.0, correction: 1.0 };
    let hit = |id: &&str| {
        let id = EntryId::new(*id);
        RecalledHit { id, kind: Kind::Entry, score: why.score(), why: why.clone(), given: false }
    };
    RecallRecord {
        recall_id: RecallId::new(id),
        at: minute(at),
        session: None,
        by: AskedBy::Tool,
        query: query.to_owned(),
        hits: hits.iter().map(hit).collect(),
    }
}

fn recalls_are_noted_the_newest_first(make: Make<'_>) {
    let store = make();
    assert_eq!(done(store.recalls(None, 9)), []);
    let noted = [recall("r1", "tea", 1, &["a"]), recall("r2", "100% \"quoted\"", 2, &[])];
    noted.iter().cloned().for_each(|recall| store.note(recall));
    let [first, second] = noted;
    assert_eq!(done(store.recalls(None, 9)), [second.clone(), first]);
    assert_eq!(done(store.recalls(None, 1)), std::slice::from_ref(&second));
    assert_eq!(done(store.recall_record(&second.recall_id)), Some(second));
    assert_eq!(done(store.recall_record(&RecallId::new("r3"))), None);
    assert_eq!(done(store.changes(9)), [], "a recall is no change");
}

fn recalls_are_known_by_their_conversation(make: Make<'_>) {
    let store = make();
    let session = |id: &str| -> SessionId { id.parse().unwrap() };
    let asked = |id: &str, of: &str| RecallRecord { session: Some(session(of)), ..recall(id, "tea", 1, &["a", "b"]) };
    let mut first = asked("r1", "cli:a");
    first.hits[1].given = true;
    let (elsewhere, plain, second) = (asked("r2", "cli:b"), recall("r3", "tea", 1, &[]), asked("r4", "cli:a"));
    for recall in [&first, &elsewhere, &plain, &second] {
        store.note(recall.clone());
    }
    let a = session("cli:a");
    assert_eq!(done(store.recalls(Some(&a), 9)), [second.clone(), first.clone()], "with what was given");
    assert_eq!(done(store.recalls(Some(&a), 1)), std::slice::from_ref(&second));
    assert_eq!(done(store.recalls(Some(&session("cli:nobody")), 9)), []);
    assert_eq!(done(store.recalls(None, 9)), [second, plain, elsewhere, first]);
}

fn every_hit_is_counted(make: Make<'_>) {
    let store = make();
    insert(&*store, entry("a", "tea"));
    insert(&*store, entry("b", "milk"));
    for record in [recall("r1", "tea", 7, &["a"]), recall("r2", "tea", 3, &["a", "b"]), recall("r3", "x", 9, &[])] {
        store.note(record);
    }
    done(store.recalls(None, 1));
    let used = |id: &str| {
        let memory = done(store.memory(&EntryId::new(id))).unwrap();
        (memory.recall_count, memory.last_recalled_at)
    };
    assert_eq!(used("a"), (2, Some(minute(7))));
    assert_eq!(used("b"), (1, Some(minute(3))));
    let listing = done(store.list(&Filter::default(), &Page { limit: 9, cursor: None }));
    let counts: u64 = listing.memories.iter().map(|memory| memory.recall_count).sum();
    assert_eq!(counts, 3, "listings show them too");
}

/// All that was said in a session.
pub(super) fn said_in(store: &dyn Store, session: &SessionId) -> Vec<Turn> {
    done(store.turns_after(session, Position::default())).into_iter().map(|(_, turn)| turn).collect()
}

fn turns_keep_their_order(make: Make<'_>) {
    let store = make();
    let said = [
        Turn { at: minute(5), ..turn("z", "cli:a", "first") },
        turn("y", "cli:b", "elsewhere"),
        Turn { role: Role::Assistant, speaker: Some("Bot".to_owned()), ..turn("a", "cli:a", "second\n用户 \0") },
    ];
    done(store.append(&said[..2]));
    done(store.append(&said[2..]));
    done(store.append(&[]));
    assert_eq!(said_in(&*store, &"cli:a".parse().unwrap()), [said[0].clone(), said[2].clone()], "as they were said");
    assert_eq!(said_in(&*store, &"cli:b".parse().unwrap()), [said[1].clone()]);
    assert_eq!(said_in(&*store, &"cli:c".parse().unwrap()), []);
}

fn a_turn_is_said_once(make: Make<'_>) {
    let store = make();
    done(store.append(&[turn("t", "cli:a", "hello")]));
    done(store.append(&[turn("t", "cli:a", "hello"), turn("u", "cli:a", "again")]));
    let ids: Vec<String> = said_in(&*store, &"cli:a".parse().unwrap()).iter().map(|turn| turn.id.to_string()).collect();
    assert_eq!(ids, ["t", "u"]);
}

fn the_latest_session_comes_first(make: Make<'_>) {
    let store = make();
    let at = |n, id: &str, session: &str| Turn { at: minute(n), ..turn(id, session, "hello") };
    done(store.append(&[at(1, "t1", "cli:a"), at(2, "t2", "cli:b"), at(5, "t3", "cli:a"), at(4, "t4", "cli:a")]));
    let session = |id: &str, from, to| Session {
        id: id.parse().unwrap(),
        project: None,
        task: None,
        created_at: minute(from),
        updated_at: minute(to),
        ended_at: None,
    };
    let sessions: Vec<_> = done(store.sessions()).into_iter().map(|state| state.session).collect();
    assert_eq!(sessions, [session("cli:a", 1, 5), session("cli:b", 2, 2)]);
}

fn stats_count_what_is_there(make: Make<'_>) {
    let store = make();
    assert_eq!(StoreStats { bytes: 0, ..done(store.stats()) }, StoreStats::default());
    let archived = Entry { layer: throughline_core::model::Layer::Archive, ..entry("c", "happened") };
    let ops = [entry("a", "tea"), entry("b", "milk"), archived, inactive(&entry("d", "gone"))].map(Op::Insert);
    done(apply(&*store, Verb::Remember, &ops));
    index(&*store, &"user/profile".parse().unwrap(), None, &[bullet("user/profile", "e", "Ada")]);
    done(store.append(&[turn("t", "cli:a", "hello"), turn("u", "cli:a", "again")]));
    store.note(recall("r", "tea", 0, &["a"]));
    let stats = done(store.stats());
    assert!(stats.bytes > 0);
    let expected = StoreStats {
        knowledge: 2,
        archive: 1,
        bullets: 1,
        inactive: 1,
        sessions: 1,
        turns: 2,
        changes: 2,
        recalls: 1,
        bytes: stats.bytes,
    };
    assert_eq!(stats, expected);
}
