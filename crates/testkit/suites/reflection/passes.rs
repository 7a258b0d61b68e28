//! What a pass does to a memory file.

use throughline_core::model::Verb;
use throughline_core::ports::{PassOutcome, Purpose};

use super::{Answering, Home, NOTHING, ReflectBrief, Role, Said, StartSession, Worker, ops};

const FILE: &str = "# stall\r\n\r\nMine, do not touch.  \r\n\r\n## What Is\r\n- [sig:5] The stall is in Porto\r\n- the sign is blue\r\n\
                    - The sign is blue.\r\n\r\n## What Happened\r\n- [sig:1] 2020-01-01 Rain\r\n\r\n## What Is Done\r\n\r\nlast words";

#[test]
fn a_pass_is_one_change_and_undo_gives_back_every_byte() {
    let home = Home::new();
    home.save(FILE);
    home.say("cli:a", Some("stall"), "We opened a second stall in Lisbon, that matters a lot.");
    let answer = ops(r#"{"op": "merge", "ids": ["f2", "f3"], "text": "the sign is blue"}, {"op": "prune", "id": "f4"},
           {"op": "add", "text": "A second stall opened in Lisbon", "significance": 4, "section": "is"},
           {"op": "prune", "id": "f77"}"#);
    let done = home.pass(Some("stall"), &answer);
    let expected = "# stall\r\n\r\nMine, do not touch.  \r\n\r\n## What Is\r\n- [sig:5] The stall is in Porto\r\n- the sign is blue\r\n\
                    - [sig:4] A second stall opened in Lisbon\r\n\r\n## What Happened\r\n\r\n## What Is Done\r\n\r\nlast words";
    assert_eq!(home.text(), expected);
    assert_eq!(done.pass.outcome, PassOutcome::Changed);
    assert_eq!(done.pass.applied.iter().map(|step| step.op.as_str()).collect::<Vec<_>>(), ["prune", "merge", "add"]);
    assert_eq!(done.pass.dropped.len(), 1);
    assert_eq!(done.pass.dropped[0].reason, "`f77` was never shown");
    let undone = home.engine.history().undo().unwrap();
    assert_eq!((undone.undone.verb, Some(undone.undone.id)), (Verb::Reflect, done.pass.change));
    assert_eq!(home.text(), FILE);
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let home = Home::new();
    home.save(FILE);
    home.engine.documents().read(&"projects/stall".parse().unwrap()).unwrap();
    let changes = home.store.changes(100).unwrap();
    let shown = home.ask(Some("stall"), true, |_| ops(r#"{"op": "prune", "id": "f2"}"#));
    assert!(shown.dry_run && shown.documents[0].after == FILE.replace("- the sign is blue\r\n", ""));
    assert_eq!((home.text().as_str(), home.engine.reflection().passes(None, 10).unwrap().len()), (FILE, 0));
    assert_eq!(home.store.changes(100).unwrap(), changes);
}

#[test]
fn what_was_said_is_read_once() {
    let home = Home::new();
    let shown = |expected: &'static [&'static str]| {
        move |brief: &throughline_core::ports::ReflectBrief| {
            let said: Vec<&str> = brief.turns.iter().map(|turn| turn.content.as_str()).collect();
            assert_eq!(said, expected);
            NOTHING.to_owned()
        }
    };
    home.save(FILE);
    home.say("cli:a", Some("stall"), "one");
    home.say("cli:b", None, "not about the stall");
    let first = home.ask(Some("stall"), false, shown(&["one"]));
    assert_eq!((first.pass.outcome, first.pass.change), (PassOutcome::Unchanged, None));
    home.say("cli:c", Some("stall"), "two");
    home.ask(Some("stall"), true, shown(&["two"]));
    home.ask(Some("stall"), false, |_| "no JSON".to_owned());
    home.ask(Some("stall"), false, shown(&["two"]));
    home.ask(Some("stall"), false, shown(&[]));
    assert_eq!(home.text(), FILE);
    let spent = home.engine.models().spending("2026-01-01").unwrap();
    assert_eq!((spent[0].purpose, spent[0].calls), (Purpose::Reflection, 5));
}

/// A person saves the file while the model is thinking.
#[test]
fn an_edit_meanwhile_survives_and_the_plan_is_made_anew() {
    let home = Home::new();
    home.save(FILE);
    let path = home.file();
    let edited = FILE.replace("last words", "last words, and more").replace("- [sig:1] 2020-01-01 Rain\r\n", "");
    let theirs = edited.clone();
    let done = home.ask(Some("stall"), false, move |_| {
        std::fs::write(&path, &theirs).unwrap();
        ops(r#"{"op": "prune", "id": "f4"}, {"op": "prune", "id": "f2"}"#)
    });
    assert_eq!(home.text(), edited.replace("- the sign is blue\r\n", ""));
    assert_eq!(done.pass.dropped[0].reason, "`f4` is gone");
    home.engine.history().undo().unwrap();
    assert_eq!(home.text(), edited);
}

#[test]
fn a_file_with_a_secret_is_left_alone() {
    let home = Home::new();
    let text = "## What Is\n- the key is AKIAIOSFODNN7EXAMPLE\n- a\n- b\n";
    home.save(text);
    let done = home.ask(Some("stall"), false, |_| panic!("it is not shown to a model"));
    assert_eq!((home.text().as_str(), done.pass.outcome), (text, PassOutcome::Unchanged));
    assert!(done.pass.dropped[0].reason.contains("secret"), "{:?}", done.pass.dropped);
}

#[test]
fn one_pass_at_a_time() {
    let home = Home::new();
    home.save(FILE);
    let other = throughline_core::ports::Lease {
        name: "reflect projects/stall".to_owned(),
        holder: throughline_testkit::stores::holder("other"),
        until: "2026-03-02T00:00:00Z".parse().unwrap(),
    };
    assert!(home.store.acquire(&other, home.engine.now(), &|_| false).unwrap());
    let worker =
        throughline_core::engine::Worker { holder: throughline_testkit::stores::holder("test"), is_gone: &|_| false };
    let model = super::Answering(|_: &_| NOTHING.to_owned());
    assert_eq!(home.engine.reflection().run(Some("stall"), &model, &worker, false).unwrap(), None);
}

#[test]
fn the_persons_own_memory_is_reflected_on_and_identity_is_not() {
    let home = Home::new();
    home.save_own("memory", "## What Is\n- a b\n- a b\n");
    home.save_own("patterns", "- [sig:2] works late\n- [sig:2] works late\n");
    home.save_own("profile", "- Ada\n- Ada\n");
    let done = home.ask(None, false, |brief| {
        assert_ne!(brief.document.to_string(), "user/profile");
        ops(r#"{"op": "merge", "ids": ["f1", "f2"], "text": "a b"}, {"op": "merge", "ids": ["f1", "f2"], "text": "works late"}"#)
    });
    assert_eq!(home.own("memory"), "## What Is\n- a b\n");
    assert_eq!(home.own("patterns"), "- [sig:2] works late\n");
    assert_eq!(home.own("profile"), "- Ada\n- Ada\n");
    assert_eq!(done.documents.len(), 2);
    home.engine.history().undo().unwrap();
    assert_eq!((home.own("memory").as_str(), home.own("patterns").len()), ("## What Is\n- a b\n- a b\n", 42));
}

#[test]
fn a_pass_is_due_once_a_day_after_the_first_conversation() {
    let home = Home::new();
    let due = || home.engine.reflection().is_due(None, &jiff::tz::TimeZone::UTC).unwrap();
    assert!(!due(), "nothing was ever said");
    home.say("cli:a", None, "hello there");
    assert!(!due());
    home.later(24);
    assert!(due());
    home.pass(None, "no JSON");
    assert!(!due(), "it failed a moment ago");
    home.later(1);
    assert!(due());
    home.pass(None, NOTHING);
    assert!(!due());
    home.later(100);
    assert!(due(), "caught up after a sleep");
}

#[test]
fn what_a_person_took_back_is_not_done_again() {
    let home = Home::new();
    home.save(FILE);
    let prune = |brief: &throughline_core::ports::ReflectBrief| {
        let rain = brief.facts.iter().find(|fact| fact.text.ends_with("Rain"));
        rain.map_or(NOTHING.to_owned(), |fact| ops(&format!(r#"{{"op": "prune", "id": "{}"}}"#, fact.id)))
    };
    assert_eq!(home.ask(Some("stall"), false, prune).pass.outcome, PassOutcome::Changed);
    home.engine.history().undo().unwrap();
    assert_eq!(home.ask(Some("stall"), false, prune).pass.outcome, PassOutcome::Unchanged);
    assert_eq!(home.text(), FILE);
}

/// One of two documents gets no answer: the other is done, and what was said is read again.
#[test]
fn half_an_answer_is_half_a_pass() {
    let home = Home::new();
    home.save_own("memory", "## What Is\n- the stall is in Porto\n");
    home.save_own("patterns", "- works late\n- works late\n");
    home.say("cli:a", None, "hello there");
    let heard = |brief: &throughline_core::ports::ReflectBrief| brief.turns.len();
    let done = home.ask(None, false, |brief| {
        if heard(brief) > 0 {
            "prose".to_owned()
        } else {
            ops(r#"{"op": "merge", "ids": ["f1", "f2"], "text": "works late"}"#)
        }
    });
    assert!(done.pass.outcome == PassOutcome::Changed && done.pass.reason.is_some());
    assert_eq!(home.own("patterns"), "- works late\n");
    let again = home.ask(None, false, |brief| {
        assert_eq!(heard(brief), usize::from(brief.document.to_string() == "user/memory"));
        NOTHING.to_owned()
    });
    assert_eq!((again.pass.outcome, again.pass.reason), (PassOutcome::Unchanged, None));
    home.ask(None, false, |brief| {
        assert_eq!(heard(brief), 0);
        NOTHING.to_owned()
    });
}

#[test]
fn words_of_others_are_no_material() {
    let home = Home::new();
    let said = |speaker: &str, text: &str| Said { speaker: Some(speaker.to_owned()), ..Said::now(Role::User, text) };
    let start = StartSession { person: Some("Ada".to_owned()), ..StartSession::new("cli:one".parse().unwrap()) };
    let talk = [said("Grace", "I fly to Oslo on Monday"), said("Ada", "I bake bread on Monday")];
    home.engine.sessions().observe_in(&start, &talk).unwrap();
    let shown = std::sync::Mutex::new(Vec::new());
    home.ask(None, true, |brief| {
        shown.lock().unwrap().extend(brief.turns.iter().map(|turn| turn.content.clone()));
        NOTHING.to_owned()
    });
    assert_eq!(*shown.lock().unwrap(), ["I bake bread on Monday"]);
}

#[test]
fn a_pass_does_not_add_what_was_forgotten_until_it_is_said_again() {
    let home = Home::new();
    home.save("## What Is\n- The stall closes at noon\n- The sign is blue\n");
    home.engine.documents().read(&"projects/stall".parse().unwrap()).unwrap();
    home.say("cli:a", Some("stall"), "The stall closes at noon.");
    home.later(1);
    home.save("## What Is\n- The sign is blue\n");
    let add = ops(r#"{"op": "add", "text": "The stall closes at noon", "section": "is"}"#);
    let done = home.pass(Some("stall"), &add);
    assert_eq!((done.pass.applied.len(), done.pass.dropped[0].reason.as_str()), (0, "it was taken back"));
    home.later(1);
    home.say("cli:b", Some("stall"), "The stall closes at noon.");
    let done = home.pass(Some("stall"), &add);
    assert_eq!(done.pass.applied.len(), 1, "{done:?}");
    assert!(home.text().contains("The stall closes at noon"));
}

#[test]
fn a_thread_that_is_said_to_be_finished_elsewhere_is_closed_and_undo_opens_it() {
    let home = Home::new();
    home.say("cli:a", None, "I'm moving the billing service from Heroku to Fly");
    let session = "cli:a".parse().unwrap();
    let summary = "## Working on\n- moving the billing service from Heroku to Fly";
    let worker = Worker { holder: throughline_testkit::stores::holder("test"), is_gone: &|_| false };
    let model = Answering(|_: &ReflectBrief| NOTHING.to_owned());
    home.engine.consolidation().run(&session, &model, Some(summary), &worker).unwrap();
    let titles = || home.engine.threads().listing().unwrap().threads.into_iter().map(|t| t.title).collect::<Vec<_>>();
    assert_eq!(titles(), ["moving the billing service from Heroku to Fly"]);
    home.later(1);
    home.say("web:b", None, "Is moving the billing service to Fly finished?");
    assert_eq!(home.pass(None, NOTHING).pass.outcome, PassOutcome::Unchanged);
    home.later(1);
    home.say("web:b", None, "Good news, moving billing from Heroku to Fly is finished!");
    let done = home.pass(None, NOTHING);
    assert_eq!((done.pass.applied[0].op.as_str(), titles()), ("close", vec![]));
    assert!(!home.own("working").contains("billing"), "{}", home.own("working"));
    home.engine.history().undo().unwrap();
    assert_eq!(titles().len(), 1);
    home.pass(None, NOTHING);
    assert_eq!(titles().len(), 1, "what was undone is left alone");
}
