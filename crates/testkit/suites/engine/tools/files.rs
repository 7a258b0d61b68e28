//! Facts that assistants put into the shared memory file, and what they keep of a conversation.

use throughline_core::model::Layer;

use super::*;

fn fact(text: &str, section: &str) -> Value {
    json!({ "fact": text, "section": section })
}

#[test]
fn a_fact_goes_under_the_heading_of_its_section() {
    let world = with_tools();
    for (text, section) in [("the build is green", "is"), ("we shipped", "happened"), ("the parser", "done")] {
        let receipt = done(&world, "record_fact", fact(text, section));
        assert_eq!((&receipt["file"], &receipt["recallable"]), (&json!("user/memory"), &json!(true)));
        entry_of(&world, receipt["ids"][0].as_str().unwrap());
    }
    let heavy = json!({ "fact": "never\nforce-push", "significance": 5 });
    done(&world, "record_fact", heavy);
    let expected = "# memory\n\n## What Is\n\n- [sig:3] the build is green\n- [sig:5] never force-push\n\n\
                    ## What Happened\n\n- [sig:3] 2026-03-01 we shipped\n\n## What Is Done\n\n- [sig:3] the parser\n";
    assert_eq!(text_of(&world, "user/memory").unwrap(), expected);
    let hits = recall(&world, "force-push");
    assert_eq!(hits[0].memory.significance.value(), 5);
    let before = everything(&world);
    done(&world, "record_fact", fact("the build is green", "is"));
    assert_eq!(everything(&world), before, "said again, it stands once");
}

#[test]
fn headings_that_are_there_are_found_in_every_spelling() {
    for (headings, section) in [
        (["## WIS", "# What Is", "### what is ##"].as_slice(), "is"),
        (&["## WIH", "## What Is Happened", "## What Happened"], "happened"),
        (&["## WID", "## What Is Done"], "done"),
    ] {
        for heading in headings {
            let world = with_tools();
            let (before, after) = (format!("# Project\n\nmine\n\n{heading}\n- [sig:2] old\n"), "\n# Else\n\nmine too");
            save(&world, "user/memory", &format!("{before}{after}"));
            done(&world, "record_fact", fact("new", section));
            let date = if section == "happened" { "2026-03-01 " } else { "" };
            let expected = format!("{before}- [sig:3] {date}new\n{after}");
            assert_eq!(text_of(&world, "user/memory").unwrap(), expected, "{heading}");
        }
    }
}

#[test]
fn a_fact_about_a_project_is_knowledge_of_that_project() {
    let world = with_tools();
    let given = json!({ "fact": "the tests run with make check", "project": "apollo", "significance": 4 });
    let receipt = done(&world, "record_fact", given);
    assert_eq!((&receipt["project"], &receipt["recallable"]), (&json!("apollo"), &json!(true)));
    let entry = entry_of(&world, receipt["ids"][0].as_str().unwrap());
    assert_eq!((entry.project.as_deref(), entry.importance.significance().value()), (Some("apollo"), 4));
    assert_eq!(entry.tags, ["what-is"]);
    let session = about(&world, "chat:zeus", "zeus");
    let receipt = done_in(&world, &session, "record_fact", &fact("zeus shipped", "happened"));
    assert_eq!(receipt["project"], "zeus", "the project of the conversation");
    assert_eq!(text_of(&world, "user/memory"), None);
}

#[test]
fn text_for_a_memory_file_becomes_a_fact_a_line_with_its_words_unharmed() {
    let world = with_tools();
    let content =
        "- [sig:5] the API is frozen\n\n* *bold* words stay\n-1 is the sentinel\n+ plus\n--force is forbidden\n";
    let receipt = done(&world, "update_project_memory", json!({ "content": content }));
    assert_eq!(receipt["ids"].as_array().unwrap().len(), 5);
    let expected = "# memory\n\n## What Is\n\n- [sig:5] the API is frozen\n- [sig:3] *bold* words stay\n- [sig:3] -1 is the sentinel\n\
                    - [sig:3] plus\n- [sig:3] --force is forbidden\n\n## What Happened\n\n## What Is Done\n";
    assert_eq!(text_of(&world, "user/memory").unwrap(), expected);
    world.engine.history().undo().unwrap();
    assert_eq!(text_of(&world, "user/memory"), None, "one change");
    let receipt = done(&world, "update_project_memory", json!({ "content": "- one\n- two", "project": "apollo" }));
    assert_eq!((receipt["ids"].as_array().unwrap().len(), &receipt["recallable"]), (2, &json!(true)));
}

#[test]
fn a_summary_of_the_conversation_is_kept_once_under_its_key() {
    let world = with_tools();
    let first = done(&world, "summarize_session", json!({ "summary": "We fixed the parser." }));
    let entry = entry_of(&world, &id_of(&first));
    assert_eq!((entry.layer, entry.key.as_deref()), (Layer::Archive, Some("session_chat:one")));
    assert_eq!(entry.content, "[2026-03-01 12:00] We fixed the parser.");
    let before = everything(&world);
    let again = done(&world, "summarize_session", json!({ "summary": "We fixed the parser." }));
    assert_eq!(id_of(&again), id_of(&first), "a receipt names what is kept, new or not");
    assert_eq!(everything(&world), before);
    let longer = done(&world, "summarize_session", json!({ "summary": "We fixed the parser and the lexer." }));
    assert_eq!((id_of(&longer), everything(&world).0.len()), (id_of(&first), 1));
}
