//! The settings as `config show` lists them.

use serde_json::Value;
use throughline_server::{Setting, Settings};

use super::declare::known_table;
use super::load::Loaded;
use super::parse::all_keys;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The config file sets it.
    File,
}

impl Origin {
    /// The word that is shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
        }
    }
}

/// Every setting: its dotted key, its value as TOML (`unset` where an optional one is not given), and its origin.
pub fn rows(loaded: &Loaded) -> Vec<(String, String, Origin)> {
    let tree = serde_json::to_value(&loaded.config).unwrap_or_default();
    let row = |key: String| {
        let value = tree.pointer(&format!("/{}", key.replace('.', "/"))).unwrap_or(&Value::Null);
        let origin = if loaded.given.contains(&key) { Origin::File } else { Origin::Default };
        let shown = shown(&key, value);
        (key, shown, origin)
    };
    all_keys().into_iter().map(row).collect()
}

/// Every setting, as every surface shows them.
pub fn settings(loaded: &Loaded) -> Settings {
    let tree = serde_json::to_value(&loaded.config).unwrap_or_default();
    let setting = |(key, value, from): (String, String, Origin)| {
        let change = changeable(&key, &tree);
        let about = about(&key).unwrap_or_default();
        Setting { key, value, from: from.as_str(), about, change, next: None }
    };
    Settings {
        path: loaded.path.as_ref().map(|path| path.display().to_string()),
        settings: rows(loaded).into_iter().map(setting).collect(),
    }
}

/// What a setting does, in one paragraph.
fn about(key: &str) -> Option<String> {
    let (table, name) = key.rsplit_once('.')?;
    let key = known_table(table)?.key(name)?;
    let lines: Vec<&str> = key.help.iter().map(|line| line.trim()).collect();
    Some(lines.join(" ").replace("{range}", &key.takes.range_in_words()))
}

/// Sections whose numbers and truth values the panel may change: they decide how memory works, and nothing about what is
/// run, opened, listened on or sent to.
const OPEN: [&str; 4] = ["memory", "reflection", "inject", "hooks"];

/// What a setting is, where the panel may change it: `flag` or `number`.
fn changeable(key: &str, tree: &Value) -> Option<&'static str> {
    let is_open = key.split_once('.').is_some_and(|(section, _)| OPEN.contains(&section));
    match tree.pointer(&format!("/{}", key.replace('.', "/"))) {
        Some(Value::Bool(_)) if is_open => Some("flag"),
        Some(Value::Number(number)) if is_open && number.is_u64() => Some("number"),
        _ => None,
    }
}

/// A value as a person may see it.
pub(super) fn shown(key: &str, value: &Value) -> String {
    match value {
        Value::Null => "unset".to_owned(),
        _ if is_secret(key) => "***".to_owned(),
        Value::String(url) if key == "store.url" => toml::Value::String(without_password(url)).to_string(),
        value => toml::Value::try_from(value).map(|value| value.to_string()).unwrap_or_default(),
    }
}

/// An address without the password that may stand in it.
fn without_password(url: &str) -> String {
    let hidden = url.split_once("://").and_then(|(scheme, rest)| {
        let (person, place) = rest.split_once('@')?;
        let (name, _) = person.split_once(':')?;
        Some(format!("{scheme}://{name}:***@{place}"))
    });
    hidden.unwrap_or_else(|| url.to_owned())
}

/// Whether a key's name says that its value is a secret.
pub(super) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["key", "token", "secret", "password"].iter().any(|ending| key.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_panel_changes_numbers_and_truth_values_that_reach_nothing_outside() {
        let tree = serde_json::json!({
            "memory": { "enabled": true, "recall_limit": 8, "user_namespace": "user" },
            "server": { "port": 7077 },
            "store": { "url": "x" },
        });
        assert_eq!(changeable("memory.enabled", &tree), Some("flag"));
        assert_eq!(changeable("memory.recall_limit", &tree), Some("number"));
        for key in ["memory.user_namespace", "server.port", "store.url", "memory", "memory.nothing"] {
            assert_eq!(changeable(key, &tree), None, "{key}");
        }
    }

    #[test]
    fn a_password_in_the_address_of_the_store_is_not_shown() {
        for (url, expected) in [
            ("postgres://ada:secret@db.example.com/memory", "\"postgres://ada:***@db.example.com/memory\""),
            ("postgres://ada@localhost:5433/memory", "\"postgres://ada@localhost:5433/memory\""),
            ("postgres://localhost/memory?space=ada", "\"postgres://localhost/memory?space=ada\""),
        ] {
            assert_eq!(shown("store.url", &Value::String(url.to_owned())), expected);
        }
    }
}
