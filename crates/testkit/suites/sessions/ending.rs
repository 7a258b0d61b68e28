//! The end of a conversation: what is left is consolidated; a summary is kept; the task is up to date.

use throughline_core::engine::{Correction, Ended, NewMemory, NewTask, TaskEdit};
use throughline_core::model::{Task, TaskStatus};
use throughline_core::ports::{Brief, ExtractBrief, ModelError, ToolCall};
use throughline_core::sessions::Trigger;

use super::*;

/// What a model says of these facts, each with its kind.
fn facts(list: &[(&str, &str)]) -> String {
    let facts: Vec<_> = list.iter().map(|(kind, text)| serde_json::json!({ "text": text, "kind": kind })).collect();
    serde_json::json!({ "facts": facts }).to_string()
}

fn down() -> ModelError {
    ModelError::Unreachable { provider: "scripted", why: "connection refused".to_owned() }
}

fn end(home: &Home, model: &ScriptedModel) -> Ended {
    home.engine.consolidation().end(&session("cli:one"), model, &worker("worker")).unwrap()
}

/// What the end of a conversation did with what was left.
fn left(home: &Home, model: &ScriptedModel) -> Compaction {
    done(end(home, model).consolidation)
}

fn fill_brief(model: &ScriptedModel) -> ExtractBrief {
    let briefs = model.asked().into_iter().filter_map(|brief| match brief {
        Brief::Extract(brief) => Some(brief),
        _ => None,
    });
    briefs.collect::<Vec<_>>().pop().expect("it was asked for facts")
}

fn summaries(home: &Home) -> Vec<Entry> {
    home.summaries()
}

fn changes(home: &Home) -> usize {
    home.engine.history().changes(usize::MAX).unwrap().len()
}

/// A conversation about a task.
fn about_a_task(home: &Home) -> Task {
    let new = NewTask { title: "Fix the parser".to_owned(), state: "Mine.".to_owned(), project: None };
    let task = home.engine.tasks().add(&new).unwrap();
    let start = StartSession { task: Some(task.id.to_string()), ..StartSession::new(session("cli:one")) };
    home.engine.sessions().start(&start).unwrap();
    task
}

const WRONG: &str = "The deploy runs on Friday at noon";
const RIGHT: &str = "The deploy runs on Thursday at noon";
const SAID: &str = "No, that is wrong: the deploy runs on Thursday at noon";

#[test]
fn a_correction_that_nobody_stored_becomes_one_memory_and_the_wrong_one_is_superseded() {
    let home = Home::new();
    let wrong = home.engine.memories().remember(&NewMemory::fact(WRONG)).unwrap().memory.entry.id;
    home.exchange("cli:one", SAID);
    let model = ScriptedModel::saying([SUMMARY, &facts(&[("correction", RIGHT)])]);
    let filled = left(&home, &model);
    let known = home.knowledge("user/facts");
    assert_eq!(contents(&known), [RIGHT]);
    assert_eq!((filled.facts, filled.superseded), (vec![known[0].id.clone()], vec![wrong.clone()]));
    assert_eq!(
        (known[0].source, &known[0].supersedes, known[0].tags.as_slice()),
        (Source::System, &vec![wrong], ["correction".to_owned()].as_slice())
    );
    assert_eq!(fill_brief(&model).known[0].text, WRONG, "the model is told what is known");
    assert!(home.state("cli:one").session.ended_at.is_some());
}

#[test]
fn what_matters_much_is_left_for_the_person_to_correct() {
    let home = Home::new();
    let weighty = throughline_core::model::Importance::new(1.0).unwrap();
    home.engine.memories().remember(&NewMemory { importance: Some(weighty), ..NewMemory::fact(WRONG) }).unwrap();
    home.exchange("cli:one", SAID);
    let filled = left(&home, &ScriptedModel::saying([SUMMARY, &facts(&[("correction", RIGHT)])]));
    assert_eq!((filled.superseded, contents(&home.knowledge("user/facts"))), (Vec::new(), vec![WRONG, RIGHT]));
}

#[test]
fn what_the_agent_stored_in_other_words_is_not_stored_again() {
    let home = Home::new();
    home.start("cli:one");
    home.exchange("cli:one", SAID);
    let arguments = r#"{"action": "add", "layer": "L1", "content": "Deploy runs on Thursday at noon, not Friday"}"#;
    let call = ToolCall { id: String::new(), name: "memory_write".to_owned(), arguments: arguments.to_owned() };
    assert!(!home.engine.tools().call(&session("cli:one"), &call).is_error);
    let before = home.knowledge("user/facts");
    let filled = left(&home, &ScriptedModel::saying([SUMMARY, &facts(&[("correction", RIGHT)])]));
    assert_eq!((filled.facts, filled.superseded), (Vec::new(), Vec::new()));
    assert_eq!(home.knowledge("user/facts"), before);
}

