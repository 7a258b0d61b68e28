//! Tasks and projects: versions, conflicts, undoing, moving elsewhere, and what erasing an archive takes along.

use throughline_core::model::{Project, ProjectVersion, Task, TaskId, TaskStatus, TaskVersion};
use throughline_core::ports::{Adopted, Bundle, Erased, Erasure, Undoable};

use super::*;

pub(super) const CHECKS: &[Check] = checks![
    a_task_comes_back_as_it_was_stored,
    a_project_comes_back_as_it_was_stored,
    a_new_task_or_project_must_be_new,
    a_task_or_project_needs_its_current_version,
    tasks_are_listed_the_latest_changed_first,
    tasks_and_entries_change_together_or_not_at_all,
    a_change_knows_the_tasks_and_projects_it_touched,
    a_task_that_is_touched_twice_is_undone_once,
    tasks_and_projects_are_taken_elsewhere,
    tasks_and_projects_that_are_there_stay,
    adopted_work_without_history_gets_its_first,
    undoing_an_import_takes_its_tasks_and_projects_back,
    erasing_an_archive_blanks_the_task_that_it_came_from,
    erasing_an_archive_leaves_the_task_that_is_open_again,
];

fn task(id: &str, title: &str) -> Task {
    Task {
        id: TaskId::new(id),
        title: title.to_owned(),
        status: TaskStatus::Open,
        state: String::new(),
        project: None,
        created_at: minute(0),
        updated_at: minute(0),
        done_at: None,
        archive: None,
        version: 0,
    }
}

fn full_task(id: &str) -> Task {
    Task {
        status: TaskStatus::Done,
        state: "half of it\nis done 用户".to_owned(),
        project: Some("apollo".to_owned()),
        updated_at: minute(4),
        done_at: Some(minute(3)),
        archive: Some(EntryId::new("archived")),
        ..task(id, "write the parser")
    }
}

fn project(name: &str) -> Project {
    Project {
        name: name.parse().unwrap(),
        dir: None,
        status: Status::Active,
        created_at: minute(0),
        updated_at: minute(0),
        version: 0,
    }
}

/// The task, not wanted any more.
pub(super) fn removed(task: &Task) -> Task {
    Task { status: TaskStatus::Removed, ..task.clone() }
}

/// The project, no longer registered.
pub(super) fn retired(project: &Project) -> Project {
    Project { status: Status::Inactive, ..project.clone() }
}

/// Stores a task; gives it as it now is.
fn put(store: &dyn Store, task: &Task) -> Task {
    assert_eq!(done(apply(store, Verb::Task, &[Op::Task(task.clone())])), [], "only entries are given back");
    done(store.task(&task.id)).unwrap()
}

/// Stores a project; gives it as it now is.
fn register(store: &dyn Store, project: &Project) -> Project {
    assert_eq!(done(apply(store, Verb::Project, &[Op::Project(project.clone())])), []);
    done(store.project(&project.name)).unwrap()
}

