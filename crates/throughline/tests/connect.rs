//! Connecting assistants, end to end: real files, links, permissions, and the way back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "clippy sees no tests in their helpers")]

mod common;

use std::path::PathBuf;

use common::{Home, Ran, string, tree};

const PROGRAM: &str = env!("CARGO_BIN_EXE_throughline");
const CLIENTS: [&str; 9] =
    ["claude-code", "claude-desktop", "codex", "cursor", "vscode", "opencode", "gemini", "copilot", "zed"];

trait Person {
    fn person(&self, below: &str) -> PathBuf;
    fn has(&self, below: &str, text: &str);
    fn reads(&self, below: &str) -> String;
    /// Runs it in a project of the person's.
    fn run_in_shop(&self, args: &[&str]) -> Ran;
}

impl Person for Home {
    fn person(&self, below: &str) -> PathBuf {
        self.root().join("person").join(below)
    }

    fn has(&self, below: &str, text: &str) {
        std::fs::create_dir_all(self.person(below).parent().unwrap()).unwrap();
        std::fs::write(self.person(below), text).unwrap();
    }

    #[track_caller]
    fn reads(&self, below: &str) -> String {
        std::fs::read_to_string(self.person(below)).unwrap()
    }

    fn run_in_shop(&self, args: &[&str]) -> Ran {
        std::fs::create_dir_all(self.person("shop")).unwrap();
        Ran::of(self.throughline(args).current_dir(self.person("shop")).output().unwrap())
    }
}

/// A machine with settings in many styles.
fn lived_in() -> Home {
    let home = Home::new();
    home.has(".claude.json", "{\"numStartups\":3,\"mcpServers\":{\"other\":{\"command\":\"x\"}}}");
    home.has(".claude/settings.json", "{\r\n\t// mine\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {},\r\n}\r\n");
    home.has(".codex/config.toml", "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"y\"");
    home.has(".cursor/mcp.json", "");
    home.has(".config/opencode/opencode.jsonc", "{\n  // jsonc\n  \"theme\": \"dark\"\n}\n");
    home.has(".config/opencode/AGENTS.md", "# My rules");
    home.has(".gemini/settings.json", "\u{feff}{}");
    home.has(".gemini/GEMINI.md", "Be brief.\n");
    home.has(".config/zed/settings.json", "// Zed settings\n{\n  \"ui_font_size\": 16,\n}\n");
    home
}

#[test]
fn every_client_comes_and_goes_and_leaves_every_byte_as_it_was() {
    for home in [Home::new(), lived_in()] {
        home.has("shop/readme", "");
        let before = tree(&home.person(""));
        for scope in [&["--guidance"][..], &["--guidance", "--project"]] {
            let clients = CLIENTS.iter().filter(|client| scope.len() == 1 || **client != "claude-desktop");
            for client in clients.clone() {
                home.run_in_shop(&[&["connect", client], scope].concat()).done();
                let there = tree(&home.person(""));
                assert!(home.run_in_shop(&[&["connect", client], scope].concat()).done().contains("already"));
                assert_eq!(tree(&home.person("")), there, "{client}: twice is once");
            }
            for client in clients {
                home.run_in_shop(&[&["disconnect", client], &scope[1..]].concat()).done();
            }
            assert_eq!(tree(&home.person("")), before, "{scope:?}");
        }
    }
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let home = lived_in();
    let before = tree(&home.person(""));
    let shown = home.run(&["connect", "claude-code", "--dry-run"]).done();
    assert!(shown.contains("+ ") && shown.contains(PROGRAM) && shown.contains("nothing was written"), "{shown}");
    assert!(shown.contains("// mine"), "what is around it is shown: {shown}");
    assert_eq!(tree(&home.person("")), before);
    home.run(&["connect", "claude-code"]).done();
    let there = tree(&home.person(""));
    assert!(home.run(&["disconnect", "claude-code", "--dry-run"]).done().contains("- "));
    assert_eq!(tree(&home.person("")), there);
}

#[test]
fn the_copy_is_from_before_the_first_change_and_goes_with_the_last() {
    let home = lived_in();
    let first = home.reads(".claude/settings.json");
    let backup = ".claude/settings.json.throughline-backup";
    home.run(&["connect", "claude-code"]).done();
    assert_eq!(home.reads(backup), first);
    let edited = home.reads(".claude/settings.json").replace("opus", "sonnet");
    home.has(".claude/settings.json", &edited.replace(PROGRAM, "/moved/throughline"));
    home.run(&["connect", "claude-code"]).done();
    assert_eq!(home.reads(".claude/settings.json"), edited, "the program is brought up to date, in its place");
    assert_eq!(home.reads(backup), first);
    home.run(&["disconnect", "claude-code"]).done();
    assert_eq!(home.reads(".claude/settings.json"), first.replace("opus", "sonnet"), "what was edited stays");
    assert!(!home.person(backup).exists());
}

