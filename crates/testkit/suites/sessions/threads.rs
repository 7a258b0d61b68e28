//! Threads: each conversation changes its own and no other, and what the person wrote into the file stays theirs.

use throughline_core::engine::{EngineError, NewTask};
use throughline_core::ports::Brief;

use super::*;

const LEXER: &str = "## the lexer\n\n### Working on\n- the lexer";

/// One exchange, of which a model makes this summary.
fn talk(home: &Home, id: &str, said: &str, summary: &str) -> Compaction {
    home.exchange(id, said);
    done(home.consolidate(id, &ScriptedModel::saying([summary, NO_FACTS])))
}

/// Two conversations that left something to go on from, the parser first.
fn two() -> Home {
    let home = Home::new();
    talk(&home, "cli:one", "the parser is half done", SUMMARY);
    home.pass(1);
    talk(&home, "web:two", "now the lexer", "## Working on\n- the lexer");
    home.pass(1);
    home
}

fn titles(home: &Home) -> Vec<String> {
    home.engine.threads().list().unwrap().into_iter().map(|thread| thread.title).collect()
}

fn in_project(home: &Home, id: &str, project: &str, task: Option<&str>) {
    let start = StartSession {
        project: Some(project.to_owned()),
        task: task.map(str::to_owned),
        ..StartSession::new(session(id))
    };
    home.engine.sessions().start(&start).unwrap();
}

#[test]
fn small_talk_elsewhere_touches_no_thread() {
    let home = two();
    let before = (home.text_of("user/working"), titles(&home));
    for message in ["good morning", "how are you?", "nice weather"] {
        talk(&home, "telegram:9", message, "NOTHING");
    }
    assert_eq!((home.text_of("user/working"), titles(&home)), before);
}

#[test]
fn a_conversation_replaces_its_own_thread_and_no_other() {
    let home = two();
    assert_eq!(home.working(), Some(format!("{LEXER}\n\n{THREAD}")), "the newest first");
    let model = ScriptedModel::saying(["# Parser tests\n\n## Open threads\n- tests", NO_FACTS]);
    home.exchange("cli:one", "tests are left");
    let id = done(home.consolidate("cli:one", &model)).thread;
    let Brief::Summarise(brief) = &model.asked()[0] else { panic!("a summary comes first") };
    assert_eq!(brief.previous.as_deref(), Some(SUMMARY), "the model is shown its own thread alone");
    assert_eq!(home.working(), Some(format!("## Parser tests\n\n### Open threads\n- tests\n\n{LEXER}")));
    let known = home.store.thread_of(&"user".parse().unwrap(), &session("cli:one")).unwrap().unwrap();
    assert_eq!((Some(known.id), known.version), (id, 2), "the same thread");
}

#[test]
fn the_file_shows_the_latest_expiry_and_each_thread_has_its_own() {
    let home = Home::new();
    talk(&home, "cli:one", "the parser is half done", SUMMARY);
    home.pass(7 * 24 * 60);
    talk(&home, "web:two", "now the lexer", "## Working on\n- the lexer");
    let text = home.text_of("user/working").unwrap();
    assert!(
        text.starts_with("# Working Memory\nUpdated: 2026-03-08T12:00:00Z\nExpires: 2026-03-22T12:00:00Z\n"),
        "{text}"
    );
    home.pass(7 * 24 * 60);
    assert_eq!(titles(&home), ["the lexer"]);
    let given = home.start("web:new");
    assert_eq!(given, format!("Be kind.\n\n--- Recent context ---\n{LEXER}"), "what has expired is not given");
    talk(&home, "web:two", "hm", "## Working on\n- the tokens");
    let tokens = LEXER.replace("the lexer", "the tokens");
    assert_eq!(home.working(), Some(tokens), "and leaves the file when that is next written");
}

