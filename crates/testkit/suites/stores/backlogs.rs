//! Due sessions: a store answers as `Backlog::of` and `DueRules::trigger` say, without reading conversations.

use throughline_core::sessions::{Backlog, DueRules};

use super::*;

/// Tells [`Backlog::of`] about a session as the store has it.
fn by_definition(store: &dyn Store, state: &SessionState) -> Option<Backlog> {
    Backlog::of(state, &done(store.turns_after(&state.session.id, Position::default())))
}

/// Every session with a reason, by definition: the latest first.
fn expected(store: &dyn Store, rules: &DueRules, since: i64) -> Vec<Backlog> {
    let states = done(store.sessions()).into_iter().filter(|state| state.session.updated_at >= minute(since));
    let backlogs = states.filter_map(|state| by_definition(store, &state));
    backlogs.filter(|backlog| rules.trigger(backlog).is_some()).collect()
}

fn due(store: &dyn Store, rules: &DueRules, since: i64) -> Vec<Backlog> {
    done(store.due_sessions(rules, &Among::UpdatedSince(minute(since))))
}

/// Rules that name every number there is, and those that name none.
fn rules() -> Vec<DueRules> {
    let none = DueRules::default;
    let counts = || 1..6;
    let mut rules = vec![none(), DueRules { ended: true, ..none() }];
    rules.extend(counts().map(|turns| DueRules { turns: Some(turns), ..none() }));
    rules.extend(counts().map(|turns| DueRules { flush: Some(turns), ..none() }));
    rules.extend((0..40).step_by(3).map(|tokens| DueRules { tokens_over: Some(tokens), ..none() }));
    rules.extend((0..30).map(|at| DueRules { silent_since: Some(minute(at)), ..none() }));
    rules.push(DueRules { ended: true, turns: Some(3), flush: Some(4), ..none() });
    rules
}

/// Sessions in every state: turns of each role, pointers anywhere, some imported, some ended, some erased.
fn furnish(store: &dyn Store, dice: &mut Dice) {
    let roles = [Role::User, Role::User, Role::Assistant, Role::Tool, Role::Summary];
    for nth in 0..12 {
        let name = format!("cli:s{nth}");
        let id: SessionId = name.parse().unwrap();
        let said = |dice: &mut Dice, part: &str, count: usize| -> Vec<Turn> {
            (0..count)
                .map(|at| Turn {
                    role: dice.pick(&roles),
                    at: minute(dice.roll(30) as i64),
                    ..turn(&format!("{name}-{part}{at}"), &name, &"word ".repeat(1 + dice.roll(9)))
                })
                .collect()
        };
        let imported = dice.roll(4) * dice.roll(2);
        done(store.append_imported(&[], &said(dice, "i", imported)));
        let count = dice.roll(9);
        done(store.append(&said(dice, "t", count)));
        let Some(state) = done(store.session(&id)) else { continue };
        let turns = done(store.turns_after(&id, Position::default()));
        let place = |dice: &mut Dice| turns.get(dice.roll(turns.len() * 2)).map_or(Position::default(), |(at, _)| *at);
        let (to, kept_from, from) = (place(dice), place(dice), state.consolidated);
        let op = Op::Consolidated { session: id.clone(), from, to, kept_from, summary: None };
        done(apply(store, Verb::Consolidate, &[op]));
        if dice.roll(3) == 0 {
            done(store.end_session(&id, minute(40)));
        }
        if let (true, Some((_, last))) = (dice.roll(4) == 0, turns.last()) {
            done(store.erase(&Erasure { turns: vec![last.id.clone()], ..Erasure::default() }));
        }
    }
}

#[test]
fn due_sessions_match_the_definition() {
    let (mut reasons, mut dice) = (0, Dice::new(7));
    for _ in 0..4 {
        let store = make();
        furnish(&*store, &mut dice);
        for rules in rules() {
            for since in [0, 15] {
                let expected = expected(&*store, &rules, since);
                assert_eq!(due(&*store, &rules, since), expected, "{rules:?}");
                reasons += expected.len();
            }
            for state in done(store.sessions()) {
                let backlog = by_definition(&*store, &state);
                let one = done(store.due_sessions(&rules, &Among::One(state.session.id)));
                let expected = backlog.filter(|backlog| rules.trigger(backlog).is_some());
                assert_eq!(one, expected.into_iter().collect::<Vec<_>>(), "{rules:?}");
            }
        }
    }
    assert!(reasons > 1000, "{reasons} reasons were compared");
}

#[test]
fn a_session_without_turns_is_never_due() {
    let store = make();
    done(store.open_session(&new(0)));
    done(store.end_session(&session(), minute(1)));
    let all =
        DueRules { ended: true, turns: Some(0), flush: Some(1), tokens_over: Some(0), silent_since: Some(minute(9)) };
    assert_eq!(due(&*store, &all, -9), []);
    assert_eq!(done(store.due_sessions(&all, &Among::One("cli:nobody".parse().unwrap()))), []);
}

#[test]
fn a_token_estimate_is_kept_with_a_turn() {
    let store = make();
    done(store.append(&[turn("t1", "cli:a", "用户 likes tea"), turn("t2", "cli:a", &"x".repeat(401))]));
    let rules = |tokens| DueRules { tokens_over: Some(tokens), ..DueRules::default() };
    let all = by_definition(&*store, &state(&*store)).unwrap().tokens;
    assert_eq!((due(&*store, &rules(all - 1), 0).len(), due(&*store, &rules(all), 0).len()), (1, 0));
    done(store.rebuild(&mut |_, _| {}));
    assert_eq!(due(&*store, &rules(0), 0)[0].tokens, all);
}
