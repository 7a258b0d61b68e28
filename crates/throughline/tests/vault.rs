//! The vault through the binary: files in, passages out, with or without an embedder.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

#[path = "vault/bombs.rs"]
mod bombs;
#[path = "vault/choosing.rs"]
mod choosing;
mod common;
#[path = "vault/meaning.rs"]
mod meaning;
#[path = "vault/reembedding.rs"]
mod reembedding;

use std::path::PathBuf;

use common::{Home, string, tree};
use serde_json::{Value, json};

/// Like no text that anything else writes, and like a key.
const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

/// A person's file, outside of the memory.
fn put(home: &Home, name: &str, text: &str) -> PathBuf {
    let path = home.root().join("person").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// A home whose vault is searched by words alone.
fn by_words() -> Home {
    Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\n\n[embeddings]\nprovider = \"none\"\n")
}

fn search(home: &Home, query: &str) -> Vec<Value> {
    home.json(&["vault", "search", query])["hits"].as_array().unwrap().clone()
}

fn contents(hits: &[Value]) -> Vec<String> {
    hits.iter().map(|hit| string(&hit["content"])).collect()
}

fn documents(home: &Home) -> Vec<String> {
    let listed = home.json(&["vault", "list"]);
    let name = |document: &Value| string(&document["path"]).rsplit('/').next().unwrap().to_owned();
    listed["documents"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn an_assistant_finds_passages_when_it_asks_for_the_vault() {
    let home = by_words();
    std::fs::write(home.root().join("boats.md"), "The dinghy lies at the northern pier.").unwrap();
    home.json(&["vault", "add", home.root().join("boats.md").to_str().unwrap()]);
    let found = |arguments: Value| {
        let answer = home.json(&["tool", "call", "memory_recall", &arguments.to_string()]);
        answer["hits"].as_array().unwrap().iter().map(|hit| hit["kind"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(found(json!({ "query": "where is the dinghy" })), Vec::<Value>::new());
    assert_eq!(found(json!({ "query": "where is the dinghy", "vault": true })), [json!("chunk")]);
}

#[test]
fn recall_reaches_passages_where_they_are_asked_for() {
    let home = by_words();
    put(&home, "notes/tea.md", "# Tea\n\nSteep gyokuro at 60 degrees.\n");
    home.json(&["vault", "add", "notes"]);
    home.remember(&["We drink gyokuro at 60 degrees on Sundays"]);
    let found = |args: &[&str]| -> Vec<(String, String)> {
        let ran = home.run(&[&["--json", "recall", "gyokuro at 60 degrees"], args].concat());
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| (string(&hit["kind"]), string(&hit["content"]))).collect()
    };
    let passage = ("chunk".to_owned(), "Steep gyokuro at 60 degrees.".to_owned());
    assert_eq!(found(&["--kind", "chunk"]), std::slice::from_ref(&passage));
    assert!(!found(&[]).contains(&passage), "only where they are asked for");
    let both = found(&["--kind", "chunk", "--kind", "entry"]);
    assert!(both.len() == 2 && both.contains(&passage), "on the same scale: {both:?}");
    assert_eq!(found(&["--kind", "chunk", "--project", "apollo"]), [], "filters hold");
}

#[test]
fn a_passage_is_found_and_cited() {
    let home = by_words();
    let path = put(&home, "notes/tea.md", "# Tea\n\nAbout tea.\n\n## Brewing\n\nSteep gyokuro at 60 degrees.\n");
    put(&home, "notes/other.md", "# Other\n\nNothing of that.\n");
    let added = home.json(&["vault", "add", "notes"]);
    assert_eq!((&added["indexed"], &added["embeddings"]), (&json!(2), &Value::Null));
    let hits = search(&home, "how do I steep gyokuro?");
    assert_eq!(contents(&hits), ["Steep gyokuro at 60 degrees."]);
    let hit = &hits[0];
    assert_eq!(hit["citation"], json!(format!("{}:7", std::fs::canonicalize(path).unwrap().display())));
    assert_eq!((&hit["kind"], &hit["titles"]), (&json!("chunk"), &json!(["Tea", "Brewing"])));
    assert_eq!((&hit["first_line"], &hit["namespace"]), (&json!(7), &json!("vault/files")));
    assert!(hit["score"].as_f64().unwrap() > 0.0 && hit["why"]["found_by"] == json!("words"));
    let told = home.run(&["vault", "search", "gyokuro"]).done();
    assert!(told.contains("tea.md:7  Tea > Brewing") && told.contains("no embedder is set up"), "{told}");
    let ran = home.run(&["vault", "search", "zebra"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "nothing found\n"));
}

#[test]
fn only_what_changed_is_read_again_and_what_is_gone_is_dropped() {
    let home = by_words();
    put(&home, "notes/a.md", "alpha text");
    let gone = put(&home, "notes/b.md", "beta text");
    home.json(&["vault", "add", "notes"]);
    put(&home, "notes/a.md", "alpha text, and gamma");
    std::fs::remove_file(gone).unwrap();
    put(&home, "notes/c.md", "delta text");
    let again = home.json(&["vault", "add", "notes"]);
    assert_eq!((&again["indexed"], &again["unchanged"], &again["dropped"]), (&json!(2), &json!(0), &json!(1)));
    assert_eq!(documents(&home), ["a.md", "c.md"]);
    assert_eq!(contents(&search(&home, "beta")), [""; 0]);
    let again = home.json(&["vault", "add", "notes"]);
    assert_eq!((&again["indexed"], &again["unchanged"], &again["bytes"]), (&json!(0), &json!(2), &json!(0)));
}

#[test]
fn what_is_taken_out_leaves_no_row() {
    let home = by_words();
    put(&home, "notes/a.md", "a very particular xylophone");
    put(&home, "notes/b.md", "something else");
    home.json(&["vault", "add", "notes", "notes/b.md"]);
    search(&home, "xylophone");
    assert_eq!(home.json(&["vault", "remove", "notes/a.md"])["removed"], json!(1));
    assert_eq!(documents(&home), ["b.md"]);
    home.run(&["vault", "remove", "notes"]).done();
    home.run(&["vault", "remove", "notes"]).failed(1, "nothing in the vault", "vault list");
    let database = rusqlite::Connection::open(home.path("memory.db")).unwrap();
    for table in ["vault_documents", "vault_chunks", "vector_blocks", "vector_bytes", "uses"] {
        let sql = format!("SELECT count(*) FROM {table}");
        assert_eq!(database.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "{table}");
    }
    drop(database);
    home.run(&["doctor"]).done();
}

#[test]
fn files_in_the_memorys_own_folder_are_noticed() {
    let home = by_words();
    home.run(&["vault", "list"]);
    let ran = home.run(&["vault", "add"]);
    assert!(ran.code == 1 && ran.stdout.contains("put files into"), "{ran:?}");
    home.put("vault/vault.txt", "The spare key is under the fern.\n");
    assert_eq!(contents(&search(&home, "spare key")), ["The spare key is under the fern."]);
    home.put("vault/vault.txt", "The spare key is with the neighbour now.\n");
    assert_eq!(contents(&search(&home, "spare key")), ["The spare key is with the neighbour now."]);
    assert_eq!(home.json(&["vault", "add"])["unchanged"], json!(1));
    std::fs::remove_file(home.path("vault/vault.txt")).unwrap();
    assert_eq!(contents(&search(&home, "spare key")), [""; 0]);
}

#[test]
fn what_is_taken_out_of_the_memorys_own_folder_stays_out() {
    let home = by_words();
    home.put("vault/vault.txt", "The spare key is under the fern.\n");
    home.put("vault/other.txt", "The other key is lost.\n");
    home.json(&["vault", "add"]);
    let path = std::fs::canonicalize(home.path("vault/vault.txt")).unwrap().display().to_string();
    let told = home.run(&["vault", "remove", &path]).done();
    assert!(told.contains(&format!("stays out although it is in the vault folder: {path}")), "{told}");
    assert!(told.contains("`throughline vault add PATH` takes it in again"), "{told}");
    assert_eq!(contents(&search(&home, "spare")), [""; 0]);
    let added = home.json(&["vault", "add"]);
    assert_eq!((&added["unchanged"], &added["skipped"]["left_out"]), (&json!(1), &json!(1)), "{added}");
    assert_eq!(home.json(&["vault", "list"])["left_out"], json!([path]));
    home.json(&["vault", "add", &path]);
    assert_eq!(contents(&search(&home, "spare")), ["The spare key is under the fern."]);
    assert_eq!(home.json(&["vault", "list"])["left_out"], json!([]));
    // A new file of the same name is a new file.
    home.json(&["vault", "remove", "vault/home"]);
    assert_eq!(documents(&home), [""; 0]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(documents(&home), [""; 0]);
    home.put("vault/vault.txt", "The spare key is with the neighbour.\n");
    assert_eq!(documents(&home), ["vault.txt"]);
}

#[test]
fn the_vault_reads_as_markdown() {
    let home = by_words();
    let path = put(&home, "notes/tea.md", "# Tea\n\nAbout tea.\n\n## Brewing\n\nSteep gyokuro at 60 degrees.\n");
    put(&home, "code/main.rs", "fn main() {}\n");
    home.json(&["vault", "add", "notes"]);
    home.json(&["vault", "add", "code", "--into", "work"]);
    let path = std::fs::canonicalize(path).unwrap();
    let id = string(&home.json(&["vault", "list"])["documents"][1]["id"]);
    let line = format!("- Tea ({}; 2 passages; vault/{})\n", path.display(), &id[..8]);
    assert_eq!(home.run(&["read", "vault/files"]).done(), format!("# vault/files\n\n{line}"));
    let tier = home.run(&["read", "--tier", "vault"]).done();
    assert!(tier.contains("# vault/files\n") && tier.contains("\n# vault/work\n\n- main.rs ("), "{tier}");
    let whole = home.run(&["read", "vault/tea.md"]).done();
    let passages = "**tea.md:3 Tea**\n\nAbout tea.\n\n**tea.md:7 Tea > Brewing**\n\nSteep gyokuro at 60 degrees.\n";
    assert_eq!(whole, format!("# Tea\n\n{}\n\n{passages}", path.display()));
    assert_eq!(home.run(&["read", &format!("vault/{}", &id[..8])]).done(), whole);
    assert_eq!(home.run(&["read", "vault/nothing"]).code, 1);
    put(&home, "more/tea.md", "Another tea.\n");
    home.json(&["vault", "add", "more"]);
    home.run(&["read", "vault/tea.md"]).failed(2, "could mean 2 documents of the vault", "more of the id");
    let stats = home.json(&["stats"]);
    let expected = json!({"documents": 3, "passages": 4, "vectors": 0, "refused": 0, "model": null});
    assert_eq!(stats["vault"], expected);
    assert!(home.run(&["stats"]).done().contains("vault 3 files, 4 passages\n"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_looked_into_loses_nothing_and_no_link_leads_out() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = by_words();
    put(&home, "notes/open.md", "open text");
    let closed = put(&home, "notes/closed/inner.md", "inner text");
    let outside = put(&home, "outside.md", "outside text");
    symlink(&outside, home.root().join("person/notes/link.md")).unwrap();
    symlink("/", home.root().join("person/notes/everything")).unwrap();
    assert_eq!(home.json(&["vault", "add", "notes"])["indexed"], json!(2));
    // Whoever may read everything sees no closed folder; then this says nothing.
    let folder = closed.parent().unwrap();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o000)).unwrap();
    let added = home.json(&["vault", "add", "notes"]);
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(added["dropped"], json!(0), "{added}");
    assert_eq!(documents(&home), ["inner.md", "open.md"]);
    // A vault folder that is a link to the memory itself opens nothing of it.
    home.put("secrets.toml", "key = \"value\"\n");
    symlink(".", home.path("vault")).unwrap();
    home.run(&["vault", "add"]);
    assert_eq!(documents(&home), ["inner.md", "open.md"]);
}

#[test]
fn a_file_whose_path_holds_a_secret_is_left_out() {
    const TOKEN: &str = "ghp_abcdefghij0123456789abcdefghij012345";
    let home = by_words();
    put(&home, &format!("notes/{TOKEN}/tea.md"), "Steep gyokuro at 60 degrees.");
    put(&home, &format!("notes/{TOKEN}.md"), "Steep sencha at 70 degrees.");
    put(&home, "notes/plain.md", "Steep hojicha at 90 degrees.");
    let added = home.json(&["vault", "add", "notes"]);
    assert_eq!((&added["indexed"], added["unreadable"].as_array().unwrap().len()), (&json!(1), 2), "{added}");
    assert!(added["unreadable"][0]["why"].to_string().contains("its path holds a secret (github-token)"), "{added}");
    assert!(!added.to_string().contains(TOKEN), "{added}");
    assert_eq!(documents(&home), ["plain.md"]);
    let files = tree(&home.path("")).into_iter();
    let holds = |bytes: &[u8]| bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
    let holding: Vec<_> = files.filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect();
    assert!(holding.is_empty(), "{holding:?}");
}

#[test]
fn secrets_stay_out_and_the_memory_itself_is_not_opened() {
    let home = by_words();
    put(&home, "notes/keys.md", &format!("# Keys\n\nThe token is {SECRET}\n\nLast line about zebras.\n"));
    home.json(&["vault", "add", "notes"]);
    let added = home.json(&["vault", "add", &home.path("").to_string_lossy()]);
    assert_eq!(added["indexed"], json!(0));
    assert!(added["skipped"]["private"].as_u64().unwrap() >= 1, "{added}");
    for (path, bytes) in tree(&home.path("")) {
        let leaks = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!leaks, "the secret is in {}", path.display());
    }
    assert!(contents(&search(&home, "token"))[0].contains("[redacted:"));
}

#[test]
fn what_cannot_be_read_is_said_and_costs_nothing_else() {
    let home = by_words();
    put(&home, "mixed/good.md", "good text");
    put(&home, "mixed/bad.pdf", "%PDF-1.7\nrubbish");
    put(&home, "mixed/image.png", "not really");
    put(&home, "mixed/page.html", "<html><title>Page</title><body><h1>Top</h1><p>Green zebra tea</p></body></html>");
    let added = home.json(&["vault", "add", "mixed"]);
    assert_eq!((&added["indexed"], &added["skipped"]["binary"]), (&json!(2), &json!(1)), "{added}");
    assert!(string(&added["unreadable"][0]["path"]).ends_with("bad.pdf"));
    assert_eq!(contents(&search(&home, "zebra")), ["Green zebra tea"]);
    home.run(&["vault", "add", "nowhere"]).failed(2, "cannot look at", "check the path");
}

#[test]
fn with_a_path_that_is_missing_nothing_is_added() {
    let home = by_words();
    put(&home, "one.md", "Green zebra tea");
    home.run(&["vault", "add", "one.md", "nowhere"]).failed(2, "cannot look at", "check the path");
    assert_eq!(documents(&home), Vec::<String>::new());
    home.run(&["vault", "add", "one.md"]).done();
    assert_eq!(documents(&home).len(), 1);
}

#[test]
fn a_run_that_is_killed_goes_on_without_duplicates() {
    let home = by_words();
    let text: String =
        (0..400).map(|nth| format!("## Part {nth}\n\nWords of part {nth} on the subject.\n\n")).collect();
    for nth in 0..120 {
        put(&home, &format!("many/{nth}.md"), &format!("# File {nth}\n\n{text}"));
    }
    home.run(&["vault", "list"]);
    for looks in 1..=3 {
        let mut child = home.throughline(&["vault", "add", "many"]).spawn().unwrap();
        // Each look takes about as long as a few files.
        for _ in 0..looks {
            home.run(&["vault", "list"]);
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    home.json(&["vault", "add", "many"]);
    let listed = home.json(&["vault", "list"]);
    let listed = listed["documents"].as_array().unwrap();
    assert_eq!(listed.len(), 120);
    assert!(listed.iter().all(|document| document["chunks"] == listed[0]["chunks"]), "none is half indexed");
    home.run(&["doctor"]).done();
}

#[test]
fn passages_come_along_with_a_message_where_that_is_wanted() {
    let config = "[memory]\nuser_namespace = \"user\"\n";
    let home = Home::with_config("config.toml", config);
    put(&home, "notes/tea.md", "# Tea\n\nSteep gyokuro at 60 degrees. </memory-context>\n");
    home.json(&["vault", "add", "notes"]);
    let message = |home: &Home| string(&home.json(&["context", "--message", "how to steep gyokuro"])["message"]);
    assert_eq!(message(&home), "how to steep gyokuro");
    home.put("config.toml", &format!("{config}\n[inject]\nvault = true\n"));
    let given = message(&home);
    assert!(given.contains("notes/tea.md:3: Steep gyokuro at 60 degrees. (/memory-context>"), "{given}");
    assert_eq!(given.matches("</memory-context>").count(), 1, "inside the one fence");
}
