//! Compaction: the summary that replaces trimmed turns, the timeline entry, working memory, all in one change.

use throughline_core::engine::{Edit, NewMemory};
use throughline_core::model::{Importance, Verb};
use throughline_core::ports::{Brief, Op, SummaryBrief};
use throughline_testkit::stores;

use super::meddling::Meddling;
use super::*;

fn summary_task(model: &ScriptedModel) -> SummaryBrief {
    match model.asked().into_iter().next() {
        Some(Brief::Summarise(brief)) => brief,
        other => panic!("a summary comes first, and not {other:?}"),
    }
}

fn sent(home: &Home) -> Vec<(Role, String)> {
    let (window, _) = home.engine.sessions().window(&session("cli:one"), 100_000).unwrap();
    window.into_iter().map(|turn| (turn.role, turn.content)).collect()
}

#[test]
fn a_summary_replaces_what_is_trimmed_and_the_latest_exchange_stays() {
    let home = Home::with(|settings| settings.policy.keep_recent_turns = 1);
    home.exchange("cli:one", &"a long story ".repeat(20));
    home.exchange("cli:one", "and its end");
    let compaction = home.shorten("cli:one", &ScriptedModel::saying([SUMMARY, NO_FACTS]));
    assert_eq!((compaction.summary.as_str(), compaction.compacted), (SUMMARY, 4));
    assert_eq!((compaction.tokens_before, compaction.tokens_after), (65 + 2 + 3 + 2, 11 + 3 + 2));
    let messages: Vec<(Role, String)> =
        compaction.messages.unwrap().into_iter().map(|message| (message.role, message.content)).collect();
    let summed_up = format!("[Context Summary]\n{SUMMARY}");
    let expected = [(Role::User, summed_up.as_str()), (Role::User, "and its end"), (Role::Assistant, "I see.")];
    assert_eq!(messages, expected.map(|(role, text)| (role, text.to_owned())));
    let expected = [(Role::Summary, SUMMARY), (Role::User, "and its end"), (Role::Assistant, "I see.")];
    assert_eq!(sent(&home), expected.map(|(role, text)| (role, text.to_owned())));
}

#[test]
fn a_consolidation_shortens_nothing() {
    let home = Home::with(|settings| settings.policy.keep_recent_turns = 1);
    home.exchange("cli:one", &"a long story ".repeat(20));
    home.exchange("cli:one", "and its end");
    let before = sent(&home);
    let done = home.compact("cli:one");
    assert_eq!((done.tokens_before, done.tokens_after, done.messages), (72, 72, None));
    assert_eq!(sent(&home), before);
    let asked = ScriptedModel::default();
    let compaction = home.shorten("cli:one", &asked);
    assert!(compaction.tokens_after < compaction.tokens_before, "the same summary, without another call");
    assert_eq!(sent(&home)[0], (Role::Summary, SUMMARY.to_owned()));
}

#[test]
fn a_compaction_never_makes_the_history_longer() {
    let home = Home::with(|settings| settings.policy.keep_recent_turns = 1);
    home.observe("cli:one", Role::System, "Answer briefly.");
    home.exchange("cli:one", "short");
    home.exchange("cli:one", "shorter");
    let before = sent(&home);
    let compaction = home.shorten("cli:one", &ScriptedModel::saying([SUMMARY, NO_FACTS]));
    assert_eq!(
        (compaction.tokens_before, compaction.messages.map(|all| all.len())),
        (compaction.tokens_after, Some(5))
    );
    assert_eq!(sent(&home), before);
    home.exchange("cli:one", &"long ".repeat(99));
    home.exchange("cli:one", "the end");
    let compaction = home.shorten("cli:one", &ScriptedModel::saying(["NOTHING", NO_FACTS]));
    let messages = compaction.messages.unwrap();
    assert_eq!((messages.len(), messages[0].content.as_str()), (4, "Answer briefly."), "what the host says stays");
}

#[test]
fn nothing_to_keep_moves_the_pointer_and_changes_nothing_else() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    home.compact("cli:one");
    home.pass(1);
    let before = (home.archive(), home.text_of("user/working"), home.engine.history().changes(9).unwrap());
    home.exchange("cli:one", "good morning");
    let done = done(home.consolidate("cli:one", &ScriptedModel::saying(["NOTHING", NO_FACTS])));
    assert_eq!((done.summary.as_str(), done.compacted, done.thread), ("", 2, None));
    let after = (home.archive(), home.text_of("user/working"), home.engine.history().changes(9).unwrap());
    assert_eq!((after, home.state("cli:one").failures), (before, 0));
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Nothing);
}

