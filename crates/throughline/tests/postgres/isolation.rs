//! Two people in one database: nothing that one of them can ask for, on any route or by any tool, shows what is the other's.

use serde_json::{Value, json};

use super::common::daemon::Daemon;
use super::on_server;

/// A word that only the other person's memory has, and what is looked for.
const SECRET: &str = "quillfeather";
const SOUGHT: &str = "what is the parrot called";

/// Names of things that the other person has.
struct Names {
    memory: String,
    task: String,
    change: String,
}

/// A path with the names of the other person's things.
fn filled(path: &str, names: &Names) -> String {
    let parts = path.split('/').map(|part| match part {
        _ if !part.starts_with('{') => part.to_owned(),
        _ if path.contains("/sessions/") => "web:bird".to_owned(),
        _ if path.contains("/tasks/") => names.task.clone(),
        _ if path.contains("/projects/") => "aviary".to_owned(),
        _ if path.contains("/changes/") => names.change.clone(),
        _ if path.contains("/documents/") => "user%2Fprofile".to_owned(),
        _ => names.memory.clone(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A body that asks for everything that a route may look for.
fn body(path: &str, names: &Names) -> Value {
    match path {
        path if path.ends_with("/context") => json!({ "message": SOUGHT }),
        path if path.contains("recall") || path.contains("search") => json!({ "query": SOUGHT }),
        path if path.contains("merge") || path.contains("fold") => json!({ "ids": [names.memory, names.memory] }),
        _ => json!({}),
    }
}

#[test]
fn no_route_and_no_tool_shows_another_space() {
    let (ada, eve) = (on_server("isolated-ada"), on_server("isolated-eve"));
    let memory = ada.remember(&[&format!("The parrot is called {SECRET}")]);
    ada.run_with(&["write", "user/profile"], &format!("- the parrot is called {SECRET}\n")).done();
    ada.run(&["session", "observe", "--session", "web:bird", &format!("My parrot is {SECRET}")]).done();
    let task = super::common::string(&ada.json(&["task", "add", &format!("Feed {SECRET}")])["id"]);
    std::fs::create_dir(ada.path(SECRET)).unwrap();
    ada.run(&["project", "add", "aviary", "--dir", ada.path(SECRET).to_str().unwrap()]).done();
    let changes = ada.json(&["history"]).to_string();
    let change = changes.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("none").to_owned();
    let names = Names { memory, task, change };

    let daemons = [Daemon::start(&ada), Daemon::start(&eve)];
    let routes = daemons[0].get("/api/openapi.json")["paths"].as_object().unwrap().clone();
    assert!(routes.len() > 30, "{}", routes.len());
    let (mut asked, mut shown) = (0, 0);
    for (path, methods) in &routes {
        for method in methods.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            // What erases, changes or streams for good is no way to see something.
            if path.contains("events") || path.contains("/backup") || !["GET", "POST"].contains(&method.as_str()) {
                continue;
            }
            let ask = |daemon: &Daemon| {
                let request = daemon.request(&method, &filled(path, &names));
                let request = if method == "POST" { request.json(&body(path, &names)) } else { request };
                String::from_utf8_lossy(&daemon.send(&request).body).into_owned()
            };
            let other = ask(&daemons[1]);
            assert!(!other.contains(SECRET), "{method} {path}: {other}");
            asked += 1;
            if method == "GET" {
                shown += usize::from(ask(&daemons[0]).contains(SECRET));
            }
        }
    }
    assert!(
        asked > 40 && shown > 5,
        "the test sees something where there is something: {asked} routes, {shown} show it"
    );

    let tools = eve.json(&["tool", "list"]);
    let tools: Vec<String> = tools
        .to_string()
        .split("\"name\":\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
        .collect();
    assert!(tools.len() > 3, "{tools:?}");
    for tool in tools {
        for arguments in
            [json!({}), json!({ "query": SOUGHT }), json!({ "id": names.memory }), json!({ "task": names.task })]
        {
            let ran = eve.run(&["tool", "call", &tool, &arguments.to_string()]);
            assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET), "{tool} {arguments}: {ran:?}");
        }
    }
    assert!(ada.run(&["recall", SOUGHT]).stdout.contains(SECRET));
}
