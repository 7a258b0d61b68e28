use serde_json::{Value, json};

use crate::client::Served;
use crate::common::{Home, string};

const QUIET: &str = "[memory]\nuser_namespace = \"user\"\nconsolidation_turn_threshold = 0\nflush_every_prompts = 0\n";

fn contents(body: &Value) -> Vec<String> {
    body["memories"].as_array().unwrap().iter().map(|memory| string(&memory["content"])).collect()
}

#[test]
fn a_topic_is_shown_then_forgotten_as_one_change() {
    let home = Home::new();
    for text in ["Zephyr ships in May", "The Zephyr budget is 40k", "We deploy on Fridays"] {
        home.remember(&[text]);
    }
    let served = Served::on(&home);
    let shown = served.post("/api/forget", json!({ "about": "zephyr", "dry_run": true })).with(200);
    assert_eq!((&shown["dry_run"], contents(&shown).len()), (&json!(true), 2), "{shown}");
    assert_eq!(contents(&served.get("/api/memories").with(200)).len(), 3, "nothing was changed");
    let forgotten = served.post("/api/forget", json!({ "about": "zephyr" })).with(200);
    assert_eq!((&forgotten["dry_run"], contents(&forgotten).len()), (&json!(false), 2), "{forgotten}");
    assert_eq!(contents(&served.get("/api/memories").with(200)), ["We deploy on Fridays"]);
    served.post("/api/undo", json!({})).with(200);
    assert_eq!(contents(&served.get("/api/memories").with(200)).len(), 3, "one undo brings all of it back");
    served.post("/api/forget", json!({ "about": " " })).refused(400, "invalid");
    served.post("/api/forget", json!({})).refused(400, "invalid");
}

#[test]
fn copies_are_listed_then_folded() {
    let home = Home::new();
    home.remember(&["We deploy on Fridays"]);
    home.put_document("user/notes", "- On Fridays we deploy\n");
    let served = Served::on(&home);
    let listed = served.post("/api/fold", json!({ "dry_run": true })).with(200);
    assert_eq!((&listed["change"], listed["copies"].as_array().unwrap().len()), (&Value::Null, 1), "{listed}");
    let folded = served.post("/api/fold", json!({})).with(200);
    assert_eq!(folded["copies"], listed["copies"]);
    assert!(folded["change"].is_string(), "{folded}");
    assert_eq!(contents(&served.get("/api/memories").with(200)).len(), 1);
    assert_eq!(served.post("/api/fold", json!({})).with(200)["copies"], json!([]));
}

#[test]
fn threads_are_listed_and_closed() {
    let home = Home::with_config("config.toml", QUIET);
    let text = "I'm working on the launch page in site/index.html.";
    home.json(&["session", "observe", "--session", "web:1", "--role", "user", text]);
    assert_eq!(home.json(&["session", "consolidate", "web:1"])["outcome"], "done");
    let served = Served::on(&home);
    let listed = served.get("/api/threads").with(200);
    assert_eq!(listed["threads"], home.json(&["working"])["threads"]);
    assert_eq!(listed["threads"][0]["session"], "web:1", "{listed}");
    let closed = served.delete("/api/threads/web:1").with(200);
    assert_eq!((&closed["id"], &closed["title"]), (&listed["threads"][0]["id"], &listed["threads"][0]["title"]));
    assert_eq!(served.get("/api/threads").with(200)["threads"], json!([]));
    served.delete("/api/threads/web:1").refused(404, "not_found");
    served.post("/api/undo", json!({})).with(200);
    assert_eq!(served.get("/api/threads").with(200), listed);
}
