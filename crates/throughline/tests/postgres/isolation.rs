//! Two people in one database: whatever one of them asks for, on any route, by any tool, resource or prompt, nothing that is the
//! other's is shown, and nothing of it is changed.
//!
//! The routes come from the OpenAPI document and the tools from the MCP server, with their own parameters: a new one is asked too.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::common::Home;
use super::common::daemon::Daemon;
use super::peer::Peer;
use super::server;

/// A word that only the other person's memory has, and what is looked for.
const SECRET: &str = "quillfeather";
const SOUGHT: &str = "what is the parrot called";

/// What streams without end. Nothing else is left out.
const STREAMS: [(&str, &str); 2] = [("get", "/api/events"), ("get", "/api/chat")];

/// What would make all later questions void, and is therefore asked last.
const LAST: [&str; 1] = ["/api/pause"];

/// Names of things that the other person has.
struct Names {
    memory: String,
    task: String,
    recall: String,
    change: String,
    thread: String,
}

impl Names {
    /// What a part of a path, a parameter or a field of this name may be, for somebody who wants the other person's.
    fn value(&self, name: &str, context: &str) -> Option<Value> {
        Some(match name {
            "ids" | "memories" | "sources" => json!([self.memory, self.memory]),
            "id" if context.contains("/sessions") => json!("web:bird"),
            "id" if context.contains("/tasks") => json!(self.task),
            "id" if context.contains("/recalls") => json!(self.recall),
            "id" if context.contains("/changes") => json!(self.change),
            "id" if context.contains("/threads") => json!(self.thread),
            "id" | "memory" | "memory_id" | "wrong" | "reference" | "key" | "entry" => json!(self.memory),
            "session" | "session_id" => json!("web:bird"),
            "task" | "task_id" => json!(self.task),
            "project" => json!("aviary"),
            "name" if context.contains("/projects") => json!("aviary"),
            "namespace" => json!("user/profile"),
            "tier" => json!("user"),
            "query" | "q" | "message" | "about" | "topic" | "question" | "text" | "content" => json!(SOUGHT),
            "dry_run" => json!(false),
            "erase" => json!(true),
            "version" => json!(1),
            _ => return None,
        })
    }

    /// A body with every field of a schema that has to be there, or that may lead to something of the other person's.
    fn body(&self, document: &Value, schema: &Value, context: &str) -> Value {
        let schema = resolved(document, schema);
        let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name));
        let fields = schema["properties"].as_object().cloned().unwrap_or_default();
        let given = fields.iter().filter_map(|(name, field)| {
            let value = self.value(name, context).or_else(|| required(name).then(|| anything(document, field)))?;
            Some((name.clone(), value))
        });
        Value::Object(given.collect::<Map<String, Value>>())
    }
}

/// What a reference in a schema stands for.
fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    if let Some(pointer) = schema["$ref"].as_str() {
        return document.pointer(pointer.trim_start_matches('#')).unwrap_or(schema);
    }
    let choices = ["oneOf", "anyOf", "allOf"].iter().find_map(|kind| schema[*kind].as_array());
    let choice = choices.and_then(|all| all.iter().find(|one| one["type"] != "null"));
    choice.map_or(schema, |choice| resolved(document, choice))
}

/// Something of the type of a field.
fn anything(document: &Value, field: &Value) -> Value {
    let schema = resolved(document, field);
    let kind = schema["type"].as_array().map_or(&schema["type"], |kinds| &kinds[0]);
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    match kind.as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!(SOUGHT),
    }
}

/// One question of the API.
struct Question {
    method: String,
    path: String,
    target: String,
    body: Option<Value>,
}

