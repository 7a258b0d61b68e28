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

/// A turn dated in the year 9999 broke listing, export and recall for good.
#[test]
fn a_turn_from_the_far_future_is_dated_now() {
    let home = Home::new();
    let said = Said { at: Some(jiff::Timestamp::MAX), ..Said::now(Role::User, "hello from later") };
    let observed = home.engine.sessions().observe(&session("cli:one"), &[said]).unwrap();
    assert_eq!(observed.turns[0].at, "2026-03-01T12:00:00Z".parse().unwrap());
    assert_eq!(home.engine.sessions().page(None, 10, None).unwrap().sessions.len(), 1);
    home.engine.transfer().export().unwrap();
}

#[test]
fn turns_that_are_too_large_or_hold_nul_are_refused() {
    let home = Home::new();
    for text in ["a\0b".to_owned(), "x".repeat((1 << 20) + 1)] {
        let outcome = home.engine.sessions().observe(&session("cli:one"), &[Said::now(Role::User, text)]);
        assert!(matches!(outcome, Err(EngineError::Invalid { field: "the turn", .. })));
    }
    assert!(home.engine.sessions().find(&session("cli:one")).unwrap().is_none());
}

#[test]
fn a_summary_with_nul_is_refused() {
    let home = Home::new();
    home.say("cli:one", "the parser drops tokens");
    let (model, summary) = (ScriptedModel::saying([]), Some("the parser\0 drops tokens"));
    let service = home.engine.consolidation();
    for outcome in [
        service.run(&session("cli:one"), &model, summary, &worker("me")),
        service.compact(&session("cli:one"), &model, summary, &worker("me")),
    ] {
        assert!(matches!(outcome, Err(EngineError::Invalid { field: "the summary", .. })), "{outcome:?}");
    }
    assert_eq!(home.state("cli:one").consolidated, Position::default());
}

#[test]
fn the_answer_names_the_secrets_that_were_left_out() {
    let home = Home::new();
    let observed = home.say("cli:one", "SMTP_PASS=hunter22");
    assert_eq!(observed.redacted, ["password"]);
    assert_eq!(observed.turns[0].content, "SMTP_PASS=[redacted:password]");
}

#[test]
fn a_session_id_that_is_a_secret_is_refused() {
    let home = Home::new();
    let id = session("web:ghp_abcdefghij0123456789");
    let error = home.engine.sessions().observe(&id, &[Said::now(Role::User, "hello")]).unwrap_err();
    assert!(!error.to_string().contains("abcdefghij"), "{error}");
}

#[test]
fn a_speaker_is_not_kept_under_the_name_of_a_role() {
    let home = Home::new();
    let said = Said { speaker: Some("assistant".to_owned()), ..Said::now(Role::User, "hello") };
    let observed = home.engine.sessions().observe(&session("cli:one"), &[said]).unwrap();
    assert_eq!(observed.turns[0].speaker.as_deref(), Some("user named assistant"));
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
