//! Tasks and projects are versioned alike: conflicts, undoing, moving elsewhere.

use super::*;

#[test]
fn a_new_task_or_project_must_be_new() {
    let store = make();
    put_task(&*store, &task("a", "first"));
    register(&*store, &project("apollo"));
    let before = everything(&*store);
    conflicts(apply(&*store, Verb::Task, &[Op::Task(task("a", "second"))]), "a task that is there");
    conflicts(apply(&*store, Verb::Project, &[Op::Project(project("apollo"))]), "a project that is there");
    assert_eq!(everything(&*store), before);
}

#[test]
fn a_task_or_project_needs_its_current_version() {
    let store = make();
    let first = put_task(&*store, &task("a", "first"));
    let second = put_task(&*store, &Task { title: "second".to_owned(), ..first.clone() });
    let known = register(&*store, &project("apollo"));
    let before = everything(&*store);
    for version in [1, 3] {
        let outcome = apply(&*store, Verb::Task, &[Op::Task(Task { version, ..second.clone() })]);
        assert!(matches!(&outcome, Err(StoreError::Conflict { what }) if what == "a"), "{outcome:?}");
    }
    let early = Op::Project(Project { version: 2, ..known });
    let outcome = apply(&*store, Verb::Project, &[early]);
    assert!(matches!(&outcome, Err(StoreError::Conflict { what }) if what == "apollo"), "{outcome:?}");
    conflicts(apply(&*store, Verb::Task, &[Op::Task(Task { version: 1, ..task("b", "x") })]), "what is not there");
    assert_eq!(everything(&*store), before);
}

/// Does what an engine does to undo tasks and projects.
fn undo(store: &dyn Store, undoable: &Undoable) {
    let tasks = undoable.tasks.iter().map(|(now, before)| {
        let before = before.clone().unwrap_or_else(|| removed(now));
        Op::Task(Task { version: now.version, ..before })
    });
    let projects = undoable.projects.iter().map(|(now, before)| {
        let before = before.clone().unwrap_or_else(|| retired(now));
        Op::Project(Project { version: now.version, ..before })
    });
    let ops: Vec<Op> = tasks.chain(projects).collect();
    let undoing = Change { undoes: Some(undoable.change.id.clone()), ..change(Verb::Undo) };
    done(store.apply(&undoing, &ops, &mut || true));
}

#[test]
fn a_change_knows_the_tasks_and_projects_it_touched() {
    let store = make();
    let old = put_task(&*store, &task("a", "first"));
    let made = change(Verb::Project);
    done(store.apply(&made, &[Op::Project(project("apollo"))], &mut || true));
    let edited = change(Verb::Task);
    let ops = [Op::Task(Task { title: "second".to_owned(), ..old.clone() }), Op::Task(task("b", "new"))];
    done(store.apply(&edited, &ops, &mut || true));

    let now = |id: &str| done(store.task(&TaskId::new(id))).unwrap();
    let last = done(store.undoable()).unwrap();
    assert_eq!((&last.change, &last.projects, &last.entries), (&edited, &vec![], &vec![]));
    assert_eq!(last.tasks, [(now("a"), Some(old)), (now("b"), None)]);
    undo(&*store, &last);
    assert_eq!((now("a").title.as_str(), now("a").version), ("first", 3));
    assert_eq!(now("b").status, TaskStatus::Removed);

    let last = done(store.undoable()).unwrap();
    let apollo = done(store.project(&"apollo".parse().unwrap())).unwrap();
    assert_eq!((&last.change, &last.tasks), (&made, &vec![]));
    assert_eq!(last.projects, [(apollo.clone(), None)]);
    undo(&*store, &last);
    assert_eq!(done(store.project(&apollo.name)).unwrap().status, Status::Inactive);
}

/// A store with tasks and projects that have a past.
fn furnished() -> Fresh {
    let store = make();
    let first = put_task(&*store, &Task { created_at: minute(5), ..task("a", "first") });
    put_task(&*store, &Task { state: "half".to_owned(), updated_at: minute(8), ..first });
    put_task(&*store, &full_task("b"));
    let apollo = register(&*store, &project("apollo"));
    register(&*store, &retired(&apollo));
    register(&*store, &Project { dir: Some("/zeus".to_owned()), ..project("zeus") });
    store
}

