//! Identity through the tools: a thousand characters, and nothing that a person wrote around a line is touched.

use throughline_core::text::tokens;

use super::*;

fn add(content: &str) -> Value {
    json!({ "action": "add", "layer": "L0", "content": content })
}

fn remove(id: &str) -> Value {
    json!({ "action": "remove", "layer": "L0", "target_id": id })
}

fn update(id: &str, content: &str) -> Value {
    json!({ "action": "update", "layer": "L0", "target_id": id, "content": content })
}

/// The id of the line of the profile that says this.
fn line(world: &World, content: &str) -> String {
    let (entries, ..) = everything(world);
    entries.into_iter().find(|entry| entry.content == content).unwrap_or_else(|| panic!("no {content}")).id.to_string()
}

#[test]
fn a_thousand_characters_fit_and_one_more_is_refused_whatever_the_script() {
    for letter in ["a", "用", "🙂", "é"] {
        let world = with_tools();
        save(&world, "user/profile", "- Ada\n");
        let fits = letter.repeat(1000 - "- Ada\n- ".len());
        let refusal =
            refused(&world, "memory_write", &add(&format!("{fits}{letter}")), &["[100% — 1,001/1,000 chars]"]);
        assert_eq!(refusal["error"]["code"], "identity_full");
        let receipt = done(&world, "memory_write", add(&fits));
        assert_eq!((&receipt["usage"], &receipt["recallable"]), (&json!("[100% — 1,000/1,000 chars]"), &json!(true)));
        assert_eq!(text_of(&world, "user/profile").unwrap().trim().chars().count(), 1000);
    }
}

#[test]
fn a_refusal_shows_what_is_there_with_the_ids_to_merge_or_evict() {
    let world = with_tools();
    let profile = format!("# Me\n\nI am Ada.\n\n- likes tea\n- [sig:5] {}\n", "x".repeat(900));
    save(&world, "user/profile", &profile);
    let refusal = refused(&world, "memory_write", &add(&"y".repeat(200)), &[profile.as_str()]);
    let now = format!("[{}% — {}/1,000 chars]", profile.trim().len() / 10, profile.trim().len());
    assert_eq!(refusal["identity"]["usage"], json!(now));
    let lines = refusal["identity"]["lines"].as_array().unwrap();
    let told: Vec<(String, &Value)> = lines.iter().map(|line| (id_of(line), &line["content"])).collect();
    let expected = ["I am Ada.".to_owned(), "likes tea".to_owned(), "x".repeat(900)];
    assert_eq!(told.len(), 3);
    for ((id, content), expected) in told.iter().zip(&expected) {
        assert_eq!((*content, id), (&json!(expected), &line(&world, expected)));
    }
    // In one batch, what is evicted makes room; alone it would not have fitted.
    let batch = json!({ "operations": [remove(&told[2].0), add(&"y".repeat(200))] });
    let receipts = done(&world, "memory_write", batch);
    assert_eq!(receipts["receipts"][0], json!({ "id": told[2].0, "outcome": "removed" }));
    assert_eq!(receipts["receipts"][1]["recallable"], true);
    assert!(receipts["usage"].as_str().unwrap().starts_with("[2"), "{receipts}");
    assert_eq!(
        text_of(&world, "user/profile").unwrap(),
        format!("# Me\n\nI am Ada.\n\n- likes tea\n- {}\n", "y".repeat(200))
    );
    world.engine.history().undo().unwrap();
    assert_eq!(text_of(&world, "user/profile").unwrap(), profile, "one change, undone as one");
}

#[test]
fn what_a_person_made_too_long_is_given_bounded_and_may_be_shortened_but_not_lengthened() {
    let world = with_tools();
    let lines: Vec<String> = (0..200).map(|n| format!("- {}\n", format!("line{n} ").repeat(10).trim())).collect();
    save(&world, "user/profile", &lines.concat());
    let (text, usage) = world.engine.documents().profile().unwrap().unwrap();
    assert_eq!((text.len(), usage.is_over()), (lines.concat().len(), true));
    let opening = world.engine.sessions().start(&StartSession::new("chat:two".parse().unwrap())).unwrap().context;
    assert!(opening.contains("line0 ") && tokens::estimate(&opening) <= 2050, "{}", tokens::estimate(&opening));
    refused(&world, "memory_write", &add("is called Ada"), &["is called Ada"; 0]);
    let shorter = done(&world, "memory_write", remove(&line(&world, lines[7][2..].trim())));
    assert_eq!(shorter["outcome"], "removed", "still too long, but shorter than it was");
    assert_eq!(text_of(&world, "user/profile").unwrap(), lines.concat().replace(&lines[7], ""));
}

