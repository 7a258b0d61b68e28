use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::parse::all_keys;
use super::settings::TABLES;
use super::values::Takes;
use super::*;

mod files;

fn toml(text: &str) -> Result<Config, ConfigError> {
    parse(text, Format::Toml)
}

fn message(text: &str, format: Format) -> String {
    parse(text, format).unwrap_err().to_string()
}

/// The dotted keys of the serialised defaults; optional ones are there as null.
fn default_tree() -> Vec<(String, Value)> {
    fn leaves(name: &str, value: &Value) -> Vec<(String, Value)> {
        let Some(below) = value.as_object() else { return vec![(name.to_owned(), value.clone())] };
        below.iter().flat_map(|(key, value)| leaves(format!("{name}.{key}").trim_start_matches('.'), value)).collect()
    }
    leaves("", &serde_json::to_value(Config::default()).unwrap())
}

#[test]
fn defaults_toml_equals_the_defaults() {
    assert_eq!(toml(&defaults_toml()).unwrap(), Config::default());
}

#[test]
fn defaults_toml_explains_every_key_and_its_range() {
    let defaults = defaults_toml();
    for table in TABLES {
        let section = defaults.split(&format!("\n[{}]\n", table.name)).nth(1).unwrap().split("\n[").next().unwrap();
        for (key, takes) in table.keys.iter().map(|key| (key.name, key.takes)) {
            let of_key = |line: &&str| line.trim_start_matches("# ").starts_with(&format!("{key} = "));
            let block = section.split("\n\n").find(|block| block.lines().any(|line| of_key(&line)));
            let block = block.unwrap_or_else(|| panic!("`{}.{key}` is not in defaults.toml", table.name));
            assert!(block.trim().starts_with("# "), "{key} has no comment");
            match takes {
                Takes::Whole(_, u32::MAX) => {}
                Takes::Whole(..) | Takes::Ratio => assert!(block.contains(&takes.range()), "{key} without its range"),
                Takes::OneOf(words) => assert!(words.iter().all(|word| block.contains(&format!("\"{word}\"")))),
                _ => {}
            }
        }
    }
}

#[test]
fn commented_lines_of_defaults_toml_would_parse() {
    // A setting without a default stands there as an example, behind `# `.
    let is_example = |line: &str| {
        let key = line.split(" =").next().unwrap_or_default();
        line.contains(" = ") && !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
    };
    let uncommented = |line: &str| match line.strip_prefix("# ").filter(|example| is_example(example)) {
        Some(example) => format!("{example}\n"),
        None => format!("{line}\n"),
    };
    let whole: String = defaults_toml().lines().map(uncommented).collect();
    let config = toml(&whole).unwrap();
    assert!(serde_json::to_string(&config).unwrap().find("null").is_none());
}

#[test]
fn the_table_of_keys_is_the_tree_of_the_defaults() {
    let tree = default_tree();
    let known: BTreeSet<_> = all_keys().into_iter().collect();
    assert_eq!(known, tree.iter().map(|(key, _)| key.clone()).collect());
    for table in TABLES {
        for (key, dotted) in table.keys.iter().zip(table.dotted()) {
            let (_, default) = tree.iter().find(|(name, _)| *name == dotted).unwrap();
            key.check(table.name, default).unwrap();
            assert_eq!(key.check(table.name, &Value::Null).is_ok(), default.is_null(), "{dotted} is optional or not");
            assert_eq!(key.example.is_some(), default.is_null(), "{dotted} has an example if it is unset");
        }
    }
}

#[test]
fn every_word_that_the_table_allows_is_a_value() {
    for known in TABLES {
        let table = known.name;
        for (key, takes) in known.keys.iter().map(|key| (key.name, key.takes)) {
            let (Takes::OneOf(words) | Takes::OneOfOrList(words)) = takes else { continue };
            for word in words {
                let config = toml(&format!("[{table}]\n{key} = \"{word}\"")).unwrap();
                assert_eq!(known.of(&serde_json::to_value(config).unwrap())[key], json!(word));
            }
        }
    }
}

