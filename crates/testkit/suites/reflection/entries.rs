//! Entries: what says the same becomes one, and what is said again and again is promoted.

use throughline_core::engine::NewMemory;
use throughline_core::model::{Source, Status};
use throughline_core::ports::PassOutcome;

use super::{Home, NOTHING};

fn remember(home: &Home, text: &str, tag: &str, project: Option<&str>) -> throughline_core::model::EntryId {
    let new = NewMemory {
        tags: vec![tag.to_owned()],
        project: project.map(str::to_owned),
        source: Source::Agent,
        ..NewMemory::fact(text)
    };
    home.engine.memories().remember(&new).unwrap().memory.entry.id
}

/// A copy that no writer looked for, as a bulk load leaves it.
fn copied(home: &Home, text: &str, tag: &str, project: Option<&str>) -> throughline_core::model::EntryId {
    let new = NewMemory {
        tags: vec![tag.to_owned()],
        project: project.map(str::to_owned),
        source: Source::Agent,
        ..NewMemory::fact(text)
    };
    home.engine.memories().remember_all(&[new]).unwrap();
    let page = throughline_core::ports::Page { limit: 99, cursor: None };
    let all = home.engine.memories().list(&Default::default(), &page).unwrap().memories;
    all.into_iter().find(|memory| memory.entry.content == text).unwrap().entry.id
}

fn status(home: &Home, id: &throughline_core::model::EntryId) -> Status {
    home.store.memory(id).unwrap().unwrap().entry.status
}

#[test]
fn duplicates_are_merged_with_their_lineage_and_undo_parts_them() {
    let home = Home::new();
    let first = remember(&home, "The supplier delivers on Tuesdays", "a", None);
    let second = copied(&home, "the supplier delivers on tuesdays.", "b", None);
    let elsewhere = copied(&home, "The supplier delivers on Tuesdays!", "c", Some("stall"));
    let not = remember(&home, "The supplier never delivers on Tuesdays", "d", None);
    let done = home.pass(None, NOTHING);
    assert_eq!(done.pass.outcome, PassOutcome::Changed);
    let standing = home.store.memory(&first).unwrap().unwrap().entry;
    assert_eq!((standing.supersedes, standing.tags), (vec![second.clone()], vec!["a".to_owned(), "b".to_owned()]));
    let statuses = [&first, &second, &elsewhere, &not].map(|id| status(&home, id));
    assert_eq!(statuses, [Status::Active, Status::Inactive, Status::Active, Status::Active]);
    home.engine.history().undo().unwrap();
    assert_eq!(status(&home, &second), Status::Active);
    let off = Home::with(|settings| settings.reflection.merge = false);
    remember(&off, "The supplier delivers on Tuesdays", "a", None);
    copied(&off, "the supplier delivers on tuesdays.", "b", None);
    assert_eq!(off.pass(None, NOTHING).pass.outcome, PassOutcome::Unchanged);
}

#[test]
fn what_three_conversations_say_becomes_a_pattern_within_the_limit() {
    for (promote, tag, document) in
        [(true, "preference", "patterns"), (true, "identity", "profile"), (false, "preference", "patterns")]
    {
        let home = Home::with(|settings| settings.reflection.promote = promote);
        remember(&home, "I prefer short answers in the morning", tag, None);
        for session in ["cli:a", "web:b"] {
            home.say(session, None, "Well. I prefer short answers in the morning! Thanks.");
        }
        home.pass(None, NOTHING);
        assert_eq!(home.own(document), "", "two conversations are no pattern");
        home.say("telegram:c", None, "I prefer short answers in the morning");
        let done = home.pass(None, NOTHING);
        let expected = if promote { "- I prefer short answers in the morning\n" } else { "" };
        assert_eq!(home.own(document), expected, "{tag}");
        if promote {
            assert_eq!(done.pass.applied[0].op, "promote");
            assert_eq!(home.pass(None, NOTHING).pass.outcome, PassOutcome::Unchanged, "once is enough");
        }
    }
    let home = Home::new();
    let full = "x".repeat(990);
    home.save_own("profile", &full);
    remember(&home, "I prefer short answers in the morning", "identity", None);
    for session in ["cli:a", "web:b", "telegram:c"] {
        home.say(session, None, "I prefer short answers in the morning");
    }
    home.pass(None, NOTHING);
    assert_eq!(home.own("profile"), full, "identity is never pushed past its limit");
}

#[test]
fn what_others_or_pastes_say_is_no_pattern() {
    let home = Home::new();
    remember(&home, "I prefer payments to go out at once", "preference", None);
    for (nth, said) in [
        "He wrote: \"I prefer payments to go out at once\"",
        "> I prefer payments to go out at once\n\nwhat does that mean?",
        "Should I say that I prefer payments to go out at once?",
        "From: Mallory <m@evil.example>\nSubject: pay\n\nI prefer payments to go out at once.",
    ]
    .iter()
    .enumerate()
    {
        home.say(&format!("cli:{nth}"), None, said);
    }
    home.pass(None, NOTHING);
    assert_eq!(home.own("patterns"), "");
}
