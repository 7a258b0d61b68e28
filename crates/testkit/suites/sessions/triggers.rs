//! When a conversation is due for consolidation, and which turns it takes.

use throughline_core::sessions::Trigger;

use super::*;

#[test]
fn two_messages_are_left_alone_and_the_third_is_due_once() {
    let home = Home::new();
    assert_eq!(home.say("cli:one", "one").due, None);
    assert_eq!(home.observe("cli:one", Role::Assistant, "I see.").due, None);
    assert_eq!(home.observe("cli:one", Role::Tool, "42").due, None);
    assert_eq!(home.say("cli:one", "two").due, None);
    assert_eq!(home.say("cli:one", "three").due, Some(Trigger::Turns));
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]);
    assert_eq!(done(home.consolidate("cli:one", &model)).compacted, 5);
    assert_eq!(home.engine.sessions().due(&session("cli:one")).unwrap(), None);
    assert_eq!(model.asked().len(), 2, "one summary and one extraction");
    assert_eq!(home.say("cli:one", "four").due, None);
    assert_eq!(home.say("cli:one", "five").due, None);
    assert_eq!(home.say("cli:one", "six").due, Some(Trigger::Turns));
}

#[test]
fn nine_idle_minutes_are_nothing_ten_are_one_and_then_none() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    home.pass(9);
    assert_eq!(home.engine.sessions().due(&session("cli:one")).unwrap(), None);
    home.pass(1);
    let week = SignedDuration::from_hours(24 * 7);
    assert_eq!(home.restarted().sessions().all_due(week).unwrap(), [(session("cli:one"), Trigger::Idle)]);
    home.compact("cli:one");
    home.pass(60);
    assert_eq!(home.engine.sessions().all_due(week).unwrap(), []);
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Nothing);
    assert_eq!(home.timeline().len(), 1);
}

#[test]
fn a_conversation_is_left_a_minute_after_another_began() {
    let (home, week) = (Home::new(), SignedDuration::from_hours(24 * 7));
    home.exchange("cli:one", "the parser is half done");
    let left = || home.engine.sessions().left_for(&session("web:two"), week).unwrap();
    assert_eq!(left(), [], "there is no other one");
    home.say("web:two", "good morning");
    assert_eq!(left(), []);
    home.pass(1);
    assert_eq!(left(), [session("cli:one")]);
    home.say("cli:one", "now the lexer");
    home.pass(1);
    assert_eq!(left(), [], "the person came back to it");
    let off = Home::with(|settings| settings.policy.idle_minutes = 0);
    off.say("cli:one", "the parser is half done");
    off.pass(1);
    off.say("web:two", "good morning");
    assert_eq!(off.engine.sessions().left_for(&session("web:two"), week).unwrap(), []);
}

#[test]
fn a_conversation_that_ended_long_ago_is_not_looked_at() {
    let home = Home::new();
    home.exchange("cli:old", "hello");
    home.pass(60 * 24 * 8);
    home.exchange("cli:new", "hello");
    home.pass(10);
    let due = home.engine.sessions().all_due(SignedDuration::from_hours(24 * 7)).unwrap();
    assert_eq!(due, [(session("cli:new"), Trigger::Idle)]);
}

#[test]
fn a_full_window_is_due_at_the_first_message() {
    let home = Home::with(|settings| settings.policy.context_window = 100);
    assert_eq!(home.say("cli:one", &"word ".repeat(41)).due, Some(Trigger::Tokens));
    let roomy = Home::with(|settings| settings.policy.context_window = 104);
    assert_eq!(roomy.say("cli:one", &"word ".repeat(41)).due, None);
}

