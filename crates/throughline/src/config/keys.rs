//! Every key and what it takes: one table, from which the checks and their messages come.

use serde_json::{Number, Value};

use super::error::ConfigError;

/// What a key takes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Takes {
    /// `true` or `false`.
    Switch,
    /// Any text.
    Text,
    /// The name of an environment variable.
    Variable,
    /// A whole number from the first to the second, both included.
    Whole(u32, u32),
    /// A number from 0 to 1.
    Ratio,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// One of these words, or a list of texts.
    OneOfOrList(&'static [&'static str]),
    /// A list of texts.
    List,
}

use Takes::{List, OneOf, OneOfOrList, Ratio, Switch, Text, Variable, Whole};

/// The optional keys: these may be left empty.
const OPTIONAL: &[&str] = &[
    "enabled",
    "user_namespace",
    "user_dir",
    "consolidation_provider",
    "consolidation_model",
    "base_url",
    "model",
    "api_key_env",
    "tls_cert",
    "tls_key",
];

/// Words that are understood and not offered: what they ask for does not exist yet.
const NOT_OFFERED: &[&str] = &["builtin"];

/// A table of the file: its name, and its keys in the order of `defaults.toml`.
pub(super) type Table = (&'static str, &'static [(&'static str, Takes)]);

/// The whole file.
pub(super) const TABLES: &[Table] = &[
    (
        "memory",
        &[
            ("enabled", Switch),
            ("user_namespace", Text),
            ("user_dir", Text),
            ("working_memory", Switch),
            ("working_memory_ttl_days", Whole(1, 365)),
            ("working_memory_max_tokens", Whole(100, 4000)),
            ("proactive_session_greeting", Switch),
            ("recall_limit", Whole(0, 100)),
            ("recall_max_tokens", Whole(0, 32_000)),
            ("ranking", OneOf(&["fused", "bm25"])),
            ("auto_extract", Switch),
            ("consolidation_provider", Text),
            ("consolidation_model", Text),
            ("consolidation_turn_threshold", Whole(0, u32::MAX)),
            ("idle_consolidation_minutes", Whole(0, u32::MAX)),
            ("trigger_ratio", Ratio),
            ("context_window", Whole(1000, u32::MAX)),
            ("summary_max_tokens", Whole(100, 8000)),
            ("keep_recent_turns", Whole(0, u32::MAX)),
            ("timeline_retention_days", Whole(0, u32::MAX)),
            ("max_failures_before_degrade", Whole(1, u32::MAX)),
            ("flush_every_prompts", Whole(0, u32::MAX)),
            ("agent_forget", OneOf(&["inactive", "delete"])),
            ("tools", OneOfOrList(&["default", "all"])),
        ],
    ),
    (
        "reflection",
        &[
            ("every_hours", Whole(0, 8760)),
            ("quiet_from", Whole(0, 23)),
            ("quiet_until", Whole(0, 23)),
            ("max_share", Ratio),
            ("promote", Switch),
            ("merge", Switch),
        ],
    ),
    ("inject", &[("recall", OneOf(&["message", "system_prompt", "off"])), ("repeat", Switch), ("vault", Switch)]),
    ("hooks", &[("prompt_deadline_ms", Whole(1, 60_000))]),
    (
        "model",
        &[
            ("provider", OneOf(&["offline", "ollama", "openai", "anthropic"])),
            ("base_url", Text),
            ("model", Text),
            ("api_key_env", Variable),
            ("daily_tokens", Whole(0, u32::MAX)),
        ],
    ),
    (
        "embeddings",
        &[
            ("provider", OneOf(&["none", "builtin", "ollama", "openai"])),
            ("base_url", Text),
            ("model", Text),
            ("api_key_env", Variable),
        ],
    ),
    (
        "server",
        &[
            ("port", Whole(0, 65_535)),
            ("hosts", List),
            ("backup_every_hours", Whole(0, 8760)),
            ("keep_backups", Whole(1, 1000)),
            ("tls_cert", Text),
            ("tls_key", Text),
        ],
    ),
];

impl Takes {
    /// Says whether `value` may stand at `table.name`; an empty value may, where the key is optional.
    pub(super) fn check(self, table: &str, name: &str, value: &Value) -> Result<(), ConfigError> {
        let key = || format!("{table}.{name}");
        let fits = match (self, value) {
            (_, Value::Null) => OPTIONAL.contains(&name),
            (Whole(..) | Ratio, Value::Number(number)) if !self.holds(number) => {
                return Err(ConfigError::OutOfRange { key: key(), value: number.to_string(), range: self.range() });
            }
            (Whole(..), Value::Number(number)) => number.is_u64(),
            (Ratio, Value::Number(_)) | (Switch, Value::Bool(_)) | (Text, Value::String(_)) => true,
            (Variable, Value::String(text)) if !is_variable(text) => {
                return Err(ConfigError::NotAVariable { key: key() });
            }
            (Variable, Value::String(_)) => true,
            (OneOf(words) | OneOfOrList(words), Value::String(text)) => words.contains(&text.as_str()),
            (OneOfOrList(_) | List, Value::Array(items)) => items.iter().all(Value::is_string),
            _ => false,
        };
        if fits {
            return Ok(());
        }
        Err(ConfigError::BadValue { key: key(), found: self.found(value), expected: self.expected() })
    }

    fn holds(self, number: &Number) -> bool {
        let (least, most) = match self {
            Whole(least, most) => (f64::from(least), f64::from(most)),
            _ => (0.0, 1.0),
        };
        number.as_f64().is_some_and(|number| (least..=most).contains(&number))
    }

    /// The range of a number, in words.
    pub(super) fn range(self) -> String {
        match self {
            Whole(least, most) => format!("{least} to {most}"),
            _ => "0 to 1".to_owned(),
        }
    }

    fn expected(self) -> String {
        match self {
            Switch => "true or false".to_owned(),
            Text => "text".to_owned(),
            Variable => "the name of an environment variable".to_owned(),
            Whole(..) => format!("a whole number, {}", self.range()),
            Ratio => format!("a number, {}", self.range()),
            OneOf(words) => {
                let offered: Vec<&str> = words.iter().copied().filter(|word| !NOT_OFFERED.contains(word)).collect();
                format!("one of `{}`", offered.join("`, `"))
            }
            List => "a list of names".to_owned(),
            OneOfOrList(words) => format!("one of `{}` or a list of names", words.join("`, `")),
        }
    }

    fn found(self, value: &Value) -> &'static str {
        match (self, value) {
            (OneOf(_) | OneOfOrList(_), Value::String(_)) => "another word",
            (Whole(..), Value::Number(_)) => "a number with a decimal point",
            (OneOfOrList(_) | List, Value::Array(_)) => "a list of something else",
            _ => kind(value),
        }
    }
}

/// What a value is, without repeating it.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

fn is_variable(text: &str) -> bool {
    !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|each| each.is_ascii_alphanumeric() || each == '_')
}
