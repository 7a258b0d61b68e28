//! Several at once: sessions that compact together, workers that die, persons who edit in the middle.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use throughline_core::ports::{Brief, Lease};

use super::meddling::Meddling;
use super::*;

fn is_summary(brief: &Brief) -> bool {
    matches!(brief, Brief::Summarise(_))
}

fn by(engine: &Engine, id: &str, model: &dyn Model, name: &str) -> Consolidation {
    let worker = Worker { holder: throughline_testkit::stores::holder(name), is_gone: &|_| false };
    engine.consolidation().run(&session(id), model, None, &worker).unwrap()
}

#[test]
fn the_second_of_two_sessions_waits_for_the_first() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    home.exchange("web:two", "call Ann tomorrow");
    let (entered, has_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let slow = ScriptedModel::saying(["- from one", NO_FACTS]).meanwhile(move |brief| {
        if is_summary(brief) {
            entered.send(()).unwrap();
            may_go_on.recv().unwrap();
        }
    });
    let (first, second) = (home.restarted(), home.restarted());
    std::thread::scope(|scope| {
        let go_on = go_on; // dropped on a panic, so that the other thread ends
        let running = scope.spawn(move || by(&first, "cli:one", &slow, "first"));
        has_entered.recv().unwrap();
        assert_eq!(by(&second, "web:two", &ScriptedModel::default(), "second"), Consolidation::Busy);
        go_on.send(()).unwrap();
        done(running.join().unwrap());
    });
    let model = ScriptedModel::saying(["- from two", NO_FACTS]);
    done(by(&second, "web:two", &model, "second"));
    assert_eq!(contents(&home.timeline()), ["[2026-03-01 12:00] - from one", "[2026-03-01 12:00] - from two"]);
    let both = "## from two\n\n- from two\n\n## from one\n\n- from one";
    assert_eq!(home.working().as_deref(), Some(both), "neither loses its thread");
}

#[test]
fn many_sessions_at_once_lose_nothing_and_never_overlap() {
    const SESSIONS: usize = 6;
    let home = Home::new();
    for n in 0..SESSIONS {
        home.exchange(&format!("cli:{n}"), &format!("I work on part {n}"));
    }
    let (inside, overlaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    std::thread::scope(|scope| {
        for n in 0..SESSIONS {
            let (engine, inside, overlaps) = (home.restarted(), Arc::clone(&inside), Arc::clone(&overlaps));
            scope.spawn(move || {
                let text = format!("- part {n}");
                let model = ScriptedModel::saying([&text, NO_FACTS]).meanwhile(move |brief| {
                    let was = inside.swap(is_summary(brief), Ordering::SeqCst);
                    overlaps.fetch_add(usize::from(was == is_summary(brief)), Ordering::SeqCst);
                });
                while by(&engine, &format!("cli:{n}"), &model, &format!("worker {n}")) == Consolidation::Busy {
                    std::thread::yield_now();
                }
            });
        }
    });
    assert_eq!(overlaps.load(Ordering::SeqCst), 0);
    let mut timeline: Vec<String> = home.timeline().into_iter().map(|entry| entry.content).collect();
    timeline.sort();
    let expected: Vec<String> = (0..SESSIONS).map(|n| format!("[2026-03-01 12:00] - part {n}")).collect();
    assert_eq!(timeline, expected);
    let versions = home.versions("user/working");
    assert_eq!(versions.len(), SESSIONS, "each wrote working memory, one after the other");
    assert!(versions.iter().all(|(via, _)| via == "consolidation"), "{versions:?}");
    assert_eq!(home.text_of("user/working"), versions.last().map(|(_, text)| text.clone()));
    let working = home.working().unwrap();
    assert!((0..SESSIONS).all(|n| working.contains(&format!("## part {n}\n"))), "no thread is lost: {working}");
}

#[test]
fn without_a_namespace_sessions_need_not_wait_for_each_other() {
    let home = Home::with(|settings| settings.namespace = None);
    home.exchange("cli:one", "the parser is half done");
    home.exchange("web:two", "call Ann tomorrow");
    let engine = home.restarted();
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]).meanwhile(move |brief| {
        if is_summary(brief) {
            done(by(&engine, "web:two", &ScriptedModel::saying(["- from two", NO_FACTS]), "second"));
        }
    });
    done(by(&home.engine, "cli:one", &model, "first"));
    assert_eq!(home.timeline().len(), 2);
}

#[test]
fn the_lease_of_a_worker_that_died_is_taken_over() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    let until = "2026-03-01T12:10:00Z".parse().unwrap();
    let dead =
        Lease { name: "consolidate user".to_owned(), holder: throughline_testkit::stores::holder("dead"), until };
    assert!(home.store.acquire(&dead, home.engine.now(), &|_| false).unwrap());
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Busy);
    let worker =
        Worker { holder: throughline_testkit::stores::holder("living"), is_gone: &|holder| holder.started == "dead" };
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]);
    done(home.engine.consolidation().run(&session("cli:one"), &model, None, &worker).unwrap());
}

