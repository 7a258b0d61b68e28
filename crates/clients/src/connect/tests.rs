//! Every client, over many shapes of files: what is ours comes and goes, and what is not stays.

use std::path::PathBuf;

use super::*;
use crate::Client;

const PROGRAM: &str = "/opt/My Tools/throughline";
const EVERYTHING: [Part; 3] = [Part::Mcp, Part::Hooks, Part::Guidance];
const GUIDANCE: &str = "You have a memory.\n\nUse it.";

fn dirs() -> Dirs {
    let home = PathBuf::from("/home/ada");
    Dirs {
        config: home.join(".config"),
        roaming: home.join("AppData"),
        home,
        claude: None,
        codex: None,
        copilot: None,
        gemini: None,
        opencode: None,
    }
}

fn ask(program: &str) -> Ask<'_> {
    Ask { program, platform: Platform::Linux, parts: &EVERYTHING, guidance: GUIDANCE, home: None }
}

fn all_targets() -> Vec<Target> {
    let scopes = [Scope::User, Scope::Project("/srv/shop".into())];
    let both = |client| scopes.iter().flat_map(move |scope| targets(client, scope, Platform::Linux, &dirs()));
    Client::ALL.into_iter().flat_map(both).collect()
}

fn ending(end: &str) -> Vec<Target> {
    all_targets().into_iter().filter(|target| target.path.extension().is_some_and(|own| own == end)).collect()
}

#[track_caller]
fn connected(target: &Target, current: Option<&str>, program: &str) -> String {
    match connect(target, current, &ask(program)) {
        Ok(Plan::Write(text)) => text,
        other => panic!("{}: {current:?}: {other:?}", target.path.display()),
    }
}

fn disconnected(target: &Target, current: &str, before: Option<&str>) -> Plan {
    disconnect(target, current, &Undo { before, platform: Platform::Linux, guidance: GUIDANCE, hooks: None }).unwrap()
}

/// Connects, connects again, moves the program, disconnects.
#[track_caller]
fn comes_and_goes(target: &Target, before: Option<&str>) {
    let name = target.path.display();
    let there = connected(target, before, PROGRAM);
    assert_eq!(connect(target, Some(&there), &ask(PROGRAM)), Ok(Plan::Unchanged), "{name}: {before:?}");
    let found = look(target, &there).unwrap();
    assert_eq!((found.whole, found.partly), (target.parts().collect(), Vec::new()), "{name}");
    let gone = before.map_or(Plan::Remove, |before| Plan::Write(before.to_owned()));
    assert_eq!(disconnected(target, &there, before), gone, "{name}");
    if target.parts().any(|part| part != Part::Guidance) {
        let moved = connected(target, Some(&there), "/usr/bin/throughline");
        assert_eq!(look(target, &moved).unwrap().programs, ["/usr/bin/throughline"], "{name}: {moved}");
        assert_eq!(disconnected(target, &moved, before), gone, "{name}: moved");
        assert_eq!(connected(target, Some(&moved), PROGRAM), there, "{name}: moved back");
    }
}

const JSON: [&str; 20] = [
    "",
    "\n",
    "  \n\n",
    "{}",
    "{ }",
    "{}\n",
    "{\n}\n",
    "{\n\n}\n",
    "{\"a\":1}",
    "{ \"a\": [1, 2], \"b\": {} }\n",
    "{\n  \"a\": 1\n}\n",
    "{\n  \"a\": 1,\n}\n",
    "{\n\t\"a\": {\n\t\t\"b\": true\n\t}\n}\n",
    "{\r\n    \"a\": 1\r\n}\r\n",
    "\u{feff}{\n  \"a\": \"ü\"\n}\n",
    "// what this is\n{\n  // first\n  \"a\": 1, // one\n  /* b */ \"b\": [\n    1, // in here\n  ],\n}\n// the end",
    "{\n  \"hooks\": {},\n  \"mcpServers\": {},\n  \"servers\": {},\n  \"mcp\": {},\n  \"context_servers\": {}\n}",
    "{\n  // mine\n  \"mcpServers\": { \"other\": { \"command\": \"x\" } },\n  \"servers\": {\"o\":{}},\n  \"mcp\": {\n  }\n}\n",
    "{\"version\":1,\"hooks\":{\"Stop\":[],\"stop\":[{\"command\":\"./mine.sh\"}],\"agentStop\":[ ],\"AfterAgent\":[]}}",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n    ],\n    \"SessionStart\": [ {\"matcher\": \"startup\", \"hooks\": []} ]\n  },\n  \"z\": null\n}\n",
];

