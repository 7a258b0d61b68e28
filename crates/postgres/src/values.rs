//! Values on their way to the server, and rows on their way back.
//!
//! PostgreSQL keeps no NUL in a text, and memories are any text: a NUL is written as an escape, and read back as what it was.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

use crate::error::{Error, Sql, unreadable};

/// Stands before what it escapes: a character that no text has a use for.
const ESCAPE: char = '\u{10FFFD}';
const ESCAPED_NUL: char = '0';

fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => escaped.extend([ESCAPE, ESCAPED_NUL]),
            ESCAPE => escaped.extend([ESCAPE, ESCAPE]),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

fn unescaped(text: String) -> String {
    if !text.contains(ESCAPE) {
        return text;
    }
    let mut characters = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        match (character, if character == ESCAPE { characters.next() } else { None }) {
            (ESCAPE, Some(ESCAPED_NUL)) => plain.push('\0'),
            (other, _) => plain.push(other),
        }
    }
    plain
}

/// A value that a statement binds.
#[derive(Debug, Clone)]
pub(crate) enum Value<'v> {
    Null,
    Text(Cow<'v, str>),
    Int(i64),
    Real(f64),
    Flag(bool),
    Bytes(Cow<'v, [u8]>),
    Texts(Vec<String>),
    Ints(Vec<i64>),
}

/// The values of a statement, in order; the space is bound before them, as `$1`.
macro_rules! values {
    ($($value:expr),* $(,)?) => { [$($crate::values::Value::from($value)),*] };
}
pub(crate) use values;

impl Value<'_> {
    /// The same, which outlives what it was made of.
    pub(crate) fn to_static(&self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Text(text) => Value::Text(Cow::Owned(text.clone().into_owned())),
            Self::Int(number) => Value::Int(*number),
            Self::Real(number) => Value::Real(*number),
            Self::Flag(flag) => Value::Flag(*flag),
            Self::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.clone().into_owned())),
            Self::Texts(texts) => Value::Texts(texts.clone()),
            Self::Ints(numbers) => Value::Ints(numbers.clone()),
        }
    }

    /// Its type on the server; what a missing value would be, the server tells by its place.
    pub(crate) fn kind(&self) -> Type {
        match self {
            Self::Null => Type::UNKNOWN,
            Self::Text(_) => Type::TEXT,
            Self::Int(_) => Type::INT8,
            Self::Real(_) => Type::FLOAT8,
            Self::Flag(_) => Type::BOOL,
            Self::Bytes(_) => Type::BYTEA,
            Self::Texts(_) => Type::TEXT_ARRAY,
            Self::Ints(_) => Type::INT8_ARRAY,
        }
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Text(text) => escaped(text).as_ref().to_sql(ty, out),
            Self::Int(number) => number.to_sql(ty, out),
            Self::Real(number) => number.to_sql(ty, out),
            Self::Flag(flag) => flag.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.as_ref().to_sql(ty, out),
            Self::Texts(texts) => texts.iter().map(|text| escaped(text)).collect::<Vec<_>>().to_sql(ty, out),
            Self::Ints(numbers) => numbers.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'v> From<&'v String> for Value<'v> {
    fn from(text: &'v String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Int(i64::from(number))
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value<'_> {
    fn from(number: usize) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'v> From<&'v [u8]> for Value<'v> {
    fn from(bytes: &'v [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(Cow::Owned(bytes))
    }
}

impl From<Vec<String>> for Value<'_> {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

impl From<Vec<i64>> for Value<'_> {
    fn from(numbers: Vec<i64>) -> Self {
        Self::Ints(numbers)
    }
}

/// A time is kept in whole milliseconds.
impl From<Timestamp> for Value<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.as_millisecond())
    }
}

impl<'v, T> From<Option<T>> for Value<'v>
where
    Value<'v>: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

/// The texts of some names.
pub(crate) fn texts<'a, T: AsRef<str> + 'a>(names: impl IntoIterator<Item = T>) -> Vec<String> {
    names.into_iter().map(|name| name.as_ref().to_owned()).collect()
}

/// A row that the server gave.
#[derive(Clone)]
pub(crate) struct Row(Arc<tokio_postgres::Row>);

impl Row {
    pub(crate) fn new(row: tokio_postgres::Row) -> Self {
        Self(Arc::new(row))
    }

    fn get<'r, T: tokio_postgres::types::FromSql<'r>>(&'r self, column: usize) -> Sql<T> {
        self.0.try_get(column).map_err(Error::Postgres)
    }

    pub(crate) fn is_null(&self, column: usize) -> Sql<bool> {
        struct Present;
        impl tokio_postgres::types::FromSql<'_> for Present {
            fn from_sql(_: &Type, _: &[u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
                Ok(Self)
            }
            fn accepts(_: &Type) -> bool {
                true
            }
        }
        Ok(self.get::<Option<Present>>(column)?.is_none())
    }

    pub(crate) fn text(&self, column: usize) -> Sql<String> {
        self.get(column).map(unescaped)
    }

    pub(crate) fn maybe_text(&self, column: usize) -> Sql<Option<String>> {
        Ok(self.get::<Option<String>>(column)?.map(unescaped))
    }

    pub(crate) fn texts(&self, column: usize) -> Sql<Vec<String>> {
        Ok(self.get::<Vec<String>>(column)?.into_iter().map(unescaped).collect())
    }

    pub(crate) fn int(&self, column: usize) -> Sql<i64> {
        self.get(column)
    }

    pub(crate) fn maybe_int(&self, column: usize) -> Sql<Option<i64>> {
        self.get(column)
    }

    /// A number of another type than `i64`.
    pub(crate) fn number<T: TryFrom<i64, Error: StdError + Send + Sync + 'static>>(&self, column: usize) -> Sql<T> {
        T::try_from(self.int(column)?).map_err(unreadable)
    }

    pub(crate) fn real(&self, column: usize) -> Sql<f64> {
        self.get(column)
    }

    pub(crate) fn flag(&self, column: usize) -> Sql<bool> {
        self.get(column)
    }

    pub(crate) fn bytes(&self, column: usize) -> Sql<&[u8]> {
        self.get(column)
    }

    pub(crate) fn time(&self, column: usize) -> Sql<Timestamp> {
        self.int(column).map(throughline_stores::time)
    }

    pub(crate) fn maybe_time(&self, column: usize) -> Sql<Option<Timestamp>> {
        Ok(self.maybe_int(column)?.map(throughline_stores::time))
    }

    pub(crate) fn parsed<T: FromStr<Err: StdError + Send + Sync + 'static>>(&self, column: usize) -> Sql<T> {
        self.text(column)?.parse().map_err(unreadable)
    }

    pub(crate) fn maybe_parsed<T: FromStr<Err: StdError + Send + Sync + 'static>>(
        &self,
        column: usize,
    ) -> Sql<Option<T>> {
        self.maybe_text(column)?.map(|text| text.parse().map_err(unreadable)).transpose()
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, column: usize) -> Sql<T> {
        from_json(&self.text(column)?)
    }
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Sql<T> {
    serde_json::from_str(text).map_err(unreadable)
}

pub(crate) fn to_json(value: &impl serde::Serialize) -> Sql<String> {
    serde_json::to_string(value).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_as_it_was() {
        for text in ["", "plain", "a\0b", "\0\0", "\u{10FFFD}", "\u{10FFFD}0", "用户 \0", "\0\u{10FFFD}\0"] {
            let kept = escaped(text);
            assert!(!kept.contains('\0'), "{text:?}");
            assert_eq!(unescaped(kept.into_owned()), text);
        }
    }
}
