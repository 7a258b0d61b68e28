//! What every document store must do, whatever it keeps documents in.

use std::fmt::Debug;

use throughline_core::model::{ContentHash, Document, DocumentName, Name};
use throughline_core::ports::{DocumentError, Documents};

/// Runs the whole suite; `make` gives an empty store each time.
pub fn conformance(make: &dyn Fn() -> Box<dyn Documents>) {
    let checks: &[fn(&dyn Documents)] = &[
        a_missing_document_is_nothing,
        what_was_written_is_read,
        texts_are_kept_to_the_byte,
        a_new_document_never_replaces_one,
        a_stale_writer_is_told,
        a_missing_document_is_not_replaced,
        writing_the_same_text_changes_nothing,
        removes_what_the_caller_has_seen,
        refuses_to_remove_what_the_caller_has_not_seen,
        a_removed_document_can_be_written_anew,
        lists_one_namespace_in_order,
        a_document_and_a_folder_may_share_a_name,
        the_stamp_follows_the_text,
        what_cannot_be_written_is_kept_beside_and_is_no_document,
        refuses_names_that_differ_only_in_case,
        refuses_names_that_differ_only_in_unicode_form,
        refuses_folders_that_differ_only_in_case,
        a_clashing_name_reads_as_nothing,
        the_limit_is_one_mebibyte,
        simultaneous_appends_all_arrive,
        of_simultaneous_creators_one_wins,
    ];
    for check in checks {
        check(make().as_ref());
    }
}

fn a_missing_document_is_nothing(documents: &dyn Documents) {
    for text in ["user/profile", "user/notes/travel", "nobody/working"] {
        let name = name(text);
        assert_eq!(done(documents.read(&name)), None, "reading the missing `{text}`");
        assert_eq!(done(documents.stamp(&name)), None, "the stamp of the missing `{text}`");
    }
    assert_eq!(done(documents.list(&namespace("user"))), [], "an unknown namespace lists nothing");
}

fn what_cannot_be_written_is_kept_beside_and_is_no_document(documents: &dyn Documents) {
    let (log, other) = (name("user/notes/log"), name("user/notes/logbook"));
    create(documents, &log, "theirs");
    let stamp = "2026-03-01-120000";
    let first = done(documents.keep_beside(&log, "ours", stamp));
    let second = done(documents.keep_beside(&log, "ours again", stamp));
    assert_eq!([&first, &second], ["log.conflict-2026-03-01-120000.md", "log.conflict-2026-03-01-120000-2.md"]);
    assert_eq!(done(documents.kept_beside(&log)), [second, first], "sorted as files are");
    assert_eq!(done(documents.kept_beside(&other)), [""; 0]);
    assert_eq!(read(documents, &log), "theirs");
    assert_eq!(done(documents.list(&namespace("user"))), [log]);
}

fn what_was_written_is_read(documents: &dyn Documents) {
    for text in ["user/profile", "user/notes/travel/lisbon", "josé/用户 notes"] {
        let name = name(text);
        create(documents, &name, "# Title\n");
        let expected = Document::new(name.clone(), "# Title\n".to_owned());
        assert_eq!(done(documents.read(&name)), Some(expected), "reading `{text}` back");
        replace(documents, &name, "# Title\n", "shorter");
        assert_eq!(read(documents, &name), "shorter", "`{text}` after it was replaced");
    }
}

fn texts_are_kept_to_the_byte(documents: &dyn Documents) {
    let name = name("user/profile");
    let mut before = "\u{feff}first".to_owned();
    create(documents, &name, &before);
    for text in ["", "\r\nwindows\r\n", "no final newline", "nul \0 inside", "e\u{301} ﬁ 用户 👩‍💻"] {
        replace(documents, &name, &before, text);
        assert_eq!(read(documents, &name), text, "the bytes of {text:?}");
        before = text.to_owned();
    }
}

fn a_new_document_never_replaces_one(documents: &dyn Documents) {
    let name = name("user/profile");
    create(documents, &name, "first");
    conflicts(documents.write(&name, "second", &ContentHash::missing()), "creating what exists");
    assert_eq!(read(documents, &name), "first", "after the refused creation");
}

