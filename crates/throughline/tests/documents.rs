//! Documents: files that the person owns, names that stay in their directory, identity's limit, working memory's
//! expiry, and a memory without a namespace.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::path::Path;

use common::{Home, string, tree};
use serde_json::{Value, json};

#[test]
fn writing_working_memory_adds_its_header_and_its_expiry() {
    let home = Home::new();
    assert_eq!(
        home.run_with(&["write", "user/working"], "\n- shipping the parser\n\n").done(),
        "created user/working\n"
    );
    let expected = "# Working Memory\nUpdated: 2026-03-01T12:00:00Z\nExpires: 2026-03-15T12:00:00Z\n\n";
    assert_eq!(home.text("user/working.md"), format!("{expected}- shipping the parser\n"));
    let working = home.json(&["working"]);
    let shown = json!({
        "text": "- shipping the parser",
        "updated_at": "2026-03-01T12:00:00Z",
        "expires_at": "2026-03-15T12:00:00Z"
    });
    assert_eq!(working, shown);
    assert!(home.run(&["working"]).done().ends_with("\nupdated just now · expires 15 Mar 12:00\n"));
}

#[test]
fn the_days_that_working_memory_stays_fresh_are_a_setting() {
    let config = "[memory]\nuser_namespace = \"user\"\nworking_memory_ttl_days = 1\nworking_memory_max_tokens = 100\n";
    let mut home = Home::with_config("config.toml", config);
    home.run_with(&["write", "user/working"], &format!("a thread {}", "to pick up again ".repeat(100))).done();
    assert!(home.text("user/working.md").contains("\nExpires: 2026-03-02T12:00:00Z\n\n"));
    assert!(home.json(&["working"])["text"].as_str().unwrap().chars().count() <= 400, "cut to its budget");
    for (now, code) in [("2026-03-02T11:59:59Z", 0), ("2026-03-02T12:00:00Z", 1)] {
        home.set_now(now);
        assert_eq!(home.run(&["working"]).code, code, "{now}");
        let context = home.json(&["context", "--message", "thread"]);
        assert_eq!(context["system_prompt"].as_str().unwrap().contains("--- Recent context ---"), code == 0, "{now}");
        assert_eq!(home.found(&["thread"]).len(), 1 - code as usize, "{now}: expired is neither injected nor recalled");
        assert_eq!(home.json(&[])["stats"]["working_expires_at"].is_null(), code == 1, "{now}");
    }
}

