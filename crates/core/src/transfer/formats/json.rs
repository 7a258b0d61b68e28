//! JSON piece by piece: a list or an object whose pieces are looked at one by one, so that a broken one, or a file that
//! breaks off, costs no other.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::text::steps;

use super::Found;

/// The pieces in front of whatever cannot be read, and what that was.
pub(super) struct Pieces<T> {
    pub(super) all: Vec<T>,
    pub(super) problem: Option<String>,
}

/// The elements of a list.
pub(super) fn elements(text: &str) -> Pieces<&RawValue> {
    steps::count(text.len());
    let mut all = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize_seq(Elements(&mut all)).and_then(|()| reader.end());
    Pieces { all, problem: read.err().map(|error| error.to_string()) }
}

/// The fields of an object.
pub(super) fn fields(text: &str) -> Pieces<(String, &RawValue)> {
    steps::count(text.len());
    let mut all = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize_map(Fields(&mut all)).and_then(|()| reader.end());
    Pieces { all, problem: read.err().map(|error| error.to_string()) }
}

/// The elements of a list, of the first list in an object under one of these names, or the object alone.
pub(super) fn list<'a>(text: &'a str, names: &[&str], found: &mut Found) -> Vec<&'a RawValue> {
    let trimmed = text.trim_start();
    let pieces = if trimmed.starts_with('[') {
        elements(trimmed)
    } else {
        let inside = fields(trimmed).all.into_iter().find(|(name, _)| names.contains(&name.as_str()));
        match inside {
            Some((_, inside)) => elements(inside.get()),
            None => match serde_json::from_str(trimmed) {
                Ok(whole) => Pieces { all: vec![whole], problem: None },
                Err(error) => Pieces { all: Vec::new(), problem: Some(error.to_string()) },
            },
        }
    };
    if let Some(problem) = pieces.problem {
        found.skip(&format!("after item {}", pieces.all.len()), &format!("the file breaks off ({problem})"));
    }
    pieces.all
}

/// Each element of a list, or each line; with its place.
pub(super) fn items_or_lines(text: &str) -> Box<dyn Iterator<Item = (String, &str)> + '_> {
    let trimmed = text.trim_start();
    if trimmed.starts_with('[') {
        let all = elements(trimmed).all.into_iter().enumerate();
        return Box::new(all.map(|(at, raw)| (format!("item {}", at + 1), raw.get())));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    Box::new(lines.map(|(at, line)| (format!("line {}", at + 1), line)))
}

struct Elements<'v, 'de>(&'v mut Vec<&'de RawValue>);

impl<'de> Visitor<'de> for Elements<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element()? {
            self.0.push(element);
        }
        Ok(())
    }
}

struct Fields<'v, 'de>(&'v mut Vec<(String, &'de RawValue)>);

impl<'de> Visitor<'de> for Fields<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some(name) = object.next_key()? {
            // A field whose value breaks off is still a field: what the file is can be told by its name.
            match object.next_value() {
                Ok(value) => self.0.push((name, value)),
                Err(error) => {
                    self.0.push((name, RawValue::NULL));
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_the_break_is_kept() {
        let read = elements(r#"[{"a": 1}, [2], "three", {"fo"#);
        assert_eq!(read.all.iter().map(|raw| raw.get()).collect::<Vec<_>>(), [r#"{"a": 1}"#, "[2]", "\"three\""]);
        assert!(read.problem.is_some());
        let read = fields(r#"{"version": 1, "memories": [{"#);
        assert_eq!(read.all.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["version", "memories"]);
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = format!("[{}{}, 1]", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(elements(&deep).all.len(), 2);
        assert!(elements(&"[".repeat(200_000)).problem.is_some());
    }
}