fn a_task_comes_back_as_it_was_stored(make: Make<'_>) {
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

fn a_project_comes_back_as_it_was_stored(make: Make<'_>) {
    let store = make();
    let first = register(&*store, &project("zeus"));
    assert_eq!(first, Project { version: 1, ..project("zeus") });
    let moved = Project { dir: Some("/home/ada/zeus 用户".to_owned()), updated_at: minute(2), ..retired(&first) };
    let second = register(&*store, &moved);
    assert_eq!(second, Project { version: 2, ..moved });
    let apollo = register(&*store, &project("apollo"));
    assert_eq!(done(store.projects()), [apollo, second.clone()], "by name");
    let history = done(store.bundle()).project_history;
    let zeus: Vec<&Project> =
        history.iter().map(|version| &version.project).filter(|version| version.name == first.name).collect();
    assert_eq!(zeus, [&first, &second]);
    assert_eq!(done(store.project(&"nobody".parse().unwrap())), None);
}

fn a_new_task_or_project_must_be_new(make: Make<'_>) {
    let store = make();
    put(&*store, &task("a", "first"));
    register(&*store, &project("apollo"));
    let before = everything(&*store);
    conflicts(apply(&*store, Verb::Task, &[Op::Task(task("a", "second"))]), "a task that is there");
    conflicts(apply(&*store, Verb::Project, &[Op::Project(project("apollo"))]), "a project that is there");
    assert_eq!(everything(&*store), before);
}

fn a_task_or_project_needs_its_current_version(make: Make<'_>) {
    let store = make();
    let first = put(&*store, &task("a", "first"));
    let second = put(&*store, &Task { title: "second".to_owned(), ..first.clone() });
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

fn tasks_are_listed_the_latest_changed_first(make: Make<'_>) {
    let store = make();
    for (id, at) in [("a", 3), ("b", 9), ("c", 1), ("d", 3)] {
        put(&*store, &Task { updated_at: minute(at), ..task(id, id) });
    }
    let gone = done(store.task(&TaskId::new("c"))).unwrap();
    put(&*store, &Task { updated_at: minute(10), ..removed(&gone) });
    let ids: Vec<String> = done(store.tasks()).iter().map(|task| task.id.to_string()).collect();
    assert_eq!(ids, ["c", "b", "d", "a"], "whatever their status");
}

fn tasks_and_entries_change_together_or_not_at_all(make: Make<'_>) {
    let store = make();
    let known = put(&*store, &task("a", "first"));
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

fn a_change_knows_the_tasks_and_projects_it_touched(make: Make<'_>) {
    let store = make();
    let old = put(&*store, &task("a", "first"));
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

fn a_task_that_is_touched_twice_is_undone_once(make: Make<'_>) {
    let store = make();
    let old = put(&*store, &task("a", "first"));
    let long = change(Verb::Import);
    for (version, title) in [(1, "second"), (2, "third")] {
        let op = Op::Task(Task { version, title: title.to_owned(), ..old.clone() });
        done(store.apply(&long, &[op], &mut || true));
    }
    let now = done(store.task(&old.id)).unwrap();
    assert_eq!((now.title.as_str(), now.version), ("third", 3));
    assert_eq!(done(store.undoable()).unwrap().tasks, [(now, Some(old))]);
}

/// A store with tasks and projects that have a past.
fn furnished(make: Make<'_>) -> Arc<dyn Store> {
    let store = make();
    let first = put(&*store, &Task { created_at: minute(5), ..task("a", "first") });
    put(&*store, &Task { state: "half".to_owned(), updated_at: minute(8), ..first });
    put(&*store, &full_task("b"));
    let apollo = register(&*store, &project("apollo"));
    register(&*store, &retired(&apollo));
    register(&*store, &Project { dir: Some("/zeus".to_owned()), ..project("zeus") });
    store
}

fn adopt(store: &dyn Store, bundle: &Bundle) -> Adopted {
    done(store.adopt(&change(Verb::Import), bundle, &mut |_| true))
}

fn tasks_and_projects_are_taken_elsewhere(make: Make<'_>) {
    let bundle = done(furnished(make).bundle());
    assert_eq!((bundle.tasks.len(), bundle.task_history.len()), (2, 3));
    assert_eq!((bundle.projects.len(), bundle.project_history.len()), (2, 3));
    assert_eq!(bundle.tasks[0].id.as_str(), "b", "the oldest first");
    let other = make();
    assert_eq!(adopt(&*other, &bundle), Adopted { tasks: 2, projects: 2, ..Adopted::default() });
    assert_eq!(done(other.bundle()), bundle);
    assert_eq!(adopt(&*other, &bundle), Adopted::default(), "nothing is new the second time");
    assert_eq!(done(other.bundle()), bundle);
    let next = put(&*other, &done(other.task(&TaskId::new("a"))).unwrap());
    assert_eq!(next.version, 3, "and they go on from there");
    assert_eq!(done(other.check()), Vec::<String>::new());
}

fn tasks_and_projects_that_are_there_stay(make: Make<'_>) {
    let bundle = done(furnished(make).bundle());
    let other = make();
    let (mine, place) = (put(&*other, &task("a", "mine")), register(&*other, &project("apollo")));
    assert_eq!(adopt(&*other, &bundle), Adopted { tasks: 1, projects: 1, ..Adopted::default() });
    assert_eq!(done(other.task(&mine.id)), Some(mine.clone()));
    assert_eq!(done(other.task_versions(&mine.id)).len(), 1, "nor does it get another's history");
    assert_eq!(done(other.project(&place.name)), Some(place));
}

fn adopted_work_without_history_gets_its_first(make: Make<'_>) {
    let Bundle { tasks, projects, .. } = done(furnished(make).bundle());
    let beyond = TaskVersion { task: Task { version: 9, ..tasks[0].clone() }, change: change(Verb::Task) };
    let bundle = Bundle { tasks, projects, task_history: vec![beyond], ..Bundle::default() };
    let other = make();
    let import = change(Verb::Import);
    done(other.adopt(&import, &bundle, &mut |_| true));
    for task in &bundle.tasks {
        let first = TaskVersion { task: task.clone(), change: import.clone() };
        assert_eq!(done(other.task_versions(&task.id)), [first], "and no version that is yet to come");
    }
    let firsts = |project: &Project| ProjectVersion { project: project.clone(), change: import.clone() };
    assert_eq!(done(other.bundle()).project_history, bundle.projects.iter().map(firsts).collect::<Vec<_>>());
}

fn undoing_an_import_takes_its_tasks_and_projects_back(make: Make<'_>) {
    let bundle = done(furnished(make).bundle());
    let other = make();
    let mine = put(&*other, &task("mine", "mine"));
    let import = change(Verb::Import);
    done(other.adopt(&import, &bundle, &mut |_| true));
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

/// A task with a working state that went to the archive, and the task before that.
fn finished(store: &dyn Store) -> (Task, Task) {
    let first = put(store, &Task { state: "xylophonist".to_owned(), ..task("a", "first") });
    let open = put(store, &Task { state: "xylophonist, twice".to_owned(), ..first });
    let archive = Some(EntryId::new("archived"));
    let closed = Task { status: TaskStatus::Done, state: String::new(), archive, ..open.clone() };
    done(apply(store, Verb::Done, &[Op::Insert(entry("archived", "xylophonist")), Op::Task(closed)]));
    (done(store.task(&open.id)).unwrap(), open)
}

fn erasing_an_archive_blanks_the_task_that_it_came_from(make: Make<'_>) {
    let store = make();
    let (closed, _) = finished(&*store);
    let other = put(&*store, &Task { state: "another's".to_owned(), ..task("b", "other") });
    put(&*store, &Task { state: String::new(), ..other });
    let erasure = Erasure { memories: vec![EntryId::new("archived")], ..Erasure::default() };
    assert_eq!(done(store.erase(&erasure)), Erased { versions: 3, ..Erased::default() });
    let surfaces = format!("{:?}", everything(&*store));
    assert!(!surfaces.contains("xylophonist"), "{surfaces}");
    let versions = done(store.task_versions(&closed.id));
    assert_eq!(versions.iter().map(|version| version.task.version).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(done(store.task(&closed.id)), Some(closed), "its link may lead nowhere");
    assert_eq!(done(store.task_versions(&TaskId::new("b")))[0].task.state, "another's");
    assert_eq!(done(store.check()), Vec::<String>::new());
}

fn erasing_an_archive_leaves_the_task_that_is_open_again(make: Make<'_>) {
    let store = make();
    let (closed, open) = finished(&*store);
    let again = put(&*store, &Task { version: closed.version, ..open });
    assert_eq!((again.archive.as_ref(), again.version), (None, 4));
    let erasure = Erasure { memories: vec![EntryId::new("archived")], ..Erasure::default() };
    let erased = done(store.erase(&erasure));
    assert_eq!((erased.versions, erased.unreached.len()), (3, 1), "{erased:?}");
    let states: Vec<String> =
        done(store.task_versions(&again.id)).into_iter().map(|version| version.task.state).collect();
    assert_eq!(states, ["", "", "", "xylophonist, twice"], "what stands there is the person's to change");
    assert_eq!(done(store.task(&again.id)), Some(again));
}
