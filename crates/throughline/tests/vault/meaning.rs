//! Search by meaning: a scripted embedder, and everything that can go wrong with one.

use serde_json::{Value, json};
use throughline_testkit::model_server::{EmbedServer, Embeds};

use super::{contents, put};
use crate::common::{Home, string};

fn config(provider: &str, model: &str, server: &EmbedServer) -> String {
    format!(
        "[memory]\nuser_namespace = \"user\"\n\n[embeddings]\nprovider = \"{provider}\"\nmodel = \"{model}\"\n\
         base_url = \"{}\"\n",
        server.url()
    )
}

/// A home with three notes; nothing is added yet.
fn with_embedder(provider: &str, server: &EmbedServer) -> Home {
    let home = Home::with_config("config.toml", &config(provider, "scripted", server));
    put(&home, "notes/garage.md", "The automobile stands in the garage.");
    put(&home, "notes/health.md", "The physician comes on Monday.");
    put(&home, "notes/work.md", "Vacation is in August.");
    home
}

fn search(home: &Home, query: &str) -> Value {
    home.json(&["vault", "search", query, "--limit", "1"])
}

#[track_caller]
fn finds_by_words_alone(home: &Home, remark: &str) {
    let answer = search(home, "garage");
    assert_eq!(contents(answer["hits"].as_array().unwrap()), ["The automobile stands in the garage."]);
    assert_eq!(answer["searched_by"], json!("words"), "{answer}");
    assert!(string(&answer["remark"]).contains(remark), "{answer}");
}

#[test]
fn another_word_for_the_same_is_found() {
    for provider in ["ollama", "openai"] {
        let server = EmbedServer::start(Embeds::Well(16));
        let home = with_embedder(provider, &server);
        let added = home.json(&["vault", "add", "notes"]);
        assert_eq!((&added["embeddings"]["embedded"], &added["embeddings"]["missing"]), (&json!(3), &json!(0)));
        for (query, expected) in [("my car", "automobile"), ("a doctor", "physician"), ("holiday", "Vacation")] {
            let answer = search(&home, query);
            assert!(contents(answer["hits"].as_array().unwrap())[0].contains(expected), "{provider}: {answer}");
            assert_eq!(answer["searched_by"], json!("words_and_meaning"));
            assert_eq!(answer["hits"][0]["why"]["found_by"], json!("meaning"));
        }
        let again = home.json(&["vault", "add", "notes"]);
        assert_eq!(again["embeddings"]["embedded"], json!(0), "what has a vector is not embedded again");
        let path = if provider == "ollama" { "/api/embed" } else { "/embeddings" };
        assert!(server.requests().iter().all(|request| request.path == path));
    }
}

#[test]
fn an_embedder_that_fails_while_indexing_costs_nothing_but_meaning() {
    for embeds in [Embeds::Fails(401), Embeds::Garbage, Embeds::NotNumbers, Embeds::OneShort] {
        let server = EmbedServer::start(embeds);
        let home = with_embedder("ollama", &server);
        let added = home.json(&["vault", "add", "notes"]);
        assert_eq!(
            (&added["indexed"], &added["embeddings"]["embedded"]),
            (&json!(3), &json!(0)),
            "{embeds:?}: {added}"
        );
        assert!(added["embeddings"]["problem"].is_string(), "{added}");
        finds_by_words_alone(&home, "no vectors yet");
        let ran = home.run(&["vault", "reembed"]);
        assert_eq!(ran.code, 2, "{ran:?}");
    }
}

#[test]
fn an_embedder_that_fails_while_searching_leaves_the_words() {
    let server = EmbedServer::start(Embeds::Well(16));
    let home = with_embedder("openai", &server);
    home.json(&["vault", "add", "notes"]);
    for (embeds, remark) in [
        (Embeds::Fails(403), "answered 403"),
        (Embeds::Well(17), "17 numbers instead of 16"),
        (Embeds::OneShort, "0 vectors for 1"),
        (Embeds::NotNumbers, "points nowhere"),
        (Embeds::Garbage, "without vectors"),
        (Embeds::Hang, "in time"),
    ] {
        server.now(embeds);
        finds_by_words_alone(&home, remark);
        server.now(Embeds::Well(16));
        let told = home.run(&["vault", "search", "car"]).done();
        assert!(told.contains("automobile") && !told.contains("alone"), "it is back: {told}");
    }
}

#[test]
fn vectors_that_change_their_length_in_between_are_not_kept() {
    let server = EmbedServer::start(Embeds::Growing(16));
    let home = with_embedder("ollama", &server);
    let text: String = (0..80).map(|nth| format!("# Part {nth}\n\nText {nth}.\n\n")).collect();
    put(&home, "notes/long.md", &text);
    let added = home.json(&["vault", "add", "notes"]);
    assert!(string(&added["embeddings"]["problem"]).contains("numbers instead of 16"), "{added}");
    finds_by_words_alone(&home, "no vectors yet");
    server.now(Embeds::Well(16));
    assert_eq!(home.json(&["vault", "reembed"])["embeddings"]["missing"], json!(0));
    assert_eq!(search(&home, "car")["searched_by"], json!("words_and_meaning"));
}

#[test]
fn without_any_settings_the_built_in_model_finds_other_words() {
    let home = Home::new();
    put(&home, "notes/release.md", "We deploy on Fridays.");
    put(&home, "notes/food.md", "I am vegetarian and allergic to nuts.");
    put(&home, "notes/pets.md", "My dog is called Biscuit.");
    let added = home.json(&["vault", "add", "notes"]);
    let done = &added["embeddings"];
    assert_eq!((&done["embedded"], &done["missing"], &done["problem"]), (&json!(3), &json!(0), &Value::Null));
    for (query, expected) in [
        ("when do you ship a release?", "We deploy on Fridays."),
        ("what should they cook tonight?", "I am vegetarian and allergic to nuts."),
        ("names of pets", "My dog is called Biscuit."),
    ] {
        let answer = search(&home, query);
        assert_eq!(contents(answer["hits"].as_array().unwrap()), [expected]);
        assert_eq!(answer["searched_by"], json!("words_and_meaning"), "{answer}");
    }
}

#[test]
fn a_directory_that_cannot_be_loaded_is_said_and_words_go_on() {
    let home = Home::with_config("config.toml", "[embeddings]\nprovider = \"directory\"\n");
    put(&home, "notes/a.md", "The automobile stands in the garage.");
    let added = home.json(&["vault", "add", "notes"]);
    assert!(string(&added["embeddings"]["problem"]).contains("no embedding model is named"), "{added}");
    home.put("config.toml", "[embeddings]\nprovider = \"directory\"\nmodel = \"nowhere\"\n");
    finds_by_words_alone(&home, "there is no directory");
}

#[test]
fn the_old_vectors_serve_when_the_built_in_model_is_changed_for_another() {
    let home = Home::new();
    put(&home, "notes/release.md", "We deploy on Fridays.");
    home.json(&["vault", "add", "notes"]);
    let server = EmbedServer::start(Embeds::Fails(503));
    home.put("config.toml", &config("ollama", "scripted", &server));
    let answer = search(&home, "when do you ship a release?");
    assert_eq!(answer["searched_by"], json!("words_and_meaning"), "{answer}");
    let told = home.run(&["vault", "search", "when do you ship a release?"]).done();
    assert!(told.contains("(builtin/all-minilm-l6-q4)"), "{told}");
}