#[test]
fn a_file_that_is_not_understood_keeps_all_files_as_they_are() {
    let home = lived_in();
    home.has(".claude/settings.json", "{\n  \"hooks\": oops\n}\n");
    let before = tree(&home.person(""));
    home.run(&["connect", "claude-code"]).failed(2, "line 2, column 12", "nothing was changed");
    home.has(".claude/settings.json", "{\"hooks\": []}");
    home.run(&["connect", "claude-code"]).failed(2, "`hooks` is not an object", "by hand");
    home.has(".claude/settings.json", "{\n  \"hooks\": oops\n}\n");
    assert_eq!(tree(&home.person("")), before);
    std::fs::write(home.person(".claude.json"), [b'{', 0xff, b'}']).unwrap();
    home.run(&["connect", "claude-code"]).failed(2, ".claude.json", "check the path");
}

#[cfg(unix)]
#[test]
fn links_are_written_through_and_permissions_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    home.has("dotfiles/settings.json", "{}\n");
    home.has(".claude/other", "");
    std::fs::set_permissions(home.person("dotfiles/settings.json"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("../dotfiles/settings.json", home.person(".claude/settings.json")).unwrap();
    home.run(&["connect", "claude-code"]).done();
    assert!(home.person(".claude/settings.json").is_symlink());
    assert!(home.reads("dotfiles/settings.json").contains("hook prompt --client claude-code"));
    assert_eq!(common::mode(&home.person("dotfiles/settings.json")), 0o640);
    assert_eq!(common::mode(&home.person(".claude/settings.json.throughline-backup")), 0o640);
    assert_eq!(common::mode(&home.person(".claude.json")), 0o600, "a new file is its owner's alone");
    home.run(&["disconnect", "claude-code"]).done();
    assert_eq!(home.reads("dotfiles/settings.json"), "{}\n");
    std::fs::set_permissions(home.person("dotfiles/settings.json"), std::fs::Permissions::from_mode(0o440)).unwrap();
    home.run(&["connect", "claude-code"]).failed(2, "read-only", "check the path");
    home.has("shop/readme", "");
    std::os::unix::fs::symlink("../notes.md", home.person("shop/GEMINI.md")).unwrap();
    let outside = ["connect", "gemini", "--project", "--guidance"];
    home.run_in_shop(&outside).failed(2, "leads out of the project", "--project");
    assert!(!home.person("notes.md").exists() && !home.person("shop/.gemini").exists());
}

#[test]
fn clients_are_looked_for_where_their_own_variables_say() {
    let mut home = Home::new();
    let place = |below: &str| home.person(below).display().to_string();
    let places = [
        ("CLAUDE_CONFIG_DIR", place("a")),
        ("CODEX_HOME", place("b")),
        ("COPILOT_HOME", place("c")),
        ("GEMINI_CLI_HOME", place("d")),
        ("OPENCODE_CONFIG_DIR", place("e")),
    ];
    places.iter().for_each(|(name, place)| home.set(name, place));
    for client in ["claude-code", "codex", "copilot", "gemini", "opencode"] {
        home.run(&["connect", client, "--no-guidance"]).done();
    }
    for file in [
        "a/.claude.json",
        "a/settings.json",
        "b/config.toml",
        "b/hooks.json",
        "c/mcp-config.json",
        "c/hooks/throughline.json",
        "d/.gemini/settings.json",
        "e/opencode.json",
    ] {
        assert!(home.reads(file).contains(PROGRAM), "{file}");
    }
    assert!(!home.person(".claude").exists() && !home.person(".codex").exists());
}

#[test]
fn without_a_name_it_lists_what_is_here_and_what_is_connected() {
    let home = lived_in();
    home.run(&["connect", "codex", "--no-hooks", "--no-guidance"]).done();
    home.run_in_shop(&["connect", "gemini", "--project"]).done();
    let listed = home.run_in_shop(&["connect", "--json"]).done();
    let clients = serde_json::from_str::<serde_json::Value>(&listed).unwrap()["clients"].clone();
    let one = |name: &str| clients.as_array().unwrap().iter().find(|one| one["client"] == name).unwrap().clone();
    assert_eq!((one("codex")["installed"].clone(), one("vscode")["installed"].clone()), (true.into(), false.into()));
    assert_eq!(one("codex")["user"]["parts"], serde_json::json!(["mcp"]));
    assert_eq!(one("codex")["user"]["programs"], serde_json::json!([PROGRAM]));
    assert_eq!(one("gemini")["user"]["parts"], serde_json::json!([]));
    assert_eq!(one("gemini")["project"]["parts"], serde_json::json!(["mcp", "hooks"]));
    let table = home.run(&["connect"]).done();
    assert!(table.contains("CLIENT") && table.contains("codex") && table.contains("mcp"), "{table}");
}

#[test]
fn in_the_home_directory_the_persons_own_settings_are_listed_once() {
    let home = lived_in();
    home.run(&["connect", "cursor"]).done();
    let listed = home.throughline(&["connect", "--json"]).current_dir(home.person("")).output().unwrap();
    let listed: serde_json::Value = serde_json::from_str(&Ran::of(listed).done()).unwrap();
    let clients = listed["clients"].as_array().unwrap();
    let cursor = clients.iter().find(|one| one["client"] == "cursor").unwrap();
    assert_ne!(cursor["user"]["parts"], serde_json::json!([]));
    assert_eq!(cursor["project"]["parts"], serde_json::json!([]), "{cursor}");
}

#[test]
fn a_client_whose_file_cannot_be_read_is_explained_and_not_suggested() {
    let home = Home::new();
    home.has(".claude/settings.json", "{ broken");
    home.has(".codex/config.toml", "");
    let table = home.run_in_shop(&["connect"]).done();
    assert!(table.contains("settings.json cannot be read: ") && table.contains("note:"), "{table}");
    assert!(table.contains("throughline connect codex") && !table.contains("connect claude-code"), "{table}");
}

#[test]
fn every_server_is_told_where_the_memory_is_and_a_difference_is_noticed() {
    let home = lived_in();
    let memory = std::path::absolute(home.path("")).unwrap().to_str().unwrap().trim_end_matches('/').to_owned();
    for (client, file) in [
        ("claude-code", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("opencode", ".config/opencode/opencode.jsonc"),
        ("gemini", ".gemini/settings.json"),
        ("copilot", ".copilot/mcp-config.json"),
        ("zed", ".config/zed/settings.json"),
    ] {
        home.run(&["connect", client, "--no-guidance"]).done();
        let there = home.reads(file);
        assert!(there.contains("THROUGHLINE_HOME") && there.contains(&memory), "{client}: {there}");
        assert!(!home.run(&["doctor"]).stdout.contains("another memory"), "{client}");
        home.has(file, &there.replace(&memory, "/somewhere/else"));
        let told = home.run(&["doctor"]).stdout;
        assert!(
            told.contains(&format!("{client} may use another memory")) && told.contains("/somewhere/else"),
            "{told}"
        );
        home.run(&["connect", client, "--no-guidance"]).done();
        assert_eq!(home.reads(file), there, "{client}: connecting again mends it");
    }
}

#[test]
fn what_codex_noted_about_our_hooks_goes_with_them() {
    let home = lived_in();
    home.has(
        ".codex/hooks.json",
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}}",
    );
    let first = home.reads(".codex/config.toml");
    home.run(&["connect", "codex"]).done();
    let hooks = home.person(".codex/hooks.json");
    let state =
        |place: &str| format!("[hooks.state.\"{}:{place}\"]\ntrusted_hash = \"sha256:00\"\n\n", hooks.display());
    let noted = ["session_start:0:0", "stop:0:0", "stop:1:0", "session_end:0:0"].map(state).concat();
    home.has(".codex/config.toml", &format!("{}\n\n[hooks.state]\n\n{noted}", home.reads(".codex/config.toml")));
    home.run(&["disconnect", "codex"]).done();
    let left = home.reads(".codex/config.toml");
    assert!(
        left.contains("stop:0:0") && left.matches("trusted_hash").count() == 1,
        "the other one is not ours: {left}"
    );
    assert!(left.starts_with(&first) && !left.contains("[mcp_servers.throughline]"), "{left}");
}

