//! The start of a session: profile, working memory and its expiry, the same prompt on every turn.

use throughline_core::engine::Visibility;
use throughline_core::ports::Brief;
use throughline_core::text::tokens;

use super::*;

const PROMPT: &str = "Be kind.\n\n--- Recent context ---\n## the parser and its errors\n\n### Working on\n\
    - the parser and its errors";

#[test]
fn working_memory_survives_a_restart_and_reaches_another_channel_once() {
    let home = Home::new();
    home.exchange("telegram:123", "the parser is half done");
    home.compact("telegram:123");
    let engine = home.restarted();
    let start = StartSession { system_prompt: Some("Be kind.".to_owned()), ..StartSession::new(session("web:abc")) };
    let started = engine.sessions().start(&start).unwrap();
    assert_eq!(started.system_prompt, PROMPT);
    assert_eq!(started.context, PROMPT.strip_prefix("Be kind.\n\n").unwrap());
    let first = engine.context().give(&session("web:abc"), "hello", Visibility::Stays).unwrap();
    assert_eq!(first.system_prompt.matches("--- Recent context ---").count(), 1);
    assert_eq!(first.message.as_deref(), Some("hello"), "it is not in the message as well");
}

#[test]
fn a_reconnect_and_every_later_turn_get_the_same_bytes() {
    let home = Home::new();
    home.exchange("cli:one", "the parser is half done");
    home.compact("cli:one");
    assert_eq!(home.start("web:abc"), PROMPT);
    home.say("web:abc", "hello");
    home.save("user/profile", "- Ada\n");
    home.exchange("cli:one", "now the lexer");
    done(home.consolidate("cli:one", &ScriptedModel::saying(["## Working on\n- the lexer", NO_FACTS])));
    assert_eq!(home.working().as_deref(), Some("## the lexer\n\n### Working on\n- the lexer"));
    let id = session("web:abc");
    for engine in [home.engine.clone(), home.restarted()] {
        let again = engine.sessions().start(&StartSession::new(id.clone())).unwrap();
        assert_eq!(again.system_prompt, PROMPT, "a reconnect that gives no prompt keeps the first one");
        for message in ["second", "third"] {
            assert_eq!(engine.context().give(&id, message, Visibility::Stays).unwrap().system_prompt, PROMPT);
        }
    }
}

#[test]
fn a_reset_reads_anew() {
    let home = Home::new();
    assert_eq!(home.start("web:abc"), "Be kind.");
    home.save("user/profile", "- Ada\n");
    home.engine.sessions().reset(&session("web:abc")).unwrap();
    let fresh = "Be kind.\n\n--- Who you're talking to ---\n- Ada";
    assert_eq!(
        home.engine.context().give(&session("web:abc"), "hello", Visibility::Stays).unwrap().system_prompt,
        fresh
    );
    assert_eq!(home.start("web:abc"), fresh);
}

#[test]
fn computed_and_empty_stays_empty() {
    let home = Home::new();
    assert_eq!(home.start("web:abc"), "Be kind.");
    home.save("user/profile", "- Ada\n");
    assert_eq!(home.start("web:abc"), "Be kind.");
    assert_eq!(
        home.restarted().context().give(&session("web:abc"), "hello", Visibility::Stays).unwrap().system_prompt,
        "Be kind."
    );
}

#[test]
fn a_session_that_only_observes_gets_its_context_with_the_first_message() {
    let home = Home::new();
    home.save("user/profile", "- Ada\n");
    home.say("web:abc", "hello");
    let prompt = || home.engine.context().give(&session("web:abc"), "hello", Visibility::Stays).unwrap().system_prompt;
    assert_eq!(prompt(), "--- Who you're talking to ---\n- Ada");
    home.save("user/profile", "- Eve\n");
    assert_eq!(prompt(), "--- Who you're talking to ---\n- Ada");
}

#[test]
fn expired_working_memory_is_silently_ignored() {
    let home = Home::new();
    home.save("user/profile", "- Ada\n");
    home.exchange("cli:one", "the parser is half done");
    home.compact("cli:one");
    home.pass(14 * 24 * 60);
    assert_eq!(home.start("web:abc"), "Be kind.\n\n--- Who you're talking to ---\n- Ada");
    assert_eq!(home.text_of("user/working"), Some(working_file(THREAD)), "nothing cleans it up");
}

#[test]
fn working_memory_that_cannot_be_read_is_silently_ignored() {
    let home = Home::new();
    let broken = ["", "not working memory", "# Working Memory\nUpdated: 2026-03-01T12:00:00Z\n\nno end\n"];
    for (n, text) in broken.into_iter().enumerate() {
        home.save("user/working", text);
        assert_eq!(home.start(&format!("web:{n}")), "Be kind.");
    }
}

#[test]
fn every_compaction_writes_working_memory() {
    let home = Home::new();
    let expected = [
        "## first\n\n- first",
        "## second\n\n- second\n\n## first\n\n- first",
        "## third\n\n- third\n\n## second\n\n- second",
    ];
    for (summary, expected) in ["- first", "- second", "- third"].into_iter().zip(expected) {
        let id = if summary == "- second" { "web:abc" } else { "cli:one" };
        home.exchange(id, "go on");
        let compaction = done(home.consolidate(id, &ScriptedModel::saying([summary, NO_FACTS])));
        assert_eq!(compaction.documents, [document("user/working")]);
        assert_eq!(home.working().as_deref(), Some(expected));
        home.pass(1);
    }
    let versions = home.versions("user/working");
    let ends = |(written, expected): (&(String, String), &str)| written.1.ends_with(&format!("\n\n{expected}\n"));
    assert!(versions.len() == 3 && versions.iter().zip(expected).all(ends), "the earlier ones are kept: {versions:?}");
}

