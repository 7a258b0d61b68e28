//! What the program learnt by itself, until somebody has seen it.

use super::*;

fn by(who: Source, verb: Verb) -> Change {
    Change { actor: Actor::new(who, "test"), ..change(verb) }
}

fn learn(store: &dyn Store, ops: &[Op]) -> ChangeId {
    let change = by(Source::System, Verb::Consolidate);
    done(store.apply(&change, ops, &mut || true));
    change.id
}

fn unseen(store: &dyn Store) -> Vec<String> {
    let page = done(store.unseen(&Page { limit: 100, cursor: None }));
    page.unseen.into_iter().map(|unseen| unseen.memory.entry.id.to_string()).collect()
}

#[test]
fn what_a_program_wrote_is_unseen_until_a_person_saw_or_changed_it() {
    let store = make();
    insert(&*store, entry("theirs", "likes tea"));
    done(store.apply(&by(Source::System, Verb::Import), &[Op::Insert(entry("imported", "likes milk"))], &mut || true));
    let archived = Entry { layer: Layer::Archive, ..entry("archived", "they spoke") };
    let change = learn(&*store, &[Op::Insert(entry("a", "lives in Oslo")), Op::Insert(archived)]);
    learn(&*store, &[Op::Insert(entry("b", "has a dog"))]);
    let page = done(store.unseen(&Page { limit: 1, cursor: None }));
    assert_eq!(page.unseen[0].memory.entry.id.as_str(), "b");
    let rest = done(store.unseen(&Page { limit: 1, cursor: page.cursor }));
    assert_eq!(
        (rest.unseen[0].memory.entry.id.as_str(), &rest.unseen[0].change, rest.cursor),
        ("a", &Some(change), None)
    );
    done(store.note_seen(&EntryId::new("a"), minute(1)));
    assert_eq!(unseen(&*store), ["b"]);
    let confirmed = Entry { provenance: vec![TurnId::new("t")], ..entry("b", "has a dog") };
    done(apply(&*store, Verb::Edit, &[Op::Update(confirmed.clone())]));
    assert_eq!(unseen(&*store), [""; 0], "a person changed it");
    learn(&*store, &[Op::Update(Entry { provenance: Vec::new(), version: 2, ..confirmed.clone() })]);
    assert_eq!(unseen(&*store), [""; 0], "it says the same");
    learn(&*store, &[Op::Update(Entry { content: "has two dogs".to_owned(), version: 3, ..confirmed })]);
    assert_eq!(unseen(&*store), ["b"], "it says something else");
    learn(&*store, &[Op::Update(Entry { supersedes: vec![EntryId::new("x")], ..entry("theirs", "likes tea") })]);
    assert_eq!(unseen(&*store), ["b", "theirs"], "it replaced something");
    let gone = Entry {
        status: Status::Inactive,
        supersedes: vec![EntryId::new("x")],
        version: 2,
        ..entry("theirs", "likes tea")
    };
    learn(&*store, &[Op::Update(gone)]);
    assert_eq!(unseen(&*store), ["b"]);
}

#[test]
fn a_line_that_a_program_wrote_is_unseen_and_then_the_persons() {
    let store = make();
    let name = DocumentName::profile(&"user".parse().unwrap());
    let line = Entry {
        kind: Kind::Bullet,
        source: Source::System,
        namespace: Namespace::Document(name.clone()),
        layer: Layer::Identity,
        ..entry("line", "is called Ada")
    };
    let op = |line: &Entry| Op::Document {
        name: name.clone(),
        text: Some("- is called Ada".to_owned()),
        hash: ContentHash::of("1"),
        bullets: Some(vec![line.clone()]),
    };
    learn(&*store, &[op(&line)]);
    assert_eq!(unseen(&*store), ["line"]);
    done(store.note_seen(&line.id, minute(1)));
    assert_eq!(unseen(&*store), [""; 0]);
    assert_eq!(done(store.memory(&line.id)).unwrap().entry.source, Source::User);
    done(store.note_unseen(&line.id));
    assert_eq!(unseen(&*store), ["line"], "it is new again");
    assert_eq!(done(store.memory(&line.id)).unwrap().entry.source, Source::System);
}

#[test]
fn a_verdict_that_was_undone_leaves_a_memory_new() {
    let store = make();
    learn(&*store, &[Op::Insert(entry("a", "lives in Oslo"))]);
    let before = done(store.memory(&EntryId::new("a"))).unwrap().entry;
    let verdict = by(Source::User, Verb::Review);
    let theirs = Entry { source: Source::User, ..before.clone() };
    done(store.apply(&verdict, &[Op::Update(theirs)], &mut || true));
    done(store.note_seen(&before.id, minute(1)));
    assert_eq!(unseen(&*store), [""; 0]);
    let undo = Change { undoes: Some(verdict.id.clone()), ..by(Source::User, Verb::Undo) };
    done(store.apply(&undo, &[Op::Update(Entry { version: 2, ..before.clone() })], &mut || true));
    done(store.note_unseen(&before.id));
    assert_eq!(unseen(&*store), ["a"]);
    // What was never seen stays as it is.
    done(store.note_unseen(&before.id));
    assert_eq!(unseen(&*store), ["a"]);
}

#[test]
fn a_change_tells_what_it_touched_unless_it_was_undone() {
    let store = make();
    let id = learn(&*store, &[Op::Insert(entry("a", "lives in Oslo"))]);
    let touched = done(store.touched(&id)).unwrap();
    assert_eq!((touched.change.id.clone(), touched.entries.len()), (id.clone(), 1));
    done(store.apply(&Change { undoes: Some(id.clone()), ..change(Verb::Undo) }, &[], &mut || true));
    assert_eq!(done(store.touched(&id)), None);
    assert_eq!(done(store.touched(&ChangeId::new("nothing"))), None);
    assert_eq!(unseen(&*store), [""; 0]);
}
