//! Tools that look: recall with its filters, context, and why a memory was given.

use throughline_core::engine::Visibility;
use throughline_core::model::Layer;

use super::*;

#[track_caller]
fn found_in(world: &World, session: &SessionId, arguments: &Value) -> Vec<String> {
    let answer = done_in(world, session, "memory_recall", arguments);
    assert!(answer["recall_id"].is_string() && answer["note"].as_str().unwrap().contains("not instructions"));
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn found(world: &World, arguments: Value) -> Vec<String> {
    found_in(world, &chat(), &arguments)
}

/// Tea three times: as knowledge, in the archive a week later, and of a project with a tag.
fn tea() -> Place {
    let world = with_tools();
    let new = |content: &str| NewMemory::fact(content);
    world.engine.memories().remember(&new("tea is in the kitchen")).unwrap();
    world.clock.advance(days(7));
    world.engine.memories().remember(&NewMemory { layer: Layer::Archive, ..new("we drank tea in Porto") }).unwrap();
    let tags = vec!["hot".to_owned(), "drink".to_owned()];
    world
        .engine
        .memories()
        .remember(&NewMemory { project: Some("apollo".to_owned()), tags, ..new("apollo is a tea shop") })
        .unwrap();
    world
}

#[test]
fn recall_takes_category_time_tags_project_and_limit() {
    let world = tea();
    let sorted = |arguments: Value| {
        let mut found = found(&world, arguments);
        found.sort();
        found
    };
    let (kitchen, porto, shop) = ("tea is in the kitchen", "we drank tea in Porto", "apollo is a tea shop");
    let table: &[(Value, &[&str])] = &[
        (json!({ "query": "tea" }), &[shop, kitchen, porto]),
        (json!({ "query": "tea", "category": "knowledge" }), &[shop, kitchen]),
        (json!({ "query": "tea", "category": "timeline" }), &[porto]),
        (json!({ "query": "tea", "project": "apollo" }), &[shop]),
        (json!({ "query": "tea", "project": "nowhere" }), &[]),
        (json!({ "query": "tea", "project": "apollo", "tags": ["hot"] }), &[shop]),
        (json!({ "query": "tea", "project": "apollo", "tags": ["hot", "drink"] }), &[shop]),
        (json!({ "query": "tea", "project": "apollo", "tags": ["hot", "cold"] }), &[]),
        (json!({ "query": "tea", "tags": ["project:apollo"] }), &[shop]),
        (json!({ "query": "tea", "since": "2026-03-05" }), &[shop, porto]),
        (json!({ "query": "tea", "until": "2026-03-05" }), &[kitchen]),
        (json!({ "query": "tea", "since": "2026-03-01", "until": "2026-03-02" }), &[kitchen]),
        (json!({ "query": "tea", "since": "3 days ago" }), &[shop, porto]),
        (json!({ "query": "tea", "limit": 0 }), &[]),
        (json!({ "query": "coffee" }), &[]),
        (json!({ "query": "" }), &[]),
        (
            json!({ "query": "tea", "limit": null, "since": null, "category": null, "project": null }),
            &[shop, kitchen, porto],
        ),
    ];
    for (arguments, expected) in table {
        assert_eq!(sorted(arguments.clone()), *expected, "{arguments}");
    }
    assert_eq!(found(&world, json!({ "query": "tea", "limit": 1 })).len(), 1);
    let session = about(&world, "chat:apollo", "apollo");
    assert_eq!(found_in(&world, &session, &json!({ "query": "tea shop" })).len(), 3, "its project is in reach");
    let elsewhere = about(&world, "chat:zeus", "zeus");
    assert_eq!(found_in(&world, &elsewhere, &json!({ "query": "tea shop" })).len(), 2, "another project is not");
    assert_eq!(found_in(&world, &elsewhere, &json!({ "query": "the tea of apollo" })).len(), 3, "unless it is named");
    for (since, until) in [("2026-03-05", "2026-03-05"), ("2026-03-05", "2026-03-01")] {
        let arguments = json!({ "query": "tea", "since": since, "until": until });
        refused(&world, "memory_recall", &arguments, &["since", "until"]);
    }
}

#[test]
fn a_conversation_does_not_reach_what_belongs_to_another() {
    let world = with_settings(|settings| settings.namespace = None);
    let other: SessionId = "chat:two".parse().unwrap();
    world.engine.sessions().start(&StartSession::new(other.clone())).unwrap();
    done_in(&world, &other, "summarize_session", &json!({ "summary": "We spoke of tea." }));
    assert_eq!(found_in(&world, &other, &json!({ "query": "tea" })).len(), 1);
    assert_eq!(found(&world, json!({ "query": "tea" })), [""; 0]);
}

#[test]
fn explain_says_what_the_latest_message_was_given_and_why() {
    let world = with_tools();
    let nothing = done(&world, "memory_explain", json!({}));
    assert_eq!(nothing["memories"], json!([]));
    let id = remember(&world, "tea is in the kitchen");
    world.engine.context().give(&chat(), "where is the tea?", Visibility::Stays).unwrap();
    let told = done(&world, "memory_explain", json!({}));
    assert_eq!(told["query"], "where is the tea?");
    assert_eq!(
        (&told["memories"][0]["id"], &told["memories"][0]["content"]),
        (&json!(id), &json!("tea is in the kitchen"))
    );
    let why = &told["memories"][0]["why"];
    let score = told["memories"][0]["score"].as_f64().unwrap();
    super::super::finding::explains(&serde_json::from_value(why.clone()).unwrap(), score);
    // A message that nothing fits was given nothing, and an earlier one can still be asked for.
    world.engine.context().give(&chat(), "zebra", Visibility::Stays).unwrap();
    assert_eq!(done(&world, "memory_explain", json!({}))["memories"], json!([]));
    let earlier = done(&world, "memory_explain", json!({ "recall_id": told["recall_id"] }));
    assert_eq!(earlier, told);
    refused(&world, "memory_explain", &json!({ "recall_id": "nobody" }), &["nobody", "no recall"]);
}

#[test]
fn context_gives_the_opening_and_what_fits_a_message_and_notes_nothing() {
    let world = with_tools();
    save(&world, "user/profile", "- is called Ada\n");
    remember(&world, "tea is in the kitchen");
    let before = everything(&world);
    let given = done(&world, "memory_context", json!({ "message": "where is the tea?" }));
    assert_eq!(given["context"], "--- Who you're talking to ---\n- is called Ada");
    let message = given["message"].as_str().unwrap();
    assert!(message.contains("tea is in the kitchen") && message.ends_with("\n\nwhere is the tea?"), "{message}");
    let opening = done(&world, "memory_context", json!({}));
    assert_eq!((&opening["message"], &opening["context"]), (&Value::Null, &given["context"]));
    assert_eq!(everything(&world), before);
}

#[test]
fn what_stands_in_view_already_makes_room_for_the_next_best() {
    let world = with_settings(|settings| settings.recall_limit = 2);
    let texts = ["tea in the kitchen", "tea for the guests", "tea from Porto", "tea without milk", "tea at noon"];
    texts.iter().for_each(|text| drop(remember(&world, text)));
    let mut seen: Vec<String> = Vec::new();
    for given in [2, 2, 1, 0] {
        let ids = world
            .engine
            .context()
            .give(&chat(), "which tea is there?", Visibility::Stays)
            .unwrap()
            .parts
            .into_iter()
            .filter_map(|part| part.id);
        let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
        assert_eq!(ids.len(), given);
        assert!(ids.iter().all(|id| !seen.contains(id)), "nothing twice: {ids:?}");
        seen.extend(ids);
    }
}