#[test]
fn two_facts_of_one_conversation_that_sound_alike_are_both_kept() {
    let home = Home::new();
    home.exchange("cli:one", "I drink tea in the morning and I drink coffee in the evening");
    let both = [("preference", "I drink tea in the morning"), ("preference", "I drink coffee in the evening")];
    end(&home, &ScriptedModel::saying([SUMMARY, &facts(&both)]));
    let profile = "- I drink tea in the morning\n- I drink coffee in the evening\n";
    assert_eq!(home.text_of("user/profile").as_deref(), Some(profile));
}

#[test]
fn a_model_that_is_down_all_along_ends_the_conversation_all_the_same() {
    let home = Home::new();
    home.exchange("cli:one", SAID);
    let ended = end(&home, &ScriptedModel::giving([Err(down()), Err(down())]));
    assert!(matches!(ended.consolidation, Consolidation::Failed { failures: 1, .. }));
    assert_eq!((home.timeline(), home.knowledge("user/facts")), (Vec::new(), Vec::new()));
    assert!(home.state("cli:one").session.ended_at.is_some());
    let model = ScriptedModel::saying([SUMMARY, &facts(&[("correction", RIGHT)])]);
    assert_eq!(left(&home, &model).facts.len(), 1);
    assert_eq!(summaries(&home).len(), 1);
}

#[test]
fn the_summary_is_one_entry_that_goes_on_with_the_conversation() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    let filled = left(&home, &ScriptedModel::saying([SUMMARY, NO_FACTS]));
    let first = summaries(&home).remove(0);
    assert_eq!((first.key.as_deref(), Some(&first.id)), (Some("session_cli:one"), filled.archived.as_ref()));
    assert_eq!(first.content, format!("[2026-03-01 12:00] {SUMMARY}"));
    home.pass(120);
    home.exchange("cli:one", "now the lexer");
    assert_eq!(home.state("cli:one").session.ended_at, None, "saying more opens it again");
    let filled = left(&home, &ScriptedModel::saying(["- the lexer", NO_FACTS]));
    assert_eq!(filled.archived.as_ref(), Some(&first.id));
    let second = summaries(&home);
    assert_eq!((second.len(), second[0].version), (1, 2));
    assert!(second[0].content.starts_with("[2026-03-01 14:00]"), "{}", second[0].content);
    assert!(second[0].content.contains("parser") && second[0].content.contains("- the lexer"));
}

#[test]
fn the_task_has_the_summary_once_beside_what_somebody_wrote() {
    let home = Home::new();
    let task = about_a_task(&home);
    home.exchange("cli:one", "the parser is half done");
    let filled = left(&home, &ScriptedModel::saying([SUMMARY, NO_FACTS]));
    assert_eq!(filled.task.as_ref(), Some(&task.id));
    let state = || home.engine.tasks().get(task.id.as_str()).unwrap().state;
    let from = "## From cli:one, 2026-03-01";
    assert_eq!(state(), format!("Mine.\n\n{from}\n\n#{SUMMARY}"));
    home.exchange("cli:one", "now the lexer");
    end(&home, &ScriptedModel::saying(["- the lexer", NO_FACTS]));
    assert_eq!((state().matches(from).count(), state().matches("- the parser").count()), (1, 1), "{}", state());
    // A task that is done is left alone; its archive keeps what it knew.
    let finished = home.engine.tasks().finish(task.id.as_str(), None).unwrap();
    assert!(finished.archived.unwrap().entry.content.contains("- the lexer"));
    home.exchange("cli:one", "thanks");
    let filled = left(&home, &ScriptedModel::saying(["- thanks", NO_FACTS]));
    assert_eq!((filled.task, state()), (None, String::new()));
    assert_eq!(home.engine.tasks().get(task.id.as_str()).unwrap().status, TaskStatus::Done);
}

#[test]
fn a_change_to_the_task_during_the_call_is_not_lost() {
    let home = Home::new();
    let task = about_a_task(&home);
    home.exchange("cli:one", "the parser is half done");
    let (engine, id) = (home.restarted(), task.id.to_string());
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]).meanwhile(move |brief| {
        if matches!(brief, Brief::Extract(_)) {
            let edit = TaskEdit { state: Some("Changed by hand.".to_owned()), ..TaskEdit::default() };
            engine.tasks().update(&id, &edit).unwrap();
        }
    });
    end(&home, &model);
    let state = home.engine.tasks().get(task.id.as_str()).unwrap().state;
    assert!(state.starts_with("Changed by hand.\n\n## From cli:one"), "{state}");
}

