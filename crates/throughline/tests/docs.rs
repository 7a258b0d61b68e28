//! Documents that can be wrong are checked: every path they name exists, and the references are generated from the
//! program itself. `UPDATE_DOCS=1 cargo test --test docs` writes them anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::Home;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The documents that are there.
fn documents() -> Vec<PathBuf> {
    let named = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "benches/README.md"]
        .map(|name| repository().join(name));
    let below = std::fs::read_dir(repository().join("docs")).into_iter().flatten().map(|entry| entry.unwrap().path());
    let all = named.into_iter().chain(below.filter(|path| path.extension().is_some_and(|end| end == "md")));
    all.filter(|path| path.is_file()).collect()
}

/// What stands between single backticks, and the targets of links.
fn spans(text: &str) -> Vec<&str> {
    let mut in_fence = false;
    let mut spans = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence {
            spans.extend(line.split('`').skip(1).step_by(2));
            spans.extend(line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()));
        }
    }
    spans
}

/// Whether it means a file of this repository; a placeholder such as `crates/<name>` means none.
fn is_path(span: &str) -> bool {
    let roots = ["crates/", "docs/", "benches/", "scripts/", ".ci/", "fixtures/"];
    roots.iter().any(|root| span.starts_with(root)) && !span.contains(['<', '*', '{', '…', ' '])
}