#[test]
fn what_is_sent_stands_for_everything_that_was_trimmed_before() {
    let home = Home::with(|settings| settings.policy.keep_recent_turns = 1);
    for (n, summary) in ["## First\n- a", "## Second\n- b", "## Third\n- c"].into_iter().enumerate() {
        home.exchange("cli:one", &format!("message {n} {}", "word ".repeat(40)));
        home.shorten("cli:one", &ScriptedModel::saying([summary, NO_FACTS]));
        let latest = home.timeline().pop().unwrap().content;
        assert_eq!(latest, format!("[2026-03-01 12:00] {summary}"), "the timeline holds each of them once");
    }
    let sent = sent(&home);
    assert_eq!(sent[0], (Role::Summary, "## First\n- a\n\n## Second\n- b\n\n## Third\n- c".to_owned()));
    let rest: Vec<&str> = sent[1..].iter().map(|(_, text)| text.as_str()).collect();
    assert!(rest.len() == 2 && rest[0].starts_with("message 2") && rest[1] == "I see.", "{rest:?}");
}

#[test]
fn a_tool_call_keeps_its_result() {
    let home = Home::with(|settings| settings.policy.keep_recent_turns = 1);
    home.exchange("cli:one", &"hello ".repeat(40));
    home.say("cli:one", "how warm is it?");
    home.observe("cli:one", Role::Assistant, "calling the thermometer");
    home.observe("cli:one", Role::Tool, "21 degrees");
    home.shorten("cli:one", &ScriptedModel::saying([SUMMARY, NO_FACTS]));
    let roles: Vec<Role> = sent(&home).into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, [Role::Summary, Role::User, Role::Assistant, Role::Tool]);
}

#[test]
fn the_timeline_entry_is_greppable_by_key_and_date() {
    let home = Home::new();
    home.exchange("web:abc", "the parser is half done");
    home.pass(75);
    let compaction = home.compact("web:abc");
    let entry = home.timeline().remove(0);
    assert_eq!(Some(&entry.id), compaction.timeline.as_ref());
    assert_eq!(entry.key, Some(format!("ctx_web:abc_{}", entry.id)));
    assert_eq!(entry.content, format!("[2026-03-01 12:00] {SUMMARY}"), "dated by what was said");
    assert_eq!((entry.layer.category(), entry.source), (Some("timeline"), Source::System));
    assert_eq!((entry.namespace, entry.session), ("sessions/web:abc".parse().unwrap(), Some(session("web:abc"))));
    let said: Vec<TurnId> =
        home.engine.sessions().conversation(&session("web:abc")).unwrap().1.into_iter().map(|t| t.id).collect();
    assert_eq!(entry.provenance, said[..2]);
}

#[test]
fn a_session_hands_its_project_and_task_to_the_timeline() {
    let home = Home::new();
    let start = StartSession {
        project: Some("apollo".to_owned()),
        task: Some("t1".to_owned()),
        ..StartSession::new(session("cli:one"))
    };
    home.engine.sessions().start(&start).unwrap();
    home.exchange("cli:one", "the parser is half done");
    home.compact("cli:one");
    let entry = home.timeline().remove(0);
    assert_eq!((entry.project.as_deref(), entry.task.as_deref()), (Some("apollo"), Some("t1")));
}

#[test]
fn pointer_timeline_facts_and_documents_are_one_change() {
    let home = Home::new();
    home.exchange("cli:one", "I like tea");
    let facts = r#"{"facts": [{"text": "The person likes tea", "kind": "preference"}]}"#;
    let compaction = done(home.consolidate("cli:one", &ScriptedModel::saying([SUMMARY, facts])));
    assert_eq!(compaction.documents, [document("user/working"), document("user/profile")]);
    let changes = home.engine.history().changes(9).unwrap();
    assert_eq!(changes.iter().map(|change| change.verb).collect::<Vec<_>>(), [Verb::Consolidate]);
    assert_eq!(changes[0].actor, Actor::new(Source::System, "consolidation"));
    home.engine.history().undo().unwrap();
    assert_eq!((home.timeline(), home.knowledge("user/facts")), (vec![], vec![]));
    assert_eq!((home.text_of("user/working"), home.text_of("user/profile")), (None, None));
}

