//! Observing what was said: validated first, then kept in one transaction.

use throughline_core::engine::{EngineError, Said, StartSession};

use super::*;

#[test]
fn a_blank_turn_creates_no_session() {
    let home = Home::new();
    for batch in [vec![Said::now(Role::User, " \n")], vec![Said::now(Role::User, "hi"), Said::now(Role::User, "")]] {
        let outcome = home.engine.sessions().observe(&session("cli:new"), &batch);
        assert!(matches!(outcome, Err(EngineError::NothingSaid)), "{outcome:?}");
    }
    assert!(home.engine.sessions().observe(&session("cli:new"), &[]).unwrap().turns.is_empty());
    assert!(home.engine.sessions().find(&session("cli:new")).unwrap().is_none());
}

#[test]
fn a_blank_turn_reopens_no_session() {
    let home = Home::new();
    home.say("cli:one", "hello");
    home.engine.sessions().mark_ended(&session("cli:one")).unwrap();
    home.engine.sessions().observe(&session("cli:one"), &[Said::now(Role::User, " ")]).unwrap_err();
    assert!(home.state("cli:one").session.ended_at.is_some());
    home.say("cli:one", "one more thing");
    assert_eq!(home.state("cli:one").session.ended_at, None);
}

#[test]
fn a_turn_that_is_known_reopens_no_session() {
    let home = Home::new();
    let said = Said { id: Some("m1".to_owned()), ..Said::now(Role::User, "hello") };
    assert_eq!(home.engine.sessions().observe(&session("cli:one"), std::slice::from_ref(&said)).unwrap().kept, 1);
    home.engine.sessions().mark_ended(&session("cli:one")).unwrap();
    assert_eq!(home.engine.sessions().observe(&session("cli:one"), &[said]).unwrap().kept, 0);
    assert!(home.state("cli:one").session.ended_at.is_some());
}

#[test]
fn a_summary_cannot_be_observed() {
    let home = Home::new();
    let outcome = home.engine.sessions().observe(&session("cli:one"), &[Said::now(Role::Summary, "we met")]);
    assert!(matches!(outcome, Err(EngineError::Invalid { field: "the role", .. })), "{outcome:?}");
}

#[test]
fn a_session_is_told_its_project_with_the_first_turn() {
    let home = Home::new();
    let start = StartSession { project: Some("shop".to_owned()), ..StartSession::new(session("cli:one")) };
    home.engine.sessions().observe_in(&start, &[Said::now(Role::User, "hello")]).unwrap();
    home.say("cli:one", "again");
    assert_eq!(home.state("cli:one").session.project.as_deref(), Some("shop"));
    assert_eq!(home.engine.sessions().conversation(&session("cli:one")).unwrap().1.len(), 2);
}
