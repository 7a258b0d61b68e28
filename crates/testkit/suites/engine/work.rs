//! Tasks and projects: where they stand, what the archive keeps of them, and what a report says.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use throughline_core::engine::{
    ContextRequest, EngineError, HistoryOf, NewTask, Report, ReportBy, StartSession, TaskEdit,
};
use throughline_core::model::{Entry, Layer, SessionId, Status, Task, TaskStatus};
use throughline_core::ports::{Page, StoreError};

use super::*;

fn add(world: &World, title: &str, state: &str) -> Task {
    let new = NewTask { title: title.to_owned(), state: state.to_owned(), project: Some("apollo".to_owned()) };
    world.engine.tasks().add(&new).unwrap()
}

fn archive(world: &World) -> Vec<Entry> {
    let filter = Filter { layers: vec![Layer::Archive], ..Filter::recallable(world.engine.now()) };
    let listing = world.engine.memories().list(&filter, &Page { limit: usize::MAX, cursor: None }).unwrap();
    listing.memories.into_iter().map(|memory| memory.entry).collect()
}

fn report(world: &World, since: &str, until: &str, by: ReportBy) -> Report {
    let time = |day: &str| format!("{day}T00:00:00Z").parse::<Timestamp>().unwrap();
    world.engine.tasks().report(time(since), time(until), by, &TimeZone::UTC).unwrap()
}

fn reopen(world: &World, task: &Task) -> Task {
    let edit = TaskEdit { status: Some(TaskStatus::Open), ..TaskEdit::default() };
    world.engine.tasks().update(task.id.as_str(), &edit).unwrap()
}

/// What a new conversation puts in front of a message.
fn given(world: &World, message: &str) -> String {
    let request = ContextRequest {
        session: Some("chat:new".parse().unwrap()),
        message: Some(message.to_owned()),
        ..ContextRequest::default()
    };
    world.engine.context().prepare(&request).unwrap().context.message.unwrap()
}

#[test]
fn what_is_done_leaves_one_entry_in_the_archive_and_keeps_the_rest() {
    let world = place();
    let task = add(&world, "Fix the parser", "The lexer is done.");
    world.clock.advance(days(1));
    let finished = world.engine.tasks().finish(task.id.as_str(), Some("Recursive descent won.")).unwrap();
    let entry = finished.archived.unwrap().entry;
    assert_eq!(
        entry.content,
        "[2026-03-02 12:00] Task done: Fix the parser\n\nThe lexer is done.\n\nRecursive descent won."
    );
    assert_eq!((entry.task.as_deref(), entry.project.as_deref()), (Some(task.id.as_str()), Some("apollo")));
    let now = world.engine.now();
    let expected = Task {
        status: TaskStatus::Done,
        state: String::new(),
        updated_at: now,
        done_at: Some(now),
        archive: Some(entry.id.clone()),
        version: 2,
        ..task.clone()
    };
    assert_eq!(finished.task, expected);
    assert_eq!(world.engine.tasks().get(task.id.as_str()).unwrap(), expected);
    assert_eq!(archive(&world), [entry]);
    let again = world.engine.tasks().finish("Fix the parser", None).unwrap();
    assert_eq!((again.task, archive(&world).len()), (expected, 1), "done again, nothing changes");
    let HistoryOf::Task { versions } = world.engine.history().of(task.id.as_str()).unwrap() else { panic!("a task") };
    assert_eq!(
        versions.iter().map(|version| version.task.status).collect::<Vec<_>>(),
        [TaskStatus::Open, TaskStatus::Done]
    );
}

#[test]
fn undoing_what_was_done_restores_the_task_and_takes_the_entry_back() {
    let world = place();
    let task = add(&world, "Fix the parser", "The lexer is done.");
    let finished = world.engine.tasks().finish(task.id.as_str(), None).unwrap();
    let undone = world.engine.history().undo().unwrap();
    assert_eq!(undone.tasks, std::slice::from_ref(&task.id));
    let back = world.engine.tasks().get(task.id.as_str()).unwrap();
    assert_eq!(
        (back.status, back.state.as_str(), back.done_at, back.archive),
        (TaskStatus::Open, "The lexer is done.", None, None)
    );
    assert_eq!(archive(&world), []);
    assert_eq!(
        world.engine.memories().show(finished.archived.unwrap().entry.id.as_str()).unwrap().entry.status,
        Status::Inactive
    );
    world.engine.tasks().finish(task.id.as_str(), None).unwrap();
    assert_eq!(archive(&world).len(), 1, "done after all");
}