#[test]
fn an_agent_changes_one_line_and_no_byte_around_it() {
    let before = "\u{feff}# Me  \r\n\r\nI am Ada.   \r\n\r\n## Likes\r\n* tea\r\n";
    let after = "\r\n\t<!-- mine -->\r\n\r\n## Rules\r\n1) never tabs  \r\n\r\n\r\n| a | b |\r\nno break at the end";
    let text = format!("{before}* [sig:4] green\r\n  things\r\n{after}");
    for (operation, middle) in
        [(update as fn(&str, &str) -> Value, "* [sig:4] blue things\r\n"), (|id, _| remove(id), "")]
    {
        let world = with_tools();
        save(&world, "user/profile", &text);
        done(&world, "memory_write", operation(&line(&world, "green things"), "blue things"));
        assert_eq!(text_of(&world, "user/profile").unwrap(), format!("{before}{middle}{after}"));
        world.engine.history().undo().unwrap();
        assert_eq!(text_of(&world, "user/profile").unwrap(), text);
    }
}

#[test]
fn a_new_line_goes_where_its_section_is() {
    let world = with_tools();
    save(&world, "user/profile", "# Me\n\n## Likes\n- tea\n\n## Rules\n\n- never tabs\n");
    let in_section = |content: &str, section: &str| {
        let mut operation = add(content);
        operation["section"] = json!(section);
        done(&world, "memory_write", operation)
    };
    in_section("cake", "likes");
    in_section("lives in Lisbon", "Places");
    in_section("lives in Lisbon", "Rules");
    let expected = "# Me\n\n## Likes\n- tea\n- cake\n\n## Rules\n\n- never tabs\n\n## Places\n\n- lives in Lisbon\n";
    assert_eq!(text_of(&world, "user/profile").unwrap(), expected, "and what is there is not said twice");
    for section in ["", "two\nlines"] {
        let operation = json!({ "action": "add", "layer": "L0", "content": "x", "section": section });
        refused(&world, "memory_write", &operation, &["title"]);
    }
}

#[test]
fn a_line_that_is_not_there_is_named_and_the_others_are_shown() {
    let world = with_tools();
    save(&world, "user/profile", "- likes tea\n");
    for operation in [remove("zzzzzzzz"), update("zzzzzzzz", "likes coffee")] {
        let refusal = refused(&world, "memory_write", &operation, &["zzzzzzzz", "user/profile"]);
        assert_eq!(refusal["identity"]["lines"][0]["content"], "likes tea");
    }
    // Knowledge is no line of identity, and a line of identity no knowledge.
    let known = remember(&world, "the build is green");
    refused(&world, "memory_write", &remove(&known), &[known.as_str()]);
    let own = line(&world, "likes tea");
    let wrong_layer = json!({ "action": "remove", "layer": "L1", "target_id": own });
    refused(&world, "memory_write", &wrong_layer, &[own.as_str(), "L0"]);
}

#[test]
fn what_cannot_stand_as_a_line_is_refused_rather_than_lost() {
    let world = with_tools();
    save(&world, "user/profile", "I am Ada.\n\n- likes tea\n");
    let paragraph = line(&world, "I am Ada.");
    for content in ["# Ada", "---"] {
        refused(&world, "memory_write", &update(&paragraph, content), &["cannot stand"]);
    }
    save(&world, "user/profile", "```\nan open fence\n");
    refused(&world, "memory_write", &add("likes tea"), &["cannot stand"]);
}

#[test]
fn an_edit_by_the_person_meanwhile_is_not_overwritten() {
    let world = with_tools();
    save(&world, "user/profile", "- likes tea\n");
    let id = line(&world, "likes tea");
    save(&world, "user/profile", "- likes tea\n- by hand\n");
    done(&world, "memory_write", update(&id, "likes cocoa"));
    assert_eq!(text_of(&world, "user/profile").unwrap(), "- likes cocoa\n- by hand\n");
}
