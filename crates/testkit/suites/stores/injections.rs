//! Memories that a conversation was given.

use super::*;

#[test]
fn what_was_injected_is_known_while_it_is_in_view() {
    let store = make();
    let ids = |names: &[&str]| -> Vec<EntryId> { names.iter().map(|name| EntryId::new(*name)).collect() };
    let injected = || done(store.injected(&session()));
    done(store.open_session(&new(0)));
    done(store.note_injected(&session(), &ids(&["a"])));
    let first = say(&*store, 1)[0];
    done(store.note_injected(&session(), &ids(&["b", "c"])));
    let second = say(&*store, 2)[1];
    assert_eq!(injected(), ids(&["a", "b", "c"]));
    assert_eq!(done(store.injected(&"cli:b".parse().unwrap())), []);
    done(apply(&*store, Verb::Consolidate, &[consolidated(Position::default(), second, first, None)]));
    assert_eq!(injected(), ids(&["b", "c"]), "they stand in front of the second message, which is still sent");
    done(store.note_injected(&session(), &ids(&["b"])));
    done(apply(&*store, Verb::Consolidate, &[consolidated(second, second, second, None)]));
    assert_eq!(injected(), ids(&["b"]), "given again, it stands further down");
}

#[test]
fn a_memory_whose_text_changed_is_not_in_view() {
    let store = make();
    done(store.open_session(&new(0)));
    let given = [EntryId::new("tea"), EntryId::new("line")];
    let tea = insert(&*store, entry("tea", "likes tea"));
    done(store.note_injected(&session(), &given));
    let tagged = update(&*store, Entry { tags: vec!["drink".to_owned()], ..tea });
    assert_eq!(done(store.injected(&session())), [EntryId::new("line"), EntryId::new("tea")], "it says the same");
    update(&*store, Entry { content: "likes coffee".to_owned(), ..tagged });
    assert_eq!(done(store.injected(&session())), [EntryId::new("line")]);
    done(store.note_injected(&session(), &given));
    assert_eq!(done(store.injected(&session())).len(), 2, "given as it is now");
}
