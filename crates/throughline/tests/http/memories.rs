use serde_json::{Value, json};

use crate::client::Served;
use crate::common::{Home, beyond_erasing, is_on_postgres, string};

#[test]
fn a_memory_is_stored_found_changed_forgotten_and_brought_back() {
    let home = Home::new();
    let served = Served::on(&home);
    let new =
        served.post("/api/memories", json!({ "content": "We deploy on Fridays", "key": "deploy", "significance": 4 }));
    let id = string(&new.with(201)["id"]);
    assert_eq!(new.header("location"), Some(&*format!("/api/memories/{id}")));
    assert_eq!(new.header("etag"), Some("\"1\""));
    let again = served.post("/api/memories", json!({ "content": "We deploy on Fridays", "key": "deploy" }));
    assert_eq!(again.with(200)["outcome"], "unchanged");

    let found = served.post("/api/recall", json!({ "query": "when do we deploy?" })).with(200);
    assert_eq!(found["hits"][0]["id"], json!(id));
    let searched = served.get("/api/memories?q=deploy&limit=5").with(200);
    assert_eq!((&searched["memories"][0]["id"], &searched["cursor"]), (&json!(id), &Value::Null));

    let changed = served.ask("PATCH", "/api/memories/deploy", &[("If-Match", "\"1\"")], Some(r#"{"key":null}"#));
    assert_eq!((changed.with(200)["version"].as_u64(), changed.header("etag")), (Some(2), Some("\"2\"")));
    assert_eq!(served.delete(&format!("/api/memories/{id}")).with(200), json!({ "id": id, "already": false }));
    assert_eq!(served.get("/api/memories").with(200)["memories"], json!([]));
    let back = served.post("/api/memories/bulk", json!({ "action": "restore", "ids": [id, "nothing"] })).with(200);
    assert_eq!((&back["done"], &back["failed"][0]["error"]["code"]), (&json!([id]), &json!("not_found")));
    let history = served.get(&format!("/api/memories/{id}/history")).with(200);
    assert_eq!(history["versions"].as_array().unwrap().len(), 4);
}

#[test]
fn of_two_who_saw_the_same_version_one_comes_too_late() {
    let home = Home::new();
    let id = home.remember(&["We deploy on Fridays"]);
    let served = Served::on(&home);
    let path = format!("/api/memories/{id}");
    let write = |text: &str| {
        served.ask("PATCH", &path, &[("If-Match", "\"1\"")], Some(&json!({ "content": text }).to_string()))
    };
    let mut statuses = std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|n| scope.spawn(move || write(&format!("On day {n}")).status)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412]);
    for tag in ["\"1\"", "W/\"2\"", "2x"] {
        served.ask("PATCH", &path, &[("If-Match", tag)], Some(r#"{"content":"never"}"#)).refused(412, "changed");
    }
    served.ask("PATCH", &path, &[("If-Match", "*")], Some(r#"{"content":"never"}"#)).refused(400, "invalid");
    assert_eq!(served.get(&path).with(200)["version"], 2);
}

#[test]
fn bad_input_is_refused_with_a_hint_and_changes_nothing() {
    let home = Home::new();
    home.remember(&["--key", "a", "first"]);
    let served = Served::on(&home);
    let before = served.get("/api/stats").with(200);
    for body in [
        "{bad",
        "[]",
        "\"text\"",
        "{}",
        r#"{"content":""}"#,
        r#"{"content":"x","nope":1}"#,
        r#"{"content":"x","layer":"archive"}"#,
        r#"{"content":"x","significance":9}"#,
        r#"{"content":"x","importance":0.5,"significance":3}"#,
    ] {
        served.ask("POST", "/api/memories", &[], Some(body)).refused(400, "invalid");
    }
    let deep = format!("{{\"content\":{}1{}}}", "[".repeat(70), "]".repeat(70));
    served.ask("POST", "/api/memories", &[], Some(&deep)).refused(400, "invalid");
    let large = json!({ "content": "x".repeat(1 << 20) }).to_string();
    served.ask("POST", "/api/memories", &[], Some(&large)).refused(413, "too_large");
    for query in [
        "nope=1",
        "limit=1001",
        "limit=-1",
        "limit=x",
        "limit=1&limit=2",
        "layer=L9",
        "since=someday",
        "cursor=x",
        "layer=knowledge&category=timeline",
    ] {
        served.get(&format!("/api/memories?{query}")).refused(400, "invalid");
    }
    served.get("/api/memories/zzzzzz").refused(404, "not_found");
    served.ask("PATCH", "/api/memories/a", &[], Some("{}")).refused(400, "invalid");
    served.delete("/api/memories/a?with_sources=true").refused(400, "invalid");
    served.post("/api/recall", json!({ "query": "x", "limit": 101 })).refused(400, "invalid");
    served.post("/api/memories/a/restore", json!({ "version": 9 })).refused(404, "not_found");
    served.post("/api/memories/merge", json!({ "ids": ["a"] })).refused(400, "invalid");
    assert_eq!(served.get("/api/stats").with(200)["changes"], before["changes"]);
}

#[test]
fn what_erasing_would_remove_is_told_before() {
    let home = Home::new();
    let id = home.remember(&["The door code is written on the fridge"]);
    let served = Served::on(&home);
    let path = format!("/api/memories/{id}");
    let told = served.get(&format!("{path}/erasure")).with(200);
    assert_eq!(
        (&told["versions"], &told["unreached"], &told["documents"]),
        (&json!(1), &json!([]), &json!([])),
        "{told}"
    );
    assert_eq!(served.get(&path).status, 200);
    assert_eq!(served.delete(&format!("{path}?erase=true")).with(200)["versions"], 1);
    served.get(&path).refused(404, "not_found");
}

#[test]
fn a_conversation_is_erased_with_what_was_made_of_it() {
    let home = Home::new();
    let served = Served::on(&home);
    for (session, text) in [("web:1", "My dentist is Brimblewick."), ("web:2", "I prefer tea.")] {
        served.post(&format!("/api/sessions/{session}/turns"), json!({ "role": "user", "content": text })).with(201);
        served.post(&format!("/api/sessions/{session}/end"), json!({})).with(200);
    }
    // A server backs itself up.
    let backup = served.post("/api/backup", json!({}));
    assert_eq!(backup.status == 201, !is_on_postgres(), "{backup:?}");
    let told = served.get("/api/sessions/web:1/erasure").with(200);
    assert_eq!((&told["sessions"], &told["unreached"]), (&json!(1), &json!([])), "{told}");
    served.delete("/api/sessions/web:1").refused(400, "invalid");
    served.delete("/api/sessions/web:1?erase=false").refused(400, "invalid");
    assert_eq!(served.get("/api/sessions/web:1").status, 200, "nothing was changed");
    let erased = served.delete("/api/sessions/web:1?erase=true").with(200);
    assert_eq!((&erased["preview"], &erased["unreached"]), (&told, &beyond_erasing()), "{erased}");
    served.get("/api/sessions/web:1").refused(404, "not_found");
    served.get("/api/sessions/web:1/erasure").refused(404, "not_found");
    served.delete("/api/sessions/web:1?erase=true").refused(404, "not_found");
    assert_eq!(served.get("/api/sessions/web:2").status, 200, "the other one stays");
    drop(served);
    for (path, bytes) in crate::common::tree(home.root()) {
        let holds = bytes.windows(8).any(|window| window.eq_ignore_ascii_case(b"brimblew"));
        assert!(!holds, "{}", path.display());
    }
}

#[test]
fn a_project_is_erased_with_what_belongs_to_it() {
    let home = Home::new();
    let served = Served::on(&home);
    served.post("/api/projects", json!({ "name": "shop" })).with(201);
    served.post("/api/projects", json!({ "name": "attic" })).with(201);
    served.post("/api/memories", json!({ "content": "The shop uses Quibble", "project": "shop" })).with(201);
    let told = served.get("/api/projects/shop/erasure").with(200);
    assert_eq!(told["memories"], 1, "{told}");
    let removed = served.delete("/api/projects/attic").with(200);
    assert_eq!(removed["name"], "attic", "without `erase` it only leaves the register: {removed}");
    let erased = served.delete("/api/projects/shop?erase=true").with(200);
    assert_eq!(erased["preview"], told, "{erased}");
    assert_eq!(served.get("/api/memories").with(200)["memories"], json!([]));
    served.get("/api/projects/shop").refused(404, "not_found");
    served.delete("/api/projects/shop?erase=true").refused(404, "not_found");
    served.get("/api/projects/nosuch/erasure").refused(404, "not_found");
}
