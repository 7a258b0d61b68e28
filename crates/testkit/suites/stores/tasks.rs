//! Tasks.

use super::*;

#[test]
fn a_task_comes_back_as_it_was_stored() {
    let store = make();
    let (adding, editing) = (change(Verb::Task), change(Verb::Done));
    done(store.apply(&adding, &[Op::Task(task("a", "write the parser"))], &mut || true));
    let first = Task { version: 1, ..task("a", "write the parser") };
    assert_eq!(done(store.task(&first.id)), Some(first.clone()));
    done(store.apply(&editing, &[Op::Task(Task { version: 1, ..full_task("a") })], &mut || true));
    let second = Task { version: 2, ..full_task("a") };
    assert_eq!(done(store.task(&first.id)), Some(second.clone()));
    assert_eq!(done(store.tasks()), std::slice::from_ref(&second));
    let versions = [TaskVersion { task: first, change: adding }, TaskVersion { task: second, change: editing }];
    assert_eq!(done(store.task_versions(&TaskId::new("a"))), versions);
    assert_eq!(done(store.task(&TaskId::new("b"))), None);
    assert_eq!(done(store.task_versions(&TaskId::new("b"))), []);
}

#[test]
fn tasks_are_listed_the_latest_changed_first() {
    let store = make();
    for (id, at) in [("a", 3), ("b", 9), ("c", 1), ("d", 3)] {
        put_task(&*store, &Task { updated_at: minute(at), ..task(id, id) });
    }
    let gone = done(store.task(&TaskId::new("c"))).unwrap();
    put_task(&*store, &Task { updated_at: minute(10), ..removed(&gone) });
    let ids: Vec<String> = done(store.tasks()).iter().map(|task| task.id.to_string()).collect();
    assert_eq!(ids, ["c", "b", "d", "a"], "whatever their status");
}

#[test]
fn tasks_and_entries_change_together_or_not_at_all() {
    let store = make();
    let known = put_task(&*store, &task("a", "first"));
    let before = everything(&*store);
    let good = [Op::Insert(entry("e", "tea")), Op::Project(project("apollo")), Op::Task(full_task("b"))];
    let stale = Op::Task(Task { version: 7, ..known });
    conflicts(apply(&*store, Verb::Done, &[&good[..], &[stale]].concat()), "a stale task");
    let taken_back = store.apply(&change(Verb::Done), &good, &mut || false);
    assert!(matches!(taken_back, Err(StoreError::TakenBack)), "{taken_back:?}");
    assert_eq!(everything(&*store), before);
    let entries = done(apply(&*store, Verb::Done, &good));
    assert_eq!(entries.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ["e"]);
    assert_eq!(done(store.changes(9)).len(), 2);
}

#[test]
fn a_task_that_is_touched_twice_is_undone_once() {
    let store = make();
    let old = put_task(&*store, &task("a", "first"));
    let long = change(Verb::Import);
    for (version, title) in [(1, "second"), (2, "third")] {
        let op = Op::Task(Task { version, title: title.to_owned(), ..old.clone() });
        done(store.apply(&long, &[op], &mut || true));
    }
    let now = done(store.task(&old.id)).unwrap();
    assert_eq!((now.title.as_str(), now.version), ("third", 3));
    assert_eq!(done(store.undoable()).unwrap().tasks, [(now, Some(old))]);
}

#[test]
fn a_finished_task_is_found_by_the_words_of_its_title() {
    let store = make();
    let finished =
        |id: &str, title: &str, at: i64| Task { done_at: Some(minute(at)), title: title.to_owned(), ..full_task(id) };
    for task in [
        finished("a", "Write the German parser", 1),
        finished("b", "write the parser", 2),
        finished("c", "Parsers that were written long before any of the others were", 3),
        finished("d", "parser", 9),
        finished("e", "water the tomatoes", 9),
        Task { status: TaskStatus::Open, ..finished("f", "write the parser", 9) },
        Task { archive: None, ..finished("g", "write the parser", 9) },
    ] {
        put_task(&*store, &task);
    }
    let sharing = |message: &str, limit| -> Vec<String> {
        let words = throughline_core::recall::distinct_words(message);
        let tasks = done(store.done_tasks_sharing(&words, limit));
        tasks.into_iter().map(|task| task.id.to_string()).collect()
    };
    assert_eq!(sharing("how did we write the parser?", 9), ["b", "a", "c"], "those that say most of their title first");
    assert_eq!(sharing("how did we write the parser?", 1), ["b"]);
    assert_eq!(sharing("WRITING PARSERS", 9).len(), 3, "by stems");
    assert_eq!(sharing("parser", 9), [""; 0], "one word is not enough");
    assert_eq!(sharing("", 9), [""; 0]);
    let known = done(store.task(&TaskId::new("b"))).unwrap();
    put_task(&*store, &Task { title: "Feed the hens".to_owned(), ..known });
    assert_eq!(sharing("write the parser, feed the hens", 9)[0], "b");
    assert_eq!(sharing("write the parser", 9), ["a", "c"], "by its new title alone");
    done(store.rebuild(&mut |_, _| {}));
    assert_eq!(sharing("feed the hens", 9), ["b"]);
}

#[test]
fn a_task_from_elsewhere_is_found_by_its_title() {
    let store = make();
    put_task(&*store, &full_task("a"));
    let other = make();
    done(other.adopt(&change(Verb::Import), &done(store.bundle()), &ErasureMark::default(), &mut |_| true));
    let words = throughline_core::recall::distinct_words("write the parser");
    assert_eq!(done(other.done_tasks_sharing(&words, 9)).len(), 1);
}