const TOML: [&str; 9] = [
    "",
    "\n",
    "# only this",
    "model = \"x\"",
    "model = \"x\" # mine\n\n\n",
    "model = \"x\"\r\n\r\n[features]\r\nhooks = true\r\n",
    "[mcp_servers.other]\ncommand = \"y\"\n# tail\n",
    "[mcp_servers]\n[mcp_servers.a]\ncommand = 'b'\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"",
    "\u{feff}a = [\n  1,\n]\n",
];

const MARKDOWN: [&str; 7] =
    ["", "\n", "# Mine", "# Mine\n", "# Mine\n\nText.\n\n\n", "# Mine\r\n\r\nText.\r\n", "\u{feff}x\n"];

#[test]
fn a_file_is_made_and_unmade() {
    for target in all_targets() {
        comes_and_goes(&target, None);
    }
}

#[test]
fn whatever_a_json_file_looks_like_it_is_given_back_byte_by_byte() {
    for target in ending("json") {
        JSON.iter().for_each(|before| comes_and_goes(&target, Some(before)));
    }
}

#[test]
fn whatever_a_toml_file_looks_like_it_is_given_back_byte_by_byte() {
    for target in ending("toml") {
        TOML.iter().for_each(|before| comes_and_goes(&target, Some(before)));
    }
}

#[test]
fn whatever_a_persons_markdown_looks_like_it_is_given_back_byte_by_byte() {
    for target in ending("md").iter().filter(|target| target.is_personal()) {
        MARKDOWN.iter().for_each(|before| comes_and_goes(target, Some(before)));
    }
}

#[test]
fn everything_else_in_a_json_file_means_what_it_meant() {
    for target in ending("json") {
        for before in JSON.iter().filter(|before| before.contains('"')) {
            let there = connected(&target, Some(before), PROGRAM);
            let comments = ["// what this is", "// one", "/* b */", "// in here", "// mine", "// the end"];
            assert!(
                comments.into_iter().all(|comment| !before.contains(comment) || there.contains(comment)),
                "{there}"
            );
            let (old, new) = (json_value(before), json_value(&there));
            assert!(is_within(&old, &new), "{}: {old} is not in {new}", target.path.display());
        }
    }
}

fn json_value(text: &str) -> serde_json::Value {
    let text = text.trim_start_matches('\u{feff}');
    super::json::checked(text).unwrap()
}

fn is_within(old: &serde_json::Value, new: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object};
    match (old, new) {
        (Object(old), Object(new)) => old.iter().all(|(key, old)| new.get(key).is_some_and(|new| is_within(old, new))),
        (Array(old), Array(new)) => old.iter().all(|old| new.contains(old)),
        _ => old == new,
    }
}

#[test]
fn a_memory_elsewhere_comes_and_goes_with_the_server() {
    let with_home = |home| Ask { home: Some(home), ..ask(PROGRAM) };
    let servers = all_targets().into_iter().filter(|target| target.parts().any(|part| part == Part::Mcp));
    for target in servers {
        let name = target.path.display().to_string();
        let empty = if name.ends_with("toml") { "# mine\n" } else { "{\n  \"a\": 1\n}\n" };
        let there = connected(&target, Some(empty), PROGRAM);
        let Ok(Plan::Write(moved)) = connect(&target, Some(&there), &with_home("/m")) else {
            panic!("{name}: {there}")
        };
        assert_eq!(look(&target, &moved).unwrap().home.as_deref(), Some("/m"), "{name}: {moved}");
        assert_eq!(connect(&target, Some(&moved), &with_home("/m")), Ok(Plan::Unchanged), "{name}: {moved}");
        assert_eq!(
            connect(&target, Some(&moved), &ask(PROGRAM)),
            Ok(Plan::Unchanged),
            "{name}: it stays where nobody asks"
        );
        let Ok(Plan::Write(again)) = connect(&target, Some(&moved), &with_home("/n")) else {
            panic!("{name}: {moved}")
        };
        assert_eq!(again, moved.replace("/m\"", "/n\""), "{name}");
        assert_eq!(disconnected(&target, &again, Some(empty)), Plan::Write(empty.to_owned()), "{name}: {again}");
    }
}