#[test]
fn first_run_turns_memory_on_for_one_person_and_changes_nothing_else() {
    let mut config = toml(FIRST_RUN).unwrap();
    assert!(config.memory.is_enabled());
    assert_eq!((config.memory.enabled.take(), config.memory.user_namespace.take()), (Some(true), Some("user".into())));
    assert_eq!(config, Config::default());
    assert!(FIRST_RUN.contains("throughline config show"));
    for line in FIRST_RUN.lines().filter(|line| line.starts_with("# ") && line.contains(" = ")) {
        let setting = line.trim_start_matches("# ");
        let key = setting.split(' ').next().unwrap();
        let table = if TABLES[0].key(key).is_some() { "memory" } else { "model" };
        let suggested = toml(&format!("[{table}]\n{setting}")).unwrap();
        let is_optional = TABLES.iter().find(|known| known.name == table).unwrap().key(key).unwrap().is_optional;
        assert!(
            is_optional || suggested == Config::default(),
            "{key} is suggested with another value than its default"
        );
    }
}

#[test]
fn loads_the_yaml_of_the_sources() {
    let indented = "memory:\n  # Shared identity.\n  user_namespace: \"user\"\n  working_memory_ttl_days: 14       # default\n  \
                    working_memory_max_tokens: 1000   # default\n  proactive_session_greeting: false # default\n";
    // As the page shows it: the indentation is gone.
    let flat = "memory:\n# Shared identity.\nuser_namespace: \"user\" # enables\nworking_memory_ttl_days: 14\n\
                working_memory_max_tokens: 1000 # cap\nproactive_session_greeting: false\n";
    let mut expected = Config::default();
    expected.memory.user_namespace = Some("user".into());
    for text in [indented, flat] {
        assert_eq!(parse(text, Format::Yaml).unwrap(), expected);
    }
}

#[test]
fn loads_the_json_of_the_sources() {
    let text = r#"{
  "memory": {
    "enabled": true,
    "consolidation_provider": "openai",
    "consolidation_model": "gpt-4o-mini",
    "recall_limit": 5,
    "consolidation_turn_threshold": 3,
    "idle_consolidation_minutes": 10,
    "timeline_retention_days": 90,
    "max_failures_before_degrade": 3
  }
}"#;
    let mut expected = Config::default();
    expected.memory.enabled = Some(true);
    expected.memory.consolidation_provider = Some("openai".into());
    expected.memory.consolidation_model = Some("gpt-4o-mini".into());
    assert_eq!(parse(text, Format::Json).unwrap(), expected);
}

#[test]
fn memory_is_on_as_written_or_with_a_namespace() {
    let check = |text: &str, expected| assert_eq!(toml(text).unwrap().memory.is_enabled(), expected, "{text}");
    check("", false);
    check("[memory]\nuser_namespace = \"user\"", true);
    check("[memory]\nenabled = true", true);
    check("[memory]\nenabled = false\nuser_namespace = \"user\"", false);
}

#[test]
fn every_number_has_its_range() {
    for known in TABLES {
        let table = known.name;
        for (key, takes) in known.keys.iter().map(|key| (key.name, key.takes)) {
            let (inside, outside) = match takes {
                Takes::Whole(least, most) => {
                    ([i64::from(least), i64::from(most)], [i64::from(least) - 1, i64::from(most) + 1])
                }
                Takes::Ratio => ([0, 1], [-1, 2]),
                _ => continue,
            };
            let set = |number: i64| toml(&format!("[{table}]\n{key} = {number}"));
            for number in inside {
                let tree = serde_json::to_value(set(number).unwrap()).unwrap();
                assert_eq!(known.of(&tree)[key].as_f64(), Some(number as f64));
            }
            for number in outside {
                let error = set(number).unwrap_err();
                let expected = format!("`{table}.{key}` is {number}, expected {}", takes.range());
                assert_eq!(error.to_string(), expected);
                assert!(matches!(error, ConfigError::OutOfRange { .. }));
            }
        }
    }
    let ranges = [("working_memory_ttl_days", "1 to 365"), ("working_memory_max_tokens", "100 to 4000")];
    for (key, range) in ranges {
        assert_eq!(
            message(&format!("[memory]\n{key} = 0"), Format::Toml),
            format!("`memory.{key}` is 0, expected {range}")
        );
    }
}

