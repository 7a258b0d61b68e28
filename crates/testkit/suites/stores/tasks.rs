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