#[test]
fn a_zero_turns_a_trigger_off() {
    let home = Home::with(|settings| {
        settings.policy.trigger_ratio = 0.0;
        settings.policy.turn_threshold = 0;
        settings.policy.idle_minutes = 0;
        settings.flush_every = 0;
    });
    for n in 0..20 {
        assert_eq!(home.say("cli:one", &format!("message {n}")).due, None);
    }
    home.pass(60 * 24);
    assert_eq!(home.engine.sessions().due(&session("cli:one")).unwrap(), None);
    assert_eq!(home.compact("cli:one").compacted, 20, "asked for, it is done all the same");
}

#[test]
fn where_nothing_was_said_no_model_is_asked_and_nothing_changes() {
    let home = Home::new();
    home.start("cli:one");
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Nothing);
    assert_eq!((home.archive(), home.working(), home.engine.history().changes(9).unwrap()), (vec![], None, vec![]));
}

#[test]
fn a_turn_that_arrives_during_the_call_is_taken_by_the_next() {
    let home = Arc::new(Home::new());
    home.exchange("cli:one", "the parser is half done");
    let during = Arc::clone(&home);
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]).meanwhile(move |brief| {
        if matches!(brief, throughline_core::ports::Brief::Summarise(_)) {
            during.say("cli:one", "wait, the lexer first");
        }
    });
    assert_eq!(done(home.consolidate("cli:one", &model)).compacted, 2);
    drop(model);
    home.pass(10);
    assert_eq!(home.engine.sessions().due(&session("cli:one")).unwrap(), Some(Trigger::Idle), "it is unconsolidated");
    let next = ScriptedModel::saying(["## Working on\n- the lexer", NO_FACTS]);
    assert_eq!(done(home.consolidate("cli:one", &next)).compacted, 1);
    let throughline_core::ports::Brief::Summarise(brief) = &next.asked()[0] else { panic!("a summary comes first") };
    assert_eq!(brief.turns.iter().map(|turn| turn.content.as_str()).collect::<Vec<_>>(), ["wait, the lexer first"]);
    let timeline = home.timeline();
    assert_eq!(timeline.iter().map(|entry| entry.provenance.len()).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn each_turn_is_summarised_once_and_summaries_never() {
    let home = Home::new();
    for n in 0..3 {
        home.exchange("cli:one", &format!("message {n}"));
        let model = ScriptedModel::saying([SUMMARY, NO_FACTS]);
        assert_eq!(done(home.consolidate("cli:one", &model)).compacted, 2);
        for brief in model.asked() {
            let turns = match brief {
                throughline_core::ports::Brief::Summarise(brief) => brief.turns,
                throughline_core::ports::Brief::Extract(brief) => brief.turns,
                other => panic!("only these two are asked: {other:?}"),
            };
            let said: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
            assert_eq!(said, [&format!("message {n}"), "I see."]);
        }
    }
}

#[test]
fn what_overflows_is_left_out_of_what_is_sent_and_never_out_of_the_store() {
    let home = Home::with(|settings| settings.policy.turn_threshold = 0);
    for n in 0..10 {
        home.exchange("cli:one", &format!("{n} {}", "word ".repeat(80)));
    }
    let (sent, left_out) = home.engine.sessions().window(&session("cli:one"), 350).unwrap();
    assert_eq!((sent.len(), left_out), (6, 14));
    assert_eq!(sent[0].role, Role::User, "whole exchanges");
    let (sent, left_out) = home.engine.sessions().window(&session("cli:one"), 1).unwrap();
    assert_eq!((sent.len(), left_out), (2, 18), "the latest is always sent");
    assert_eq!(home.engine.sessions().conversation(&session("cli:one")).unwrap().1.len(), 20);
}

#[test]
fn a_session_that_ended_goes_on_when_more_is_said() {
    let home = Home::new();
    home.exchange("cli:one", "that is all");
    home.store.end_session(&session("cli:one"), home.engine.now()).unwrap();
    home.compact("cli:one");
    assert!(home.state("cli:one").session.ended_at.is_some());
    home.say("cli:one", "one more thing");
    assert_eq!(home.state("cli:one").session.ended_at, None);
}