#[test]
fn a_task_that_was_reopened_writes_on_the_same_entry() {
    let world = place();
    let task = add(&world, "Fix the parser", "one");
    let first = world.engine.tasks().finish(task.id.as_str(), None).unwrap().archived.unwrap().entry;
    assert_eq!(reopen(&world, &task).done_at, None);
    let state = TaskEdit { state: Some("two".to_owned()), ..TaskEdit::default() };
    world.engine.tasks().update(task.id.as_str(), &state).unwrap();
    world.clock.advance(days(14));
    let second = world.engine.tasks().finish(task.id.as_str(), None).unwrap().archived.unwrap().entry;
    assert_eq!((first.id, archive(&world).len()), (second.id, 1));
    for piece in ["[2026-03-01 12:00]", "one", "[2026-03-15 12:00]", "two"] {
        assert!(second.content.contains(piece), "{}", second.content);
    }
}

#[test]
fn a_report_names_what_was_done_in_its_range_and_nothing_else() {
    let world = place();
    let task = add(&world, "Fix the parser", "## State\n- the lexer is done");
    world.engine.tasks().finish(task.id.as_str(), None).unwrap();
    world.clock.advance(days(3));
    let other = add(&world, "Paint the fence", "");
    world.engine.tasks().finish(other.id.as_str(), None).unwrap();
    let daily = report(&world, "2026-02-23", "2026-03-09", ReportBy::Day);
    let days: Vec<(String, usize)> = daily.periods.iter().map(|day| (day.from.to_string(), day.tasks.len())).collect();
    assert_eq!(days, [("2026-03-01".to_owned(), 1), ("2026-03-04".to_owned(), 1)]);
    let weekly = report(&world, "2026-02-23", "2026-03-09", ReportBy::Week);
    let weeks: Vec<(String, usize)> =
        weekly.periods.iter().map(|week| (week.from.to_string(), week.tasks.len())).collect();
    assert_eq!(weeks, [("2026-02-23".to_owned(), 1), ("2026-03-02".to_owned(), 1)], "the first of March is a Sunday");
    for text in [&daily.markdown, &weekly.markdown] {
        assert!(text.contains("- **Fix the parser** (apollo)\n  *State*\n  - the lexer is done\n"), "{text}");
    }
    let outside = report(&world, "2026-03-05", "2026-03-12", ReportBy::Week);
    assert_eq!(outside.periods, []);
    assert!(!outside.markdown.contains("parser") && outside.markdown.contains("Nothing in the archive"));
    let now = world.engine.now();
    assert!(matches!(
        world.engine.tasks().report(now, now, ReportBy::Day, &TimeZone::UTC),
        Err(EngineError::EmptyRange { .. })
    ));
}

#[test]
fn a_report_counts_days_where_the_person_is() {
    let world = place();
    let task = add(&world, "Fix the parser", "");
    world.clock.advance(jiff::SignedDuration::from_hours(11));
    world.engine.tasks().finish(task.id.as_str(), None).unwrap();
    let zone = TimeZone::fixed(jiff::tz::offset(2));
    let (since, until) = ("2026-03-01T00:00:00Z".parse().unwrap(), "2026-03-03T00:00:00Z".parse().unwrap());
    let report = world.engine.tasks().report(since, until, ReportBy::Week, &zone).unwrap();
    assert_eq!(report.periods[0].from.to_string(), "2026-03-02", "23:00 on Sunday in UTC is Monday there");
}

#[test]
fn what_links_to_a_task_that_is_removed_keeps_its_link() {
    let world = place();
    let task = add(&world, "Fix the parser", "");
    let tag = format!("task:{}", task.id);
    let new = NewMemory { tags: vec![tag.clone()], ..NewMemory::fact("the grammar is in docs") };
    world.engine.memories().remember(&new).unwrap();
    let edit = TaskEdit { status: Some(TaskStatus::Removed), ..TaskEdit::default() };
    assert_eq!(world.engine.tasks().update("Fix the parser", &edit).unwrap().status, TaskStatus::Removed);
    let filter = Filter::recallable(world.engine.now()).tagged(&tag);
    let found = world.engine.memories().list(&filter, &Page { limit: 10, cursor: None }).unwrap().memories;
    assert_eq!(found.len(), 1);
    assert_eq!(world.engine.tasks().list(Some(TaskStatus::Open), None).unwrap(), []);
    assert!(
        matches!(world.engine.tasks().get("Fix the parser"), Err(EngineError::NoTask { .. })),
        "its title is free again"
    );
    assert_eq!(world.engine.tasks().get(task.id.as_str()).unwrap().status, TaskStatus::Removed);
    world.engine.history().undo().unwrap();
    assert_eq!(world.engine.tasks().get("Fix the parser").unwrap().status, TaskStatus::Open);
}