#[test]
fn unknown_keys_are_named_with_the_nearest() {
    let check = |text: &str, written: &str, near: Option<&str>| match toml(text).unwrap_err() {
        ConfigError::UnknownKey { key, nearest } => assert_eq!((key.as_str(), nearest.as_deref()), (written, near)),
        other => panic!("{other}"),
    };
    check("[memory]\nrecal_limit = 5", "memory.recal_limit", Some("memory.recall_limit"));
    check("[memory]\nrecallLimit = 5", "memory.recallLimit", Some("memory.recall_limit"));
    check("[memroy]\nrecall_limit = 5", "memroy", Some("memory"));
    check("recall_limit = 5", "recall_limit", Some("memory.recall_limit"));
    check("[memory]\nrepeat = true", "memory.repeat", Some("inject.repeat"));
    check("[model]\nxyzzy = 1", "model.xyzzy", None);
    check("[embeddings]\nbase_ur = \"x\"", "embeddings.base_ur", Some("embeddings.base_url"));
    check("[memory]\n\"\\u001b[2J\" = 1", "memory.\\u{1b}[2J", None);
    assert_eq!(message("[memory]\nrecal_limit = 5", Format::Toml), "unknown key `memory.recal_limit`");
}

#[test]
fn tables_may_stand_in_a_group() {
    let config = toml("[channels.telegram]\ntoken_env = \"BOT\"\nallow = [17, -100123]").unwrap();
    assert_eq!(
        (config.channels.telegram.token_env, config.channels.telegram.allow),
        (Some("BOT".into()), vec![17, -100_123])
    );
    assert_eq!(parse("channels:\n  telegram:\n", Format::Yaml).unwrap(), Config::default());
    assert_eq!(parse("channels:\n", Format::Yaml).unwrap(), Config::default());
    for (text, expected) in [
        ("[channels.telegrm]\nallow = []", "unknown key `channels.telegrm`"),
        ("[channels.telegram]\nalow = []", "unknown key `channels.telegram.alow`"),
        ("[channels]\ntelegram = 1", "`channels.telegram` is a number, expected a table"),
        ("channels = 1", "`channels` is a number, expected a table"),
        (
            "[channels.telegram]\nallow = [\"17\"]",
            "`channels.telegram.allow` is a list of something else, expected a list of whole numbers",
        ),
        ("[channels.telegram]\nallow = 17", "`channels.telegram.allow` is a number, expected a list of whole numbers"),
        (
            "[channels.telegram]\ntoken_env = \"12:AA\"",
            "`channels.telegram.token_env` is not the name of an environment variable",
        ),
        ("[channels.telegram]\ntoken = \"12:AA\"", "unknown key `channels.telegram.token`"),
    ] {
        assert_eq!(message(text, Format::Toml), expected);
    }
}

#[test]
fn a_key_in_the_wrong_place_is_never_repeated() {
    let misplaced = [
        ("[model]\napi_key = \"sk-secret\"", "`api_key_env`"),
        ("[model]\napi_key_env = \"sk-secret\"", "variable"),
        ("[model]\nprovider = \"sk-secret\"", ""),
        ("[memory]\nrecall_limit = \"sk-secret\"", ""),
        ("[memory]\nenabled = \"sk-secret\"", ""),
        ("[memory]\ntools = \"sk-secret\"", ""),
        ("model = \"sk-secret\"", ""),
        ("[model]\nmodel = sk-secret", ""),
        ("[model]\nmodel = \"sk-secret", ""),
    ];
    for (text, advice) in misplaced {
        let error = toml(text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("sk-secret"), "{error:?}");
        assert!(error.hint().unwrap_or_default().contains(advice), "{error:?}");
    }
    for text in
        ["model:\n  api_key: sk-secret\n   x: 1", "model: \"sk-secret\\q\"", "model: [sk-secret", "\"sk-secret\""]
    {
        let error = parse(text, Format::Yaml).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("sk-secret"), "{error:?}");
    }
}

