//! Entries: keys, versions, dedupe, atomicity, references, pages.

use std::collections::BTreeSet;

use super::*;

#[test]
fn an_entry_comes_back_as_it_was_stored() {
    let store = make();
    let wanted = full_entry("a");
    assert_eq!(insert(&*store, wanted.clone()), wanted);
    assert_eq!(stored(&*store, "a"), Some(wanted.clone()));
    assert_eq!(done(store.keyed(&wanted.namespace, Some("apollo"), "full")), Some(wanted));
    assert_eq!(stored(&*store, "b"), None);
}

#[test]
fn what_was_confirmed_is_there_after_a_restart() {
    let store = make();
    let entry = insert(&*store, full_entry("a"));
    let store = store.reopen();
    assert_eq!(stored(&*store, "a"), Some(entry));
}

#[test]
fn a_key_is_unique_among_the_active_of_a_namespace_and_project() {
    let store = make();
    let first = insert(&*store, keyed("a", "editor", "vim"));
    let again = |entry| apply(&*store, Verb::Remember, &[Op::Insert(entry)]);
    conflicts(again(keyed("b", "editor", "emacs")), "a second active key");
    assert_eq!(stored(&*store, "b"), None);
    let apollo = Entry { project: Some("apollo".to_owned()), ..keyed("c", "editor", "ed") };
    let global = Entry { namespace: Namespace::Global, ..keyed("d", "editor", "nano") };
    let forgotten = inactive(&keyed("e", "editor", "pico"));
    for other in [&apollo, &global, &forgotten] {
        insert(&*store, other.clone());
    }
    let facts = address("user/facts");
    assert_eq!(done(store.keyed(&facts, None, "editor")), Some(first));
    assert_eq!(done(store.keyed(&facts, Some("apollo"), "editor")), Some(apollo));
    assert_eq!(done(store.keyed(&Namespace::Global, None, "editor")), Some(global));
    assert_eq!(done(store.keyed(&facts, None, "Editor")), None, "a key is exact");
    assert_eq!(done(store.keyed(&facts, Some("zeus"), "editor")), None);
}

#[test]
fn a_forgotten_key_can_be_stored_again() {
    let store = make();
    let first = insert(&*store, keyed("a", "editor", "vim"));
    update(&*store, inactive(&first));
    let facts = address("user/facts");
    assert_eq!(done(store.keyed(&facts, None, "editor")), None);
    let second = insert(&*store, keyed("b", "editor", "emacs"));
    assert_eq!(done(store.keyed(&facts, None, "editor")), Some(second));
}

#[test]
fn a_key_that_was_given_away_is_not_taken_back() {
    let store = make();
    let first = insert(&*store, keyed("a", "editor", "vim"));
    let forgotten = update(&*store, inactive(&first));
    insert(&*store, keyed("b", "editor", "emacs"));
    let again = Op::Update(Entry { status: Status::Active, ..forgotten.clone() });
    conflicts(apply(&*store, Verb::Restore, &[again]), "activating a taken key");
    assert_eq!(stored(&*store, "a"), Some(forgotten));
}

#[test]
fn an_update_needs_the_current_version() {
    let store = make();
    let first = insert(&*store, entry("a", "tea"));
    let second = update(&*store, Entry { content: "coffee".to_owned(), ..first.clone() });
    assert_eq!((second.version, second.content.as_str()), (2, "coffee"));
    let stale = Op::Update(Entry { content: "milk".to_owned(), ..first });
    conflicts(apply(&*store, Verb::Edit, &[stale]), "updating a version that was replaced");
    let early = Op::Update(Entry { version: 3, ..second.clone() });
    conflicts(apply(&*store, Verb::Edit, &[early]), "updating a version that is yet to come");
    let unknown = apply(&*store, Verb::Edit, &[Op::Update(entry("nobody", "x"))]);
    conflicts(unknown, "updating what is not there");
    assert_eq!(stored(&*store, "a"), Some(second));
    assert_eq!(done(store.changes(9)).len(), 2, "a refused update leaves no change");
}

#[test]
fn the_same_text_without_a_key_is_stored_once() {
    let store = make();
    let first = insert(&*store, Entry { tags: vec!["hot".to_owned()], ..entry("a", "likes tea") });
    let before = format!("{:?}", everything(&*store));
    assert_eq!(insert(&*store, entry("b", "likes tea")), first);
    assert_eq!(format!("{:?}", everything(&*store)), before, "no version and no change is written");
}

