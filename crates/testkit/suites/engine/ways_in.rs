//! What no way in lets through: NUL characters, secrets in names, times that are still to come.

use throughline_core::engine::{ContextRequest, EngineError, Export, NewTask, Said, Visibility};
use throughline_core::model::{ContentHash, Role};

use super::*;

/// A token as GitHub gives them.
const TOKEN: &str = "ghp_abcdefghij0123456789abcdefghij012345";

/// An export of a memory with something of every kind, changed by somebody.
fn forged(change: &dyn Fn(&mut Export)) -> Export {
    let from = place();
    remember(&from, "likes tea");
    from.engine.documents().write(&document("user/profile"), "- My name is Ada\n", None).unwrap();
    from.engine.sessions().observe(&"web:one".parse().unwrap(), &[Said::now(Role::User, "hello there")]).unwrap();
    from.engine.tasks().add(&NewTask { title: "parser".to_owned(), ..NewTask::default() }).unwrap();
    from.engine.projects().add("apollo", None).unwrap();
    let mut export = from.engine.transfer().export().unwrap();
    change(&mut export);
    export
}

#[track_caller]
fn is_refused(change: &dyn Fn(&mut Export)) {
    let to = elsewhere();
    let error = to.engine.transfer().import(&forged(change)).unwrap_err();
    assert!(matches!(error, EngineError::BadExport { .. }), "{error:?}");
    assert!(!error.to_string().contains(TOKEN), "{error}");
    assert_eq!(to.engine.history().changes(9).unwrap(), []);
}

#[test]
fn a_document_with_nul_is_refused() {
    let place = place();
    let write = |text: &str| place.engine.documents().write(&document("user/profile"), text, None);
    let error = write("- tea\0 please\n").unwrap_err();
    assert!(matches!(error, EngineError::Invalid { field: "the text", .. }), "{error:?}");
    assert_eq!(text_of(&place, "user/profile"), None);
}

/// A file that a person saved may hold anything; what is given does not.
#[test]
fn nul_in_a_file_of_the_person_reaches_no_model() {
    let place = place_with(Arc::new(MemoryDocuments::default()), |_| {});
    save(&place, "user/profile", "- tea\0 please\n");
    let request = ContextRequest { message: Some("tea".to_owned()), ..ContextRequest::default() };
    let prepared = place.engine.context().prepare(&request).unwrap();
    assert!(prepared.opening.contains("tea please"), "{}", prepared.opening);
    assert!(!prepared.opening.contains('\0') && !prepared.context.system_prompt.contains('\0'));
    place.engine.transfer().export().unwrap();
    assert!(!format!("{:?}", place.store.bundle().unwrap()).contains("\\0"), "not every store can keep it");
    assert_eq!(remembered(&place, "tea"), ["tea please"]);
    assert_eq!(text_of(&place, "user/profile").unwrap(), "- tea\0 please\n", "the file is the person's");
}

#[test]
fn an_import_with_nul_is_refused() {
    is_refused(&|export| export.documents[0].text.push('\0'));
    is_refused(&|export| export.bundle.document_history[0].text = Some("- \0".to_owned()));
    is_refused(&|export| export.bundle.sessions[0].title = Some("a\0b".to_owned()));
    is_refused(&|export| export.bundle.sessions[0].project = Some("a\0b".to_owned()));
    is_refused(&|export| export.bundle.turns[0].content.push('\0'));
    is_refused(&|export| export.bundle.memories[0].entry.content.push_str("\0."));
}

#[test]
fn names_that_hold_a_secret_are_refused() {
    let place = place();
    let refused = [
        place.engine.documents().write(&document(&format!("user/{TOKEN}")), "- x\n", None).map(drop),
        place.engine.projects().add(TOKEN, None).map(drop),
    ];
    for outcome in refused {
        let error = outcome.unwrap_err();
        assert!(matches!(error, EngineError::Invalid { field: "the name", .. }), "{error:?}");
        assert!(!error.to_string().contains(TOKEN), "{error}");
    }
    let request = ContextRequest {
        session: Some(format!("web:{TOKEN}").parse().unwrap()),
        message: Some("hello".to_owned()),
        ..ContextRequest::default()
    };
    let prepared = place.engine.context().prepare(&request).unwrap();
    let error = place.engine.context().note_given(&prepared, Visibility::Stays).unwrap_err();
    assert!(matches!(error, EngineError::Invalid { field: "the session's id", .. }), "{error:?}");
    assert!(!format!("{:?}", place.store.bundle().unwrap()).contains(TOKEN));
    assert!(place.engine.recall().log(9).unwrap().is_empty());
}

#[test]
fn an_import_with_a_secret_in_a_name_is_refused() {
    let name = document(&format!("user/{TOKEN}"));
    is_refused(&|export| export.documents[0].name = name.clone());
    is_refused(&|export| export.bundle.document_history[0].name = name.clone());
    is_refused(&|export| export.bundle.sessions[0].id = format!("web:{TOKEN}").parse().unwrap());
    let rename = |export: &mut Export| {
        export.bundle.projects[0].name = TOKEN.parse().unwrap();
        export.bundle.project_history[0].project.name = TOKEN.parse().unwrap();
    };
    is_refused(&rename);
}

/// A memory that was dated in the year 9999 once broke lists and exports for good.
#[test]
fn an_import_brings_no_time_that_is_still_to_come() {
    let late: jiff::Timestamp = "9999-12-30T20:00:00Z".parse().unwrap();
    let export = forged(&|export| {
        let bundle = &mut export.bundle;
        for entry in bundle.memories.iter_mut().map(|memory| &mut memory.entry) {
            (entry.created_at, entry.updated_at, entry.expires_at) = (late, late, entry.expires_at.map(|_| late));
        }
        bundle.history.clear();
        bundle.turns.iter_mut().for_each(|turn| turn.at = late);
        for session in &mut bundle.sessions {
            (session.created_at, session.updated_at) = (late, late);
        }
        let versions = bundle.task_history.iter_mut().map(|version| &mut version.task);
        for task in bundle.tasks.iter_mut().chain(versions) {
            (task.created_at, task.updated_at) = (late, late);
        }
        bundle.task_history.iter_mut().for_each(|version| version.change.at = late);
        bundle.document_history.iter_mut().for_each(|version| version.change.at = late);
    });
    let to = elsewhere();
    let imported = to.engine.transfer().import(&export).unwrap();
    assert!(imported.adopted.added > 0 && imported.adopted.turns == 1 && imported.adopted.tasks == 1, "{imported:?}");
    let stored = serde_json::to_string(&to.engine.transfer().export().unwrap()).unwrap();
    assert!(!stored.contains("9999-"), "{stored}");
    assert_eq!(to.store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn imported_titles_are_as_short_as_others() {
    let to = elsewhere();
    let export = forged(&|export| export.bundle.sessions[0].title = Some("title ".repeat(1 << 18)));
    to.engine.transfer().import(&export).unwrap();
    let title = to.engine.sessions().title(&"web:one".parse().unwrap()).unwrap();
    assert!(title.chars().count() <= 100, "{}", title.len());
    assert_eq!(
        text_of(&to, "user/profile").map(|text| ContentHash::of(&text)),
        Some(ContentHash::of("- My name is Ada\n"))
    );
}
