//! Changes to a body by its bytes: text is inserted or a range is replaced, and every other byte stays as the client sent it.
//! Key order, number formats, blanks and unknown fields are therefore never touched.

use std::ops::Range;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// The bytes that are replaced; an empty range inserts.
    pub(super) at: Range<usize>,
    /// What takes their place.
    pub(super) with: String,
}

impl Edit {
    /// Inserts in front of the byte at `at`.
    pub(super) fn insert(at: usize, with: String) -> Self {
        Self { at: at..at, with }
    }
}

/// The body with all changes. One that lies within a range that another replaces is dropped.
pub(super) fn applied(body: &[u8], mut edits: Vec<Edit>) -> Vec<u8> {
    edits.sort_by_key(|edit| (edit.at.start, std::cmp::Reverse(edit.at.end)));
    let added: usize = edits.iter().map(|edit| edit.with.len()).sum();
    let (mut out, mut from) = (Vec::with_capacity(body.len() + added), 0);
    for edit in edits.iter().filter(|edit| edit.at.end <= body.len()) {
        if edit.at.start < from {
            continue;
        }
        out.extend_from_slice(&body[from..edit.at.start]);
        out.extend_from_slice(edit.with.as_bytes());
        from = edit.at.end;
    }
    out.extend_from_slice(&body[from..]);
    out
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The same without its quotes: to be inserted into a string that is there.
pub(super) fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_byte_stays() {
        let body = br#"{"b" : 1.50,"a":"x"}"#;
        let edits = vec![Edit::insert(17, escaped("say \"hi\"\n")), Edit { at: 7..11, with: "2".to_owned() }];
        assert_eq!(applied(body, edits), br#"{"b" : 2,"a":"say \"hi\"\nx"}"#);
        assert_eq!(applied(body, Vec::new()), body);
    }

    #[test]
    fn what_lies_in_a_replaced_range_is_dropped() {
        let edits = vec![Edit::insert(3, "no".to_owned()), Edit { at: 1..5, with: "-".to_owned() }];
        assert_eq!(applied(b"abcdefg", edits), b"a-fg");
    }
}
