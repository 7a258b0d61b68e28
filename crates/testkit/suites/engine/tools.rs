//! The tools that assistants call: what they accept, what they refuse, and what a refusal leaves behind: nothing.

mod fences;
mod files;
mod identity;
mod knowledge;
mod reading;

use serde_json::{Value, json};
use throughline_core::engine::{StartSession, ToolAnswer};
use throughline_core::model::{Entry, SessionId, Status};
use throughline_core::ports::{Page, ToolCall};
use throughline_core::tools::Tool;

use super::*;

/// A place where every tool is offered, with one conversation.
fn with_tools() -> Place {
    with_settings(|_| {})
}

fn with_settings(adjust: impl FnOnce(&mut Settings)) -> Place {
    let place = place_set(|settings| {
        settings.tools = Tool::ALL.to_vec();
        adjust(settings);
    });
    place.engine.sessions().start(&StartSession::new(chat())).unwrap();
    place
}

fn chat() -> SessionId {
    "chat:one".parse().unwrap()
}

/// Begins another conversation, about a project.
fn about(world: &World, id: &str, project: &str) -> SessionId {
    let start = StartSession { project: Some(project.to_owned()), ..StartSession::new(id.parse().unwrap()) };
    world.engine.sessions().start(&start).unwrap().session
}

