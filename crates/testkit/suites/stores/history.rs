//! History: every version of every entry and document.

use super::*;

fn by(who: Source, via: &str, verb: Verb, at: i64) -> Change {
    Change { actor: Actor::new(who, via), at: minute(at), ..change(verb) }
}

#[test]
fn every_version_is_kept_with_who_made_it() {
    let store = make();
    let (told, corrected) = (by(Source::Agent, "mcp", Verb::Remember, 1), by(Source::User, "cli", Verb::Edit, 2));
    let first = done(store.apply(&told, &[Op::Insert(full_entry("a"))], &mut || true)).remove(0);
    let next = Entry { content: "corrected".to_owned(), updated_at: minute(6), ..first.clone() };
    let second = done(store.apply(&corrected, &[Op::Update(next)], &mut || true)).remove(0);
    let expected = [
        EntryVersion { entry: first, change: told.clone() },
        EntryVersion { entry: second, change: corrected.clone() },
    ];
    assert_eq!(done(store.entry_versions(&EntryId::new("a"))), expected);
    assert_eq!(done(store.entry_versions(&EntryId::new("b"))), []);
    assert_eq!(done(store.changes(9)), [corrected.clone(), told], "the newest first");
    assert_eq!(done(store.changes(1)), [corrected]);
    assert_eq!(done(store.changes(0)), []);
}

fn profile() -> DocumentName {
    "user/profile".parse().unwrap()
}

fn write(store: &dyn Store, text: Option<&str>) -> Change {
    let change = change(Verb::Write);
    let op = Op::document(profile(), text.map(str::to_owned));
    assert_eq!(done(store.apply(&change, &[op], &mut || true)), []);
    change
}

#[test]
fn every_version_of_a_document_is_kept() {
    let store = make();
    let texts = [Some("- Ada\n"), Some(""), None, Some("- Ada\n")];
    let version = |(at, text): (usize, &Option<&str>)| DocumentVersion {
        name: profile(),
        version: u32::try_from(at).unwrap() + 1,
        text: text.map(str::to_owned),
        hash: text.map_or_else(ContentHash::missing, ContentHash::of),
        change: write(&*store, *text),
    };
    let expected: Vec<_> = texts.iter().enumerate().map(version).collect();
    assert_eq!(done(store.document_versions(&profile())), expected);
    let known = KnownDocument { name: profile(), hash: ContentHash::of("- Ada\n"), stamp: None };
    assert_eq!(done(store.known_documents()), [known]);
    assert_eq!(done(store.document_changed_at(&profile())), expected.last().map(|version| version.change.at));
    let other = "user/working".parse().unwrap();
    assert_eq!((done(store.document_versions(&other)), done(store.document_changed_at(&other))), (Vec::new(), None));
}

#[test]
fn the_same_document_again_is_no_change() {
    let store = make();
    let first = write(&*store, Some("- Ada\n"));
    write(&*store, Some("- Ada\n"));
    assert_eq!(done(store.changes(9)), [first]);
    assert_eq!(done(store.document_versions(&profile())).len(), 1);
}
