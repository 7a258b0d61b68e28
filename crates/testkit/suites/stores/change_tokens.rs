//! Change tokens differ once something of their kind changed, and only then.

use super::*;

/// Says what changed since it was last asked.
fn watching(store: &dyn Store) -> impl FnMut() -> Vec<&'static str> {
    let mut last = done(store.change_tokens());
    move || {
        let now = done(store.change_tokens());
        let changed = now.since(&last);
        last = now;
        changed
    }
}

#[test]
fn tokens_are_stable_without_changes() {
    let store = make();
    insert(&*store, entry("a", "likes tea"));
    let mut changed = watching(&*store);
    assert_eq!(changed(), [""; 0]);
    done(store.stats());
    done(store.list(&Filter::default(), &Page { limit: 9, cursor: None }));
    assert!(done(store.acquire(
        &Lease { name: "x".to_owned(), holder: holder("one"), until: minute(9) },
        minute(0),
        &|_| false
    )));
    insert(&*store, entry("b", "likes tea"));
    assert_eq!(changed(), [""; 0], "what is said already is no change");
    assert_eq!(done(store.again().change_tokens()), done(store.change_tokens()), "whoever asks");
}

#[test]
fn a_change_changes_the_token_of_its_kind() {
    let store = make();
    let mut changed = watching(&*store);
    let known = insert(&*store, entry("a", "likes tea"));
    assert_eq!(changed(), ["memories"]);
    update(&*store, inactive(&known));
    assert_eq!(changed(), ["memories"]);
    done(apply(&*store, Verb::Write, &[Op::document("user/profile".parse().unwrap(), Some("- Ada\n".to_owned()))]));
    assert_eq!(changed(), ["documents"]);
    done(store.append(&[turn("one", "cli:main", "hello")]));
    assert_eq!(changed(), ["sessions"]);
    done(store.append(&[turn("two", "cli:main", "hello")]));
    assert_eq!(changed(), ["sessions"]);
    done(store.end_session(&"cli:main".parse().unwrap(), minute(5)));
    assert_eq!(changed(), ["sessions"]);
    put_task(&*store, &task("t", "write the parser"));
    assert_eq!(changed(), ["tasks"]);
    register(&*store, &project("apollo"));
    assert_eq!(changed(), ["projects"]);
    store.note(recall("r", "tea", 1, &["a"]));
    done(store.recalls(None, 1));
    assert_eq!(changed(), ["recalls"]);
    done(store.note_run(&run(Job::Backup, 1)));
    assert_eq!(changed(), ["jobs"]);
    assert_eq!(changed(), [""; 0]);
}

#[test]
fn session_starts_and_ends_have_tokens_of_their_own() {
    let store = make();
    done(store.open_session(&new(0)));
    let before = done(store.change_tokens());
    say(&*store, 1);
    let differ = |now: &ChangeTokens, before: &ChangeTokens| -> Vec<Watched> {
        Watched::ALL.into_iter().filter(|kind| now.differ(before, *kind)).collect()
    };
    let said = done(store.change_tokens());
    assert_eq!(differ(&said, &before), [Watched::Turns]);
    done(store.end_session(&session(), minute(5)));
    let ended = done(store.change_tokens());
    assert_eq!(differ(&ended, &said), [Watched::SessionsEnded]);
    done(store.end_session(&session(), minute(5)));
    assert!(done(store.change_tokens()).differ(&ended, Watched::SessionsEnded), "again, at the same time");
    let ended = done(store.change_tokens());
    done(store.open_session(&NewSession { id: "cli:b".parse().unwrap(), ..new(6) }));
    assert_eq!(differ(&done(store.change_tokens()), &ended), [Watched::SessionsBegun]);
}

#[test]
fn changes_by_another_handle_change_tokens() {
    let store = make();
    let mut changed = watching(&*store);
    insert(&*store.again(), entry("a", "likes tea"));
    assert_eq!(changed(), ["memories"]);
}

#[test]
fn an_erasure_changes_the_token_of_memories() {
    let store = make();
    insert(&*store, entry("a", "likes tea"));
    insert(&*store, entry("b", "likes milk"));
    let mut changed = watching(&*store);
    done(store.erase(&Erasure { memories: vec![EntryId::new("a")], ..Erasure::default() }));
    assert!(changed().contains(&"memories"), "an older one");
    done(store.erase(&Erasure { memories: vec![EntryId::new("b")], ..Erasure::default() }));
    insert(&*store, entry("c", "likes water"));
    assert!(changed().contains(&"memories"), "the newest, and another took its place");
}