#[test]
fn ended_twice_it_is_ended_once() {
    let home = Home::new();
    about_a_task(&home);
    home.exchange("cli:one", SAID);
    end(&home, &ScriptedModel::saying([SUMMARY, &facts(&[("correction", RIGHT)])]));
    let before = (home.entries(Filter::default()), changes(&home), home.engine.tasks().list(None, None).unwrap());
    assert_eq!(home.knowledge("user/facts").len(), 1);
    home.pass(60);
    for _ in 0..2 {
        assert_eq!(end(&home, &ScriptedModel::default()).consolidation, Consolidation::Nothing);
    }
    let after = (home.entries(Filter::default()), changes(&home), home.engine.tasks().list(None, None).unwrap());
    assert_eq!(after, before, "no new memory and no new version of any");
}

#[test]
fn enough_messages_make_a_conversation_due_where_nothing_else_does() {
    for (every, expected) in [(None, 10), (Some(3), 3)] {
        let home = Home::with(|settings| {
            settings.policy.turn_threshold = 0;
            settings.policy.trigger_ratio = 0.0;
            if let Some(every) = every {
                settings.flush_every = every;
            }
        });
        let due: Vec<bool> =
            (1..=expected).map(|n| home.say("cli:one", &format!("message {n}")).due == Some(Trigger::Flush)).collect();
        assert_eq!(due.iter().position(|due| *due), Some(expected - 1), "after {expected} messages of the person");
        home.compact("cli:one");
        assert_eq!(home.engine.sessions().due(&session("cli:one")).unwrap(), None);
        assert_eq!(home.state("cli:one").session.ended_at, None);
    }
}

#[test]
fn the_end_asks_twice_at_most_and_only_about_what_is_left() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    home.compact("cli:one");
    home.exchange("cli:one", SAID);
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]);
    end(&home, &model);
    assert_eq!(model.asked().len(), 2);
    let asked: Vec<String> = fill_brief(&model).turns.into_iter().map(|turn| turn.content).collect();
    assert_eq!(asked, [SAID, "I see."]);
    assert_eq!(home.summaries().len(), 1, "one summary of the whole conversation");
}

#[test]
fn memory_that_is_off_keeps_nothing_of_an_end() {
    let home = Home::with(|settings| settings.enabled = false);
    home.exchange("cli:one", SAID);
    end(&home, &ScriptedModel::saying([SUMMARY]));
    assert_eq!((home.archive(), home.knowledge("user/facts")), (Vec::new(), Vec::new()));
    assert!(home.state("cli:one").session.ended_at.is_some());
}

/// What happens to a worker whose lease ran out during a call, while another one took it: and holds it still, or has
/// done the work.
fn overtaken(during: fn(&Brief) -> bool, by: impl Fn(&Engine) + Send + 'static, home: &Home) -> ScriptedModel {
    let (engine, clock) = (home.restarted(), Arc::clone(&home.clock));
    let found = facts(&[("correction", RIGHT)]);
    ScriptedModel::saying([SUMMARY, &found]).meanwhile(move |brief| {
        if during(brief) {
            clock.advance(SignedDuration::from_mins(11));
            by(&engine);
        }
    })
}

fn holds_the_lease(home: &Home) -> impl Fn(&Engine) + Send + 'static {
    let store = Arc::clone(&home.store);
    move |engine: &Engine| {
        let now = engine.now();
        let until = now.checked_add(SignedDuration::from_mins(10)).unwrap();
        let lease = throughline_core::ports::Lease {
            name: "consolidate user".to_owned(),
            holder: throughline_testkit::stores::holder("other"),
            until,
        };
        assert!(store.acquire(&lease, now, &|_| false).unwrap());
    }
}

#[test]
fn a_worker_that_lost_its_lease_during_the_summary_writes_nothing() {
    let home = Home::new();
    home.exchange("cli:one", SAID);
    let model = overtaken(|brief| matches!(brief, Brief::Summarise(_)), holds_the_lease(&home), &home);
    assert_eq!(home.consolidate("cli:one", &model), Consolidation::Busy);
    assert_eq!((home.timeline(), home.working(), changes(&home)), (Vec::new(), None, 0));
}