#[test]
fn a_lease_that_ran_out_is_taken_over_and_its_holder_writes_nothing_twice() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    let (engine, clock) = (home.restarted(), Arc::clone(&home.clock));
    let slow = ScriptedModel::saying(["- too late", NO_FACTS]).meanwhile(move |brief| {
        if is_summary(brief) {
            clock.advance(SignedDuration::from_mins(11));
            done(by(&engine, "cli:one", &ScriptedModel::saying([SUMMARY, NO_FACTS]), "second"));
        }
    });
    assert_eq!(by(&home.engine, "cli:one", &slow, "first"), Consolidation::Nothing);
    assert_eq!(contents(&home.timeline()), [format!("[2026-03-01 12:00] {SUMMARY}")]);
    assert_eq!(home.working().as_deref(), Some(THREAD));
    assert_eq!(home.engine.sessions().conversation(&session("cli:one")).unwrap().1.len(), 3, "one summary");
}

#[test]
fn a_lease_is_free_again_after_any_outcome() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    home.consolidate("cli:one", &ScriptedModel::saying([""]));
    home.compact("cli:one");
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Nothing);
    let worker = Worker { holder: throughline_testkit::stores::holder("worker"), is_gone: &|_| false };
    assert!(home.engine.consolidation().run(&session("cli:nobody"), &ScriptedModel::default(), None, &worker).is_err());
    home.exchange("cli:one", "go on");
    home.compact("cli:one");
}

#[test]
fn an_edit_of_working_memory_during_the_call_is_kept() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    let by_hand = working_file("- by hand");
    let (documents, text) = (Arc::clone(&home.documents), by_hand.clone());
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]).meanwhile(move |brief| {
        if is_summary(brief) {
            save(&*documents, "user/working", &text);
        }
    });
    done(home.consolidate("cli:one", &model));
    let both = format!("- by hand\n\n{THREAD}");
    assert_eq!(home.working().as_deref(), Some(both.as_str()));
    let versions = [("editor", by_hand), ("consolidation", working_file(&both))];
    assert_eq!(home.versions("user/working"), versions.map(|(via, text)| (via.to_owned(), text)));
}

#[test]
fn a_save_in_the_very_moment_of_the_write_is_planned_anew() {
    let documents = Arc::new(Meddling::default());
    let home = Home::over(Arc::clone(&documents) as Arc<dyn Documents>, |_| {});
    home.save("user/working", &working_file("- before"));
    home.save("user/profile", "- lives in Lisbon\n");
    home.exchange("cli:one", "My name is Ada");
    documents.save_next("user/profile", "- lives in Porto\n");
    let facts = r#"{"facts": [{"text": "The person's name is Ada", "kind": "identity"}]}"#;
    done(home.consolidate("cli:one", &ScriptedModel::saying([SUMMARY, facts])));
    assert_eq!(home.text_of("user/profile").as_deref(), Some("- lives in Porto\n- The person's name is Ada\n"));
    assert_eq!(home.working(), Some(format!("- before\n\n{THREAD}")));
    let vias = |name: &str| home.versions(name).into_iter().map(|(via, _)| via).collect::<Vec<_>>();
    assert_eq!(vias("user/profile"), ["editor", "editor", "consolidation"]);
    assert_eq!(vias("user/working"), ["editor", "consolidation"], "the first try left no trace");
    assert_eq!((home.timeline().len(), home.knowledge("user/facts").len()), (1, 0));
    home.engine.history().undo().unwrap();
    assert_eq!(home.text_of("user/profile").as_deref(), Some("- lives in Porto\n"));
    assert_eq!(home.working().as_deref(), Some("- before"), "undone as a whole");
}

#[test]
fn a_first_file_of_a_try_that_failed_is_taken_away_again() {
    let documents = Arc::new(Meddling::default());
    let home = Home::over(Arc::clone(&documents) as Arc<dyn Documents>, |_| {});
    home.exchange("cli:one", "My name is Ada");
    documents.save_next("user/profile", "- lives in Porto\n");
    let facts = r#"{"facts": [{"text": "The person's name is Ada", "kind": "identity"}]}"#;
    done(home.consolidate("cli:one", &ScriptedModel::saying([SUMMARY, facts])));
    assert_eq!(home.versions("user/working"), [("consolidation".to_owned(), working_file(THREAD))]);
    assert_eq!(home.text_of("user/profile").as_deref(), Some("- lives in Porto\n- The person's name is Ada\n"));
}