#[test]
fn working_memory_keeps_to_its_budget() {
    let home = Home::with(|settings| settings.working.max_tokens = 100);
    home.exchange("cli:one", "go on");
    let long = "- 用户在写解析器 and more\n".repeat(100);
    done(home.consolidate("cli:one", &ScriptedModel::saying([&long, NO_FACTS])));
    let written = home.working().unwrap();
    assert!(
        tokens::estimate(&written) <= 100 && written.starts_with("## 用户在写解析器 and more\n\n- 用户"),
        "{written}"
    );
    home.save("user/working", &working_file(&long));
    let context = home.start("web:abc").replacen("Be kind.\n\n--- Recent context ---\n", "", 1);
    assert!(tokens::estimate(&context) <= 100, "what a person made longer is cut as it is injected");
}

#[test]
fn working_memory_can_be_off_while_the_profile_stays() {
    let home = Home::with(|settings| settings.working_memory = false);
    home.save("user/profile", "- Ada\n");
    home.save("user/working", &working_file("- by hand"));
    assert_eq!(home.start("web:abc"), "Be kind.\n\n--- Who you're talking to ---\n- Ada");
    home.exchange("web:abc", "go on");
    let model = ScriptedModel::saying([SUMMARY, NO_FACTS]);
    assert_eq!(done(home.consolidate("web:abc", &model)).documents, []);
    let Brief::Summarise(brief) = &model.asked()[0] else { panic!("a summary comes first") };
    assert_eq!(brief.previous, None);
    assert_eq!(home.text_of("user/working"), Some(working_file("- by hand")));
}

#[test]
fn the_greeting_is_asked_for_only_where_there_is_something_to_pick_up() {
    let home = Home::with(|settings| settings.greeting = true);
    assert_eq!(home.start("web:empty"), "Be kind.");
    home.save("user/profile", "- Ada\n");
    let prompt = home.start("web:abc");
    let greeting = prompt.strip_prefix("Be kind.\n\n--- Who you're talking to ---\n- Ada\n\n").unwrap();
    assert!(greeting.contains("first reply") && !greeting.contains('\n'), "{greeting}");
    home.say("web:abc", "hello");
    assert_eq!(
        home.engine.context().give(&session("web:abc"), "and now?", Visibility::Stays).unwrap().system_prompt,
        prompt
    );
}

/// Everything that a model is sent in a small conversation.
fn run(home: &Home) -> (Vec<String>, Vec<Brief>) {
    let mut prompts = vec![home.start("web:abc")];
    for message in ["hello", "I like tea"] {
        let context = home.engine.context().give(&session("web:abc"), message, Visibility::Stays).unwrap();
        prompts.extend([context.system_prompt, context.message.unwrap()]);
        home.say("web:abc", message);
    }
    let facts = r#"{"facts": [{"text": "The person likes tea", "kind": "preference"}]}"#;
    let model = ScriptedModel::saying(["- said hello", facts]);
    done(home.consolidate("web:abc", &model));
    (prompts, model.asked())
}

#[test]
fn without_a_namespace_prompts_are_those_of_a_run_without_documents() {
    let bare = Home::with(|settings| settings.namespace = None);
    let furnished = Home::with(|settings| settings.namespace = None);
    furnished.save("user/profile", "- Ada likes tea\n");
    furnished.save("user/working", &working_file("- the parser"));
    let (prompts, briefs) = run(&bare);
    assert_eq!(run(&furnished), (prompts.clone(), briefs.clone()));
    assert_eq!(prompts, ["Be kind.", "Be kind.", "hello", "Be kind.", "I like tea"]);
    let Brief::Summarise(brief) = &briefs[0] else { panic!("a summary comes first") };
    assert!(!brief.personal, "the generic prompt");
    assert_eq!(brief.previous, None);
}

#[test]
fn without_a_namespace_there_are_no_files_and_facts_go_to_global() {
    let home = Home::with(|settings| settings.namespace = None);
    run(&home);
    let files = std::fs::read_dir(home.directory.path().join("documents")).unwrap();
    assert_eq!(files.map(|file| file.unwrap().file_name()).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(contents(&home.knowledge("global")), ["The person likes tea"]);
    assert_eq!(contents(&home.timeline()), ["[2026-03-01 12:00] - said hello"]);
    assert_eq!(home.versions("user/working"), []);
}

#[test]
fn with_a_namespace_the_prompt_is_personal() {
    let home = Home::new();
    let Brief::Summarise(brief) = run(&home).1.remove(0) else { panic!("a summary comes first") };
    assert!(brief.personal);
}

#[test]
fn switched_off_memory_gives_no_context() {
    let home = Home::with(|settings| settings.enabled = false);
    home.save("user/profile", "- Ada\n");
    assert_eq!(home.start("web:abc"), "Be kind.");
}
