//! Vectors in the background: another model while the old one serves, new files, texts that are refused, a budget.

use std::time::Duration;

use serde_json::{Value, json};
use throughline_testkit::model_server::{BAD, EmbedServer, Embeds};

use super::{contents, put, search as hits};
use crate::common::{Home, string, until};

/// Bound to happen, on any machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn config(provider: &str, model: &str, url: &str) -> String {
    let embeddings = format!("[embeddings]\nprovider = \"{provider}\"\nmodel = \"{model}\"\nbase_url = \"{url}\"\n");
    format!("[memory]\nuser_namespace = \"user\"\n\n{embeddings}")
}

/// A home whose three notes have vectors of the model `old`.
fn embedded(server: &EmbedServer) -> Home {
    let home = Home::with_config("config.toml", &config("ollama", "old", &server.url()));
    put(&home, "notes/garage.md", "The automobile stands in the garage.");
    put(&home, "notes/health.md", "The physician comes on Monday.");
    put(&home, "notes/work.md", "Vacation is in August.");
    let added = home.json(&["vault", "add", "notes"]);
    assert_eq!(added["embeddings"]["missing"], json!(0), "{added}");
    home
}

fn search(home: &Home, query: &str) -> Value {
    home.json(&["vault", "search", query, "--limit", "1"])
}

fn first(answer: &Value) -> String {
    contents(answer["hits"].as_array().unwrap()).remove(0)
}

fn database(home: &Home) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(home.path("memory.db")).unwrap();
    database.busy_timeout(PATIENCE).unwrap();
    database
}

/// The process that is at it.
fn holder(home: &Home) -> Option<u32> {
    let sql = "SELECT process FROM leases WHERE name = 'embed the vault'";
    database(home).query_row(sql, [], |row| row.get(0)).ok()
}

/// Texts that a model was asked to embed for storing, one after the other.
fn stored(server: &EmbedServer, model: &str) -> Vec<String> {
    let requests = server.requests();
    let own = requests.iter().filter(|request| request.body["model"] == json!(model));
    own.flat_map(|request| request.body["input"].as_array().unwrap().iter().map(string).collect::<Vec<_>>()).collect()
}

#[test]
fn old_vectors_serve_until_the_background_is_done() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = embedded(&server);
    server.now_for("new", Embeds::Hang);
    home.put("config.toml", &config("ollama", "new", &server.url()));
    let answer = search(&home, "my car");
    assert!(first(&answer).contains("automobile"), "{answer}");
    assert_eq!(
        (&answer["searched_by"], &answer["model"], &answer["remark"]),
        (&json!("words_and_meaning"), &json!("ollama/old"), &Value::Null)
    );
    let under_way = json!({"model": "ollama/new", "embedded": 0, "refused": 0, "of": 3});
    assert_eq!(answer["embedding"], under_way);
    let told = home.run(&["vault", "search", "my car"]).done();
    assert!(told.contains("by words and by meaning (ollama/old)"), "{told}");
    assert!(told.contains("vectors of ollama/new are being made: 0 of 3 passages"), "{told}");

    // Killed in the middle, it leaves the old ones serving, and the next search begins again.
    until(|| holder(&home));
    home.shell(&format!("kill -9 {}", holder(&home).unwrap())).done();
    server.now_for("new", Embeds::Well(24));
    until(|| (search(&home, "a doctor")["model"] == json!("ollama/new")).then_some(()));
    let answer = search(&home, "a doctor");
    assert!(first(&answer).contains("physician") && answer["embedding"].is_null(), "{answer}");
    let sets: Vec<(String, i64)> = database(&home)
        .prepare("SELECT model, serving FROM vector_sets")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(sets, [("new".to_owned(), 1)], "the old set is gone");
    let count = |sql: &str| database(&home).query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM vector_bytes"), 3);
    let stats = home.json(&["stats"]);
    let expected = json!({"documents": 3, "passages": 3, "vectors": 3, "refused": 0, "model": "ollama/new"});
    assert_eq!(stats["vault"], expected);
    home.run(&["doctor"]).done();
}

