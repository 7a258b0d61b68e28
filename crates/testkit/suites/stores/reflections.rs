//! The log of reflection, and what was said since its last pass.

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
        ingested: Position::new(7),
        tokens_in: 10,
        tokens_out: 5,
    }
}

#[test]
fn passes_are_kept_the_newest_first() {
    let store = make();
    assert_eq!(done(store.passes(None, 9)), []);
    let (one, two) = (pass("a", "user", PassOutcome::Unchanged), pass("b", "projects/stall", PassOutcome::Failed));
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

#[test]
fn what_was_said_after_a_place_is_found_by_project() {
    let store = make();
    let open = |id: &str, project: Option<&str>| NewSession {
        id: id.parse().unwrap(),
        project: project.map(str::to_owned),
        task: None,
        base_prompt: None,
        at: minute(0),
    };
    done(store.open_session(&open("cli:a", None)));
    done(store.open_session(&open("cli:b", Some("stall"))));
    let turn = |id: &str, session: &str, role, at| Turn {
        id: TurnId::new(id),
        session: session.parse().unwrap(),
        role,
        speaker: None,
        content: id.to_owned(),
        at: minute(at),
    };
    done(store.append(&[
        turn("t1", "cli:a", Role::User, 1),
        turn("t2", "cli:b", Role::User, 2),
        turn("t3", "cli:b", Role::Tool, 3),
        turn("t4", "cli:b", Role::Assistant, 4),
        turn("t5", "cli:b", Role::User, 5),
    ]));
    let said = |of: &TurnsOf, after, since, limit| -> Vec<(Position, String)> {
        let found = done(store.said_after(of, after, minute(since), limit));
        found.into_iter().map(|(at, turn)| (at, turn.content)).collect()
    };
    let texts = |found: &[(Position, String)]| found.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
    let (none, stall) = (TurnsOf::NoProject, TurnsOf::Project("stall".to_owned()));
    let all = said(&stall, Position::default(), 0, 9);
    assert_eq!(texts(&all), ["t2", "t4", "t5"], "what was said, and no tool's output");
    assert_eq!(texts(&said(&none, Position::default(), 0, 9)), ["t1"]);
    assert_eq!(texts(&said(&stall, all[0].0, 0, 9)), ["t4", "t5"]);
    assert_eq!(texts(&said(&stall, Position::default(), 4, 9)), ["t4", "t5"]);
    assert_eq!(texts(&said(&stall, Position::default(), 0, 2)), ["t4", "t5"], "the latest");
}