#[test]
fn a_consolidation_that_cannot_be_written_leaves_everything_as_it_was() {
    let documents = Arc::new(Meddling::default());
    let home = Home::over(Arc::clone(&documents) as Arc<dyn Documents>, |_| {});
    home.exchange("cli:one", "I like tea");
    let before = home.state("cli:one");
    documents.always_in_the_way();
    let facts = r#"{"facts": [{"text": "The person likes tea", "kind": "preference"}]}"#;
    let worker = Worker { holder: throughline_testkit::stores::holder("worker"), is_gone: &|_| false };
    let model = ScriptedModel::saying([SUMMARY, facts, SUMMARY, facts]);
    let outcome = home.engine.consolidation().run(&session("cli:one"), &model, None, &worker);
    assert!(outcome.is_err(), "{outcome:?}");
    assert_eq!(home.state("cli:one"), before, "the pointer stands where it stood");
    assert_eq!((home.timeline(), home.knowledge("user/facts")), (vec![], vec![]));
    assert_eq!(home.engine.sessions().conversation(&session("cli:one")).unwrap().1.len(), 2, "and there is no summary");
    documents.out_of_the_way();
    done(home.consolidate("cli:one", &model));
    assert_eq!(home.timeline().len(), 1);
    assert_eq!(home.text_of("user/profile").as_deref(), Some("- The person likes tea\n"));
}

#[test]
fn an_expired_thread_is_not_given_to_the_model() {
    let home = Home::new();
    home.exchange("cli:one", "call Ann tomorrow");
    home.compact("cli:one");
    home.pass(14 * 24 * 60);
    home.exchange("cli:one", "the parser is half done");
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]);
    done(home.consolidate("cli:one", &model));
    assert_eq!(summary_task(&model).previous, None);
}

#[test]
fn the_summariser_is_given_related_knowledge_and_no_more_than_the_limit() {
    let home = Home::with(|settings| settings.recall_limit = 2);
    for n in 0..4 {
        home.engine.memories().remember(&NewMemory::fact(format!("parser fact number {n}"))).unwrap();
    }
    home.engine.memories().remember(&NewMemory::fact("likes tea")).unwrap();
    home.exchange("cli:one", "the parser is half done");
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]);
    done(home.consolidate("cli:one", &model));
    let knowledge = summary_task(&model).knowledge;
    assert_eq!(knowledge.len(), 2);
    assert!(knowledge.iter().all(|fact| fact.starts_with("parser fact")), "{knowledge:?}");
    assert_eq!(home.engine.recall().log(9).unwrap(), [], "which is no recall of the person's");
}

#[test]
fn a_hosts_own_summary_is_taken() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    let model = ScriptedModel::saying([NO_FACTS]);
    let worker = Worker { holder: throughline_testkit::stores::holder("worker"), is_gone: &|_| false };
    let outcome = home.engine.consolidation().run(&session("cli:one"), &model, Some("- by the host"), &worker).unwrap();
    assert_eq!(done(outcome).summary, "- by the host");
    assert!(matches!(model.asked()[..], [Brief::Extract(_)]), "no second summary is asked for");
    assert_eq!(contents(&home.timeline()), ["[2026-03-01 12:00] - by the host"]);
    assert_eq!(home.text_of("user/working"), Some(working_file("## by the host\n\n- by the host")));
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Nothing);
}

#[test]
fn a_hosts_summary_is_kept_where_nothing_is_pending() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    home.compact("cli:one");
    let hand_in = |text: &str| {
        home.engine.consolidation().run(&session("cli:one"), &ScriptedModel::default(), Some(text), &worker("worker"))
    };
    let pointer = home.state("cli:one").consolidated;
    let kept = done(hand_in("## Working on\n- the lexer").unwrap());
    assert_eq!((kept.compacted, home.state("cli:one").consolidated), (0, pointer));
    assert_eq!(home.working().as_deref(), Some("## the lexer\n\n### Working on\n- the lexer"));
    assert_eq!(contents(&home.timeline())[1], "[2026-03-01 12:00] ## Working on\n- the lexer");
    assert!(home.summaries()[0].content.ends_with("- the lexer"));
    assert!(matches!(hand_in("I'm sorry, I can't do that.").unwrap(), Consolidation::Failed { .. }));
}

