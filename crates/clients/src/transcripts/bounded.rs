//! JSON that is small enough to be taken into memory as a whole.

use serde_json::Value;

/// A value takes up to two hundred bytes, and two bytes of text make one: with more values than this, it is no row of a
/// conversation.
const MOST_VALUES: usize = 1_000_000;

/// Parses these bytes as JSON; `None` if they are not JSON or have too many parts.
pub fn bounded_json(bytes: &[u8]) -> Option<Value> {
    if has_too_many_values(bytes) { None } else { serde_json::from_slice(bytes).ok() }
}

/// Counts what begins or separates values outside of texts; looks at the bytes once.
fn has_too_many_values(bytes: &[u8]) -> bool {
    // What is that short has no room for them.
    if bytes.len() <= MOST_VALUES {
        return false;
    }
    let (mut count, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' | b',' | b':' if !is_text => count += 1,
            _ => {}
        }
    }
    count > MOST_VALUES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_too_many_parts_is_not_taken_in() {
        let list = |piece: &str, times: usize| format!("[{}0]", piece.repeat(times)).into_bytes();
        assert!(bounded_json(&list("0,", MOST_VALUES - 1)).is_some());
        for piece in ["0,", "[],", "{\"\":0},"] {
            assert_eq!(bounded_json(&list(piece, MOST_VALUES)), None, "{piece}");
        }
        let text = serde_json::json!({ "code": "{\\\"[,:".repeat(MOST_VALUES) });
        assert_eq!(bounded_json(text.to_string().as_bytes()), Some(text), "what stands in a text is one value");
    }
}