#[test]
fn a_reference_names_one_task_or_says_why_not() {
    let world = place();
    let (one, two) = (add(&world, "Fix the parser", ""), add(&world, "Fix the parser", ""));
    let unknown = world.engine.tasks().get("Fix the lexer").unwrap_err();
    assert!(unknown.is_not_found() && unknown.to_string().contains("Fix the lexer") && unknown.hint().is_some());
    let EngineError::Ambiguous { ids, .. } = world.engine.tasks().get("Fix the parser").unwrap_err() else {
        panic!("two")
    };
    assert_eq!(ids.len(), 2);
    for short in ["", "aaaaa", "aa%"] {
        assert!(world.engine.tasks().get(short).unwrap_err().is_not_found(), "{short:?}");
    }
    assert_eq!(world.engine.tasks().get(&one.id.as_str()[..6]).unwrap(), one);
    assert_eq!(world.engine.tasks().finish(two.id.as_str(), None).unwrap().task.id, two.id);
    for title in ["", "  ", "two\nlines", &"x".repeat(301)] {
        let new = NewTask { title: title.to_owned(), ..NewTask::default() };
        assert!(world.engine.tasks().add(&new).is_err(), "{title:?}");
    }
    assert_eq!(world.engine.tasks().list(None, None).unwrap().len(), 2);
}

#[test]
fn an_update_over_an_unseen_change_is_a_conflict() {
    let world = place();
    let task = add(&world, "Fix the parser", "one");
    let edit = |state: &str, version| TaskEdit {
        state: Some(state.to_owned()),
        expected_version: Some(version),
        ..TaskEdit::default()
    };
    assert_eq!(world.engine.tasks().update(task.id.as_str(), &edit("two", 1)).unwrap().version, 2);
    let error = world.engine.tasks().update(task.id.as_str(), &edit("three", 1)).unwrap_err();
    assert!(matches!(error, EngineError::Store(StoreError::Conflict { .. })), "{error}");
    assert_eq!(error.code().as_str(), "conflict");
    assert_eq!(world.engine.tasks().get(task.id.as_str()).unwrap().state, "two");
    let done = TaskEdit { status: Some(TaskStatus::Done), ..TaskEdit::default() };
    assert!(world.engine.tasks().update(task.id.as_str(), &done).unwrap_err().to_string().contains("task done"));
}

#[test]
fn what_is_too_long_or_secret_does_not_reach_the_archive() {
    let world = place();
    let task = add(&world, "Fix the parser", "the key is AKIAIOSFODNN7EXAMPLE");
    let long = "x".repeat(65 * 1024);
    assert!(world.engine.tasks().finish(task.id.as_str(), Some(&long)).is_err());
    assert_eq!(world.engine.tasks().get(task.id.as_str()).unwrap().status, TaskStatus::Open);
    world.engine.tasks().finish(task.id.as_str(), Some("and ghp_16C7e42F292c6912E7710c838347Ae178B4a")).unwrap();
    let content = &archive(&world)[0].content;
    assert!(!content.contains("AKIA") && !content.contains("ghp_16"), "{content}");
}

#[test]
fn the_state_of_an_open_task_reaches_the_conversation_about_it_after_profile_and_working_memory() {
    let world = place();
    save(&world, "user/profile", "- is called Ada\n");
    world.engine.documents().write(&document("user/working"), "- was in a hurry", None).unwrap();
    let task = add(&world, "Fix the parser", "The lexer is done.");
    let started = |id: &str, task: &str| {
        let start = StartSession { task: Some(task.to_owned()), ..StartSession::new(id.parse().unwrap()) };
        world.engine.sessions().start(&start).unwrap().context
    };
    let without = "--- Who you're talking to ---\n- is called Ada\n\n--- Recent context ---\n- was in a hurry";
    let with = format!("{without}\n\n--- Current task ---\nFix the parser\n\nThe lexer is done.");
    assert_eq!(started("chat:1", task.id.as_str()), with);
    assert_eq!(started("chat:2", "Fix the parser"), with, "by its title");
    assert_eq!(started("chat:3", "a task of the host"), without, "a host's own name means nothing here");
    world.engine.tasks().finish(task.id.as_str(), None).unwrap();
    assert_eq!(started("chat:4", task.id.as_str()), without, "it is done");
    assert_eq!(started("chat:1", task.id.as_str()), with, "a conversation stays as it began");
    reopen(&world, &task);
    assert_eq!(started("chat:5", task.id.as_str()), format!("{without}\n\n--- Current task ---\nFix the parser"));
}

#[test]
fn a_state_that_is_very_long_is_cut_in_the_opening() {
    let world = place();
    let task = add(&world, "Fix the parser", &"a long story ".repeat(4000));
    let session: SessionId = "chat:1".parse().unwrap();
    let start = StartSession { task: Some(task.id.to_string()), ..StartSession::new(session) };
    let context = world.engine.sessions().start(&start).unwrap().context;
    assert!(throughline_core::text::tokens::estimate(&context) <= 1020);
}