#[test]
fn done_closes_the_thread_of_its_conversation() {
    for (said, summary) in [
        ("done", "NOTHING"),
        ("Das ist erledigt, danke!", "NOTHING"),
        ("搞定了", "NOTHING"),
        ("the lexer passes all its tests", "## Done\n- the lexer"),
    ] {
        let home = two();
        let closed = talk(&home, "web:two", said, summary);
        assert_eq!(
            (titles(&home), home.working().as_deref()),
            (vec!["the parser and its errors".to_owned()], Some(THREAD)),
            "{said}"
        );
        assert!(closed.thread.is_some());
        home.engine.history().undo().unwrap();
        assert_eq!(
            (titles(&home).len(), home.working()),
            (2, Some(format!("{LEXER}\n\n{THREAD}"))),
            "and undo opens it"
        );
        talk(&home, "telegram:9", said, summary);
        assert_eq!(titles(&home).len(), 2, "another conversation closes nothing");
    }
}

#[test]
fn a_person_closes_a_thread_by_id_conversation_or_title() {
    let home = two();
    let id = home.engine.threads().list().unwrap()[0].id.clone();
    for reference in [id.as_str(), "web:two", "the lexer"] {
        let closed = home.engine.threads().close(reference).unwrap();
        assert_eq!((closed.id, closed.title.as_str()), (id.clone(), "the lexer"));
        assert_eq!(home.working().as_deref(), Some(THREAD));
        home.engine.history().undo().unwrap();
        assert_eq!(titles(&home).len(), 2);
    }
    assert!(matches!(home.engine.threads().close("the launch"), Err(EngineError::NoThread { .. })));
    home.engine.threads().close("web:two").unwrap();
    home.engine.threads().close("cli:one").unwrap();
    assert_eq!((home.working(), titles(&home)), (None, vec![]));
    talk(&home, "web:two", "the lexer again", "## Working on\n- the lexer");
    assert_eq!(home.working().as_deref(), Some(LEXER), "a conversation that goes on has a thread again");
}

#[test]
fn a_task_that_is_done_closes_its_threads() {
    let home = Home::new();
    let task = home.engine.tasks().add(&NewTask { title: "Parser".to_owned(), ..NewTask::default() }).unwrap();
    in_project(&home, "cli:one", "apollo", Some(task.id.as_str()));
    talk(&home, "cli:one", "the parser is half done", SUMMARY);
    talk(&home, "web:two", "now the lexer", "## Working on\n- the lexer");
    home.engine.tasks().finish(task.id.as_str(), None).unwrap();
    assert_eq!((titles(&home), home.working().as_deref()), (vec!["the lexer".to_owned()], Some(LEXER)));
    home.engine.history().undo().unwrap();
    assert_eq!(titles(&home).len(), 2, "one change, undone as a whole");
}

#[test]
fn a_section_that_the_person_edited_is_kept_byte_for_byte() {
    let home = two();
    let mine = "## the lexer\n\n###   My words\n-\tone  token at a time ";
    let edited = home.text_of("user/working").unwrap().replace(LEXER, mine);
    home.save("user/working", &format!("{edited}\n## Shopping\n- rye\n"));
    talk(&home, "web:two", "the lexer goes on", "## Working on\n- the lexer, with numbers");
    let text = home.text_of("user/working").unwrap();
    assert!(text.contains(mine.trim_end()) && text.contains("## Shopping\n- rye") && text.contains(THREAD), "{text}");
    assert!(!text.contains("with numbers"), "not updated: {text}");
    talk(&home, "cli:one", "the parser goes on", "## Working on\n- the grammar");
    let text = home.text_of("user/working").unwrap();
    assert!(
        text.contains(mine.trim_end()) && text.contains("## Shopping\n- rye") && text.contains("## the grammar"),
        "{text}"
    );
    let via: Vec<String> = home.versions("user/working").into_iter().map(|(via, _)| via).collect();
    assert_eq!(via, ["consolidation", "consolidation", "editor", "consolidation", "consolidation"]);
}

