//! Knowledge through the tools: added, corrected, removed, all of a batch or nothing.

use throughline_core::engine::{HistoryOf, NewTask};
use throughline_core::model::{Layer, Source};

use super::*;

fn add(content: &str) -> Value {
    json!({ "action": "add", "layer": "L1", "content": content })
}

fn update(id: &str, content: &str) -> Value {
    json!({ "action": "update", "layer": "L1", "target_id": id, "content": content })
}

fn remove(id: &str) -> Value {
    json!({ "action": "remove", "layer": "L1", "target_id": id })
}

fn in_archive(world: &World) -> String {
    let task = world.engine.tasks().add(&NewTask { title: "ship it".to_owned(), ..NewTask::default() }).unwrap();
    world.engine.tasks().finish(task.id.as_str(), None).unwrap().archived.unwrap().entry.id.to_string()
}

#[test]
fn the_archive_is_not_written_and_the_refusal_says_why() {
    let world = with_tools();
    for action in ["add", "update", "remove"] {
        let operation = json!({ "action": action, "layer": "L2", "content": "x", "target_id": "y" });
        refused(&world, "memory_write", &operation, &["L2", "archive", "L0 or L1"]);
    }
    let archived = in_archive(&world);
    for operation in [update(&archived, "x"), remove(&archived)] {
        refused(&world, "memory_write", &operation, &[archived.as_str(), "archive (L2)"]);
    }
    refused(&world, "memory_forget", &json!({ "key": archived }), &[archived.as_str(), "archive (L2)"]);
    let key = entry_of(&world, &archived).key.unwrap();
    for category in ["knowledge", "timeline"] {
        let over = json!({ "key": key, "content": "x", "category": category });
        refused(&world, "memory_store", &over, &[key.as_str(), "archive"]);
    }
}

#[test]
fn a_batch_with_one_bad_operation_applies_nothing() {
    let world = with_tools();
    save(&world, "user/profile", "- likes tea\n");
    let known = remember_as(&world, "deploy", "the deploy runs on friday");
    let archived = in_archive(&world);
    let bad = [
        (update("nobody", "x"), "nobody"),
        (remove("nobody"), "nobody"),
        (remove(&archived), archived.as_str()),
        (json!({ "action": "add", "layer": "L2", "content": "x" }), "operation 4"),
        (json!({ "action": "add", "layer": "L1" }), "operation 4"),
        (json!({ "action": "add", "layer": "L0", "content": "x".repeat(1000) }), "1,0"),
        (json!({ "action": "add", "layer": "L1", "content": "a\u{0}b" }), "operation 4"),
        (remove(&known), known.as_str()),
    ];
    for (operation, says) in bad {
        let operations = json!([
            add("the office is in Lisbon"),
            { "action": "add", "layer": "L0", "content": "is called Ada" },
            update(&known, "the deploy runs on thursday"),
            operation,
        ]);
        refused(&world, "memory_write", &json!({ "operations": operations }), &[says]);
    }
    let many: Vec<Value> = (0..51).map(|n| add(&format!("number {n}"))).collect();
    refused(&world, "memory_write", &json!({ "operations": many }), &["operations", "51", "50"]);
    let both = json!({ "action": "add", "layer": "L1", "content": "x", "operations": [add("y")] });
    refused(&world, "memory_write", &both, &["not both"]);
}

#[test]
fn a_batch_is_one_change() {
    let world = with_tools();
    let known = remember(&world, "the deploy runs on friday");
    let other = remember(&world, "the office has a cat");
    let before = contents_of(&world, Status::Active);
    let operations = json!([
        { "action": "add", "layer": "L0", "content": "is called Ada" },
        update(&known, "the deploy runs on thursday"),
        remove(&other),
        add("the office is in Lisbon"),
    ]);
    let answer = done(&world, "memory_write", json!({ "operations": operations }));
    let receipts = answer["receipts"].as_array().unwrap();
    for (receipt, layer) in [(&receipts[0], "L0"), (&receipts[1], "L1"), (&receipts[3], "L1")] {
        assert_eq!((&receipt["recallable"], &receipt["layer"]), (&json!(true), &json!(layer)), "{receipt}");
        entry_of(&world, &id_of(receipt));
    }
    assert_eq!(receipts[2], json!({ "id": other, "outcome": "removed" }));
    assert_eq!(world.engine.history().undo().unwrap().undone.actor, Actor::new(Source::Agent, "test"));
    assert_eq!((contents_of(&world, Status::Active), text_of(&world, "user/profile")), (before, None));
}