fn encoded(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Every route of the document, asked for what is the other person's.
fn questions(document: &Value, names: &Names) -> Vec<Question> {
    let mut questions = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(method, _)| *method != "parameters") {
            if STREAMS.contains(&(method.as_str(), path.as_str())) {
                continue;
            }
            let filled =
                path.split('/').map(|part| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
                    Some(name) => encoded(&names.value(name, path).unwrap_or(json!(names.memory))),
                    None => part.to_owned(),
                });
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let query = parameters.filter(|parameter| parameter["in"] == "query").filter_map(|parameter| {
                let name = parameter["name"].as_str()?;
                Some(format!("{name}={}", encoded(&names.value(name, path)?)))
            });
            let (filled, query) = (filled.collect::<Vec<_>>().join("/"), query.collect::<Vec<_>>().join("&"));
            let schema = operation.pointer("/requestBody/content/application~1json/schema");
            let body = schema.map(|schema| names.body(document, schema, path));
            for query in BTreeSet::from([String::new(), query]) {
                let target = if query.is_empty() { filled.clone() } else { format!("{filled}?{query}") };
                questions.push(Question {
                    method: method.to_uppercase(),
                    path: path.clone(),
                    target,
                    body: body.clone(),
                });
            }
        }
    }
    questions.sort_by_key(|question| LAST.contains(&question.path.as_str()));
    questions
}

fn answer(daemon: &Daemon, question: &Question) -> String {
    let request = daemon.request(&question.method, &question.target).with("If-Match", "*");
    let request = question.body.iter().fold(request, |request, body| request.json(body));
    let response = daemon.send(&request);
    format!("{} {}", response.status, String::from_utf8_lossy(&response.body))
}

/// A home with every tool.
fn home_of(space: &str) -> Home {
    let url = server().url();
    let memory = "[memory]\nuser_namespace = \"user\"\ntools = \"all\"\n";
    Home::with_config("config.toml", &format!("{memory}\n[store]\nurl = \"{url}?space={space}\"\n"))
}

/// A memory with something of every kind, and what its parts are called.
fn furnished(home: &Home) -> Names {
    let memory = home.remember(&[&format!("The parrot is called {SECRET}")]);
    home.run_with(&["write", "user/profile"], &format!("- the parrot is called {SECRET}\n")).done();
    let turn = format!("My parrot is called {SECRET}");
    home.run(&["session", "observe", "--session", "web:bird", "--role", "user", &turn]).done();
    home.run(&["session", "consolidate", "web:bird"]).done();
    let task = super::common::string(&home.json(&["task", "add", &format!("Feed {SECRET}")])["id"]);
    std::fs::create_dir(home.path(SECRET)).unwrap();
    home.run(&["project", "add", "aviary", "--dir", home.path(SECRET).to_str().unwrap()]).done();
    let recalled = home.json(&["recall", SOUGHT]);
    let daemon = Daemon::start(home);
    let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    let change = text(&daemon.get("/api/changes")["changes"][0]["id"]);
    let thread = text(&daemon.get("/api/threads")["threads"][0]["id"]);
    Names { memory, task, recall: text(&recalled["recall_id"]), change, thread }
}

/// Everything that a memory has, but for what recalling changes.
fn everything(home: &Home) -> Value {
    let mut export = home.json(&["export"]);
    for memory in export["memories"].as_array_mut().unwrap() {
        let memory = memory.as_object_mut().unwrap();
        ["recall_count", "last_recalled_at"].iter().for_each(|field| drop(memory.remove(*field)));
    }
    export
}

#[test]
fn no_route_shows_or_changes_another_space() {
    let (ada, eve) = (home_of("isolated-ada"), home_of("isolated-eve"));
    let names = furnished(&ada);
    eve.remember(&["My cat is called Miso"]);
    let daemons = [Daemon::start(&ada), Daemon::start(&eve)];
    let document = daemons[0].get("/api/openapi.json");
    for (method, path) in STREAMS {
        assert!(!document["paths"][path][method].is_null(), "there is no {method} {path} any more");
    }
    let questions = questions(&document, &names);
    let reading = questions.iter().filter(|question| question.method == "GET");
    let shown = reading.filter(|question| answer(&daemons[0], question).contains(SECRET)).count();
    let before = everything(&ada);
    for question in &questions {
        let other = answer(&daemons[1], question);
        let Question { method, target, .. } = question;
        assert!(!other.contains(SECRET), "{method} {target}: {other}");
    }
    assert_eq!(everything(&ada), before);
    assert!(questions.len() > 80 && shown > 15, "{} routes, {shown} show it to the one whose it is", questions.len());
}