#[test]
fn a_codex_server_with_an_environment_of_the_persons_own_keeps_it() {
    let codex = &targets(Client::Codex, &Scope::User, Platform::Linux, &dirs())[0];
    let ask = Ask { home: Some("/m"), ..ask(PROGRAM) };
    for env in ["env = { A = \"1\" }\n", "env = {}\n", "\n[mcp_servers.throughline.env]\nA = \"1\"\n"] {
        let text = format!("[mcp_servers.throughline]\ncommand = {:?}\nargs = [\"mcp\"]\n{env}", PROGRAM);
        let Ok(Plan::Write(new)) = connect(codex, Some(&text), &ask) else { panic!("{text}") };
        assert_eq!(look(codex, &new).unwrap().home.as_deref(), Some("/m"), "{new}");
        assert_eq!(new.contains("A = \"1\""), env.contains('A'), "{new}");
    }
}

#[test]
fn what_a_person_adds_in_between_stays() {
    let gemini = &targets(Client::Gemini, &Scope::User, Platform::Linux, &dirs())[0];
    let there = connected(gemini, None, PROGRAM);
    let edited = there.replacen("{\n", "{\n  \"theme\": \"dark\", // mine\n", 1);
    let Plan::Write(left) = disconnected(gemini, &edited, None) else { panic!() };
    assert_eq!(left, "{\n  \"theme\": \"dark\" // mine\n}\n");

    let before = "{\n  \"hooks\": {}\n}\n";
    let there = connected(gemini, Some(before), PROGRAM).replace("\"hooks\": {", "\"x\": 1,\n  \"hooks\": {");
    let Plan::Write(left) = disconnected(gemini, &there, Some(before)) else { panic!() };
    assert_eq!(
        json_value(&left),
        serde_json::json!({"x": 1, "hooks": {}}),
        "what was there before stays, empty or not"
    );

    let codex = &targets(Client::Codex, &Scope::User, Platform::Linux, &dirs())[0];
    let there = connected(codex, Some("model = \"x\"\n"), PROGRAM) + "env = { A = \"1\" }\n\n# about b\n[b]\nc = 1\n";
    let plan = disconnected(codex, &there, Some("model = \"x\"\n"));
    assert_eq!(plan, Plan::Write("model = \"x\"\n\n# about b\n[b]\nc = 1\n".to_owned()));

    let notes = &targets(Client::Gemini, &Scope::User, Platform::Linux, &dirs())[1];
    let there = connected(notes, Some("# Mine\n"), PROGRAM) + "\nMore.\n";
    assert_eq!(disconnected(notes, &there, Some("# Mine\n")), Plan::Write("# Mine\n\nMore.\n".to_owned()));
}

