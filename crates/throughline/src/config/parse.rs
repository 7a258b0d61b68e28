//! From text to settings: read any format into one tree, check every key and value, then type it.

use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::declare::{Table, is_group, known_table};
use super::error::ConfigError;
use super::settings::{Config, TABLES};
use super::values::kind;

/// How alike two keys must be, from 0 to 1, for one to be suggested for the other.
const NEAR: f64 = 0.6;

/// The format of a config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Our own.
    Toml,
    /// `memory:` and its keys below.
    Yaml,
    /// `{"memory": {…}}`.
    Json,
}

impl Format {
    /// The format that a file's ending names.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
            Self::Json => "JSON",
        }
    }
}

/// Reads settings; what the text leaves out has its default. An empty text is all defaults.
pub fn parse(text: &str, format: Format) -> Result<Config, ConfigError> {
    typed(tree(text, format)?)
}

/// The checked tree of a file: known tables, known keys, values that fit.
pub(super) fn tree(text: &str, format: Format) -> Result<Map<String, Value>, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut root = match read(text, format)? {
        Value::Null => Map::new(),
        Value::Object(root) => root,
        other => return Err(ConfigError::NotATable { found: kind(&other) }),
    };
    if format == Format::Yaml {
        indent_memory(&mut root);
    }
    check(&root)?;
    for group in root.iter_mut().filter(|(name, _)| is_group(name)).filter_map(|(_, tables)| tables.as_object_mut()) {
        group.retain(|_, table| !table.is_null());
    }
    root.retain(|_, table| !table.is_null());
    Ok(root)
}

/// Gives a checked tree its types.
pub(super) fn typed(root: Map<String, Value>) -> Result<Config, ConfigError> {
    // `check` has refused whatever this could refuse; a gap between the two is still an error and no panic.
    serde_json::from_value(Value::Object(root)).map_err(|_| ConfigError::BadValue {
        key: "config".to_owned(),
        found: "inconsistent",
        expected: "values as in `defaults.toml`".to_owned(),
    })
}

fn read(text: &str, format: Format) -> Result<Value, ConfigError> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let failed = |line, message: String| {
        // The line stands in its own field; parsers that repeat it do so at the end.
        let message = message.split(" at line ").next().unwrap_or_default().replace('\n', ", ");
        let message = message.replace(char::is_control, " ");
        ConfigError::Syntax { format: format.as_str(), line, message }
    };
    match format {
        Format::Toml => {
            let tree = toml::from_str(text).map_err(|error| {
                let line = error.span().and_then(|span| line_of(text, span.start));
                failed(line, error.message().to_owned())
            })?;
            // TOML has no null: these are the numbers that the tree cannot hold, and must not read as "left empty".
            if has_null(&tree) { Err(failed(None, "`nan` and `inf` are no settings".to_owned())) } else { Ok(tree) }
        }
        Format::Json => serde_json::from_str(text).map_err(|error| {
            let line = u64::try_from(error.line()).ok();
            failed(line, error.to_string())
        }),
        Format::Yaml => {
            // `off` is a word here (`inject.recall`), and a quoted line of the file has no place in an error.
            let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
            serde_saphyr::from_str_with_options(text, options).map_err(|error| {
                let line = error.location().map(|location| location.line());
                failed(line, error.render_with_formatter(&serde_saphyr::UserMessageFormatter))
            })
        }
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(table) => table.values().any(has_null),
        _ => false,
    }
}

fn line_of(text: &str, offset: usize) -> Option<u64> {
    let breaks = text.get(..offset)?.bytes().filter(|byte| *byte == b'\n').count();
    u64::try_from(breaks).ok().map(|breaks| breaks + 1)
}

/// Snippets copied from a page often lose their indentation: then `memory:` is empty and its keys stand beside it.
/// There is nothing else that this could mean.
fn indent_memory(root: &mut Map<String, Value>) {
    if root.get("memory") != Some(&Value::Null) {
        return;
    }
    let keys = TABLES.iter().filter(|table| table.name == "memory").flat_map(|table| table.keys);
    let moved: Map<_, _> = keys.filter_map(|key| root.remove_entry(key.name)).collect();
    root.insert("memory".to_owned(), Value::Object(moved));
}

fn check(root: &Map<String, Value>) -> Result<(), ConfigError> {
    for (name, value) in root {
        if is_group(name) {
            for (below, value) in below(name, value)? {
                check_known(&format!("{name}.{below}"), value)?;
            }
        } else {
            check_known(name, value)?;
        }
    }
    Ok(())
}

fn check_known(name: &str, value: &Value) -> Result<(), ConfigError> {
    let table = known_table(name).ok_or_else(|| unknown(None, name))?;
    check_table(table, below(name, value)?)
}

/// What stands in a table or a group; nothing where it is left empty.
fn below<'v>(name: &str, value: &'v Value) -> Result<&'v Map<String, Value>, ConfigError> {
    static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    match value {
        Value::Null => Ok(&NOTHING),
        Value::Object(found) => Ok(found),
        other => {
            Err(ConfigError::BadValue { key: name.to_owned(), found: kind(other), expected: "a table".to_owned() })
        }
    }
}

fn check_table(table: &Table, given: &Map<String, Value>) -> Result<(), ConfigError> {
    for (name, value) in given {
        let Some(key) = table.key(name) else { return Err(unknown(Some(table), name)) };
        key.check(table.name, value)?;
    }
    Ok(())
}

fn unknown(table: Option<&Table>, name: &str) -> ConfigError {
    let written = name.escape_debug();
    let (key, beside) = match table {
        Some(table) => (format!("{}.{written}", table.name), table.dotted().collect()),
        None => (written.to_string(), TABLES.iter().map(|table| table.name.to_owned()).collect::<Vec<_>>()),
    };
    let last = name.rsplit('.').next().unwrap_or(name);
    ConfigError::UnknownKey { key, nearest: nearest(last, beside).or_else(|| nearest(last, all_keys())) }
}

/// Every dotted key, in order.
pub(super) fn all_keys() -> Vec<String> {
    TABLES.iter().flat_map(Table::dotted).collect()
}

fn nearest(name: &str, known: Vec<String>) -> Option<String> {
    // Spelling habits (`recallLimit`, `recall-limit`) are no distance; a name longer than any key is near none.
    let plain = |key: &str| key.to_lowercase().replace(['_', '-'], "");
    if name.len() > 64 {
        return None;
    }
    let name = plain(name);
    let alike =
        |key: &str| strsim::normalized_damerau_levenshtein(&name, &plain(key.rsplit('.').next().unwrap_or(key)));
    let scored = known.into_iter().map(|key| (alike(&key), key)).filter(|(score, _)| *score >= NEAR);
    // The first of equals, so that `memory` wins over later tables.
    scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, key)| key)
}