fn call_in(world: &World, session: &SessionId, name: &str, arguments: &str) -> ToolAnswer {
    let call = ToolCall { id: "1".to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
    let answer = world.engine.tools().call(session, &call);
    assert!(!answer.summary.is_empty(), "{answer:?}");
    assert_eq!(serde_json::from_str::<Value>(&answer.text()).unwrap(), answer.content, "the model reads the same");
    answer
}

/// A call that is done; gives its receipt.
#[track_caller]
fn done_in(world: &World, session: &SessionId, name: &str, arguments: &Value) -> Value {
    let answer = call_in(world, session, name, &arguments.to_string());
    assert!(!answer.is_error, "{name} {arguments}: {}", answer.content);
    answer.content
}

#[track_caller]
fn done(world: &World, name: &str, arguments: Value) -> Value {
    done_in(world, &chat(), name, &arguments)
}

/// Everything that a call may change: entries of any status, files, and the number of changes.
fn everything(world: &World) -> (Vec<Entry>, Vec<Option<String>>, usize) {
    let page = Page { limit: usize::MAX, cursor: None };
    let memories = world.engine.memories().list(&Filter::default(), &page).unwrap().memories;
    let files = ["user/profile", "user/memory", "user/working"].map(|name| text_of(world, name));
    let entries = memories.into_iter().map(|memory| memory.entry).collect();
    (entries, files.to_vec(), world.engine.history().changes(usize::MAX).unwrap().len())
}

/// A call that is refused and changes nothing; gives all that it says.
#[track_caller]
fn refused_text(world: &World, name: &str, arguments: &str) -> Value {
    let before = everything(world);
    let answer = call_in(world, &chat(), name, arguments);
    assert!(answer.is_error, "{name} {arguments}: {}", answer.content);
    assert_eq!(everything(world), before, "{name} {arguments}: a refusal changes nothing");
    let error = &answer.content["error"];
    assert!(error["hint"].is_string() && error["code"].is_string(), "{error}");
    answer.content
}

#[track_caller]
fn refused(world: &World, name: &str, arguments: &Value, says: &[&str]) -> Value {
    let content = refused_text(world, name, &arguments.to_string());
    let message = content["error"]["message"].as_str().unwrap();
    says.iter().for_each(|word| assert!(message.contains(word), "no `{word}` in: {message}"));
    content
}

fn id_of(receipt: &Value) -> String {
    receipt["id"].as_str().unwrap_or_else(|| panic!("no id in {receipt}")).to_owned()
}

fn entry_of(world: &World, id: &str) -> Entry {
    world.engine.memories().show(id).unwrap().entry
}

fn contents_of(world: &World, status: Status) -> Vec<String> {
    let (entries, ..) = everything(world);
    entries.into_iter().filter(|entry| entry.status == status).map(|entry| entry.content).collect()
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_the_parameter() {
    let world = with_tools();
    let table: &[(&str, &str, &str)] = &[
        ("memory_recall", "", "query"),
        ("memory_recall", "{}", "query"),
        ("memory_recall", "null", "query"),
        ("memory_recall", "[]", "query"),
        ("memory_recall", "tea", "query"),
        ("memory_recall", r#"{"query": "tea""#, "query"),
        ("memory_recall", r#"{"query": 7}"#, "`query`"),
        ("memory_recall", r#"{"query": "tea", "limit": "many"}"#, "`limit`"),
        ("memory_recall", r#"{"query": "tea", "limit": -1}"#, "`limit`"),
        ("memory_recall", r#"{"query": "tea", "limit": 51}"#, "limit"),
        ("memory_recall", r#"{"query": "tea", "limit": 1e30}"#, "`limit`"),
        ("memory_recall", r#"{"query": "tea", "limit": 99999999999999999999999999}"#, "`limit`"),
        ("memory_recall", r#"{"query": "tea", "tags": "red"}"#, "`tags`"),
        ("memory_recall", r#"{"query": "tea", "category": "gossip"}"#, "`category`"),
        ("memory_recall", r#"{"query": "tea", "since": "when pigs fly"}"#, "when pigs fly"),
        ("memory_recall", r#"{"query": "tea", "colour": "red"}"#, "`colour`"),
        ("memory_write", "{}", "action"),
        ("memory_write", r#"{"action": "add"}"#, "layer"),
        ("memory_write", r#"{"action": "add", "layer": "L1"}"#, "content"),
        ("memory_write", r#"{"action": "add", "layer": "L1", "content": "  "}"#, "content"),
        ("memory_write", r#"{"action": "add", "layer": "L7", "content": "x"}"#, "`layer`"),
        ("memory_write", r#"{"action": "burn", "layer": "L1", "content": "x"}"#, "`action`"),
        ("memory_write", r#"{"action": "update", "layer": "L1", "content": "x"}"#, "target"),
        ("memory_write", r#"{"action": "remove", "layer": "L0"}"#, "target"),
        ("memory_write", r#"{"action": "add", "layer": "L0", "content": "x", "tags": ["a"]}"#, "tags"),
        ("memory_write", r#"{"action": "add", "layer": "L1", "content": "x", "section": "Likes"}"#, "section"),
        ("memory_write", r#"{"operations": [{"action": "add"}]}"#, "`layer`"),
        ("memory_forget", "{}", "`key`"),
        ("memory_store", r#"{"key": "a", "content": "b"}"#, "`category`"),
        ("memory_store", r#"{"key": "a", "content": "b", "category": "knowledge", "importance": 1.5}"#, "importance"),
        ("memory_store", r#"{"key": "", "content": "b", "category": "knowledge"}"#, "key"),
        ("record_fact", r#"{"fact": "x", "significance": 0}"#, "significance"),
        ("record_fact", r#"{"fact": "x", "significance": 6}"#, "significance"),
        ("record_fact", r#"{"fact": "x", "significance": 300}"#, "`significance`"),
        ("record_fact", r#"{"fact": "x", "significance": 3.5}"#, "`significance`"),
        ("record_fact", r#"{"fact": "x", "section": "where"}"#, "`section`"),
        ("record_fact", r#"{"fact": " "}"#, "text"),
        ("update_project_memory", r#"{"content": "\n"}"#, "text"),
        ("memory_context", r#"{"message": 7}"#, "`message`"),
        ("memory_explain", r#"{"recall": "x"}"#, "`recall`"),
        ("summarize_session", "{}", "needs a model"),
        ("summarize_session", r#"{"summary": ""}"#, "text"),
    ];
    for (name, arguments, names) in table {
        let message = refused_text(&world, name, arguments)["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(names), "{name} {arguments}: no {names} in: {message}");
    }
}

#[test]
fn a_tool_that_is_not_offered_is_refused_with_those_that_are() {
    let world = with_settings(|settings| settings.tools = vec![Tool::Recall]);
    for name in ["memory_write", "memory_erase", ""] {
        let arguments = json!({ "action": "add", "layer": "L1", "content": "x" });
        refused(&world, name, &arguments, &["is not offered", "memory_recall"]);
    }
    assert_eq!(world.engine.tools().specs().iter().map(|tool| tool.name).collect::<Vec<_>>(), ["memory_recall"]);
    assert!(!world.engine.tools().guidance().unwrap().text.contains("memory_write"));
}

#[test]
fn memory_that_is_off_offers_no_tool() {
    let world = with_settings(|settings| settings.enabled = false);
    assert!(world.engine.tools().specs().is_empty() && world.engine.tools().guidance().is_none());
    for tool in Tool::ALL {
        refused(&world, tool.as_str(), &json!({ "query": "tea" }), &["is not offered", "memory is off"]);
    }
}

#[test]
fn without_a_namespace_there_is_no_identity_to_write_and_the_hint_says_how() {
    let world = with_settings(|settings| settings.namespace = None);
    for (name, arguments) in [
        ("memory_write", json!({ "action": "add", "layer": "L0", "content": "is called Ada" })),
        ("memory_write", json!({ "action": "remove", "layer": "L0", "target_id": "aaaaaa" })),
        ("record_fact", json!({ "fact": "the build is green" })),
        ("update_project_memory", json!({ "content": "the build is green" })),
    ] {
        let refusal = refused(&world, name, &arguments, &["namespace"]);
        assert!(refusal["error"]["hint"].as_str().unwrap().contains("user_namespace"), "{refusal}");
    }
    let receipt = done(&world, "memory_write", json!({ "action": "add", "layer": "L1", "content": "likes tea" }));
    assert_eq!(entry_of(&world, &id_of(&receipt)).namespace.to_string(), "global");
    assert_eq!(receipt["recallable"], true);
}
