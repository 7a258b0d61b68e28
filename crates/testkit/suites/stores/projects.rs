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