#[test]
fn a_run_that_is_killed_resumes_without_doing_anything_twice() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = Home::with_config("config.toml", &config("ollama", "old", &server.url()));
    let text: String = (0..100).map(|nth| format!("# Part {nth}\n\nText number {nth}.\n\n")).collect();
    put(&home, "long.md", &text);
    server.now_for("old", Embeds::Refuses(503));
    put(&home, "long.md", &text.replace("Text number 70.", "A zebra for a while."));
    let added = home.json(&["vault", "add", "long.md"]);
    assert_eq!((&added["embeddings"]["embedded"], &added["embeddings"]["missing"]), (&json!(64), &json!(36)));
    let done = server.requests().len();
    server.now_for("old", Embeds::Well(16));
    let again = home.json(&["vault", "reembed"]);
    assert_eq!((&again["embeddings"]["embedded"], &again["embeddings"]["missing"]), (&json!(36), &json!(0)));
    let later: usize =
        server.requests()[done..].iter().map(|request| request.body["input"].as_array().unwrap().len()).sum();
    assert_eq!(later, 36, "what was kept is not embedded again");
}

#[test]
fn an_old_model_that_answers_no_more_leaves_the_words() {
    let (server, other) = (EmbedServer::start(Embeds::Well(16)), EmbedServer::start(Embeds::Hang));
    let home = embedded(&server);
    home.put("config.toml", &config("openai", "new", &other.url()));
    server.now(Embeds::Fails(403));
    let answer = search(&home, "garage");
    assert!(first(&answer).contains("automobile"));
    assert_eq!((&answer["searched_by"], &answer["model"]), (&json!("words"), &Value::Null));
    assert!(string(&answer["remark"]).contains("ollama/old: ollama answered 403"), "{answer}");
}

#[test]
fn a_key_goes_nowhere_but_where_it_belongs() {
    let (server, other) = (EmbedServer::start(Embeds::Well(16)), EmbedServer::start(Embeds::Hang));
    let mut home = Home::with_config("config.toml", &config("openai", "old", &server.url()));
    home.set("OPENAI_API_KEY", "a-key-of-its-own");
    put(&home, "notes/garage.md", "The automobile stands in the garage.");
    home.json(&["vault", "add", "notes"]);
    let sent = |server: &EmbedServer| server.requests().last().unwrap().header("authorization").map(str::to_owned);
    assert_eq!(sent(&server).as_deref(), Some("Bearer a-key-of-its-own"));
    home.put("config.toml", &config("openai", "new", &server.url()));
    server.now_for("new", Embeds::Hang);
    assert_eq!(search(&home, "car")["model"], json!("openai/old"));
    let queries = |server: &EmbedServer| {
        let requests = server.requests();
        requests.into_iter().filter(|request| request.body["input"] == json!(["car"])).collect::<Vec<_>>()
    };
    assert_eq!(queries(&server)[0].header("authorization"), Some("Bearer a-key-of-its-own"), "the same place");
    home.put("config.toml", &config("openai", "new", &other.url()));
    assert_eq!(search(&home, "car")["model"], json!("openai/old"));
    assert_eq!(queries(&server)[1].header("authorization"), None, "another place gets no key of this one");
}

#[test]
fn a_password_in_an_address_is_not_kept() {
    let server = EmbedServer::start(Embeds::Well(16));
    let url = server.url().replace("http://", "http://ada:opensesame@");
    let home = Home::with_config("config.toml", &config("ollama", "old", &url));
    put(&home, "notes/garage.md", "The automobile stands in the garage.");
    assert_eq!(home.json(&["vault", "add", "notes"])["embeddings"]["missing"], json!(0));
    assert_eq!(search(&home, "car")["model"], json!("ollama/old"));
    for name in ["memory.db", "memory.db-wal"] {
        let bytes = std::fs::read(home.path(name)).unwrap_or_default();
        assert!(!bytes.windows(10).any(|window| window == b"opensesame"), "the password is in {name}");
    }
}