fn a_stale_writer_is_told(documents: &dyn Documents) {
    let name = name("user/profile");
    create(documents, &name, "one");
    replace(documents, &name, "one", "two");
    conflicts(documents.write(&name, "three", &ContentHash::of("one")), "writing over a newer text");
    conflicts(documents.write(&name, "three", &ContentHash::stored("../x")), "writing over an invented digest");
    assert_eq!(read(documents, &name), "two", "after the refused writes");
}

fn a_missing_document_is_not_replaced(documents: &dyn Documents) {
    for text in ["user/profile", "user/deep/er/name"] {
        let name = name(text);
        conflicts(documents.write(&name, "text", &ContentHash::of("gone")), "replacing what is missing");
        assert_eq!(done(documents.read(&name)), None, "`{text}` after the refused write");
    }
}

fn writing_the_same_text_changes_nothing(documents: &dyn Documents) {
    let name = name("user/profile");
    create(documents, &name, "same");
    let stamp = done(documents.stamp(&name));
    replace(documents, &name, "same", "same");
    assert_eq!(done(documents.stamp(&name)), stamp, "the stamp after writing the same text");
}

fn removes_what_the_caller_has_seen(documents: &dyn Documents) {
    let name = name("user/notes/travel");
    create(documents, &name, "text");
    done(documents.remove(&name, &ContentHash::of("text")));
    assert_eq!(done(documents.read(&name)), None, "after the removal");
    assert_eq!(done(documents.list(&namespace("user"))), [], "the list after the removal");
}

fn refuses_to_remove_what_the_caller_has_not_seen(documents: &dyn Documents) {
    let name = name("user/profile");
    conflicts(documents.remove(&name, &ContentHash::of("text")), "removing what is missing");
    conflicts(documents.remove(&name, &ContentHash::missing()), "removing what is known to be missing");
    create(documents, &name, "text");
    conflicts(documents.remove(&name, &ContentHash::of("older")), "removing a newer text");
    conflicts(documents.remove(&name, &ContentHash::missing()), "removing what was thought missing");
    assert_eq!(read(documents, &name), "text", "after the refused removals");
}

fn a_removed_document_can_be_written_anew(documents: &dyn Documents) {
    let name = name("user/profile");
    create(documents, &name, "text");
    done(documents.remove(&name, &ContentHash::of("text")));
    conflicts(documents.write(&name, "again", &ContentHash::of("text")), "writing over what was removed");
    create(documents, &name, "again");
    assert_eq!(read(documents, &name), "again", "the second life of a document");
}

fn lists_one_namespace_in_order(documents: &dyn Documents) {
    for text in ["user/working", "user/notes/b", "user/notes/a/deep", "user/profile", "other/profile", "users/profile"]
    {
        create(documents, &name(text), text);
    }
    let listed: Vec<String> = done(documents.list(&namespace("user"))).iter().map(ToString::to_string).collect();
    assert_eq!(listed, ["user/notes/a/deep", "user/notes/b", "user/profile", "user/working"], "the list of `user`");
}

fn a_document_and_a_folder_may_share_a_name(documents: &dyn Documents) {
    create(documents, &name("user/notes"), "the document");
    create(documents, &name("user/notes/travel"), "in the folder");
    assert_eq!(read(documents, &name("user/notes")), "the document", "the document beside the folder");
    assert_eq!(done(documents.list(&namespace("user"))).len(), 2, "both are listed");
}

fn the_stamp_follows_the_text(documents: &dyn Documents) {
    let name = name("user/profile");
    create(documents, &name, "one");
    let first = done(documents.stamp(&name));
    assert!(first.is_some(), "a document has a stamp");
    assert_eq!(done(documents.stamp(&name)), first, "the stamp of an unchanged document");
    replace(documents, &name, "one", "longer");
    assert_ne!(done(documents.stamp(&name)), first, "the stamp of a changed document");
}

fn refuses_names_that_differ_only_in_case(documents: &dyn Documents) {
    create(documents, &name("user/Plans"), "text");
    clashes(documents, "user/plans", "user/Plans");
    clashes(documents, "user/PLANS", "user/Plans");
    create(documents, &name("user/plan"), "another name");
}

fn refuses_names_that_differ_only_in_unicode_form(documents: &dyn Documents) {
    create(documents, &name("user/ﬁle"), "with a ligature");
    clashes(documents, "user/file", "user/ﬁle");
    create(documents, &name("user/Åse"), "composed");
    clashes(documents, "user/ÅSE", "user/Åse");
    assert_eq!(read(documents, &name("user/A\u{30a}se")), "composed", "a decomposed name is the composed one");
}

