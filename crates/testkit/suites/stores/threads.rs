//! Threads.

use super::*;

fn thread(id: &str, session: &str) -> Thread {
    Thread {
        id: ThreadId::new(id),
        namespace: "user".parse().unwrap(),
        session: session.parse().unwrap(),
        title: format!("the parser of {id}"),
        project: None,
        task: None,
        content: "## Working on\n- 解析器 half".to_owned(),
        rendered: None,
        status: ThreadStatus::Open,
        created_at: minute(0),
        updated_at: minute(0),
        expires_at: minute(60),
        version: 0,
    }
}

fn put(store: &dyn Store, thread: &Thread) -> Thread {
    done(apply(store, Verb::Consolidate, &[Op::Thread(thread.clone())]));
    Thread { version: thread.version + 1, ..thread.clone() }
}

fn open(store: &dyn Store) -> Vec<String> {
    done(store.open_threads(&"user".parse().unwrap())).into_iter().map(|thread| thread.id.to_string()).collect()
}

#[test]
fn a_thread_comes_back_as_it_was_stored() {
    let store = make();
    let full = Thread {
        project: Some("apollo".to_owned()),
        task: Some("t1".to_owned()),
        rendered: Some("## the parser".to_owned()),
        updated_at: minute(3),
        ..thread("a", "cli:a")
    };
    let first = put(&*store, &full);
    let (user, session): (Name, SessionId) = ("user".parse().unwrap(), "cli:a".parse().unwrap());
    assert_eq!(done(store.thread_of(&user, &session)), Some(first.clone()));
    assert_eq!(done(store.open_threads(&user)), std::slice::from_ref(&first));
    let closed = put(&*store, &Thread { status: ThreadStatus::Closed, rendered: None, ..first });
    assert_eq!(done(store.thread_of(&user, &session)), Some(closed));
    assert_eq!(done(store.open_threads(&user)), []);
    assert_eq!(done(store.thread_of(&user, &"cli:b".parse().unwrap())), None);
    assert_eq!(done(store.thread_of(&"other".parse().unwrap(), &session)), None, "another namespace");
}

#[test]
fn open_threads_are_listed_the_latest_first_expired_ones_too() {
    let store = make();
    for (id, at) in [("a", 3), ("b", 9), ("c", 1)] {
        put(&*store, &Thread { updated_at: minute(at), expires_at: minute(at), ..thread(id, &format!("cli:{id}")) });
    }
    put(&*store, &Thread { namespace: "other".parse().unwrap(), ..thread("d", "cli:a") });
    assert_eq!(open(&*store), ["b", "a", "c"]);
}

#[test]
fn a_conversation_has_one_thread_and_a_thread_needs_its_version() {
    let store = make();
    let first = put(&*store, &thread("a", "cli:a"));
    conflicts(apply(&*store, Verb::Consolidate, &[Op::Thread(thread("b", "cli:a"))]), "a second thread of a session");
    for version in [0, 2] {
        let stale = Op::Thread(Thread { version, ..first.clone() });
        conflicts(apply(&*store, Verb::Consolidate, &[stale]), "a version that is not the current one");
    }
    assert_eq!(open(&*store), ["a"]);
}

#[test]
fn a_change_knows_the_threads_that_it_touched() {
    let store = make();
    let old = put(&*store, &thread("a", "cli:a"));
    let ops = [Op::Thread(Thread { title: "new".to_owned(), ..old.clone() }), Op::Thread(thread("b", "cli:b"))];
    done(apply(&*store, Verb::Consolidate, &ops));
    let now = |session: &str| done(store.thread_of(&"user".parse().unwrap(), &session.parse().unwrap())).unwrap();
    assert_eq!(done(store.undoable()).unwrap().threads, [(now("cli:a"), Some(old)), (now("cli:b"), None)]);
}

#[test]
fn threads_are_taken_elsewhere_with_their_history() {
    let store = make();
    let first = put(&*store, &thread("a", "cli:a"));
    put(&*store, &Thread { content: "- more".to_owned(), ..first });
    put(&*store, &thread("b", "cli:b"));
    let bundle = done(store.bundle());
    assert_eq!((bundle.threads.len(), bundle.thread_history.len()), (2, 3));
    let other = make();
    let adopted = done(other.adopt(&change(Verb::Import), &bundle, &ErasureMark::default(), &mut |_| true));
    assert_eq!(adopted, Adopted { threads: 2, ..Adopted::default() });
    assert_eq!(done(other.bundle()), bundle);
    assert_eq!(done(other.undoable()).unwrap().threads.len(), 2);
    assert_eq!(done(other.check()), Vec::<String>::new());
}

#[test]
fn a_line_that_is_erased_is_in_no_thread_and_no_version_of_one() {
    let store = make();
    let said = "Call Ann about the loan";
    let content = format!("## Open threads\n- {said}\n- Call Bob");
    let rendered = Some(format!("## {said}\n\n### Open threads\n- {said}\n- Call Bob"));
    let first = put(&*store, &Thread { title: said.to_owned(), content, rendered, ..thread("a", "cli:a") });
    put(&*store, &Thread { task: Some("t1".to_owned()), ..first });
    put(&*store, &thread("b", "cli:b"));
    let bullets = vec![("user/working".parse().unwrap(), said.to_owned())];
    done(store.erase(&Erasure { bullets, ..Erasure::default() }));
    let bundle = done(store.bundle());
    assert!(!format!("{bundle:?}").contains("Ann"), "{bundle:?}");
    assert_eq!(bundle.threads[0].content, "## Open threads\n- Call Bob");
    assert_eq!((bundle.threads.len(), bundle.thread_history.len()), (2, 3));
}