#[test]
fn every_path_that_a_document_names_exists() {
    let mut missing = Vec::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for span in spans(&text).into_iter().filter(|span| is_path(span)) {
            let path = span.split(':').next().unwrap_or(span);
            if !repository().join(path).exists() {
                missing.push(format!("{} names {span}", document.file_name().unwrap().to_string_lossy()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Every `fn` of the sources, by name, with whether it is a test.
fn functions(dir: &Path, found: &mut BTreeMap<String, bool>) {
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            functions(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&entry).unwrap();
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                let name = line.split_once("fn ").and_then(|(_, rest)| rest.split(['(', '<']).next());
                if line == "#[test]" || line.starts_with("#[tokio::test") || line == "proptest! {" {
                    is_test = true;
                } else if let Some(name) = name.filter(|_| !line.starts_with("//")) {
                    *found.entry(name.to_owned()).or_default() |= is_test;
                    is_test = false;
                }
            }
        }
    }
}

/// Whether it is written as names of tests are: `a_name_of_a_test`, or the end of one, `…_of_a_test`.
fn is_test_name(span: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    span.trim_start_matches('…').chars().all(is_name) && (span.starts_with("…_") || span.matches('_').count() >= 2)
}

#[test]
fn every_test_that_the_security_policy_names_exists() {
    let mut functions_found = BTreeMap::new();
    functions(&repository().join("crates"), &mut functions_found);
    let tests: Vec<&String> = functions_found.iter().filter(|(_, is_test)| **is_test).map(|(name, _)| name).collect();
    let text = std::fs::read_to_string(repository().join("SECURITY.md")).unwrap();
    let named: Vec<&str> = spans(&text).into_iter().filter(|span| is_test_name(span)).collect();
    assert!(named.len() > 100, "{}", named.len());
    let is_there = |name: &str| match name.strip_prefix('…') {
        Some(end) => tests.iter().any(|test| test.ends_with(end)),
        None => tests.iter().any(|test| *test == name),
    };
    let missing: Vec<&str> = named.into_iter().filter(|name| !is_there(name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn paths_are_told_from_other_code() {
    let text =
        "See `crates/core/src` and [it](docs/cli.md#top), not `crates/<name>` or `a b`.\n```\n`docs/in-a-fence`\n```\n";
    let paths: Vec<_> = spans(text).into_iter().filter(|span| is_path(span)).collect();
    assert_eq!(paths, ["crates/core/src", "docs/cli.md"]);
}

/// Compares a generated file with the one in the repository, or writes it where `UPDATE_DOCS` is set.
#[track_caller]
fn check(name: &str, page: &str) {
    let path = repository().join(name);
    #[allow(clippy::disallowed_methods, reason = "this switch is for whoever runs the tests")]
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{name} is out of date: UPDATE_DOCS=1 cargo test -p throughline --test docs");
}

/// The commands below the one that this help text is of: those of the program itself stand in groups.
fn subcommands(help: &str, is_whole: bool) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_list = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            is_list = line == "Commands:" || is_whole && line.ends_with(':') && line != "Options:";
        } else if is_list && !line.starts_with("   ") {
            // `help` prints what stands here.
            names.extend(line.split_whitespace().next().filter(|name| *name != "help").map(str::to_owned));
        }
    }
    names
}

fn help_pages(home: &Home, command: &[&str], page: &mut String) {
    let help = home.run(&[command, &["--help"]].concat()).done();
    let level = "#".repeat(command.len().min(2) + 2);
    let title = [&["throughline"], command].concat().join(" ");
    page.push_str(&format!("\n{level} `{title}`\n\n```text\n{}\n```\n", help.trim_end()));
    for name in subcommands(&help, command.is_empty()) {
        help_pages(home, &[command, &[name.as_str()]].concat(), page);
    }
}

#[test]
fn the_command_line_reference_is_what_the_program_says() {
    let mut page = "# The command line\n\nGenerated from the program's own `--help`.\n".to_owned();
    help_pages(&Home::new(), &[], &mut page);

    for command in ["remember", "recall", "restore", "config show", "bench recall", "completions"] {
        assert!(page.contains(&format!("# `throughline {command}`\n")), "no help for {command}");
    }
    check("docs/cli.md", &page);
}

#[test]
fn the_config_reference_is_the_commented_defaults() {
    check("crates/throughline/defaults.toml", &throughline::config::defaults_toml());
    check("docs/config.md", &throughline::config::reference_page());
}

/// A parameter's type, as a person would say it.
fn kind_of(schema: &serde_json::Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(|word| word.as_str()).collect();
        return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    }
    if let Some(one_of) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let all = one_of.iter().filter(|one| one["type"] != "null");
        return all
            .map(|one| one["const"].as_str().map_or_else(|| kind_of(one), |word| format!("`{word}`")))
            .collect::<Vec<_>>()
            .join(", ");
    }
    match &schema["type"] {
        serde_json::Value::String(name) => name.clone(),
        serde_json::Value::Array(names) => names.first().and_then(|name| name.as_str()).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

#[test]
fn the_tools_reference_is_what_assistants_are_told() {
    use throughline_core::tools::{Tool, guidance};
    let mut page = "# The tools that assistants are offered\n\nGenerated from the program. `throughline tool list` shows \
                    those that your config offers (`memory.tools`), `throughline tool\ncall NAME '{…}'` calls one as an \
                    assistant would. Every write answers with a receipt: the ids, what became of them and, for\nwhat was \
                    stored, whether a recall finds it. Errors say what was wrong and what to do next.\n"
        .to_owned();
    for tool in Tool::ALL {
        let usual = if Tool::USUAL.contains(&tool) { "" } else { " (on request)" };
        page.push_str(&format!(
            "\n## `{tool}`{usual}\n\n{}\n\n| parameter | takes | meaning |\n|---|---|---|\n",
            tool.description()
        ));
        let schema = tool.schema();
        for (name, parameter) in schema["properties"].as_object().into_iter().flatten() {
            let needed = schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
            let mark = if needed { "" } else { "?" };
            let meaning = parameter["description"].as_str().unwrap_or_default().replace('\n', " ");
            page.push_str(&format!("| `{name}`{mark} | {} | {meaning} |\n", kind_of(parameter)));
        }
    }
    let told = guidance(&Tool::USUAL);
    page.push_str(&format!(
        "\n## What an assistant is told\n\nOffered for its system prompt (`throughline tool guidance`), {} tokens with the \
         usual tools:\n\n```text\n{}\n```\n",
        told.tokens, told.text
    ));
    check("docs/tools.md", &page);
}
