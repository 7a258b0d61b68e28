//! What went wrong, in words that may be shown: bounded, on one line, without secrets.

use std::error::Error;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;
use throughline_core::text::redact::redact;

use crate::settings::Secret;

/// As much of an error's body as is read.
pub(crate) const MAX_BODY: usize = 2048;

/// As much of it as is shown.
const MAX_SHOWN: usize = 400;

/// The beginning of a key that is too short to give it away.
const HARMLESS_PREFIX: usize = 4;

/// The words of a server, safe to show.
pub(crate) fn safe(text: &str, key: Option<&Secret>) -> String {
    let without_key = key.map_or_else(|| text.to_owned(), |key| without(text, key.reveal()));
    let redacted = redact(&without_key).text;
    let words: Vec<&str> = redacted.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Takes the key out, and the beginning of one at the end, where the text was cut.
fn without(text: &str, key: &str) -> String {
    let mut clean = text.replace(key, "[redacted:key]");
    let cut = (HARMLESS_PREFIX..key.len()).rev().filter_map(|at| key.get(..at)).find(|start| clean.ends_with(start));
    if let Some(start) = cut {
        clean.truncate(clean.len() - start.len());
    }
    clean
}

/// What an error's body says: the message of the wires, or the text as it is.
pub(crate) fn message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    if text.trim_start().starts_with('<') {
        return "a web page".to_owned();
    }
    let Ok(json) = serde_json::from_str::<Value>(&text) else {
        return text.into_owned();
    };
    let error = &json["error"];
    let Some(message) = error["message"].as_str().or(error.as_str()) else {
        return text.into_owned();
    };
    match error["param"].as_str() {
        Some(name) if !message.contains(name) => format!("{message} ({name})"),
        _ => message.to_owned(),
    }
}

/// The innermost cause: "connection refused" says more than "error sending request".
pub(crate) fn innermost(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// How long the server asks to be left alone. A date is measured by the server's own clock, which it sends along.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let sent_at = http_date(headers.get(DATE)?.to_str().ok()?)?;
    let until = http_date(value)?.duration_since(sent_at);
    Some(Duration::try_from(until).unwrap_or(Duration::ZERO))
}

fn http_date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    const KEY: &str = "k-1234567890abcdef";

    #[test]
    fn no_part_of_a_key_is_shown() {
        let key = Secret::new(KEY);
        for (text, expected) in [
            ("bad key k-1234567890abcdef!", "bad key [redacted:key]!"),
            ("bad key k-1234567890abc", "bad key"),
            ("no\tkey\r\n\u{1b}[31m here", "no key [31m here"),
        ] {
            assert_eq!(safe(text, Some(&key)), expected);
        }
        let anothers = format!("not with sk-ant-{}", "x1".repeat(12));
        assert_eq!(safe(&anothers, Some(&key)), "not with [redacted:anthropic-key]");
        assert_eq!(format!("{key} {key:?}"), "*** ***");
        assert_eq!(safe(&"long ".repeat(1000), None).chars().count(), MAX_SHOWN + 1);
    }

    #[test]
    fn the_message_is_found_where_each_wire_puts_it() {
        for (body, expected) in [
            (r#"{"error":{"message":"no such model","param":"model"}}"#, "no such model"),
            (r#"{"error":{"message":"unsupported","param":"max_tokens"}}"#, "unsupported (max_tokens)"),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Overloaded"),
            (r#"{"error":"model 'x' not found"}"#, "model 'x' not found"),
            (r#"{"detail":"stream_options"}"#, r#"{"detail":"stream_options"}"#),
            ("<html><body>502", "a web page"),
            ("plain", "plain"),
        ] {
            assert_eq!(message(body.as_bytes()), expected);
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let check = |value: &str, date: Option<&str>, expected: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_str(value).unwrap());
            if let Some(date) = date {
                headers.insert(DATE, HeaderValue::from_str(date).unwrap());
            }
            assert_eq!(retry_after(&headers), expected.map(Duration::from_secs), "of {value:?}");
        };
        let date = Some("Sun, 01 Mar 2026 12:00:00 GMT");
        check("7", None, Some(7));
        check(" 0 ", None, Some(0));
        check("Sun, 01 Mar 2026 12:00:20 GMT", date, Some(20));
        check("Sun, 01 Mar 2026 11:00:00 GMT", date, Some(0));
        check("Sun, 01 Mar 2026 12:00:20 GMT", None, None);
        check("soon", date, None);
        check("-3", date, None);
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
