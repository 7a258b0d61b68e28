//! The log of reflection.

use super::*;

fn pass(id: &str, target: &str, outcome: PassOutcome) -> Pass {
    let applied = Applied {
        op: "prune".to_owned(),
        document: Some("projects/stall".parse().unwrap()),
        ids: vec![EntryId::new("line")],
        what: "“rain”".to_owned(),
    };
    let dropped = Dropped { op: "prune".to_owned(), ids: vec!["f9".to_owned()], reason: "never shown".to_owned() };
    Pass {
        id: id.to_owned(),
        at: minute(1),
        target: target.to_owned(),
        change: None,
        outcome,
        reason: None,
        applied: vec![applied],
        dropped: vec![dropped],
        ingested: TurnMark::default(),
        tokens_in: 10,
        tokens_out: 5,
    }
}

#[test]
fn passes_are_kept_the_newest_first() {
    let store = make();
    assert_eq!(done(store.passes(None, 9)), []);
    let (one, two) = (pass("a", "user", PassOutcome::Unchanged), pass("b", "projects/stall", PassOutcome::Failed));
    done(store.append(&[turn("t1", "cli:a", "tea")]));
    let (_, read_to) = done(store.said_after(&TurnsOf::NoProject, &TurnMark::default(), minute(0), 9));
    assert_ne!(read_to, TurnMark::default());
    let two = Pass { ingested: read_to, ..two };
    done(store.note_pass(&one));
    done(store.note_pass(&two));
    assert_eq!(done(store.passes(None, 9)), [two.clone(), one.clone()]);
    assert_eq!(done(store.passes(None, 1)), [two]);
    assert_eq!(done(store.passes(Some("user"), 9)), [one]);
    assert_eq!(done(store.changes(9)), [], "a pass that changes nothing is no change");
}

#[test]
fn a_pass_is_kept_with_its_change_or_not_at_all() {
    let store = make();
    let change = Change {
        id: ChangeId::new("c"),
        actor: Actor::new(Source::System, "reflection"),
        verb: Verb::Reflect,
        at: minute(1),
        undoes: None,
    };
    let kept = Pass { change: Some(change.id.clone()), ..pass("a", "user", PassOutcome::Changed) };
    let ops = [Op::Insert(entry("one", "tea")), Op::Reflected(Box::new(kept.clone()))];
    assert!(store.apply(&change, &ops, &mut || false).is_err());
    assert_eq!(done(store.passes(None, 9)), []);
    done(store.apply(&change, &ops, &mut || true));
    assert_eq!(done(store.passes(None, 9)), [kept]);
}
