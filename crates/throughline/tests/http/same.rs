use serde_json::{Value, json};

use crate::client::Served;
use crate::common::Home;

/// What a daemon and a command may both be asked without a trace between the two.
#[test]
fn a_command_prints_exactly_the_body_of_the_same_request() {
    let home = Home::new();
    home.remember(&["--key", "deploy", "--tag", "work", "We deploy on Fridays"]);
    home.json(&["remember", "--layer", "identity", "My name is Ada"]);
    home.json(&["edit", "deploy", "--sig", "5"]);
    home.json(&["task", "add", "Write the docs"]);
    home.json(&["project", "add", "shop", "--dir", "."]);
    home.json(&["session", "observe", "--session", "web:1", "hello there"]);
    home.json(&["reflect"]);
    // So that the daemon has nothing to embed between two answers.
    home.run(&["reindex", "--vectors"]).done();
    let served = Served::on(&home);
    let mut compared = 0;
    for (args, path) in [
        (&["show", "deploy"][..], "/api/memories/deploy"),
        (&["list"], "/api/memories"),
        (&["list", "--tag", "work", "--status", "any"], "/api/memories?tag=work&status=any"),
        (&["history", "deploy"], "/api/memories/deploy/history"),
        (&["history", "--limit", "3"], "/api/changes?limit=3"),
        (&["history", "user/profile"], "/api/documents/user/profile/history"),
        (&["read", "user/profile"], "/api/read/user/profile"),
        (&["session", "list"], "/api/sessions"),
        (&["session", "show", "web:1"], "/api/sessions/web:1"),
        (&["session", "explain", "web:1"], "/api/sessions/web:1/explain"),
        (&["task", "list"], "/api/tasks"),
        (&["task", "show", "Write the docs"], "/api/tasks/Write%20the%20docs"),
        (&["project", "list"], "/api/projects"),
        (&["project", "show", "shop"], "/api/projects/shop"),
        (&["reflect", "log"], "/api/reflections"),
        (&["report"], "/api/report"),
        (&["vault", "list"], "/api/vault"),
        (&["stats"], "/api/stats"),
        (&["doctor"], "/api/health"),
        (&["config", "show"], "/api/settings"),
        (&["tool", "list"], "/api/tools"),
        (&["export"], "/api/export"),
        (&[], "/api/status"),
    ] {
        let (printed, served) = (home.json(args), served.get(path).with(200));
        assert_eq!(without_size(printed), without_size(served), "{args:?} and {path}");
        compared += 1;
    }
    assert_eq!(compared, 23);
    let without_id = |mut body: Value| {
        body.as_object_mut().unwrap().remove("recall_id");
        body
    };
    let recalled = served.post("/api/recall", json!({ "query": "nothing like it" })).with(200);
    assert_eq!(without_id(home.json(&["recall", "nothing like it"])), without_id(recalled));
    let failed = home.run(&["show", "zzzzzz", "--json"]);
    let printed: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!(printed, served.get("/api/memories/zzzzzz").with(404));
}

/// The answer without how large the database is: a server vacuums whenever it likes.
fn without_size(mut answer: Value) -> Value {
    for stats in ["", "/stats"] {
        if let Some(bytes) = answer.pointer_mut(&format!("{stats}/bytes")) {
            assert!(bytes.is_u64(), "{bytes}");
            bytes.take();
        }
    }
    answer
}