#[test]
fn an_update_takes_the_place_of_what_was_wrong_and_keeps_its_links() {
    let world = with_tools();
    let old = NewMemory {
        tags: vec!["ops".to_owned(), "task:t1".to_owned()],
        project: Some("apollo".to_owned()),
        ..keyed("deploy", "the deploy runs on friday")
    };
    let old = world.engine.memories().remember(&old).unwrap().memory.entry.id.to_string();
    let receipt = done(&world, "memory_write", update(&old, "the deploy runs on thursday"));
    assert_eq!((&receipt["outcome"], &receipt["superseded"]), (&json!("updated"), &json!(old)));
    let (new, old) = (entry_of(&world, &id_of(&receipt)), entry_of(&world, &old));
    assert_eq!((new.status, old.status), (Status::Active, Status::Inactive));
    assert_eq!(new.supersedes, std::slice::from_ref(&old.id));
    assert_eq!((&new.key, &new.project, &new.task), (&old.key, &old.project, &old.task));
    assert_eq!((new.tags, new.source), (vec!["ops".to_owned(), "correction".to_owned()], Source::Agent));
    assert_eq!(recalled(&world, "when is the deploy on friday?"), ["the deploy runs on thursday"]);
    assert_eq!(contents_of(&world, Status::Inactive), ["the deploy runs on friday"]);
    let HistoryOf::Entry { versions } = world.engine.history().of(old.id.as_str()).unwrap() else { panic!("an entry") };
    assert_eq!(
        versions.iter().map(|version| version.entry.status).collect::<Vec<_>>(),
        [Status::Active, Status::Inactive]
    );
    refused(&world, "memory_write", &update(old.id.as_str(), "x"), &[old.id.as_str(), "not active"]);
    refused(&world, "memory_write", &remove(old.id.as_str()), &[old.id.as_str(), "not active"]);
}

#[test]
fn what_is_known_is_not_stored_twice() {
    let world = with_tools();
    let first = done(&world, "memory_write", add("The deploy runs on Friday at noon"));
    for content in ["The deploy runs on Friday at noon", "the deploy runs  on friday at noon"] {
        let again = done(&world, "memory_write", add(content));
        assert_eq!((id_of(&again), &again["outcome"]), (id_of(&first), &json!("unchanged")));
        assert_eq!(again["recallable"], true);
    }
    let near = done(&world, "memory_write", add("The deploy runs on Thursday at noon"));
    assert_eq!(near["outcome"], "created");
    let similar = json!([{ "id": id_of(&first), "content": "The deploy runs on Friday at noon" }]);
    assert_eq!(near["similar"], similar, "the assistant may mean an update");
    let far = done(&world, "memory_write", add("Lisbon is sunny"));
    assert_eq!(far["similar"], json!([]));
    assert_eq!(contents_of(&world, Status::Active).len(), 3);
}

#[test]
fn every_receipt_names_a_memory_that_is_there() {
    let world = with_tools();
    let tea = done(&world, "memory_write", add("likes tea in the morning"));
    let cocoa = done(&world, "memory_write", add("likes cocoa in the evening"));
    // Twice in one batch, and an update to what another memory says already.
    let twice = done(&world, "memory_write", json!({ "operations": [add("has a cat"), add("has a cat")] }));
    let receipts = twice["receipts"].as_array().unwrap();
    assert_eq!((id_of(&receipts[0]), &receipts[1]["outcome"]), (id_of(&receipts[1]), &json!("unchanged")));
    let merged = done(&world, "memory_write", update(&id_of(&cocoa), "likes tea in the morning"));
    for receipt in [&tea, &receipts[0], &receipts[1], &merged] {
        assert_eq!(receipt["recallable"], true, "{receipt}");
        assert_eq!(entry_of(&world, &id_of(receipt)).status, Status::Active);
    }
    assert_eq!(contents_of(&world, Status::Active).len(), 2);
    for content in ["the", "🎉", "a_b%c", "Ärger mit ß", "用户喜欢喝茶", &"long ".repeat(2000)] {
        let receipt = done(&world, "memory_write", add(content));
        assert_eq!(receipt["recallable"], true, "{content}");
    }
}