#[test]
fn retention_takes_old_automatic_chunks_that_do_not_matter() {
    let home = Home::new();
    for id in ["cli:plain", "cli:weighty"] {
        home.exchange(id, "the parser is half done");
        home.compact(id);
    }
    let weighty = home.timeline().pop().unwrap();
    let heavy = Edit { importance: Some(Importance::new(0.75).unwrap()), ..Edit::default() };
    home.engine.memories().edit(weighty.id.as_str(), &heavy).unwrap();
    for key in ["session summary", "ctx_by_hand"] {
        let kept = NewMemory { layer: Layer::Archive, key: Some(key.to_owned()), ..NewMemory::fact(key) };
        home.engine.memories().remember(&kept).unwrap();
    }
    home.engine
        .memories()
        .remember(&NewMemory { key: Some("ctx_fact".to_owned()), ..NewMemory::fact("likes tea") })
        .unwrap();
    home.pass(90 * 24 * 60);
    home.exchange("cli:new", "hello");
    home.compact("cli:new");
    home.pass(1);
    assert_eq!(home.consolidate("cli:new", &ScriptedModel::default()), Consolidation::Nothing);
    assert_eq!(home.timeline().len(), 5, "not before the new time is confirmed");
    home.pass(60);
    assert_eq!(home.consolidate("cli:new", &ScriptedModel::default()), Consolidation::Nothing);
    let left = home.timeline();
    assert!(left[0].key.as_deref().unwrap().starts_with("ctx_cli:weighty"), "{left:?}");
    assert_eq!([&left[1], &left[2]].map(|entry| entry.content.as_str()), ["session summary", "ctx_by_hand"]);
    assert!(left.len() == 4 && left[3].session == Some(session("cli:new")), "{left:?}");
    assert_eq!(home.knowledge("user/facts").len(), 1);
    let retired = home.entries(Filter { status: Some(Status::Inactive), ..Filter::default() });
    assert_eq!(retired.len(), 1, "retired, and not deleted");
    home.engine.history().undo().unwrap();
    assert_eq!(home.timeline().len(), 5);
}

#[test]
fn a_clock_that_jumped_retires_nothing_until_it_is_confirmed() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    home.compact("cli:one");
    let consolidated = || home.consolidate("cli:one", &ScriptedModel::default());
    home.pass(10 * 365 * 24 * 60);
    assert!(!home.engine.consolidation().is_time_confirmed().unwrap());
    assert_eq!((consolidated(), home.timeline().len()), (Consolidation::Nothing, 1));
    home.engine.memories().remember(&NewMemory::fact("in use again")).unwrap();
    home.pass(59);
    assert_eq!((consolidated(), home.timeline().len()), (Consolidation::Nothing, 1), "used only a moment ago");
    home.pass(1);
    assert!(home.engine.consolidation().is_time_confirmed().unwrap());
    assert_eq!((consolidated(), home.timeline().len()), (Consolidation::Nothing, 0));
}

#[test]
fn zero_days_keep_the_timeline_for_ever() {
    let home = Home::with(|settings| settings.policy.retention_days = 0);
    home.exchange("cli:one", "hello");
    home.compact("cli:one");
    home.pass(10 * 365 * 24 * 60);
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Nothing);
    assert_eq!(home.timeline().len(), 1);
}

#[test]
fn what_stays_for_ever_does_not_hide_what_goes() {
    let home = Home::new();
    home.exchange("cli:one", "hello");
    home.compact("cli:one");
    let kept = |n| {
        let archived = stores::entry(&format!("kept{n}"), &format!("task number {n} is done"));
        Op::Insert(Entry { layer: Layer::Archive, created_at: stores::minute(1), ..archived })
    };
    stores::apply(&*home.store, Verb::Remember, &(0..600).map(kept).collect::<Vec<_>>()).unwrap();
    home.pass(90 * 24 * 60 + 2);
    home.engine.memories().remember(&NewMemory::fact("in use again")).unwrap();
    home.pass(60);
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Nothing);
    let left = home.timeline();
    assert!(left.len() == 600 && left.iter().all(|entry| entry.key.is_none()), "{}", left.len());
}