fn list(peer: &mut Peer, method: &str, what: &str) -> Vec<Value> {
    peer.ask(method, json!({}))["result"][what].as_array().unwrap().clone()
}

fn uris(peer: &mut Peer) -> Vec<String> {
    let resources = list(peer, "resources/list", "resources");
    resources.iter().filter_map(|resource| resource["uri"].as_str()).map(str::to_owned).collect()
}

/// Every tool, without parameters and with all that may lead to the other person's memory.
fn calls(tools: &[Value], names: &Names) -> Vec<Value> {
    let call = |tool: &Value, arguments: Value| json!({ "name": tool["name"], "arguments": arguments });
    let both = |tool: &Value| {
        let schema = &tool["inputSchema"];
        [call(tool, json!({})), call(tool, names.body(schema, schema, "tool"))]
    };
    tools.iter().flat_map(both).collect()
}

#[test]
fn no_tool_resource_or_prompt_shows_or_changes_another_space() {
    let (ada, eve) = (home_of("walled-ada"), home_of("walled-eve"));
    let names = furnished(&ada);
    eve.remember(&["My cat is called Miso"]);
    // What she is shown herself.
    let mut own = Peer::greeted(ada.throughline(&["mcp"]));
    let tools = list(&mut own, "tools/list", "tools");
    let reading: Vec<Value> =
        tools.iter().filter(|tool| tool["annotations"]["readOnlyHint"] == true).cloned().collect();
    let shown = calls(&reading, &names).into_iter().map(|call| own.ask("tools/call", call).to_string());
    let shown = shown.filter(|answer| answer.contains(SECRET)).count();
    let mut uris_of_both = uris(&mut own);
    drop(own);
    assert!(tools.len() > 8 && shown > 1, "{} tools, {shown} show it to the one whose it is", tools.len());

    let before = everything(&ada);
    let mut peer = Peer::greeted(eve.throughline(&["mcp"]));
    uris_of_both.extend(uris(&mut peer));
    uris_of_both.push(format!("memory://entry/{}", names.memory));
    let mut hides = |method: &str, what: Value| {
        let other = peer.ask(method, what.clone()).to_string();
        assert!(!other.contains(SECRET), "{method} {what}: {other}");
        other
    };
    for call in calls(&tools, &names) {
        hides("tools/call", call);
    }
    for uri in uris_of_both {
        hides("resources/read", json!({ "uri": uri }));
    }
    let prompts: Value = serde_json::from_str(&hides("prompts/list", json!({}))).unwrap();
    for prompt in prompts["result"]["prompts"].as_array().unwrap() {
        let asked = prompt["arguments"].as_array().cloned().unwrap_or_default();
        let fields = asked.iter().filter_map(|argument| argument["name"].as_str());
        let arguments: Map<String, Value> =
            fields.map(|name| (name.to_owned(), names.value(name, "prompt").unwrap_or(json!(SOUGHT)))).collect();
        hides("prompts/get", json!({ "name": prompt["name"], "arguments": arguments }));
    }
    assert_eq!(everything(&ada), before);
}

/// Somebody with a role of their own and rights on the tables sees what the role's session says it is for, and no more.
#[test]
fn sql_under_another_role_sees_nothing() {
    let ada = home_of("rows-ada");
    ada.remember(&[&format!("The parrot is called {SECRET}")]);
    server().run(
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA throughline TO reader; \
         GRANT SELECT, UPDATE, DELETE ON ALL TABLES IN SCHEMA throughline TO reader",
    );
    let tables = server().run(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'throughline' AND column_name = 'space'",
    );
    assert!(tables.lines().count() > 25, "{tables}");
    for table in tables.lines() {
        for space in ["", "SET throughline.space = 'rows-eve';"] {
            let sql = format!("{space} SELECT count(*) FROM throughline.{table} WHERE space = 'rows-ada'");
            assert_eq!(server().run_as("reader", "throughline", &sql), Ok("0".to_owned()), "{table}");
            let sql = format!("{space} DELETE FROM throughline.{table} WHERE space = 'rows-ada'");
            assert!(server().run_as("reader", "throughline", &sql).is_ok(), "{table}");
        }
    }
    assert!(ada.run(&["recall", SOUGHT]).stdout.contains(SECRET));
}