#[test]
fn files_that_a_search_notices_get_vectors_too() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = embedded(&server);
    home.put("vault/vault.txt", "The leave begins in spring.\n");
    assert!(contents(&hits(&home, "begins")).contains(&"The leave begins in spring.".to_owned()));
    until(|| search(&home, "begins")["embedding"].is_null().then_some(()));
    assert_eq!(home.json(&["stats"])["vault"]["vectors"], json!(4));
}

#[test]
fn one_text_that_is_refused_costs_the_others_nothing() {
    for embeds in
        [Embeds::Refuses(400), Embeds::Refuses(413), Embeds::Refuses(422), Embeds::SpoilsOne, Embeds::StretchesOne]
    {
        let server = EmbedServer::start(embeds);
        let home = Home::with_config("config.toml", &config("ollama", "picky", &server.url()));
        // The very first one is bad: it must not decide how long the others have to be.
        put(&home, "notes/a.md", &format!("A {BAD} grazes."));
        for nth in 0..40 {
            put(&home, &format!("notes/n{nth}.md"), &format!("Note number {nth}."));
        }
        let added = home.json(&["vault", "add", "notes"]);
        let done = &added["embeddings"];
        assert_eq!((&done["embedded"], &done["refused"], &done["missing"]), (&json!(40), &json!(1), &json!(0)));
        assert!(done["problem"].is_null(), "{embeds:?}: {added}");
        let asked = server.requests().len();
        let again = home.json(&["vault", "add", "notes"]);
        assert_eq!((&again["embeddings"]["refused"], server.requests().len()), (&json!(0), asked), "{embeds:?}");
        let answer = search(&home, "grazes");
        assert_eq!((first(&answer), &answer["searched_by"]), (format!("A {BAD} grazes."), &json!("words_and_meaning")));
    }
}

#[test]
fn an_embedder_that_refuses_everything_marks_nothing() {
    let server = EmbedServer::start(Embeds::Fails(400));
    let home = Home::with_config("config.toml", &config("ollama", "picky", &server.url()));
    put(&home, "notes/a.md", "The automobile stands in the garage.");
    let added = home.json(&["vault", "add", "notes"]);
    assert_eq!((&added["embeddings"]["refused"], &added["embeddings"]["missing"]), (&json!(0), &json!(1)));
    assert!(string(&added["embeddings"]["problem"]).contains("400"), "{added}");
    server.now(Embeds::Well(16));
    assert_eq!(home.json(&["vault", "reembed"])["embeddings"]["embedded"], json!(1));
}

#[test]
fn embedding_is_in_the_ledger_and_within_the_budget() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = embedded(&server);
    let spent = home.json(&["stats"])["spending"][0].clone();
    assert_eq!((&spent["purpose"], &spent["model"], &spent["calls"]), (&json!("embedding"), &json!("old"), &json!(1)));
    assert!(spent["tokens_in"].as_u64().unwrap() > 10, "{spent}");
    let asked = server.requests().len();
    home.put("config.toml", &format!("{}\n[model]\ndaily_tokens = 10\n", config("ollama", "old", &server.url())));
    put(&home, "notes/more.md", "One more note.");
    let added = home.json(&["vault", "add", "notes"]);
    assert!(string(&added["embeddings"]["problem"]).contains("budget of 10 tokens is spent"), "{added}");
    let answer = search(&home, "garage");
    assert_eq!(answer["searched_by"], json!("words"));
    assert!(string(&answer["remark"]).contains("budget of 10 tokens is spent"), "{answer}");
    assert_eq!(server.requests().len(), asked, "nobody was asked");
}

#[test]
fn the_same_name_with_another_length_is_another_model() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = embedded(&server);
    let other = EmbedServer::start(Embeds::Well(20));
    home.put("config.toml", &config("ollama", "old", &other.url()));
    put(&home, "notes/more.md", "One more note.");
    home.json(&["vault", "add", "notes"]);
    assert_eq!(stored(&other, "old").len(), 4, "the new file showed it; then the others are made again");
    assert_eq!(search(&home, "car")["model"], json!("ollama/old"));
    assert_eq!(home.json(&["stats"])["vault"]["vectors"], json!(4));
}
