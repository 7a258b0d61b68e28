//! What the pieces of all formats share: text without control characters, dates in any usual spelling, labels.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::input::no_secret;
use crate::model::{Importance, Role, SessionId, Significance, derived};

/// What a conversation does not show is not what was said.
pub(super) const HIDDEN: &str = "is hidden, or a tool's or the host's own";

/// Longest label that is taken over, in characters.
const MAX_TAG: usize = 60;

/// Text as it is stored: no control characters but line breaks and tabs, nothing around it.
pub(super) fn clean(text: &str) -> String {
    let kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.trim().chars().filter(kept).collect::<String>().trim().to_owned()
}

/// A label, if the text can be one.
pub(super) fn tag(text: &str) -> Option<String> {
    let words = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let tag: String = words.chars().take(MAX_TAG).collect();
    (!tag.trim().is_empty()).then(|| tag.trim().to_owned())
}

/// What a conversation is called, on one line.
pub(super) fn title(text: &str) -> Option<String> {
    const MAX_TITLE: usize = 200;
    let words = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = words.chars().take(MAX_TITLE).collect();
    (!title.trim().is_empty()).then(|| title.trim().to_owned())
}

/// A heading as a label: `Code style & tests` is `code-style-tests`.
pub(super) fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").chars().take(MAX_TAG).collect::<String>().trim_end_matches('-').to_owned()
}

/// A date in any usual spelling: RFC 3339, without a zone (UTC), a day alone, seconds or milliseconds since 1970.
pub(super) fn date(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
        Value::Number(number) => since_1970(number.as_f64()?),
        Value::String(text) => {
            let text = text.trim();
            let local = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
            text.parse().ok().or_else(local).or_else(|| since_1970(text.parse().ok()?))
        }
        _ => None,
    }
}

fn since_1970(number: f64) -> Option<Timestamp> {
    // Seconds beyond the year 5138 are milliseconds of our time.
    let milliseconds = if number.abs() < 1e11 { number * 1000.0 } else { number };
    let is_sane = milliseconds.is_finite() && milliseconds.abs() < 1e14 && number != 0.0;
    if is_sane { Timestamp::from_millisecond(milliseconds.round() as i64).ok() } else { None }
}

/// Noon of a day: the same day nearly everywhere.
pub(super) fn noon(day: Date) -> Option<Timestamp> {
    day.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp())
}

/// The first of these fields that is a text with something in it.
pub(super) fn text<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().filter_map(|name| value.get(name)?.as_str()).find(|text| !text.trim().is_empty())
}

/// An id, which some write as a number.
pub(super) fn id(value: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match value.get(name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// How much it matters: importance 0 to 1, or 1 to 10; or significance 1 to 5.
pub(super) fn weight(value: &Value) -> Option<Importance> {
    let number = |name: &str| value.get(name).and_then(Value::as_f64);
    let of_ten = |weight: f64| Importance::new(if weight > 1.0 { weight / 10.0 } else { weight }).ok();
    let of_five = || Significance::new(number("significance")? as i64).ok().map(Importance::from);
    number("importance").and_then(of_ten).or_else(of_five)
}

/// Labels: a list, or a text with commas.
pub(super) fn tags(value: Option<&Value>) -> Vec<String> {
    const MOST: usize = 20;
    match value {
        Some(Value::Array(tags)) => tags.iter().filter_map(|value| tag(value.as_str()?)).take(MOST).collect(),
        Some(Value::String(text)) => text.split(',').filter_map(tag).take(MOST).collect(),
        _ => Vec::new(),
    }
}

/// Who spoke, in the words of several formats.
pub(super) fn role(text: &str) -> Option<Role> {
    match text.to_ascii_lowercase().as_str() {
        "user" | "human" => Some(Role::User),
        "assistant" | "ai" | "model" | "bot" => Some(Role::Assistant),
        "tool" | "function" => Some(Role::Tool),
        "system" | "developer" => Some(Role::System),
        _ => None,
    }
}

/// The session of a conversation elsewhere; an id that cannot be one here gives way to its digest.
pub(super) fn session(channel: &str, id: &str) -> Option<SessionId> {
    let whole = format!("{channel}:{}", id.trim()).parse().ok();
    let whole = whole.filter(|whole: &SessionId| no_secret("the session's id", whole.as_str()).is_ok());
    whole.or_else(|| format!("{channel}:{}", derived(&[channel, id])).parse().ok())
}

/// The words of a message that is a text, or a list of parts; what is no text is named in brackets.
pub(super) fn words(content: &Value) -> String {
    let of_part = |part: &Value| match part {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => of_object(part),
        _ => None,
    };
    let parts: Vec<String> = match content {
        Value::Array(parts) => parts.iter().filter_map(of_part).collect(),
        other => of_part(other).into_iter().collect(),
    };
    let parts: Vec<String> = parts.iter().map(|part| clean(part)).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

fn of_object(part: &Value) -> Option<String> {
    let kind = text(part, &["content_type", "type"]).unwrap_or_default();
    match kind {
        _ if kind.starts_with("image") => Some("[image]".to_owned()),
        "tool_use" | "tool_result" | "thinking" | "thoughts" | "token_budget" => None,
        _ => text(part, &["text"]).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dates_are_read_in_the_usual_spellings() {
        let expected: Timestamp = "2024-07-20T08:30:36Z".parse().unwrap();
        for value in [
            json!("2024-07-20T01:30:36-07:00"),
            json!("2024-07-20T08:30:36"),
            json!("2024-07-20 08:30:36"),
            json!(1_721_464_236),
            json!(1_721_464_236_000_i64),
            json!("1721464236"),
        ] {
            assert_eq!(date(Some(&value)), Some(expected), "{value}");
        }
        assert_eq!(date(Some(&json!("2024-07-20"))), Some("2024-07-20T00:00:00Z".parse().unwrap()));
        for value in [json!(null), json!("soon"), json!(0), json!(1e300), json!("99999-01-01"), json!([1])] {
            assert_eq!(date(Some(&value)), None, "{value}");
        }
    }

    #[test]
    fn labels_and_text_hold_no_control_characters() {
        assert_eq!(clean("\u{0} a\u{1b}[31m\r\nb\t\u{7} "), "a[31m\nb");
        assert_eq!(slug("## Code style & tests!"), "code-style-tests");
        assert_eq!(tag(" a\nb "), Some("a b".to_owned()));
        assert_eq!(tag("\u{0}"), None);
    }

    #[test]
    fn an_id_that_cannot_be_a_session_gives_way_to_its_digest() {
        assert_eq!(session("chatgpt", "67-a").unwrap().as_str(), "chatgpt:67-a");
        let odd = session("chatgpt", "../../etc/passwd").unwrap();
        assert!(odd.as_str().starts_with("chatgpt:") && !odd.as_str().contains('/'));
        let secret = session("chatgpt", "ghp_abcdefghij0123456789").unwrap();
        assert!(!secret.as_str().contains("ghp_"), "{secret}");
    }
}