fn refuses_folders_that_differ_only_in_case(documents: &dyn Documents) {
    create(documents, &name("user/Notes/travel"), "text");
    clashes(documents, "user/notes/travel", "user/Notes");
    clashes(documents, "USER/profile", "user");
}

fn a_clashing_name_reads_as_nothing(documents: &dyn Documents) {
    create(documents, &name("user/Plans"), "text");
    for text in ["user/plans", "User/Plans"] {
        let name = name(text);
        assert_eq!(done(documents.read(&name)), None, "reading `{text}`");
        assert_eq!(done(documents.stamp(&name)), None, "the stamp of `{text}`");
        conflicts(documents.remove(&name, &ContentHash::of("text")), "removing by a clashing name");
    }
    assert_eq!(done(documents.list(&namespace("User"))), [], "listing a clashing namespace");
    assert_eq!(read(documents, &name("user/Plans")), "text", "the document that is there");
}

fn the_limit_is_one_mebibyte(documents: &dyn Documents) {
    let name = name("user/profile");
    let largest = "x".repeat(1024 * 1024);
    create(documents, &name, &largest);
    assert_eq!(read(documents, &name).len(), largest.len(), "the largest document");
    let refused = documents.write(&name, &format!("{largest}x"), &ContentHash::of(&largest));
    assert!(matches!(refused, Err(DocumentError::NotText { .. })), "one byte more gave {refused:?}");
    assert_eq!(read(documents, &name).len(), largest.len(), "after the refused write");
}

fn simultaneous_appends_all_arrive(documents: &dyn Documents) {
    let name = name("user/log");
    create(documents, &name, "");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let name = &name;
            scope.spawn(move || (0..10).for_each(|line| append(documents, name, &format!("{writer}-{line}\n"))));
        }
    });
    let text = read(documents, &name);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let expected: Vec<String> = (0..4).flat_map(|w| (0..10).map(move |l| format!("{w}-{l}"))).collect();
    assert_eq!(lines, expected, "every append arrives once");
}

fn of_simultaneous_creators_one_wins(documents: &dyn Documents) {
    let name = name("user/deep/er/new");
    let create = |text: String| documents.write(&name, &text, &ContentHash::missing()).map(|()| text);
    let won: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|n| scope.spawn(move || create(format!("creator {n}")))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).filter_map(Result::ok).collect()
    });
    assert_eq!(won, [read(documents, &name)], "exactly one creator wins, and its text is there");
}

fn append(documents: &dyn Documents, name: &DocumentName, line: &str) {
    loop {
        let before = read(documents, name);
        match documents.write(name, &format!("{before}{line}"), &ContentHash::of(&before)) {
            Err(DocumentError::Conflict { .. }) => {}
            other => return done(other),
        }
    }
}

fn name(text: &str) -> DocumentName {
    done(text.parse())
}

fn namespace(text: &str) -> Name {
    done(text.parse())
}

fn create(documents: &dyn Documents, name: &DocumentName, text: &str) {
    done(documents.write(name, text, &ContentHash::missing()));
}

fn replace(documents: &dyn Documents, name: &DocumentName, before: &str, after: &str) {
    done(documents.write(name, after, &ContentHash::of(before)));
}

#[track_caller]
fn read(documents: &dyn Documents, name: &DocumentName) -> String {
    match done(documents.read(name)) {
        Some(document) => document.text,
        None => panic!("`{name}` is missing"),
    }
}

#[track_caller]
fn done<T, E: Debug>(outcome: Result<T, E>) -> T {
    match outcome {
        Ok(value) => value,
        Err(error) => panic!("failed: {error:?}"),
    }
}

#[track_caller]
fn conflicts(outcome: Result<(), DocumentError>, what: &str) {
    assert!(matches!(outcome, Err(DocumentError::Conflict { .. })), "{what} gave {outcome:?}");
}

#[track_caller]
fn clashes(documents: &dyn Documents, wanted: &str, there: &str) {
    for expected in [ContentHash::missing(), ContentHash::of("text")] {
        match documents.write(&name(wanted), "new", &expected) {
            Err(DocumentError::Clash { existing, .. }) => assert_eq!(existing, there, "what `{wanted}` clashes with"),
            other => panic!("writing `{wanted}` beside `{there}` gave {other:?}"),
        }
    }
}
