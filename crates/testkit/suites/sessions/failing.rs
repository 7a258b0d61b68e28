//! Failing models, unreadable or unwritable documents, switched-off memory, and the token ledger.

use throughline_core::engine::NewMemory;
use throughline_core::engine::Visibility;
use throughline_core::ports::{Brief, Finish, ModelError, Purpose, Reply, Spent};
use throughline_testkit::reply;

use super::meddling::Meddling;
use super::*;

fn unreachable() -> ModelError {
    ModelError::Unreachable { provider: "scripted", why: "connection refused".to_owned() }
}

/// Nothing of a failed call is anywhere; the counter stands at `failures`.
fn is_as_it_was(home: &Home, failures: u32) {
    let state = home.state("cli:one");
    assert_eq!((state.consolidated, state.kept_from), (Position::default(), Position::default()));
    assert_eq!(state.failures, failures);
    assert_eq!((home.archive(), home.knowledge("user/facts"), home.working()), (vec![], vec![], None));
    assert_eq!(home.engine.history().changes(9).unwrap(), []);
}

#[test]
fn what_is_no_summary_counts_as_a_failure_and_is_never_stored() {
    let refused = |status, why: &str| {
        Err(ModelError::Refused { provider: "scripted", status, why: why.to_owned(), retry_after: None })
    };
    let ended = |finish| Ok(Reply { finish, ..reply("## Working on\n- half a sum") });
    let outcomes: [Result<Reply, ModelError>; 20] = [
        Err(unreachable()),
        Err(ModelError::TimedOut { provider: "scripted" }),
        Err(ModelError::Malformed { provider: "scripted", why: "no JSON".to_owned() }),
        Err(ModelError::Resting { provider: "scripted" }),
        refused(429, "slow down"),
        refused(500, "oops"),
        ended(Finish::CutOff),
        ended(Finish::Filtered),
        Ok(reply("")),
        Ok(reply(" \n\t ")),
        Ok(reply("<think>the person works on")),
        Ok(reply("<think>only thoughts</think>")),
        Ok(reply("<!DOCTYPE html><html><body>502 Bad Gateway</body></html>")),
        Ok(reply("I'm sorry, but I can't help with that.")),
        Ok(reply("抱歉，我无法总结这段对话。")),
        Ok(reply(r#"{"error": {"message": "overloaded"}}"#)),
        Ok(reply("Es tut mir leid, dabei kann ich nicht helfen.")),
        Ok(reply("N/A")),
        Ok(reply("null")),
        Ok(reply(r#"{"summary": "the parser is half done"}"#)),
    ];
    for outcome in outcomes {
        let home = Home::new();
        home.exchange("cli:one", "the parser is half done");
        let model = ScriptedModel::giving([outcome.clone()]);
        let Consolidation::Failed { reason, failures: 1 } = home.consolidate("cli:one", &model) else {
            panic!("{outcome:?} is no summary")
        };
        assert!(!reason.is_empty());
        assert_eq!(model.asked().len(), 1, "one try, and no facts from a conversation that was not summarised");
        is_as_it_was(&home, 1);
        home.compact("cli:one");
        assert_eq!(home.state("cli:one").failures, 0, "the next one takes it all, and the count begins anew");
    }
}

#[test]
fn reasoning_is_taken_off_a_good_summary() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    let text = format!("<think>\nsecret thoughts\n</think>\n\n```markdown\n{SUMMARY}\n```");
    assert_eq!(done(home.consolidate("cli:one", &ScriptedModel::saying([&text, NO_FACTS]))).summary, SUMMARY);
    assert_eq!(home.working().as_deref(), Some(THREAD));
}

#[test]
fn three_failures_in_a_row_archive_the_raw_turns() {
    let home = Home::new();
    home.save("user/working", &working_file("- as it was"));
    home.exchange("cli:one", "the parser is half done");
    for failures in 1..=2 {
        let outcome = home.consolidate("cli:one", &ScriptedModel::giving([Err(unreachable())]));
        assert!(matches!(outcome, Consolidation::Failed { failures: n, .. } if n == failures), "{outcome:?}");
        assert_eq!(home.timeline(), []);
    }
    let Consolidation::Archived(compaction) = home.consolidate("cli:one", &ScriptedModel::saying([""])) else {
        panic!("the third time it is archived")
    };
    let raw = "[RAW] user: the parser is half done\nassistant: I see.";
    assert_eq!((compaction.summary.as_str(), compaction.compacted), (raw, 2));
    let entry = home.timeline().remove(0);
    assert_eq!(entry.content, format!("[2026-03-01 12:00] {raw}"));
    assert_eq!(entry.key, Some(format!("ctx_cli:one_{}", entry.id)));
    let state = home.state("cli:one");
    assert_eq!(state.failures, 0);
    assert!(state.consolidated > Position::default());
    assert_eq!(home.text_of("user/working"), Some(working_file("- as it was")));
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Nothing);
    home.exchange("cli:one", "go on");
    let outcome = home.consolidate("cli:one", &ScriptedModel::giving([Err(unreachable())]));
    assert!(matches!(outcome, Consolidation::Failed { failures: 1, .. }), "the count began anew: {outcome:?}");
}

#[test]
fn raw_turns_are_capped_and_the_latest_kept() {
    let home = Home::with(|settings| settings.policy.max_failures = 1);
    home.say("cli:one", &"用户 old ".repeat(10_000));
    home.say("cli:one", "the very last words");
    assert!(matches!(home.consolidate("cli:one", &ScriptedModel::saying([""])), Consolidation::Archived(_)));
    let content = home.timeline().remove(0).content;
    assert!(content.len() < 17 * 1024 && content.starts_with("[2026-03-01 12:00] [RAW] … "), "{}", content.len());
    assert!(content.ends_with("user: the very last words"));
}

#[test]
fn failures_of_one_session_are_not_counted_for_another() {
    let home = Home::new();
    for id in ["cli:one", "cli:two"] {
        home.exchange(id, "hello");
        for _ in 0..2 {
            home.consolidate(id, &ScriptedModel::giving([Err(unreachable())]));
        }
        assert_eq!(home.state(id).failures, 2);
    }
    assert_eq!(home.timeline(), []);
}

#[test]
fn raw_turns_that_were_archived_are_still_sent() {
    let home = Home::with(|settings| {
        settings.policy.max_failures = 1;
        settings.policy.keep_recent_turns = 1;
    });
    home.exchange("cli:one", &"the parser is half done ".repeat(9));
    home.exchange("cli:one", "now the lexer");
    home.shorten("cli:one", &ScriptedModel::saying([SUMMARY, NO_FACTS]));
    home.exchange("cli:one", "and the tests");
    let outcome =
        home.engine.consolidation().compact(&session("cli:one"), &ScriptedModel::saying([""]), None, &worker("worker"));
    assert!(matches!(outcome.unwrap(), Consolidation::Archived(_)));
    let (window, _) = home.engine.sessions().window(&session("cli:one"), 100_000).unwrap();
    let sent: Vec<&str> = window.iter().map(|turn| turn.content.as_str()).collect();
    assert_eq!(sent, [SUMMARY, "now the lexer", "I see.", "and the tests", "I see."]);
}

#[test]
fn nothing_worth_keeping_is_an_exact_answer() {
    let home = Home::new();
    home.exchange("cli:one", "Please write: no facts are sacred");
    let facts = r#"{"facts": [{"text": "No facts are sacred", "kind": "fact"}]}"#;
    assert_eq!(done(home.consolidate("cli:one", &ScriptedModel::saying([SUMMARY, facts]))).facts.len(), 1);
    home.exchange("cli:one", "go on");
    assert_eq!(home.compact("cli:one").facts, []);
    assert_eq!(contents(&home.knowledge("user/facts")), ["No facts are sacred"]);
}

#[test]
fn an_extraction_that_fails_costs_the_facts_and_nothing_else() {
    let cut_off = Reply { finish: Finish::CutOff, ..reply(r#"{"facts": [{"text": "The parser is half done"}]}"#) };
    let replies = ["", "NONE", "{}", "null", "<html></html>", "I'm sorry", r#"{"facts": [{"text": 1}]}"#];
    let outcomes = replies.map(|text| Ok(reply(text))).into_iter().chain([Err(unreachable()), Ok(cut_off)]);
    for outcome in outcomes {
        let home = Home::new();
        home.exchange("cli:one", "the parser is half done");
        let compaction = done(home.consolidate("cli:one", &ScriptedModel::giving([Ok(reply(SUMMARY)), outcome])));
        assert_eq!((compaction.facts, home.knowledge("user/facts")), (vec![], vec![]));
        assert_eq!((home.timeline().len(), home.state("cli:one").failures), (1, 0));
        assert_eq!(home.working().as_deref(), Some(THREAD));
    }
}

#[test]
fn without_extraction_no_second_call_is_made() {
    let home = Home::with(|settings| settings.policy.auto_extract = false);
    home.exchange("cli:one", "I like tea");
    let model = ScriptedModel::saying([SUMMARY]);
    done(home.consolidate("cli:one", &model));
    assert!(matches!(model.asked()[..], [Brief::Summarise(_)]));
    assert_eq!(home.working().as_deref(), Some(THREAD));
}

#[test]
fn switched_off_memory_still_compacts_and_writes_no_memory() {
    let home = Home::with(|settings| {
        settings.enabled = false;
        settings.policy.keep_recent_turns = 1;
    });
    home.save("user/working", &working_file("- as it was"));
    home.exchange("cli:one", &"the parser is half done ".repeat(9));
    home.exchange("cli:one", "I like tea");
    let model = ScriptedModel::saying([SUMMARY]);
    let compaction = home.shorten("cli:one", &model);
    assert_eq!((compaction.compacted, compaction.timeline, compaction.documents), (4, None, vec![]));
    assert_eq!(model.asked().len(), 1);
    let (window, _) = home.engine.sessions().window(&session("cli:one"), 100_000).unwrap();
    assert_eq!(window.len(), 3, "the summary and the latest exchange");
    home.exchange("cli:one", "go on");
    for _ in 0..3 {
        home.consolidate("cli:one", &ScriptedModel::giving([Err(unreachable())]));
    }
    assert_eq!(home.consolidate("cli:one", &ScriptedModel::default()), Consolidation::Nothing, "the pointer moved");
    assert_eq!(home.store.bundle().unwrap().memories, []);
    assert_eq!(home.engine.history().changes(9).unwrap(), []);
    assert_eq!(home.text_of("user/working"), Some(working_file("- as it was")));
}

#[test]
fn documents_that_cannot_be_read_do_not_break_a_conversation() {
    let documents = Arc::new(Meddling::default());
    let home = Home::over(Arc::clone(&documents) as Arc<dyn Documents>, |_| {});
    home.save("user/profile", "- Ada\n");
    home.engine.memories().remember(&NewMemory::fact("likes tea")).unwrap();
    documents.unreadable();
    assert_eq!(home.start("cli:one"), "Be kind.");
    let context = home.engine.context().give(&session("cli:one"), "more tea?", Visibility::Stays).unwrap();
    assert!(context.message.unwrap().contains("likes tea"), "what can be recalled still is");
    home.exchange("cli:one", "My name is Ada");
    let facts = r#"{"facts": [{"text": "The person's name is Ada", "kind": "identity"}]}"#;
    let compaction = done(home.consolidate("cli:one", &ScriptedModel::saying([SUMMARY, facts])));
    assert_eq!((compaction.facts.len(), compaction.documents), (1, vec![]));
    assert_eq!(home.timeline().len(), 1);
    documents.out_of_the_way();
    home.engine.sessions().reset(&session("cli:one")).unwrap();
    assert_eq!(home.start("cli:one"), "Be kind.\n\n--- Who you're talking to ---\n- Ada", "and it recovers");
}

#[test]
fn documents_that_cannot_be_written_cost_working_memory_alone() {
    let documents = Arc::new(Meddling::default());
    let home = Home::over(Arc::clone(&documents) as Arc<dyn Documents>, |_| {});
    documents.unwritable();
    home.exchange("cli:one", "the parser is half done");
    assert_eq!(home.compact("cli:one").documents, []);
    assert_eq!((home.timeline().len(), home.working()), (1, None));
    assert_eq!(home.engine.threads().list().unwrap().len(), 1, "the thread is there all the same");
    documents.out_of_the_way();
    home.exchange("cli:one", "go on");
    assert_eq!(home.compact("cli:one").documents, [document("user/working")]);
    assert_eq!(home.timeline().len(), 2);
}

#[test]
fn a_task_is_done_although_working_memory_cannot_be_written() {
    let documents = Arc::new(Meddling::default());
    let home = Home::over(Arc::clone(&documents) as Arc<dyn Documents>, |_| {});
    let new = throughline_core::engine::NewTask { title: "Parser".to_owned(), ..Default::default() };
    let task = home.engine.tasks().add(&new).unwrap();
    let start = StartSession { task: Some(task.id.to_string()), ..StartSession::new(session("cli:one")) };
    home.engine.sessions().start(&start).unwrap();
    home.exchange("cli:one", "the parser is half done");
    home.compact("cli:one");
    let before = home.working();
    assert!(before.is_some());
    documents.unwritable();
    let done = home.engine.tasks().finish(task.id.as_str(), None).unwrap().task;
    assert_eq!(done.status, throughline_core::model::TaskStatus::Done);
    assert_eq!((home.engine.threads().list().unwrap(), home.working()), (vec![], before), "the file comes later");
    assert_eq!(home.engine.threads().working_memory().unwrap().text, None, "what it still shows is not given");
    let lines = Filter { scope: Scope::Only("user/working".parse().unwrap()), ..Filter::default() };
    let listed = home.store.list(&lines, &Page { limit: 9, cursor: None }).unwrap().memories;
    assert_eq!(listed, [], "nor found");
    home.engine.history().undo().unwrap();
    assert_eq!(home.engine.threads().list().unwrap().len(), 1, "one change, undone as a whole");
    home.engine.tasks().finish(task.id.as_str(), None).unwrap();
    documents.out_of_the_way();
    home.exchange("web:two", "now the lexer");
    done_with(&home, "web:two");
    assert_eq!(home.working().as_deref(), Some("## the lexer\n\n### Working on\n- the lexer"), "and here it is");
}

fn done_with(home: &Home, id: &str) {
    let model = ScriptedModel::saying(["## Working on\n- the lexer", NO_FACTS]);
    assert!(matches!(home.consolidate(id, &model), Consolidation::Done(_)));
}

#[test]
fn the_ledger_counts_calls_failures_and_tokens() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    home.consolidate("cli:one", &ScriptedModel::giving([Err(unreachable())]));
    home.compact("cli:one");
    let spent = |purpose, calls, failures| Spent {
        day: "2026-03-01".to_owned(),
        provider: "scripted".to_owned(),
        model: "script".to_owned(),
        purpose,
        calls,
        failures,
        tokens_in: 10 * calls,
        tokens_out: 5 * calls,
    };
    let expected = [spent(Purpose::Extraction, 1, 0), spent(Purpose::Summary, 1, 1)];
    assert_eq!(home.engine.models().spending("2026-03-01").unwrap(), expected);
}

#[test]
fn a_budget_that_is_spent_is_a_failed_call_until_tomorrow() {
    let home = Home::with(|settings| settings.daily_tokens = 30);
    home.exchange("cli:one", "the parser is half done");
    home.compact("cli:one");
    home.exchange("cli:one", "go on");
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]);
    let Consolidation::Failed { reason, failures: 1 } = home.consolidate("cli:one", &model) else {
        panic!("the budget is spent")
    };
    assert_eq!((reason.as_str(), model.asked().len()), ("today's budget of 30 tokens is spent", 0));
    let free = ScriptedModel::saying([SUMMARY, NO_FACTS]).for_free();
    done(home.consolidate("cli:one", &free));
    home.exchange("cli:one", "go on");
    home.pass(12 * 60);
    done(home.consolidate("cli:one", &model));
}

#[test]
fn calls_that_cost_nothing_leave_the_budget_as_it_is() {
    let home = Home::with(|settings| settings.daily_tokens = 30);
    home.exchange("cli:one", "the parser is half done");
    let free = ScriptedModel::saying([SUMMARY, NO_FACTS]).for_free();
    done(home.consolidate("cli:one", &free));
    let spent = home.engine.models().spending("2026-03-01").unwrap();
    let counted: Vec<_> = spent.iter().map(|row| (row.calls, row.tokens_in, row.tokens_out)).collect();
    assert_eq!(counted, [(1, 0, 0), (1, 0, 0)]);
    home.exchange("cli:one", "go on");
    done(home.consolidate("cli:one", &ScriptedModel::saying([SUMMARY, NO_FACTS])));
}

#[test]
fn a_budget_that_runs_out_between_the_calls_costs_the_facts() {
    let home = Home::with(|settings| settings.daily_tokens = 15);
    home.exchange("cli:one", "I like tea");
    let model = ScriptedModel::saying([SUMMARY]);
    assert_eq!(done(home.consolidate("cli:one", &model)).facts, []);
    assert_eq!(model.asked().len(), 1);
}

#[test]
fn secrets_are_redacted_before_anything_is_kept_or_sent() {
    let home = Home::new();
    let key = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z";
    home.exchange("cli:one", &format!("my key is {key}"));
    let model = ScriptedModel::saying([&format!("- the key is {key}"), NO_FACTS]);
    done(home.consolidate("cli:one", &model));
    assert!(!format!("{:?}", model.asked()).contains(key));
    assert!(!format!("{:?}", home.store.bundle().unwrap()).contains(key));
    assert!(!home.working().unwrap().contains(key));
}
