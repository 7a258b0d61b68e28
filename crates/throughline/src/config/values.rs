//! What a setting takes: the types that it may have, the checks of a value, and their messages.

use std::ops::{Deref, RangeInclusive};

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::declare::Key;
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
    /// Any text, or a list of texts.
    TextOrList,
    /// A list of whole numbers, below zero too.
    Numbers,
}

use Takes::{List, Numbers, OneOf, OneOfOrList, Ratio, Switch, Text, TextOrList, Variable, Whole};

/// A type that a setting may have.
pub(super) trait Setting {
    /// What the file may say for it.
    const TAKES: Takes;
    /// Whether it may be left empty.
    const IS_OPTIONAL: bool = false;
}

impl<T: Setting> Setting for Option<T> {
    const TAKES: Takes = T::TAKES;
    const IS_OPTIONAL: bool = true;
}

impl Setting for bool {
    const TAKES: Takes = Switch;
}

impl Setting for u16 {
    const TAKES: Takes = Whole(0, 65_535);
}

impl Setting for u32 {
    const TAKES: Takes = Whole(0, u32::MAX);
}

impl Setting for f64 {
    const TAKES: Takes = Ratio;
}

impl Setting for String {
    const TAKES: Takes = Text;
}

impl Setting for Vec<String> {
    const TAKES: Takes = List;
}

impl Setting for Vec<i64> {
    const TAKES: Takes = Numbers;
}

/// The name of an environment variable. It is never a secret itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VariableName(String);

impl Setting for VariableName {
    const TAKES: Takes = Variable;
}

impl Deref for VariableName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for VariableName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl Key {
    /// Checks a value that stands at this key of `table`.
    pub(super) fn check(&self, table: &str, value: &Value) -> Result<(), ConfigError> {
        if self.is_optional && value.is_null() {
            return Ok(());
        }
        self.takes.check(|| format!("{table}.{}", self.name), value)
    }
}

impl Takes {
    /// A whole number with a narrower range.
    pub(super) const fn within(self, range: RangeInclusive<u32>) -> Self {
        assert!(matches!(self, Whole(..)), "only a whole number has a range of its own");
        Whole(*range.start(), *range.end())
    }

    /// Checks a value of a key, which is named by its table and itself.
    fn check(self, key: impl Fn() -> String, value: &Value) -> Result<(), ConfigError> {
        let fits = match (self, value) {
            (Whole(..) | Ratio, Value::Number(number)) if !self.holds(number) => {
                return Err(ConfigError::OutOfRange { key: key(), value: number.to_string(), range: self.range() });
            }
            (Whole(..), Value::Number(number)) => number.is_u64(),
            (Ratio, Value::Number(_)) | (Switch, Value::Bool(_)) | (Text | TextOrList, Value::String(_)) => true,
            (Variable, Value::String(text)) if !is_variable(text) => {
                return Err(ConfigError::NotAVariable { key: key() });
            }
            (Variable, Value::String(_)) => true,
            (OneOf(words) | OneOfOrList(words), Value::String(text)) => words.contains(&text.as_str()),
            (OneOfOrList(_) | List | TextOrList, Value::Array(items)) => items.iter().all(Value::is_string),
            (Numbers, Value::Array(items)) => items.iter().all(Value::is_i64),
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

    /// The same for a person: a number without an upper bound of its own is `1000 or more`.
    pub(super) fn range_in_words(self) -> String {
        match self {
            Whole(least, u32::MAX) => format!("{least} or more"),
            _ => self.range(),
        }
    }

    fn expected(self) -> String {
        match self {
            Switch => "true or false".to_owned(),
            Text => "text".to_owned(),
            Variable => "the name of an environment variable".to_owned(),
            Whole(..) => format!("a whole number, {}", self.range()),
            Ratio => format!("a number, {}", self.range()),
            OneOf(words) => format!("one of `{}`", words.join("`, `")),
            List => "a list of names".to_owned(),
            Numbers => "a list of whole numbers".to_owned(),
            TextOrList => "text or a list of texts".to_owned(),
            OneOfOrList(words) => format!("one of `{}` or a list of names", words.join("`, `")),
        }
    }

    fn found(self, value: &Value) -> &'static str {
        match (self, value) {
            (OneOf(_) | OneOfOrList(_), Value::String(_)) => "another word",
            (Whole(..), Value::Number(_)) => "a number with a decimal point",
            (OneOfOrList(_) | List | TextOrList | Numbers, Value::Array(_)) => "a list of something else",
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
