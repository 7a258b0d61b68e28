//! The files on disk, and what `config show` says of them.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::super::parse::all_keys;
use super::super::show::shown;
use super::super::*;

#[test]
fn finds_one_file_and_refuses_two() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(find(dir.path()).unwrap(), None);
    assert_eq!(load(dir.path()).unwrap(), Loaded::default());
    fs::write(dir.path().join("config.yml"), "memory:\n  recall_limit: 7\n  user_namespace:\n").unwrap();
    let loaded = load(dir.path()).unwrap();
    assert_eq!(loaded.path, Some(dir.path().join("config.yml")));
    assert_eq!(loaded.given, BTreeSet::from(["memory.recall_limit".to_owned()]));
    fs::write(dir.path().join("config.json"), "{}").unwrap();
    let error = load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("config.yml") && error.contains("config.json"), "{error}");
}

#[test]
fn an_error_in_a_file_names_the_file_and_keeps_its_hint() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.toml"), "[memory]\nrecal_limit = 1").unwrap();
    let error = load(dir.path()).unwrap_err();
    assert!(error.to_string().ends_with("config.toml`"), "{error}");
    assert_eq!(error.hint().as_deref(), Some("did you mean `memory.recall_limit`?"));
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("recal_limit"));
}

#[test]
fn first_run_never_touches_a_config_that_is_there() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("new");
    let path = write_first_run(&dir).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), FIRST_RUN);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&path)), (0o700, 0o600));
    }
    assert_eq!(write_first_run(&dir).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    fs::rename(&path, dir.join("config.json")).unwrap();
    assert_eq!(write_first_run(&dir).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn rows_say_where_each_value_comes_from() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.toml"), "[memory]\ntools = [\"memory_recall\"]\nrecall_limit = 5").unwrap();
    let rows = rows(&load(dir.path()).unwrap());
    assert_eq!(rows.iter().map(|row| row.0.clone()).collect::<Vec<_>>(), all_keys());
    let check = |key: &str, value: &str, origin| {
        assert!(rows.contains(&(key.into(), value.into(), origin)), "{key}: {rows:?}");
    };
    check("memory.tools", "[\"memory_recall\"]", Origin::File);
    check("memory.recall_limit", "5", Origin::File);
    check("memory.trigger_ratio", "0.5", Origin::Default);
    check("memory.user_namespace", "unset", Origin::Default);
    check("inject.recall", "\"message\"", Origin::Default);
}

#[test]
fn secrets_print_as_stars() {
    let check = |key: &str, expected: &str| assert_eq!(shown(key, &json!("v")), expected, "{key}");
    for key in ["model.api_key", "daemon.token", "x.CLIENT_SECRET", "x.password"] {
        check(key, "***");
    }
    for key in ["memory.recall_max_tokens", "model.api_key_env", "model.model"] {
        check(key, "\"v\"");
    }
    assert_eq!(shown("model.api_key", &Value::Null), "unset");
}

#[test]
fn formats_go_by_the_ending() {
    let check = |name: &str, expected| assert_eq!(Format::of(std::path::Path::new(name)), expected);
    check("a/config.toml", Some(Format::Toml));
    check("config.YML", Some(Format::Yaml));
    check("config.yaml", Some(Format::Yaml));
    check("config.json", Some(Format::Json));
    check("config", None);
}