fn adopt(store: &dyn Store, bundle: &Bundle) -> Adopted {
    done(store.adopt(&change(Verb::Import), bundle, &ErasureMark::default(), &mut |_| true))
}

#[test]
fn tasks_and_projects_are_taken_elsewhere() {
    let bundle = done(furnished().bundle());
    assert_eq!((bundle.tasks.len(), bundle.task_history.len()), (2, 3));
    assert_eq!((bundle.projects.len(), bundle.project_history.len()), (2, 3));
    assert_eq!(bundle.tasks[0].id.as_str(), "b", "the oldest first");
    let other = make();
    assert_eq!(adopt(&*other, &bundle), Adopted { tasks: 2, projects: 2, ..Adopted::default() });
    assert_eq!(done(other.bundle()), bundle);
    assert_eq!(adopt(&*other, &bundle), Adopted::default(), "nothing is new the second time");
    assert_eq!(done(other.bundle()), bundle);
    let next = put_task(&*other, &done(other.task(&TaskId::new("a"))).unwrap());
    assert_eq!(next.version, 3, "and they go on from there");
    assert_eq!(done(other.check()), Vec::<String>::new());
}

#[test]
fn tasks_and_projects_that_are_there_stay() {
    let bundle = done(furnished().bundle());
    let other = make();
    let (mine, place) = (put_task(&*other, &task("a", "mine")), register(&*other, &project("apollo")));
    assert_eq!(adopt(&*other, &bundle), Adopted { tasks: 1, projects: 1, ..Adopted::default() });
    assert_eq!(done(other.task(&mine.id)), Some(mine.clone()));
    assert_eq!(done(other.task_versions(&mine.id)).len(), 1, "nor does it get another's history");
    assert_eq!(done(other.project(&place.name)), Some(place));
}

#[test]
fn adopted_work_without_history_gets_its_first() {
    let Bundle { tasks, projects, .. } = done(furnished().bundle());
    let beyond = TaskVersion { task: Task { version: 9, ..tasks[0].clone() }, change: change(Verb::Task) };
    let bundle = Bundle { tasks, projects, task_history: vec![beyond], ..Bundle::default() };
    let other = make();
    let import = change(Verb::Import);
    done(other.adopt(&import, &bundle, &ErasureMark::default(), &mut |_| true));
    for task in &bundle.tasks {
        let first = TaskVersion { task: task.clone(), change: import.clone() };
        assert_eq!(done(other.task_versions(&task.id)), [first], "and no version that is yet to come");
    }
    let firsts = |project: &Project| ProjectVersion { project: project.clone(), change: import.clone() };
    assert_eq!(done(other.bundle()).project_history, bundle.projects.iter().map(firsts).collect::<Vec<_>>());
}

#[test]
fn undoing_an_import_takes_its_tasks_and_projects_back() {
    let bundle = done(furnished().bundle());
    let other = make();
    let mine = put_task(&*other, &task("mine", "mine"));
    let import = change(Verb::Import);
    done(other.adopt(&import, &bundle, &ErasureMark::default(), &mut |_| true));
    let adopted = done(other.task(&TaskId::new("a"))).unwrap();
    done(other.apply(&import, &[Op::Task(Task { title: "renamed".to_owned(), ..adopted })], &mut || true));
    let last = done(other.undoable()).unwrap();
    assert_eq!(last.change, import, "the import as a whole");
    assert_eq!((last.tasks.len(), last.projects.len()), (2, 2));
    assert!(last.tasks.iter().all(|(_, before)| before.is_none()), "{last:?}");
    assert!(last.projects.iter().all(|(_, before)| before.is_none()), "{last:?}");
    undo(&*other, &last);
    let left: Vec<Task> = done(other.tasks()).into_iter().filter(|task| task.status != TaskStatus::Removed).collect();
    assert_eq!(left, [mine]);
    assert!(done(other.projects()).iter().all(|project| project.status == Status::Inactive));
    assert_eq!(done(other.undoable()).unwrap().change.verb, Verb::Task, "what was made elsewhere is not undone here");
}
