use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::client::Served;
use crate::common::{Home, string, until, zipped};

#[test]
fn every_route_that_is_described_answers() {
    let home = Home::new();
    let served = Served::on(&home);
    let document = served.get("/api/openapi.json").with(200);
    assert_eq!(document["openapi"], "3.1.0");
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|key| *key != "parameters") {
            // Nothing is called like this, so that nothing is done.
            let path: String = path
                .split('/')
                .map(|part| if part.starts_with('{') { "no%3Athing" } else { part })
                .collect::<Vec<_>>()
                .join("/");
            let body = (method != "get" && method != "delete").then_some(r#"{"no such field": true}"#);
            // A server backs itself up, and the answer says so.
            if path == "/api/backup" && crate::common::is_on_postgres() {
                continue;
            }
            if method == "get" && ["/api/events", "/api/chat"].contains(&&*path) {
                continue;
            }
            let answer = served.ask(&method.to_uppercase(), &path, &[("If-Match", "\"x\"")], body);
            assert!(answer.status < 500 && answer.status != 405, "{method} {path}: {answer:?}");
            assert!(!answer.text.contains("no such route"), "{method} {path}: {answer:?}");
            asked += 1;
        }
    }
    assert!(asked > 50);
}

#[test]
fn every_answer_has_an_id_and_stays_out_of_caches() {
    let home = Home::new();
    let served = Served::on(&home);
    for path in ["/api/stats", "/api/nowhere", "/api/memories/zzzzzz"] {
        let answer = served.ask("GET", path, &[("X-Request-Id", "mine-1")], None);
        assert_eq!(answer.header("x-request-id"), Some("mine-1"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    let insane = served.ask("GET", "/api/stats", &[("X-Request-Id", "not <sane>")], None);
    assert!(insane.header("x-request-id").is_some_and(|id| !id.contains('<')));
    let refused = served.delete("/api/memories");
    refused.refused(405, "method_not_allowed");
    assert!(refused.header("allow").is_some_and(|allow| allow.contains("get") && allow.contains("post")));
    served.get("/api/nowhere").refused(404, "not_found");
}

#[test]
fn work_is_tracked_and_taken_back() {
    let home = Home::new();
    let served = Served::on(&home);
    let task = served.post("/api/tasks", json!({ "title": "Write the docs" })).with(201);
    let path = format!("/api/tasks/{}", string(&task["id"]));
    let moved = served.ask("PATCH", &path, &[], Some(r#"{"state":"half done"}"#)).with(200);
    assert_eq!(moved["state"], "half done");
    served.ask("PATCH", &path, &[], Some(r#"{"status":"done"}"#)).refused(400, "invalid");
    let done = served.post(&format!("{path}/done"), json!({ "conclusion": "they are good" })).with(200);
    assert_eq!((&done["status"], done["archived"]["content"].is_string()), (&json!("done"), true));
    assert_eq!(served.post("/api/undo", json!({})).with(200)["undone"]["verb"], "done");
    assert_eq!(served.get(&path).with(200)["status"], "open");
    assert_eq!(served.delete(&path).with(200)["status"], "removed");
    served.get("/api/tasks/zzzzzz").refused(404, "not_found");

    let dir = home.root().join("person");
    let placed = served.post("/api/projects", json!({ "name": "shop", "dir": dir })).with(201);
    assert_eq!(placed["name"], "shop");
    served.post("/api/projects", json!({ "name": "bad", "dir": "relative" })).refused(400, "invalid");
    served.post("/api/projects", json!({ "name": "bad", "dir": "/no/such/place" })).refused(400, "invalid");
    let fact = served.post("/api/projects/shop/facts", json!({ "fact": "It sells tea", "significance": 4 })).with(201);
    assert_eq!(fact["lines"][0]["outcome"], "created");
    assert_eq!(served.delete("/api/projects/shop").with(200)["status"], "inactive");
    served.get("/api/projects/shop").refused(404, "not_found");
}

#[test]
fn files_come_into_the_vault_and_exports_come_back() {
    let home = Home::new();
    let served = Served::on(&home);
    let file = home.root().join("person/tea.md");
    std::fs::write(&file, "# Tea\n\nOolong needs four minutes.\n").unwrap();
    served.post("/api/vault", json!({ "paths": ["tea.md"] })).refused(400, "invalid");
    served.post("/api/vault", json!({ "paths": ["/no/such/file"] })).refused(400, "invalid");
    assert_eq!(served.post("/api/vault", json!({ "paths": [file] })).with(200)["indexed"], 1);
    let found = served.post("/api/vault/search", json!({ "query": "oolong" })).with(200);
    let document = string(&found["hits"][0]["document"]);
    assert_eq!(served.delete(&format!("/api/vault/{document}")).with(200)["removed"], 1);
    served.delete(&format!("/api/vault/{document}")).refused(404, "not_found");

    served.post("/api/memories", json!({ "content": "Tea at four" })).with(201);
    let export: Value = served.get("/api/export").with(200);
    assert!(served.get("/api/export?format=markdown").text.contains("Tea at four"));
    let other = Home::new();
    let elsewhere = Served::on(&other);
    let preview = elsewhere.post("/api/import?dry_run=true", json!({ "export": export })).with(200);
    assert_eq!((&preview["dry_run"], &preview["added"]), (&json!(true), &json!(1)));
    assert_eq!(elsewhere.get("/api/memories").with(200)["memories"], json!([]));
    assert_eq!(elsewhere.post("/api/import", json!({ "export": export })).with(200)["added"], 1);
    let notes = json!({ "name": "MEMORY.md", "text": "- Likes green tea\n" });
    assert_eq!(elsewhere.post("/api/import", notes).with(200)["knowledge"]["added"], 1);
    let zip =
        BASE64.encode(&zipped(&[("notes/MEMORY.md", b"- Keeps bees on the roof\n"), ("notes/a.png", b"\x89PNG")]));
    let archive = json!({ "name": "export.zip", "archive": zip });
    assert_eq!(elsewhere.post("/api/import?dry_run=true", archive.clone()).with(200)["dry_run"], true);
    assert_eq!(elsewhere.post("/api/import", archive).with(200)["knowledge"]["added"], 1);
    for refused in [json!({ "archive": "not base64" }), json!({ "archive": BASE64.encode(b"no zip") })] {
        elsewhere.post("/api/import", refused).refused(400, "invalid");
    }
    elsewhere.post("/api/import", json!({ "text": "a", "archive": zip })).refused(400, "invalid");
    elsewhere.post("/api/import", json!({ "export": { "version": 99 } })).refused(400, "invalid");
    elsewhere.post("/api/import", json!({})).refused(400, "invalid");
}

#[test]
fn imported_conversations_become_memories_and_a_paid_model_is_only_named() {
    let line = |text: &str| json!({ "session": "old", "role": "user", "content": text, "at": "2026-02-01T10:00:00Z" });
    let text = [line("My boat is called Tern"), line("I live in Bergen")].map(|line| line.to_string()).join("\n");
    let file = json!({ "name": "old.jsonl", "text": text });
    let home = Home::new();
    let served = Served::on(&home);
    let preview = served.post("/api/import?dry_run=true", file.clone()).with(200);
    assert_eq!((&preview["turns"]["added"], &preview["consolidation"]), (&json!(2), &Value::Null), "{preview}");
    let ahead = served.post("/api/import", file.clone()).with(200)["consolidation"].clone();
    assert_eq!((&ahead["started"], &ahead["conversations"], &ahead["turns"]), (&json!(true), &json!(1), &json!(2)));
    assert!(ahead["seconds"].as_u64().is_some_and(|seconds| seconds > 0) && ahead["requests"].is_null(), "{ahead}");
    until(|| served.get("/api/import").with(200)["consolidation"].is_null().then_some(()));
    assert!(home.listed(&[]).iter().any(|text| text.contains("Bergen")), "{:?}", home.listed(&[]));
    let again = served.post("/api/import", file.clone()).with(200);
    assert_eq!(again["consolidation"], Value::Null, "nothing of it is new: {again}");

    let paid = Home::with_config("config.toml", "[model]\nprovider = \"anthropic\"\nmodel = \"m\"\n");
    let served = Served::on(&paid);
    let ahead = served.post("/api/import", file).with(200)["consolidation"].clone();
    assert_eq!((&ahead["started"], &ahead["requests"], &ahead["seconds"]), (&json!(false), &json!(2), &Value::Null));
    assert_eq!(ahead["command"], "throughline session consolidate --all --imported");
    assert_eq!(served.post("/api/jobs/consolidation/run", json!({})).with(200)["what"], "nothing to do");
    assert_eq!(served.get("/api/import").with(200)["consolidation"], ahead);
}

#[test]
fn titles_and_documents_are_searched_by_words() {
    let home = Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n");
    let served = Served::on(&home);
    for (session, title) in [("a", "The harbour lights"), ("b", "Lights for the harbour wall"), ("c", "Bread")] {
        served.post("/api/sessions", json!({ "channel": "cli", "session": session, "title": title })).with(201);
    }
    let found = |path: &str| served.get(path).with(200);
    let ids = |path: &str| -> Vec<String> {
        found(path)["sessions"].as_array().unwrap().iter().map(|one| string(&one["id"])).collect()
    };
    assert_eq!(ids("/api/sessions?query=HARBOUR%20light").len(), 2);
    assert_eq!(ids("/api/sessions?query=harbour&limit=1").len(), 1);
    assert_eq!(ids("/api/sessions?query=bread"), ["cli:c"]);
    assert_eq!(ids("/api/sessions?query=bread&channel=web"), Vec::<String>::new());
    served.get("/api/sessions?query=bread&cursor=1.1").refused(400, "invalid");
    home.put_document("user/profile", "- My name is Ada\n- Keeps bees on the roof\n");
    let documents = found("/api/documents?query=roof%20bees")["documents"].clone();
    assert_eq!(documents[0]["line"], "Keeps bees on the roof", "{documents}");
    assert_eq!(documents.as_array().unwrap().len(), 1);
    assert_eq!(found("/api/documents?query=zebra")["documents"], json!([]));
}

#[cfg(unix)]
#[test]
fn a_daemon_that_is_asked_to_stop_ends_and_leaves_what_was_confirmed() {
    let home = Home::new();
    let served = Served::on(&home);
    served.post("/api/memories", json!({ "content": "Tea at four" })).with(201);
    let link = home.run(&["open"]).done();
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("/open?code="), "{link}");
    assert_eq!(served.stop().code, 0);
    assert_eq!(home.listed(&[]), ["Tea at four"]);
    home.run(&["open"]).failed(2, "no daemon runs", "throughline serve");
}