#[test]
fn directories_that_were_there_before_stay_and_the_words_say_what_was_done() {
    let home = Home::new();
    std::fs::create_dir_all(home.person(".config/zed")).unwrap();
    std::fs::create_dir_all(home.person(".claude")).unwrap();
    home.has(".claude.json", "{}");
    let before = tree(&home.person(""));
    for client in ["zed", "claude-code"] {
        home.run(&["connect", client]).done();
    }
    assert!(home.run(&["disconnect", "zed"]).done().contains("removed"));
    let told = home.run(&["disconnect", "claude-code"]).done();
    assert!(told.contains("restored") && !told.contains("written"), "{told}");
    assert_eq!(tree(&home.person("")), before);
}

#[test]
fn guidance_goes_into_a_persons_own_file_only_when_asked() {
    let home = lived_in();
    home.run(&["connect", "gemini"]).done();
    assert_eq!(home.reads(".gemini/GEMINI.md"), "Be brief.\n");
    home.run(&["connect", "gemini", "--guidance"]).done();
    let text = home.reads(".gemini/GEMINI.md");
    assert!(text.starts_with("Be brief.\n\n<!-- throughline:begin -->\n") && text.contains("memory_recall"), "{text}");
    home.run(&["connect", "claude-code"]).done();
    assert!(home.reads(".claude/skills/throughline/SKILL.md").starts_with("---\nname: throughline\n"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let home = Home::new();
    home.run(&["connect", "emacs"]).failed(2, "invalid value 'emacs'", "--help");
    home.run(&["connect", "claude-desktop", "--project"]).failed(2, "no settings of its own", "--project");
    let nothing = ["connect", "codex", "--no-hooks", "--no-mcp", "--no-guidance"];
    home.run(&nothing).failed(2, "nothing is left", "--no-");
    assert!(tree(&home.person("")).is_empty());
    assert!(home.run(&["disconnect", "codex"]).done().contains("nothing of ours"));
}

#[test]
fn the_doctor_says_what_keeps_a_client_from_the_memory() {
    let home = lived_in();
    let remarks = || -> Vec<String> {
        let health = home.json(&["doctor"]);
        health["remarks"].as_array().unwrap().iter().map(string).filter(|remark| !remark.contains("chmod")).collect()
    };
    home.run(&["connect", "claude-code"]).done();
    home.run(&["connect", "codex"]).done();
    assert_eq!(remarks(), [""; 0]);
    let settings = home.reads(".claude/settings.json");
    home.has(".claude/settings.json", &settings.replace(PROGRAM, "/gone/throughline"));
    assert!(remarks()[0].contains("claude-code runs /gone/throughline, which is not there"), "{:?}", remarks());
    home.has(".claude/settings.json", "{ throughline");
    assert!(remarks()[0].contains("line 1, column"), "{:?}", remarks());
    home.has(".claude/settings.json", "{}");
    assert!(remarks()[0].contains("claude-code is connected without hooks"), "{:?}", remarks());
    assert_eq!(remarks().len(), 1, "once is enough: {:?}", remarks());
    home.has(".claude/settings.json", &settings);
    let config = home.reads(".codex/config.toml");
    home.has(".codex/config.toml", &format!("{config}\n[features]\nhooks = false\n"));
    assert!(remarks()[0].contains("codex is told to run no hooks"), "{:?}", remarks());
    home.has(".codex/config.toml", &config);
    let old = home.person("old/throughline");
    home.has("old/throughline", "#!/bin/sh\necho throughline 0.0.1\n");
    #[cfg(unix)]
    std::fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    home.has(".claude/settings.json", &settings.replace(PROGRAM, &old.display().to_string()));
    assert!(remarks()[0].contains("which is not throughline"), "{:?}", remarks());
}

#[cfg(unix)]
#[test]
fn only_the_doctor_runs_programs_and_only_those_that_are_called_as_ours() {
    let home = lived_in();
    home.run(&["connect", "claude-code"]).done();
    let settings = home.reads(".claude/settings.json");
    let runs = |name: &str, script: &str| {
        home.has(name, &format!("#!/bin/sh\ntouch {}\n{script}\n", home.person("ran").display()));
        let program = home.person(name);
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        home.has(".claude/settings.json", &settings.replace(PROGRAM, &program.display().to_string()));
    };
    let remarks = || home.json(&["doctor"])["remarks"].to_string();
    runs("mine/other", "echo throughline 0.0.1");
    assert!(remarks().contains("which is not called throughline"), "{}", remarks());
    runs("mine/throughline", "echo throughline 0.0.1");
    home.json(&[]);
    assert!(!home.person("ran").exists(), "nothing ran yet");
    assert!(remarks().contains("which is not throughline"), "{}", remarks());
    assert!(home.person("ran").exists());
    // One that never ends is given up.
    runs("mine/throughline", "exec tail -f /dev/null");
    assert!(remarks().contains("which is not throughline"), "{}", remarks());
}

#[test]
fn all_that_are_here_are_connected_and_one_that_cannot_be_keeps_none_from_it() {
    let home = lived_in();
    home.has(".gemini/settings.json", "{\"hooks\": []}");
    let before = tree(&home.person(""));
    let shown = home.run(&["connect", "--all", "--dry-run"]).stdout;
    assert!(shown.contains("nothing was written"), "{shown}");
    assert_eq!(tree(&home.person("")), before);
    let ran = home.run(&["connect", "--all"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for text in ["claude-code is connected", "codex is connected", "not connected: gemini: "] {
        assert!(ran.stdout.contains(text), "no `{text}`: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("vscode"), "what is not here is left out: {}", ran.stdout);
    home.has(".gemini/settings.json", "{}");
    assert!(home.run(&["connect", "--all"]).done().contains("codex is connected already"));
    Home::new().run(&["connect", "--all"]).failed(2, "no assistant", "`throughline connect NAME`");
    home.run(&["connect", "--all", "codex"]).failed(2, "cannot be used with", "");
}