#[test]
fn without_the_copy_from_before_only_what_is_empty_goes() {
    let cursor = &targets(Client::Cursor, &Scope::User, Platform::Linux, &dirs())[1];
    let before =
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [\n      { \"command\": \"./mine.sh\" }\n    ]\n  }\n}\n";
    let there = connected(cursor, Some(before), PROGRAM);
    assert_eq!(disconnected(cursor, &there, None), Plan::Write(before.to_owned()));
}

#[test]
fn what_a_person_says_about_our_server_stays_when_the_program_moves() {
    let claude = &targets(Client::ClaudeDesktop, &Scope::User, Platform::Linux, &dirs())[0];
    let mine = r#"{"mcpServers":{"throughline":{"command":"/old/throughline","args":["mcp"],"env":{"A":"1"}}}}"#;
    assert_eq!(connected(claude, Some(mine), "/new/throughline"), mine.replace("/old/", "/new/"));
    let elsewhere = r#"{"mcpServers":{"throughline":{"url":"http://127.0.0.1:7077/mcp"}}}"#;
    assert_eq!(connect(claude, Some(elsewhere), &ask(PROGRAM)), Ok(Plan::Unchanged), "a server elsewhere is a choice");
    let codex = &targets(Client::Codex, &Scope::User, Platform::Linux, &dirs())[0];
    let mine =
        "mcp_servers.throughline = { command = '/old/throughline', args = [\"mcp\"], startup_timeout_sec = 9 }\n";
    let there = connected(codex, Some(mine), "/new/throughline");
    assert_eq!(there, mine.replace("'/old/throughline'", "\"/new/throughline\""));
    assert_eq!(disconnected(codex, &there, None), Plan::Remove);
}

#[test]
fn a_file_that_is_not_understood_is_refused_with_the_place() {
    let settings = &targets(Client::Gemini, &Scope::User, Platform::Linux, &dirs())[0];
    let config = &targets(Client::Codex, &Scope::User, Platform::Linux, &dirs())[0];
    let refused = |target: &Target, text: &str| connect(target, Some(text), &ask(PROGRAM)).unwrap_err().to_string();
    assert!(
        refused(settings, "{\n  \"a\": 1\n  \"b\": 2\n}").starts_with("line 2, column 9"),
        "{}",
        refused(settings, "{\n  \"a\": 1\n  \"b\": 2\n}")
    );
    assert!(refused(settings, "{\n  \"a\": ").starts_with("line "));
    assert!(refused(settings, "{'a': 1}").starts_with("line 1, column 2"));
    assert!(
        refused(config, "a = 1\nb = = 2\n").starts_with("line 2, column 5"),
        "{}",
        refused(config, "a = 1\nb = = 2\n")
    );
    for (text, at) in [
        ("[]", "the file"),
        ("\"text\"", "the file"),
        ("{\"mcpServers\": []}", "mcpServers"),
        ("{\"mcpServers\": {\"throughline\": \"x\"}}", "mcpServers.throughline"),
        ("{\"hooks\": []}", "hooks"),
        ("{\"hooks\": {\"SessionStart\": {}}}", "hooks.SessionStart"),
    ] {
        assert!(refused(settings, text).starts_with(&format!("`{at}` is not")), "{text}: {}", refused(settings, text));
    }
    assert!(refused(config, "mcp_servers = 1\n").starts_with("`mcp_servers` is not"));
    assert!(refused(config, "mcp_servers = { a = { command = 'b' } }\n").starts_with("`mcp_servers` is not"));
    let skill = &targets(Client::ClaudeCode, &Scope::User, Platform::Linux, &dirs())[2];
    assert_eq!(connect(skill, Some("# my own skill\n"), &ask(PROGRAM)), Err(Unfit::NotOurs));
    let deep = "[".repeat(100_000);
    assert!(refused(settings, &deep).starts_with("line "));
}

#[test]
fn only_the_parts_that_are_asked_for_are_entered() {
    let gemini = &targets(Client::Gemini, &Scope::User, Platform::Linux, &dirs())[0];
    let Ok(Plan::Write(there)) = connect(gemini, None, &Ask { parts: &[Part::Mcp], ..ask(PROGRAM) }) else { panic!() };
    assert_eq!(look(gemini, &there).unwrap().whole, [Part::Mcp]);
    assert_eq!(connect(gemini, None, &Ask { parts: &[], ..ask(PROGRAM) }), Ok(Plan::Unchanged));
    let both = connected(gemini, Some(&there), PROGRAM);
    assert_eq!(disconnected(gemini, &both, None), Plan::Remove);
    let hooks_first = Ask { parts: &[Part::Hooks], ..ask(PROGRAM) };
    let Ok(Plan::Write(there)) = connect(gemini, Some("{}"), &hooks_first) else { panic!() };
    let both = connected(gemini, Some(&there), PROGRAM);
    let Plan::Write(left) = disconnected(gemini, &both, Some("{}")) else { panic!() };
    assert_eq!(json_value(&left), serde_json::json!({}));
}

#[test]
fn of_hooks_that_were_entered_twice_one_is_left() {
    for client in [Client::ClaudeCode, Client::Cursor, Client::Copilot, Client::Gemini] {
        let every = targets(client, &Scope::User, Platform::Linux, &dirs());
        let target = every.iter().find(|target| target.parts().any(|part| part == Part::Hooks)).unwrap();
        let once = connected(target, None, PROGRAM);
        let mut twice = json_value(&once);
        for list in twice["hooks"].as_object_mut().unwrap().values_mut() {
            let list = list.as_array_mut().unwrap();
            let mut old = list[0].clone();
            if let Some(inner) = old.get_mut("hooks").and_then(serde_json::Value::as_array_mut) {
                inner.push(serde_json::json!({ "type": "command", "command": "./mine.sh" }));
            }
            list.extend([old, list[0].clone()]);
        }
        let there = connected(target, Some(&twice.to_string()), "/new/throughline");
        for list in json_value(&there)["hooks"].as_object().unwrap().values() {
            let text = list.to_string();
            let ours = text.matches("/new/throughline").count();
            assert_eq!((ours, text.contains(PROGRAM)), (1, false), "{client}: {text}");
        }
        let is_grouped = once.contains("\"hooks\": [");
        assert_eq!(there.matches("./mine.sh").count(), if is_grouped { 5 } else { 0 }, "{client}: {there}");
    }
}

#[test]
fn hooks_that_were_turned_off_are_noticed() {
    let codex = &targets(Client::Codex, &Scope::User, Platform::Linux, &dirs())[0];
    assert!(look(codex, "[features]\nhooks = false\n").unwrap().hooks_are_off);
    assert!(!look(codex, "[features]\nhooks = true\n").unwrap().hooks_are_off);
}

#[test]
fn every_client_has_its_files_on_every_platform() {
    let mut told = String::new();
    for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
        for client in Client::ALL {
            for target in targets(client, &Scope::User, platform, &dirs()) {
                let parts: Vec<&str> = target.parts().map(Part::as_str).collect();
                told.push_str(&format!("{platform:?} {client}: {} ({})\n", target.path.display(), parts.join(", ")));
            }
        }
    }
    for client in Client::ALL {
        for target in targets(client, &Scope::Project("/srv/shop".into()), Platform::Linux, &dirs()) {
            told.push_str(&format!("project {client}: {}\n", target.path.display()));
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn every_file_reads_as_its_client_wants_it() {
    let told: String = Client::ALL
        .into_iter()
        .flat_map(|client| targets(client, &Scope::Project("shop".into()), Platform::Linux, &dirs()))
        .map(|target| format!("--- {}\n{}", target.path.display(), connected(&target, None, PROGRAM)))
        .collect();
    insta::assert_snapshot!(told);
}

/// Any JSON that a person or a program may have put into a file.
fn any_json() -> impl proptest::strategy::Strategy<Value = serde_json::Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[ -~äé\u{1F600}\n\t]{0,12}".prop_map(serde_json::Value::from),
    ];
    let key =
        prop_oneof!["[a-z\" /]{0,6}", Just("hooks".to_owned()), Just("mcpServers".to_owned()), Just("Stop".to_owned())];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let members = prop::collection::vec((key.clone(), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Into::into),
            members.prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn any_json_is_refused_or_given_back_byte_by_byte(value in any_json(), is_pretty: bool) {
        let text = if is_pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        for target in targets(Client::Gemini, &Scope::User, Platform::Linux, &dirs()).iter().take(1) {
            if let Ok(plan) = connect(target, Some(&text), &ask(PROGRAM)) {
                let Plan::Write(there) = plan else { panic!("{text}") };
                proptest::prop_assert_eq!(connect(target, Some(&there), &ask(PROGRAM)), Ok(Plan::Unchanged));
                proptest::prop_assert!(is_within(&value, &json_value(&there)));
                proptest::prop_assert_eq!(disconnected(target, &there, Some(&text)), Plan::Write(text.clone()));
            }
        }
    }

    #[test]
    fn no_text_is_a_reason_to_panic(text in "[\\[\\]{}\",:/*a \n=.'#]{0,40}") {
        for target in all_targets() {
            let _ = connect(&target, Some(&text), &ask(PROGRAM));
            let undo = Undo { before: None, platform: Platform::Linux, guidance: GUIDANCE, hooks: Some(&text) };
            let _ = disconnect(&target, &text, &undo);
        }
    }
}