#[test]
fn a_section_that_the_person_took_out_closes_its_thread() {
    let home = two();
    let text = home.text_of("user/working").unwrap().replace(&format!("{LEXER}\n\n"), "");
    home.save("user/working", &text);
    assert_eq!(home.start("web:new"), format!("Be kind.\n\n--- Recent context ---\n{THREAD}"));
    talk(&home, "cli:three", "the docs", "## Working on\n- the docs");
    assert_eq!(titles(&home), ["the docs", "the parser and its errors"]);
    assert!(!home.working().unwrap().contains("lexer"));
}

#[test]
fn newer_threads_take_the_room_of_the_oldest() {
    let home = Home::with(|settings| settings.working.max_tokens = 100);
    for n in 0..6 {
        let lines: String = (0..9).map(|line| format!("- part {n}, step {line}\n")).collect();
        talk(&home, &format!("cli:{n}"), &lines, &lines);
        home.pass(1);
    }
    let working = home.working().unwrap();
    assert!(throughline_core::text::tokens::estimate(&working) <= 100, "{working}");
    assert!(working.starts_with("## part 5, step 0\n"), "{working}");
    let open = titles(&home);
    assert!((2..6).contains(&open.len()) && open[0] == "part 5, step 0", "{open:?}");
}

#[test]
fn what_an_older_version_wrote_is_no_section_of_the_persons() {
    let home = Home::new();
    let old = "## Working on\n- the launch page\n\n## Carried over\n- call Ann";
    home.save("user/working", "");
    let by_program = home.engine.acting(Actor::new(Source::System, "consolidation"));
    by_program.documents().write(&document("user/working"), &working_file(old), None).unwrap();
    home.save("user/working", &working_file(&old.replace("call Ann", "call Ann and Bob")));
    talk(&home, "cli:one", "the parser is half done", SUMMARY);
    let edited = "## Carried over\n- call Ann and Bob";
    assert_eq!(home.working(), Some(format!("{edited}\n\n{THREAD}")), "only what was edited stays");
}

#[test]
fn a_session_begins_with_the_threads_of_its_project_and_the_titles_of_others() {
    let home = Home::new();
    for (id, project, summary) in
        [("cli:a", "apollo", "## Working on\n- the engine"), ("cli:z", "zeus", "## Working on\n- the temple roof")]
    {
        in_project(&home, id, project, None);
        talk(&home, id, "go on", summary);
        home.pass(1);
    }
    talk(&home, "web:plain", "go on", "## Working on\n- the garden");
    let opening = |id: &str, project: Option<&str>| {
        let start = StartSession { project: project.map(str::to_owned), ..StartSession::new(session(id)) };
        home.engine.sessions().start(&start).unwrap().context
    };
    let expected = "--- Recent context ---\n## the engine\n\n### Working on\n- the engine\n\n- Elsewhere: the garden\n\
        - Elsewhere (zeus): the temple roof";
    assert_eq!(opening("web:1", Some("apollo")), expected);
    let all = opening("web:2", None);
    assert_eq!(all, format!("--- Recent context ---\n{}", home.working().unwrap()), "without a project, the file");
    home.engine.context().give(&session("web:2"), "the engine", throughline_core::engine::Visibility::Stays).unwrap();
    let filter = Filter { scope: Scope::Only("user/working".parse().unwrap()), ..Filter::default() };
    let listed = home.store.list(&filter, &Page { limit: 99, cursor: None }).unwrap().memories;
    let line = listed.into_iter().map(|memory| memory.entry).find(|entry| entry.content == "the engine");
    assert_eq!(line.and_then(|line| line.project).as_deref(), Some("apollo"), "its lines belong to the project");
}

#[test]
fn a_namespace_without_working_memory_has_no_threads() {
    for home in [Home::with(|s| s.working_memory = false), Home::with(|s| s.namespace = None)] {
        talk(&home, "cli:one", "the parser is half done", SUMMARY);
        assert_eq!((titles(&home), home.text_of("user/working")), (vec![], None));
    }
}