#[test]
fn a_failed_call_of_a_worker_that_lost_its_lease_is_not_counted() {
    let home = Home::new();
    home.exchange("cli:one", SAID);
    let (take, engine, clock) = (holds_the_lease(&home), home.restarted(), Arc::clone(&home.clock));
    let model = ScriptedModel::giving([Err(down())]).meanwhile(move |_| {
        clock.advance(SignedDuration::from_mins(11));
        take(&engine);
    });
    assert_eq!(home.consolidate("cli:one", &model), Consolidation::Busy);
    assert_eq!(home.state("cli:one").failures, 0);
}

#[test]
fn what_the_person_corrected_by_hand_is_not_brought_back_by_the_end() {
    let home = Home::new();
    home.exchange("cli:one", "the deploy runs on Friday at noon");
    let wrong = home.engine.memories().remember(&NewMemory::fact(WRONG)).unwrap().memory.entry.id;
    home.pass(1);
    home.engine.memories().correct(wrong.as_str(), &Correction::by_person(RIGHT)).unwrap();
    end(&home, &ScriptedModel::saying([SUMMARY, &facts(&[("fact", WRONG)])]));
    assert_eq!(contents(&home.knowledge("user/facts")), [RIGHT]);
    // Said once more, it is meant.
    home.pass(1);
    home.exchange("cli:one", "I was right before: the deploy runs on Friday at noon");
    end(&home, &ScriptedModel::saying([SUMMARY, &facts(&[("correction", WRONG)])]));
    assert_eq!(contents(&home.knowledge("user/facts")), [WRONG]);
}

#[test]
fn a_correction_of_what_the_agent_stored_before_is_not_taken_for_the_same() {
    let home = Home::new();
    home.start("cli:one");
    home.exchange("cli:one", "the deploy runs on Friday at noon");
    let new = NewMemory { source: Source::Agent, session: Some(session("cli:one")), ..NewMemory::fact(WRONG) };
    home.engine.memories().remember(&new).unwrap();
    home.pass(1);
    home.exchange("cli:one", SAID);
    let filled = left(&home, &ScriptedModel::saying([SUMMARY, &facts(&[("correction", RIGHT)])]));
    assert_eq!((filled.superseded.len(), contents(&home.knowledge("user/facts"))), (1, vec![RIGHT]));
}

#[test]
fn a_correction_of_one_word_in_a_long_sentence_is_still_one() {
    let long =
        |day: &str| format!("The weekly deploy of the billing service for customers in Portugal runs on {day} at noon");
    let home = Home::new();
    home.engine.memories().remember(&NewMemory::fact(long("Friday"))).unwrap();
    home.exchange("cli:one", &format!("No, {}", long("Thursday")));
    end(&home, &ScriptedModel::saying([SUMMARY, &facts(&[("correction", &long("Thursday"))])]));
    assert_eq!(contents(&home.knowledge("user/facts")), [long("Thursday")]);
}

#[test]
fn a_correction_takes_the_key_and_the_place_of_what_was_wrong_and_can_be_corrected_itself() {
    let home = Home::new();
    let wrong = NewMemory { key: Some("deploy".to_owned()), ..NewMemory::fact(WRONG) };
    home.engine.memories().remember(&wrong).unwrap();
    let start = StartSession { project: Some("apollo".to_owned()), ..StartSession::new(session("cli:one")) };
    home.engine.sessions().start(&start).unwrap();
    for day in ["Thursday", "Wednesday", "Tuesday"] {
        home.pass(1);
        let right = format!("The deploy runs on {day} at noon");
        home.exchange("cli:one", &right);
        end(&home, &ScriptedModel::saying([SUMMARY, &facts(&[("correction", &right)])]));
        let known = home.knowledge("user/facts");
        assert_eq!(contents(&known), [right], "one truth, however often it changes");
        assert_eq!((known[0].key.as_deref(), known[0].project.as_deref()), (Some("deploy"), None));
    }
}

#[test]
fn what_is_said_of_one_project_neither_corrects_nor_knows_another() {
    let home = Home::new();
    let of_zeus = NewMemory { project: Some("zeus".to_owned()), ..NewMemory::fact(WRONG) };
    home.engine.memories().remember(&of_zeus).unwrap();
    home.engine.memories().remember(&NewMemory { content: RIGHT.to_owned(), ..of_zeus }).unwrap();
    let start = StartSession { project: Some("apollo".to_owned()), ..StartSession::new(session("cli:one")) };
    home.engine.sessions().start(&start).unwrap();
    home.exchange("cli:one", SAID);
    let filled = left(&home, &ScriptedModel::saying([SUMMARY, &facts(&[("correction", RIGHT)])]));
    assert_eq!((filled.facts.len(), filled.superseded.len()), (1, 0));
}