#[test]
fn the_same_text_elsewhere_is_another_memory() {
    let store = make();
    insert(&*store, entry("a", "likes tea"));
    let others = [
        Entry { namespace: Namespace::Global, ..entry("b", "likes tea") },
        Entry { layer: Layer::Archive, ..entry("c", "likes tea") },
        Entry { project: Some("apollo".to_owned()), ..entry("d", "likes tea") },
        keyed("e", "drink", "likes tea"),
        entry("f", "Likes tea"),
        entry("g", "likes tea "),
    ];
    for other in others {
        assert_eq!(insert(&*store, other.clone()), other);
    }
    let forgotten = update(&*store, inactive(&done(store.memory(&EntryId::new("a"))).unwrap().entry));
    assert_eq!(insert(&*store, entry("h", "likes tea")).id.as_str(), "h", "{forgotten:?} is no longer said");
}

#[test]
fn same_text_is_stored_once_under_concurrency() {
    let store = make();
    let ids: BTreeSet<String> = std::thread::scope(|scope| {
        let storing: Vec<_> = (0..8)
            .map(|by| {
                let handle = store.again();
                let storing = move |nth: usize| {
                    let entry = entry(&format!("e{by}x{nth}"), &format!("likes tea {nth}"));
                    insert(&*handle, entry).id.to_string()
                };
                scope.spawn(move || (0..5).map(storing).collect::<Vec<_>>())
            })
            .collect();
        storing.into_iter().flat_map(|stored| stored.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), 5, "each is given the one that is stored");
    assert_eq!(listed(&*store, &Filter::default()).into_iter().collect::<BTreeSet<_>>(), ids);
    assert_eq!(done(store.changes(99)).len(), 5, "who stored nothing made no change");
}

#[test]
fn duplicates_by_edit_are_kept() {
    let store = make();
    let tea = insert(&*store, entry("a", "likes tea"));
    let milk = insert(&*store, entry("b", "likes milk"));
    let twin = update(&*store, Entry { content: tea.content.clone(), ..milk.clone() });
    assert_eq!(stored(&*store, "b"), Some(twin.clone()), "an edit is what the person wants");
    assert_eq!(insert(&*store, entry("c", "likes tea")), tea, "and no third is stored");
    assert_eq!(insert(&*store, entry("d", "likes milk")).id.as_str(), "d", "nobody says that any more");
    update(&*store, inactive(&tea));
    assert_eq!(insert(&*store, entry("e", "likes tea")), twin, "the other one still says it");
    let back = update(&*store, Entry { version: 2, ..tea });
    let twin = update(&*store, inactive(&twin));
    assert_eq!(insert(&*store, entry("f", "likes tea")), back);
    update(&*store, inactive(&back));
    assert_eq!(insert(&*store, entry("g", "likes tea")).id.as_str(), "g", "{twin:?} is no longer said");
    assert_eq!(done(store.check()), Vec::<String>::new());
}

#[test]
fn keyed_entries_may_repeat_a_text() {
    let store = make();
    let plain = insert(&*store, entry("a", "likes tea"));
    let named = insert(&*store, keyed("b", "drink", "likes tea"));
    let unnamed = update(&*store, Entry { key: None, ..named });
    let renamed = update(&*store, Entry { key: Some("beverage".to_owned()), ..plain });
    assert_eq!(insert(&*store, entry("c", "likes tea")), unnamed);
    update(&*store, Entry { key: Some("habit".to_owned()), ..unnamed });
    assert_eq!(insert(&*store, entry("d", "likes tea")).id.as_str(), "d", "{renamed:?} has a key");
}

#[test]
fn a_failing_step_takes_the_whole_change_back() {
    let store = make();
    let known = insert(&*store, keyed("a", "editor", "vim"));
    let before = everything(&*store);
    let good = [
        Op::Insert(entry("b", "new")),
        Op::document("user/profile".parse().unwrap(), Some("- Ada\n".to_owned())),
        Op::Update(Entry { content: "emacs".to_owned(), ..known }),
    ];
    let bad = [Op::Update(entry("nobody", "x")), Op::Insert(keyed("c", "editor", "nano"))];
    for bad in bad {
        let ops = [&good[..], &[bad]].concat();
        let mut ran = false;
        let outcome = store.apply(&change(Verb::Edit), &ops, &mut || {
            ran = true;
            true
        });
        conflicts(outcome, "a change with a step that fails");
        assert!(!ran, "`last` runs only when everything is in place");
        assert_eq!(everything(&*store), before);
    }
}

#[test]
fn a_change_can_be_taken_back_at_the_last_moment() {
    let store = make();
    let known = insert(&*store, keyed("a", "editor", "vim"));
    let before = everything(&*store);
    let ops = [
        Op::Insert(entry("b", "new")),
        Op::document("user/profile".parse().unwrap(), Some("- Ada\n".to_owned())),
        Op::Update(Entry { content: "emacs".to_owned(), ..known }),
    ];
    let outcome = store.apply(&change(Verb::Edit), &ops, &mut || false);
    assert!(matches!(outcome, Err(StoreError::TakenBack)), "{outcome:?}");
    assert_eq!(everything(&*store), before);
    let applied = done(apply(&*store, Verb::Edit, &ops));
    assert_eq!(applied.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ["b", "a"], "in order");
}

fn resolved(store: &dyn Store, reference: &str) -> Vec<String> {
    done(store.resolve(reference)).iter().map(EntryId::to_string).collect()
}

#[test]
fn an_exact_id_is_meant_before_all_else() {
    let store = make();
    insert(&*store, entry("aaaaaa22", "short id"));
    insert(&*store, entry("aaaaaa22bb", "longer id"));
    insert(&*store, keyed("cccccc22", "aaaaaa22", "its key is an id"));
    assert_eq!(resolved(&*store, "aaaaaa22"), ["aaaaaa22"]);
}

#[test]
fn a_key_is_meant_before_the_beginning_of_an_id() {
    let store = make();
    insert(&*store, entry("editor2222", "an id that begins like a key"));
    insert(&*store, keyed("bbbbbb2222", "editor", "vim"));
    assert_eq!(resolved(&*store, "editor"), ["bbbbbb2222"]);
    assert_eq!(resolved(&*store, "editor2"), ["editor2222"]);
}

#[test]
fn an_active_key_is_meant_before_a_forgotten_one() {
    let store = make();
    let first = insert(&*store, keyed("a", "editor", "vim"));
    let later = Entry { updated_at: minute(9), ..inactive(&first) };
    update(&*store, later);
    assert_eq!(resolved(&*store, "editor"), ["a"], "a forgotten one can still be named");
    insert(&*store, keyed("b", "editor", "emacs"));
    assert_eq!(resolved(&*store, "editor"), ["b"]);
    let apollo = Entry { project: Some("apollo".to_owned()), ..keyed("c", "editor", "ed") };
    insert(&*store, apollo);
    let both: BTreeSet<String> = resolved(&*store, "editor").into_iter().collect();
    assert_eq!(both, BTreeSet::from(["b".to_owned(), "c".to_owned()]), "two active ones are both meant");
}

#[test]
fn six_characters_name_an_id() {
    let store = make();
    for id in ["abcdef2222222222", "abcdeg2222222222", "abcdeg3333333333"] {
        insert(&*store, entry(id, id));
    }
    assert_eq!(resolved(&*store, "abcdef"), ["abcdef2222222222"]);
    assert_eq!(resolved(&*store, "ABCDEF22"), ["abcdef2222222222"], "case does not matter");
    assert_eq!(resolved(&*store, "abcdeg"), ["abcdeg2222222222", "abcdeg3333333333"], "ambiguous");
    for nothing in ["abcde", "", "abcdefx", "abcd%%", "______", "abcdef2222222222x", "ab cdef", "\0\0\0\0\0\0"] {
        assert!(resolved(&*store, nothing).is_empty(), "{nothing:?}");
    }
}

#[test]
fn pages_visit_each_memory_once() {
    let store = make();
    let entries = (0..23).map(|n| Entry { created_at: minute(n / 4), ..entry(&format!("e{n}"), &format!("text {n}")) });
    let ops: Vec<Op> = entries.map(Op::Insert).collect();
    done(apply(&*store, Verb::Remember, &ops));
    for limit in [1, 2, 5, 22, 23, 24] {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let listing = done(store.list(&Filter::default(), &Page { limit, cursor }));
            assert!(listing.memories.len() <= limit);
            seen.extend(listing.memories.into_iter().map(|memory| memory.entry.id.to_string()));
            cursor = listing.cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, listed(&*store, &Filter::default()), "in pages of {limit}");
    }
    let none = done(store.list(&Filter::default(), &Page { limit: 0, cursor: None }));
    assert_eq!(none.memories, []);
}

#[test]
fn an_invented_cursor_is_refused() {
    let store = make();
    insert(&*store, entry("a", "tea"));
    for cursor in ["", "x", "1", "1.x", "1.2.3", "99999999999999999999.1", "1;DROP TABLE entries"] {
        let page = Page { limit: 5, cursor: Some(cursor.to_owned()) };
        assert!(store.list(&Filter::default(), &page).is_err(), "{cursor:?}");
    }
}