#[test]
fn says_what_is_wrong_and_where() {
    let check = |text: &str, format, expected: &str| assert_eq!(message(text, format), expected);
    check(
        "[memory]\nranking = \"best\"",
        Format::Toml,
        "`memory.ranking` is another word, expected one of `fused`, `bm25`",
    );
    check(
        r#"{"memory": {"recall_limit": null}}"#,
        Format::Json,
        "`memory.recall_limit` is empty, expected a whole number, 0 to 100",
    );
    check("[memory]\nenabled = nan", Format::Toml, "not valid TOML: `nan` and `inf` are no settings");
    check(
        r#"{"memory": {"recall_limit": 5.0}}"#,
        Format::Json,
        "`memory.recall_limit` is a number with a decimal point, expected a whole number, 0 to 100",
    );
    check("[memory]\nuser_namespace = 1979-05-27", Format::Toml, "`memory.user_namespace` is a table, expected text");
    check("[[memory]]", Format::Toml, "`memory` is a list, expected a table");
    check("[1]", Format::Json, "the config is a list, expected tables such as `memory`");
    check(
        "[memory]\n\nenabled = ",
        Format::Toml,
        "not valid TOML at line 3: string values must be quoted, expected literal string",
    );
    check("{\n\"memory\": }", Format::Json, "not valid JSON at line 2: expected value");
    check(
        "memory:\n  enabled: true\n  enabled: false",
        Format::Yaml,
        "not valid YAML at line 3: duplicate mapping key: enabled not allowed here",
    );
    check("memory:\n  enabled: yes", Format::Yaml, "`memory.enabled` is text, expected true or false");
}

#[test]
fn empty_texts_are_all_defaults() {
    for format in [Format::Toml, Format::Yaml, Format::Json] {
        for text in ["", " \n", "\u{feff}"] {
            assert_eq!(parse(text, format).unwrap(), Config::default());
        }
    }
    assert_eq!(parse("# nothing\n", Format::Yaml).unwrap(), Config::default());
    assert_eq!(parse("memory:\nmodel:\n", Format::Yaml).unwrap(), Config::default());
    assert_eq!(parse("\u{feff}{\"memory\": {\"enabled\": null}}", Format::Json).unwrap(), Config::default());
}

#[test]
fn off_is_a_word_in_yaml_too() {
    assert_eq!(parse("inject:\n  recall: off", Format::Yaml).unwrap().inject.recall, RecallPlace::Off);
}

#[test]
fn a_yaml_bomb_is_an_error_and_no_wait() {
    let levels = ('b'..='z')
        .zip('a'..)
        .map(|(each, before)| format!("{each}: &{each} [{}]\n", vec![format!("*{before}"); 9].join(", ")));
    let bomb = format!("a: &a [x, x, x, x, x, x, x, x, x]\n{}", levels.collect::<String>());
    assert!(matches!(parse(&bomb, Format::Yaml), Err(ConfigError::Syntax { .. })));
    for format in [Format::Toml, Format::Yaml, Format::Json] {
        assert!(parse(&format!("x = {}", "[".repeat(100_000)), format).is_err());
        assert!(parse(&"[".repeat(100_000), format).is_err());
    }
}

#[test]
fn settings_survive_a_round_trip_through_toml() {
    let mut config = toml(FIRST_RUN).unwrap();
    config.memory.tools = Tools::Only(vec!["memory_recall".into(), "ü \"quoted\"".into()]);
    config.memory.trigger_ratio = 1.0;
    config.model.provider = ModelProvider::OpenAi;
    config.embeddings.provider = EmbeddingsProvider::Builtin;
    config.model.api_key_env = Some("MY_KEY".into());
    for config in [config, Config::default()] {
        assert_eq!(toml(&::toml::to_string(&config).unwrap()).unwrap(), config);
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "memory",
        "recall_limit",
        "model",
        ":",
        "=",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "\n",
        "  ",
        "-",
        "1e999",
        "-1",
        "nan",
        ".inf",
        "&a",
        "*a",
        "<<",
        "!!",
        "? ",
        "|",
        "true",
        "~",
        "\u{feff}",
        "#",
        ",",
        "'''",
        "ß",
        "1979-05-27",
        "\t",
        "\r",
        "---",
    ]);
    prop_oneof![".*", "(?s).*", prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())]
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any_text()) {
        for format in [Format::Toml, Format::Yaml, Format::Json] {
            if let Err(error) = parse(&text, format) {
                let _ = (error.to_string(), error.hint());
            }
        }
    }
}
