//! Projects.

use super::*;

#[test]
fn a_project_comes_back_as_it_was_stored() {
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

/// The project, in this directory.
fn in_dir(project: &Project, dir: &str) -> Project {
    Project { dir: Some(dir.to_owned()), ..project.clone() }
}

#[test]
fn directories_are_kept_per_machine() {
    let store = make();
    let there = store.on_machine("there");
    let name = project("apollo").name;
    let dirs = || {
        let dir = |store: &dyn Store| done(store.project(&name)).unwrap().dir;
        (dir(&*store), dir(&*there))
    };
    let some = |dir: &str| Some(dir.to_owned());
    register(&*store, &in_dir(&project("apollo"), "/home/ada"));
    assert_eq!(dirs(), (some("/home/ada"), None));
    let known = done(there.projects()).remove(0);
    assert_eq!((known.version, known.dir.as_deref()), (1, None), "it is the same project");
    let second = register(&*there, &in_dir(&known, "/Users/ada"));
    assert_eq!((second.version, dirs()), (2, (some("/home/ada"), some("/Users/ada"))));
    let here = done(store.project(&name)).unwrap();
    register(&*store, &Project { dir: None, ..here });
    assert_eq!(dirs(), (None, some("/Users/ada")), "what one gives up is the other's still");
}

#[test]
fn versions_show_the_directory_of_this_machine() {
    let store = make();
    let there = store.on_machine("there");
    let first = register(&*store, &in_dir(&project("apollo"), "/home/ada"));
    register(&*store, &in_dir(&first, "/home/ada/apollo"));
    let dirs = |store: &dyn Store| -> Vec<Option<String>> {
        done(store.bundle()).project_history.into_iter().map(|version| version.project.dir).collect()
    };
    let own = ["/home/ada", "/home/ada/apollo"].map(|dir| Some(dir.to_owned()));
    assert_eq!((dirs(&*store), dirs(&*there)), (own.to_vec(), vec![None, None]));
    let before = |store: &dyn Store| done(store.undoable()).unwrap().projects.remove(0).1.unwrap().dir;
    assert_eq!((before(&*store).as_deref(), before(&*there)), (Some("/home/ada"), None), "undoing moves nothing there");
}

fn root(name: &str, dir: &str) -> ProjectRoot {
    ProjectRoot { name: name.parse().unwrap(), dir: dir.to_owned() }
}

#[test]
fn a_directory_has_one_name_on_each_machine() {
    let store = make();
    let there = store.on_machine("there");
    done(store.name_root(&root("zeus", "/home/ada/zeus")));
    done(store.name_root(&root("api", "/home/ada/api")));
    conflicts(store.name_root(&root("api", "/home/ada/work/api")), "a name that another directory has");
    done(there.name_root(&root("api", "/Users/ada/api")));
    assert_eq!(done(store.roots()), [root("api", "/home/ada/api"), root("zeus", "/home/ada/zeus")], "by name");
    assert_eq!(done(there.roots()), [root("api", "/Users/ada/api")]);
    done(store.name_root(&root("backend", "/home/ada/api")));
    assert_eq!(done(store.roots()), [root("backend", "/home/ada/api"), root("zeus", "/home/ada/zeus")]);
}

#[test]
fn every_name_that_something_links_to_is_listed_once() {
    let store = make();
    register(&*store, &project("zeus"));
    done(store.name_root(&root("api", "/home/ada/api")));
    for (id, project) in [("a", Some("notes")), ("b", Some("api")), ("c", None), ("d", Some("notes"))] {
        insert(&*store, Entry { project: project.map(str::to_owned), ..entry(id, id) });
    }
    done(store.open_session(&NewSession { project: Some("site".to_owned()), ..new(0) }));
    assert_eq!(done(store.project_names()), ["api", "notes", "site", "zeus"]);
}

#[test]
fn accepted_lines_belong_to_their_project() {
    let store = make();
    let (zeus, apollo) = (project("zeus").name, project("apollo").name);
    done(store.accept_lines(&zeus, &[EntryId::new("a"), EntryId::new("b")]));
    done(store.accept_lines(&zeus, &[EntryId::new("b")]));
    let lines = done(store.accepted_lines(&zeus));
    assert_eq!((lines.len(), lines.contains(&EntryId::new("b"))), (2, true));
    assert!(done(store.accepted_lines(&apollo)).is_empty());
}