#[test]
fn speaking_of_a_task_that_was_done_brings_what_the_archive_keeps_of_it() {
    let world = place();
    let task = add(&world, "Migrate the billing database to Postgres", "We chose logical replication.");
    let open = "How far is the billing database migration to Postgres?";
    assert!(!given(&world, open).contains("replication"), "not in the archive yet");
    world.engine.tasks().finish(task.id.as_str(), None).unwrap();
    for (message, comes) in [
        (open, true),
        ("Please migrate the billing database to Postgres again", true),
        ("Which database should I choose for a blog?", false),
        ("logical replication", true),
        ("Write a haiku", false),
    ] {
        assert_eq!(given(&world, message).contains("logical replication."), comes, "{message}");
    }
}

#[test]
fn a_task_that_is_spoken_of_is_not_crowded_out_by_knowledge() {
    let world = place();
    let task = add(&world, "Migrate the billing database to Postgres", &"We chose logical replication. ".repeat(20));
    world.engine.tasks().finish(task.id.as_str(), None).unwrap();
    for n in 0..8 {
        remember(&world, &format!("billing database Postgres migrate fact{n} word{n}"));
    }
    let text = given(&world, "migrate the billing database to Postgres");
    assert!(text.contains("logical replication"), "{text}");
    assert!(text.contains("fact"), "and knowledge comes too: {text}");
}

#[test]
fn the_archive_comes_by_the_words_of_the_question_alone() {
    let world = place();
    for text in ["we shipped the lexer", "we bought a red bicycle"] {
        world.engine.memories().remember(&NewMemory { layer: Layer::Archive, ..NewMemory::fact(text) }).unwrap();
    }
    for message in [
        "tell me about the lexer",
        "what did we do about the lexer?",
        "lexer 上周怎么样",
        "How was the lexer last week?",
    ] {
        let asked = given(&world, message);
        assert!(asked.contains("shipped") && !asked.contains("bicycle"), "{asked}");
    }
}

#[test]
fn projects_are_registered_moved_removed_and_brought_back() {
    let world = place();
    let project = world.engine.projects().add("apollo", Some("/tmp")).unwrap();
    assert_eq!(world.engine.projects().add("apollo", None).unwrap(), project, "nothing changes");
    assert_eq!(world.engine.projects().add("apollo", Some("/srv")).unwrap().dir.as_deref(), Some("/srv"));
    world.engine.history().undo().unwrap();
    assert_eq!(world.engine.projects().get("apollo").unwrap().project.dir.as_deref(), Some("/tmp"));
    let task = add(&world, "Fix the parser", "");
    assert_eq!(world.engine.projects().get("apollo").unwrap().tasks, [task]);
    world.engine.projects().remove("apollo").unwrap();
    assert_eq!(world.engine.projects().list().unwrap(), []);
    assert!(world.engine.projects().get("apollo").unwrap_err().is_not_found());
    assert_eq!(world.engine.tasks().list(None, Some("apollo")).unwrap().len(), 1, "what links to it keeps its link");
    assert_eq!(world.engine.projects().add("apollo", None).unwrap().dir.as_deref(), Some("/tmp"));
    for name in ["..", "a/b", "", "CON"] {
        assert!(world.engine.projects().add(name, None).is_err(), "{name:?}");
    }
}

#[test]
fn what_happened_is_dated_where_the_person_is() {
    let elsewhere = place_set(|settings| {
        settings.zone = jiff::tz::offset(13).to_time_zone();
    });
    let file = elsewhere.engine.documents().memory_file(None).unwrap().unwrap();
    let weight = throughline_core::model::Importance::default().significance();
    let section = throughline_core::model::MemorySection::Happened;
    elsewhere.engine.memories().record(&file, &[("The venue was booked".to_owned(), weight)], section).unwrap();
    let text = text_of(&elsewhere, "user/memory").unwrap();
    assert!(text.contains("2026-03-02 The venue was booked"), "noon in London is past midnight there: {text}");
}

#[test]
fn an_earlier_version_of_a_task_comes_back() {
    let world = place();
    let task = world.engine.tasks().add(&NewTask { title: "Ship".to_owned(), ..NewTask::default() }).unwrap();
    for state in ["half", "wrong"] {
        let edit = TaskEdit { state: Some(state.to_owned()), ..TaskEdit::default() };
        world.engine.tasks().update("Ship", &edit).unwrap();
    }
    world.engine.history().restore("Ship", 2).unwrap();
    let now = world.engine.tasks().get("Ship").unwrap();
    assert_eq!((now.id, now.state.as_str(), now.version), (task.id, "half", 4));
    assert!(world.engine.history().restore("Ship", 9).is_err());
    world.engine.history().undo().unwrap();
    assert_eq!(world.engine.tasks().get("Ship").unwrap().state, "wrong");
}