#[test]
fn working_memory_that_cannot_be_read_as_such_is_nothing_and_no_error() {
    let home = Home::new();
    home.run(&[]).done();
    let fresh = "Updated: 2026-03-01T12:00:00Z\nExpires: 2027-03-01T12:00:00Z\n";
    for text in [
        "",
        "just some text\n",
        "# Working Memory\n",
        "# Working Memory\nExpires: 2027-03-01T12:00:00Z\n\nno update\n",
        "# Working Memory\nUpdated: 2026-03-01T12:00:00Z\n\nno expiry\n",
        "# Working Memory\nUpdated: then\nExpires: later\n\nunparsable\n",
        &format!("# Working Memory\n{fresh}\n   \n"),
        &format!("{fresh}\nno title\n"),
    ] {
        home.put("user/working.md", text);
        let ran = home.run(&["working"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{text:?}");
        assert_eq!(home.json(&["context"])["system_prompt"], "", "{text:?}");
    }
    home.put("user/working.md", &format!("# Working Memory\n{fresh}\none\n\nExpires: never\n\n# two\n"));
    assert_eq!(home.json(&["working"])["text"], "one\n\nExpires: never\n\n# two");
}

#[test]
fn what_a_person_wrote_with_a_header_stays_as_it_is() {
    let home = Home::new();
    let text = "# Working Memory\nUpdated: 2026-02-25T11:30:00Z\nExpires: 2026-03-10T11:30:00Z\n\nmine\n";
    home.run_with(&["write", "user/working"], text).done();
    assert_eq!(home.text("user/working.md"), text);
}

#[test]
fn identity_holds_a_thousand_characters_and_not_one_more() {
    for letter in ["a", "人", "é"] {
        let home = Home::new();
        // `- ` and the line itself: 998 letters make exactly 1,000 characters.
        home.run(&["remember", "--layer", "identity", &letter.repeat(998)]).done();
        assert_eq!(home.json(&["profile"])["usage"], json!({ "chars": 1000, "limit": 1000 }));
        let before = tree(&home.path("user"));
        let ran = home.run(&["remember", "--layer", "identity", "x"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("1,004/1,000 chars]"), "says how much it would be: {ran:?}");
        assert!(ran.stderr.contains(&letter.repeat(998)), "says what is there, so that one can merge");
        assert!(ran.stderr.contains("\nhint: merge or remove something first"), "{ran:?}");
        assert_eq!(tree(&home.path("user")), before);

        let other = Home::new();
        let refused = other.run(&["remember", "--layer", "identity", &letter.repeat(999)]);
        assert_eq!(refused.code, 2, "1,001 characters: {refused:?}");
        assert!(!other.path("user/profile.md").exists());
    }
}

#[test]
fn a_profile_that_a_person_made_too_long_loads_and_is_flagged() {
    let home = Home::new();
    home.put("user/profile.md", &format!("# Me\n\n- I collect {}\n", "stamps and ".repeat(100)));
    let shown = home.run(&["profile"]).done();
    assert!(shown.ends_with("[111% — 1,117/1,000 chars] over the limit: assistants cannot add to it\n"), "{shown}");
    let prompt = string(&home.json(&["context"])["system_prompt"]);
    assert!(prompt.starts_with("--- Who you're talking to ---\n# Me\n\n- I collect stamps"), "{prompt}");
    assert!(home.run(&["doctor"]).done().contains("note: the profile is over its limit"));
    assert_eq!(home.run(&["remember", "--layer", "identity", "more"]).code, 2);
    home.run_with(&["write", "user/profile"], "- short again\n").done();
    home.run(&["remember", "--layer", "identity", "more"]).done();
    assert_eq!(home.text("user/profile.md"), "- short again\n- more\n");
}

#[test]
fn what_a_person_writes_in_an_editor_is_found_versioned_and_restored() {
    let mut home = Home::new();
    home.remember(&["--layer", "identity", "My name is Ada"]);
    home.set_now("2026-03-02T12:00:00Z");
    home.put("user/profile.md", "# Me\n\nI live in Lisbon.\n\n- My name is Ada\n- [sig:5] I am allergic to peanuts\n");
    assert_eq!(home.found(&["peanuts"]), ["I am allergic to peanuts"]);
    assert_eq!(home.found(&["where do I live"]), ["I live in Lisbon."]);
    assert_eq!(home.json(&["recall", "peanuts"])["hits"][0]["significance"], 5);
    let versions = home.json(&["history", "user/profile"])["versions"].clone();
    let made = |at: usize| (versions[at]["change"]["actor"]["via"].clone(), versions[at]["change"]["verb"].clone());
    assert_eq!((made(0), made(1)), ((json!("cli"), json!("remember")), (json!("editor"), json!("write"))));

    home.run(&["restore", "user/profile", "1"]).done();
    assert_eq!(home.text("user/profile.md"), "- My name is Ada\n");
    assert_eq!(home.run(&["recall", "peanuts"]).code, 1, "what is gone from the file is not found");
    home.run(&["undo"]).done();
    assert!(home.text("user/profile.md").contains("peanuts"));

    std::fs::remove_file(home.path("user/profile.md")).unwrap();
    assert_eq!(home.run(&["recall", "peanuts"]).code, 1);
    home.run(&["restore", "user/profile", "2"]).done();
    assert_eq!(home.found(&["peanuts"]), ["I am allergic to peanuts"], "even a removed file comes back");
}

#[test]
fn a_write_with_the_hash_of_an_older_text_is_refused() {
    let home = Home::new();
    let written = home.run_with(&["write", "user/notes", "--json"], "one\n").done();
    let hash = string(&serde_json::from_str::<Value>(&written).unwrap()["hash"]);
    assert_eq!(home.json(&["read", "user/notes"])["hash"], hash.as_str(), "`read --json` gives the hash");
    home.put("user/notes.md", "a person was here\n");
    let refused = home.run_with(&["write", "user/notes", "--if-match", &hash], "two\n");
    refused.failed(2, "was changed by somebody else", "read it again");
    assert_eq!(home.text("user/notes.md"), "a person was here\n");
}

#[test]
fn facts_are_entries_and_not_a_document() {
    let home = Home::new();
    for address in ["user/facts", "global", "sessions/cli:main"] {
        let ran = home.run_with(&["write", address], "- a fact\n");
        ran.failed(2, &format!("`{address}` cannot be written as a document"), "throughline remember TEXT");
    }
    assert!(!home.path("user/facts.md").exists());
}

/// Everything on the machine but the database and its logs.
fn outside(home: &Home) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    tree(home.root()).into_iter().filter(|(path, _)| !path.to_string_lossy().contains("memory.db")).collect()
}

#[test]
fn hostile_addresses_create_and_change_nothing() {
    let home = Home::new();
    home.run_with(&["write", "user/profile"], "- mine\n").done();
    std::fs::write(home.root().join("person/secret.md"), "secret\n").unwrap();
    let before = outside(&home);
    let long = format!("user/{}", "x".repeat(300));
    let deep = format!("user/{}", "a/".repeat(200));
    for address in [
        "",
        "user",
        "/",
        "../x",
        "/etc/passwd",
        "user/../../x",
        "user/../../person/secret",
        "user/..",
        "./user/x",
        "user//x",
        "user/",
        "user/CON",
        "user/con.md",
        "user/aux",
        "user/a\\b",
        "user/.hidden",
        "user/a:b",
        "user/x.",
        "user/x ",
        "user/-rf",
        "user/~root",
        "user/a\u{202e}b",
        "user/．．/x",
        "user/a\nb",
        "backups/x",
        "Global/x",
        "sessions/../x",
        "projects/../x",
        "vault/../x",
        "USER/../x",
        &long,
        &deep,
    ] {
        for args in [["read", address], ["write", address], ["history", address], ["restore", address]] {
            let args = if args[0] == "restore" { vec!["restore", address, "1"] } else { args.to_vec() };
            let ran = home.run_with(&args, "- owned\n");
            assert!(ran.code > 0 && ran.stderr.starts_with("error: "), "{args:?}: {ran:?}");
        }
    }
    assert!(outside(&home) == before, "nothing was created or changed");
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let plant = |link: &str, target: &Path| {
        let home = Home::new();
        home.run(&[]).done();
        let elsewhere = home.root().join("person/elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::write(elsewhere.join("profile.md"), "- somebody else's secret\n").unwrap();
        let link = home.path(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(elsewhere.join(target), link).unwrap();
        home
    };
    for (link, target) in [("user", ""), ("user/profile.md", "profile.md"), ("user/profile.md", "not-there.md")] {
        let home = plant(link, Path::new(target));
        let before = outside(&home);
        for (args, input) in [
            (&["read", "user/profile"][..], ""),
            (&["write", "user/profile"], "- owned\n"),
            (&["remember", "--layer", "identity", "owned"], ""),
            (&["profile"], ""),
        ] {
            home.run_with(args, input).failed(2, "not a plain file", "replace the link by the file itself");
        }
        let recalled = home.run(&["recall", "secret"]);
        assert!(!recalled.stdout.contains("somebody"), "{recalled:?}");
        assert!(outside(&home) == before, "{link}: nothing was created or changed");
        home.run(&["remember", "entries go on working"]).done();
    }
}

#[test]
fn names_that_differ_in_case_alone_are_one() {
    let home = Home::new();
    home.run_with(&["write", "user/Notes"], "one\n").done();
    home.run_with(&["write", "user/notes"], "two\n").failed(2, "only in case or Unicode form", "the existing name");
}

#[test]
fn without_a_namespace_memory_is_global_and_nobody_has_an_identity() {
    let home = Home::with_config("config.toml", "[memory]\nenabled = true\n");
    assert_eq!(home.json(&["remember", "We deploy on Fridays"])["namespace"], "global");
    let refused = home.run(&["remember", "--layer", "identity", "My name is Ada"]);
    refused.failed(2, "identity needs a namespace", "user_namespace = \"user\"");
    assert_eq!(home.run(&["profile"]).code, 1);
    assert_eq!(home.run(&["working"]).code, 1);
    assert_eq!(home.json(&["context"])["system_prompt"], "", "the prompt is as without memory");
    assert_eq!(home.found(&["deploy"]), ["We deploy on Fridays"]);
    assert!(!home.path("user").exists(), "no documents of a person");
}

#[test]
fn another_namespace_has_its_own_documents() {
    let home = Home::with_config("config.yaml", "memory:\n  user_namespace: ada\n");
    home.remember(&["--layer", "identity", "My name is Ada"]);
    assert_eq!(home.json(&["remember", "Tea"])["namespace"], "ada/facts");
    assert_eq!(home.text("ada/profile.md"), "- My name is Ada\n");
    assert!(!home.path("user").exists());
    let bad = Home::with_config("config.toml", "[memory]\nuser_namespace = \"../up\"\n");
    bad.run(&["list"]).failed(2, "`memory.user_namespace` is not usable", "use letters, digits");
    assert!(!bad.path("../up").exists() && !bad.path("memory.db").exists());
}

#[test]
fn an_existing_directory_is_read_with_its_markdown_and_text_files() {
    let home =
        Home::with_config("config.toml", "[memory]\nuser_namespace = \"user\"\nuser_dir = \"~/.global_memory\"\n");
    let dir = home.root().join("person/.global_memory");
    std::fs::create_dir_all(dir.join("trips")).unwrap();
    for (file, text) in [
        ("profile.md", "- My name is Ada\n"),
        ("habits.txt", "I water the ferns on Sundays\n"),
        ("facts.md", "- The spare key is at the baker's [sig:5]\n"),
        ("trips/japan.txt", "The ryokan was called Tawaraya\n"),
        ("picture.png", "ferns"),
    ] {
        std::fs::write(dir.join(file), text).unwrap();
    }
    assert_eq!(home.found(&["ferns"]), ["I water the ferns on Sundays"]);
    assert_eq!(home.found(&["spare key"]), ["The spare key is at the baker's"]);
    assert_eq!(home.found(&["ryokan"]), ["The ryokan was called Tawaraya"]);
    assert_eq!(home.json(&["recall", "spare key"])["hits"][0]["significance"], 5);
    assert!(home.run(&["read", "user/facts.md"]).done().contains("baker"));
    home.run_with(&["write", "user/habits.txt"], "I water the ferns on Mondays\n").done();
    assert_eq!(std::fs::read_to_string(dir.join("habits.txt")).unwrap(), "I water the ferns on Mondays\n");
    let tier = home.run(&["read", "--tier", "user"]).done();
    assert!(tier.contains("My name is Ada") && tier.contains("Mondays") && tier.contains("Tawaraya"), "{tier}");
}

#[test]
fn the_name_of_a_file_means_its_document() {
    let home = Home::new();
    home.run_with(&["write", "user/profile.md"], "- My name is Ada\n").done();
    assert_eq!(home.text("user/profile.md"), "- My name is Ada\n");
    assert!(!home.path("user/profile.md.md").exists());
    assert_eq!(home.run(&["read", "user/profile.md"]).done(), home.run(&["read", "user/profile"]).done());
    assert_eq!(home.listed(&["--layer", "identity"]), ["My name is Ada"]);
}
