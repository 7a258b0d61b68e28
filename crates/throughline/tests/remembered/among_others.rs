//! What was said in one sentence among others, in a short conversation about several things.

use serde_json::json;

use super::common::Home;
use super::told::CONFIG;

const SAID: [&str; 6] = [
    "I'm moving the billing service from Heroku to Fly. Don't run migrations on production yourself, I do production \
     migrations by hand.",
    "Understood. I'll prepare the Fly config and leave production migrations to you.",
    "We decided to use Postgres instead of SQLite because several workers write at once. Also my sister Clara visits on \
     November 28, so I'm off that day.",
    "Noted: Postgres for the concurrent writers. Enjoy the day with Clara!",
    "Great. The health check should hit /healthz on port 8087, every 15 seconds.",
    "Done, the check is in fly.toml.",
];

fn home(vectors: bool) -> Home {
    let embeddings = if vectors { "" } else { "\n[embeddings]\nprovider = \"none\"\n" };
    let mut home = Home::with_config("config.toml", &format!("{CONFIG}{embeddings}"));
    home.set_now("2026-11-10T10:00:00Z");
    let row = |(at, text): (usize, &&str)| {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        format!("{}\n", json!({ "role": role, "content": text }))
    };
    let rows: String = SAID.iter().enumerate().map(row).collect();
    home.run_with(&["session", "observe", "--session", "cli:one"], &rows).done();
    home.run(&["session", "end", "cli:one"]).done();
    if vectors {
        home.run(&["reindex", "--vectors"]).done();
    }
    // What was going on has expired by then, and opens no conversation.
    home.set_now("2026-12-10T10:00:00Z");
    home
}

/// The memories that come with a message.
fn given(home: &Home, message: &str) -> Vec<String> {
    let context = home.json(&["context", "--session", "cli:later", "--message", message]);
    let lines = context["message"].as_str().unwrap().lines().filter(|line| line.starts_with("- ["));
    lines.map(str::to_owned).collect()
}

#[track_caller]
fn check(home: &Home, message: &str, first: &str, absent: &[&str]) {
    let lines = given(home, message);
    assert!(lines.first().is_some_and(|line| line.contains(first)), "`{message}`: {lines:#?}");
    let unasked: Vec<&String> = lines.iter().filter(|line| absent.iter().any(|text| line.contains(text))).collect();
    assert!(unasked.is_empty(), "`{message}` is given beside: {unasked:#?}");
}

#[test]
fn one_sentence_of_a_turn_is_enough() {
    for vectors in [false, true] {
        let home = home(vectors);
        check(&home, "apply the migration to prod", "I do production migrations by hand", &["8087", "Clara visits"]);
        check(&home, "when does Clara come?", "Clara visits on November 28", &["8087"]);
        check(&home, "which port does the health check use?", "port 8087", &["by hand", "Clara visits"]);
    }
}

#[test]
fn what_was_not_talked_about_gets_nothing() {
    let home = home(true);
    for message in ["thanks!", "run it again", "What is the capital of France?", "how do I center a div?"] {
        assert_eq!(given(&home, message), [""; 0], "{message}");
    }
}