#[test]
fn what_is_said_of_one_project_is_not_known_of_another() {
    let world = with_tools();
    let (apollo, zeus) = (about(&world, "chat:apollo", "apollo"), about(&world, "chat:zeus", "zeus"));
    let fact = add("the tests run with make check");
    let first = done_in(&world, &apollo, "memory_write", &fact);
    let second = done_in(&world, &zeus, "memory_write", &fact);
    assert_eq!(second["outcome"], "created");
    assert_ne!(id_of(&first), id_of(&second));
    assert_eq!(entry_of(&world, &id_of(&second)).project.as_deref(), Some("zeus"));
    let mut elsewhere = add("the docs are in docs");
    elsewhere["tags"] = json!(["project:hermes", "docs"]);
    let third = done_in(&world, &zeus, "memory_write", &elsewhere);
    assert_eq!(entry_of(&world, &id_of(&third)).project.as_deref(), Some("hermes"));
    // What belongs to no project is known everywhere.
    let global = done(&world, "memory_write", add("coffee is on the second floor"));
    let again = done_in(&world, &zeus, "memory_write", &add("coffee is on the second floor"));
    assert_eq!((id_of(&again), &again["outcome"]), (id_of(&global), &json!("unchanged")));
}

#[test]
fn secrets_are_left_out_and_the_source_is_the_agent() {
    let world = with_tools();
    let receipt = done(&world, "memory_write", add("the key is AKIAIOSFODNN7EXAMPLE"));
    let entry = entry_of(&world, &id_of(&receipt));
    assert_eq!((entry.content.as_str(), entry.source), ("the key is [redacted:aws-key]", Source::Agent));
    assert_eq!(entry.session, Some(chat()));
}

#[test]
fn storing_under_a_key_again_updates_and_the_timeline_is_the_archive() {
    let world = with_tools();
    let store = |content: &str, category: &str| json!({ "key": "lang", "content": content, "category": category });
    let first = done(&world, "memory_store", store("prefers Rust", "knowledge"));
    let second = done(&world, "memory_store", store("prefers Zig", "knowledge"));
    assert_eq!(
        (id_of(&first), &first["outcome"], &second["outcome"]),
        (id_of(&second), &json!("created"), &json!("updated"))
    );
    assert_eq!(contents_of(&world, Status::Active), ["prefers Zig"]);
    let event = json!({ "key": "launch", "content": "we launched in May", "category": "timeline", "importance": 1.0 });
    let event = done(&world, "memory_store", event);
    let entry = entry_of(&world, &id_of(&event));
    assert_eq!((entry.layer, entry.importance.value()), (Layer::Archive, 1.0));
    for receipt in [&first, &second, &event] {
        assert_eq!(receipt["recallable"], true);
    }
    // An agent may go on with what it wrote itself.
    done(&world, "memory_store", json!({ "key": "launch", "content": "we launched in June", "category": "timeline" }));
}

#[test]
fn forgetting_is_soft_unless_the_person_wants_it_for_good() {
    let world = with_tools();
    let id = remember(&world, "likes tea");
    remember_as(&world, "drink", "likes cocoa");
    for (reference, id) in [(id.as_str(), Some(&id)), ("drink", None)] {
        let receipt = done(&world, "memory_forget", json!({ "key": reference }));
        assert_eq!(receipt["outcome"], "forgotten");
        id.into_iter().for_each(|id| assert_eq!(id_of(&receipt), *id));
    }
    assert_eq!(
        done(&world, "memory_forget", json!({ "id": id }))["outcome"],
        "forgotten already",
        "`id` is understood"
    );
    assert_eq!(recalled(&world, "likes"), [""; 0]);
    assert_eq!(contents_of(&world, Status::Inactive).len(), 2);
    refused(&world, "memory_forget", &json!({ "key": "nobody" }), &["nobody"]);

    let world = with_settings(|settings| settings.agent_erases = true);
    let id = remember_as(&world, "drink", "likes tea");
    assert_eq!(done(&world, "memory_forget", json!({ "key": "drink" })), json!({ "id": id, "outcome": "erased" }));
    assert!(everything(&world).0.is_empty() && world.engine.memories().show(&id).is_err());
}
