//! Input made safe to store: bounded, free of secrets, links told from labels. Touches nothing.

use jiff::{SignedDuration, Timestamp};

use crate::error::{Done, EngineError};
use crate::text::redact::redact;

/// Largest entry, in bytes: more belongs into the vault.
const MAX_CONTENT: usize = 64 * 1024;
/// Largest turn, in bytes: more is a file that somebody pasted.
pub(crate) const MAX_TURN: usize = 1024 * 1024;
/// Largest system prompt, in bytes.
const MAX_PROMPT: usize = 1024 * 1024;
const MAX_KEY: usize = 200;
const MAX_TAG: usize = 100;
const MAX_TITLE: usize = 300;
const MAX_TAGS: usize = 32;
const MAX_PATH: usize = 4096;

/// Content that may be stored, and what was taken out of it.
pub(crate) fn content(text: &str) -> Done<(String, Vec<&'static str>)> {
    let text = text.trim();
    if text.is_empty() {
        return Err(EngineError::invalid("the text", "is empty"));
    }
    bounded("the text", text, MAX_CONTENT)
}

/// What was said, if it may be stored, and what was taken out of it.
pub(crate) fn said(text: &str) -> Done<(String, Vec<&'static str>)> {
    bounded("the turn", text, MAX_TURN)
}

/// As much as can be kept of what was said, where that is not all: without NUL characters, and cut at the limit. Secrets are
/// taken out first: half of one is not recognised.
pub(crate) fn fitted(text: &str) -> Option<String> {
    if text.len() <= MAX_TURN && !text.contains('\0') {
        return None;
    }
    let mut fitted = redact(&text.replace('\0', "")).text.into_owned();
    fitted.truncate(fitted.floor_char_boundary(MAX_TURN));
    Some(fitted)
}

/// A host's own system prompt.
pub(crate) fn prompt(text: &str) -> Done<String> {
    Ok(bounded("the system prompt", text, MAX_PROMPT)?.0)
}

fn bounded(field: &'static str, text: &str, max: usize) -> Done<(String, Vec<&'static str>)> {
    if text.len() > max {
        return Err(EngineError::invalid(field, format!("has {} bytes; at most {max} fit", text.len())));
    }
    no_nul(field, text)?;
    let redacted = redact(text);
    Ok((redacted.text.into_owned(), redacted.kinds))
}

/// A time that can be kept: none before 1970, and none that is still to come but for a clock that is a little ahead.
pub(crate) fn time(at: Timestamp, now: Timestamp) -> Timestamp {
    const AHEAD: SignedDuration = SignedDuration::from_hours(24);
    let latest = now.checked_add(AHEAD).unwrap_or(now);
    if at > latest { now } else { at.max(Timestamp::UNIX_EPOCH) }
}

/// When something ends that can be kept: within a lifetime.
pub(crate) fn end(at: Timestamp, now: Timestamp) -> Timestamp {
    const LIFETIME: SignedDuration = SignedDuration::from_hours(24 * 365 * 100);
    at.clamp(Timestamp::UNIX_EPOCH, now.checked_add(LIFETIME).unwrap_or(now))
}

/// Refuses a NUL character: it ends text for half of the programs that read it.
pub(crate) fn no_nul(field: &'static str, text: &str) -> Done<()> {
    if text.contains('\0') { Err(EngineError::invalid(field, "contains a NUL character")) } else { Ok(()) }
}

/// Refuses a name that holds a secret: two that are redacted could not be told apart. The error does not repeat it.
pub(crate) fn no_secret(field: &'static str, name: &str) -> Done<()> {
    match redact(name).kinds.as_slice() {
        [] => Ok(()),
        kinds => Err(EngineError::invalid(field, format!("holds a secret ({}): nothing was kept", kinds.join(", ")))),
    }
}

/// The kinds of secrets in names, added to those that were found already.
pub(crate) fn also_in<'a>(names: impl IntoIterator<Item = &'a str>, kinds: &mut Vec<&'static str>) {
    for kind in names.into_iter().flat_map(|name| redact(name).kinds) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
}

/// As much as one entry holds of what was stored bit by bit: the latest of it. Its earlier versions hold the rest.
pub(crate) fn latest(text: &str) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_CONTENT));
    text[from..].trim().to_owned()
}

/// A short name: a key, a project, a task, a label.
fn label(field: &'static str, text: &str, max: usize) -> Done<String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(EngineError::invalid(field, "is empty"));
    }
    if text.chars().count() > max {
        return Err(EngineError::invalid(field, format!("is longer than {max} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(EngineError::invalid(field, format!("{:?} contains a control character", redact(text).text)));
    }
    Ok(redact(text).text.into_owned())
}

pub(crate) fn key(text: &str) -> Done<String> {
    label("the key", text, MAX_KEY)
}

pub(crate) fn project(text: &str) -> Done<String> {
    label("the project", text, MAX_TAG)
}

/// The name of somebody who speaks.
pub(crate) fn speaker(text: &str) -> Done<String> {
    label("the speaker", text, MAX_TAG)
}

/// The name of the person among those who speak.
pub(crate) fn person(text: &str) -> Done<String> {
    label("the person", text, MAX_TAG)
}

/// What a task is called: one line.
pub(crate) fn title(text: &str) -> Done<String> {
    label("the title", text, MAX_TITLE)
}

/// Where a project is: a path as it is, that can be shown on one line.
pub(crate) fn directory(path: &str) -> Done<String> {
    if path.chars().count() > MAX_PATH {
        return Err(EngineError::invalid("the directory", format!("is longer than {MAX_PATH} characters")));
    }
    if path.trim().is_empty() || path.chars().any(char::is_control) {
        return Err(EngineError::invalid("the directory", format!("{path:?} is empty or has a control character")));
    }
    no_secret("the directory", path)?;
    Ok(path.to_owned())
}

/// Where a task stands, in words; may be empty.
pub(crate) fn state(text: &str) -> Done<String> {
    if text.trim().is_empty() { Ok(String::new()) } else { Ok(content(text)?.0) }
}

/// Labels, with the links among them told apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Labels {
    pub(super) tags: Vec<String>,
    pub(super) project: Option<String>,
    pub(super) task: Option<String>,
}

/// Sorts labels out: `project:x` and `task:y` are links, the rest are kept once each, in order.
pub(crate) fn labels(given: &[String]) -> Done<Labels> {
    let mut labels = Labels::default();
    for tag in given {
        let tag = label("a tag", tag, MAX_TAG)?;
        match tag.split_once(':') {
            Some(("project", name)) => set_once("project", &mut labels.project, project(name)?)?,
            Some(("task", name)) => set_once("task", &mut labels.task, label("the task", name, MAX_TAG)?)?,
            _ if labels.tags.contains(&tag) => {}
            _ => labels.tags.push(tag),
        }
    }
    if labels.tags.len() > MAX_TAGS {
        return Err(EngineError::invalid("tags", format!("number {}; at most {MAX_TAGS} fit", labels.tags.len())));
    }
    Ok(labels)
}

/// Two ways of giving the same link must agree.
pub(crate) fn set_once(field: &'static str, slot: &mut Option<String>, value: String) -> Done<()> {
    match slot {
        Some(old) if *old != value => {
            Err(EngineError::invalid(field, format!("is given twice, as `{old}` and as `{value}`")))
        }
        _ => {
            *slot = Some(value);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_told_from_labels() {
        let given = ["red", "project:apollo", "task:t1", "red"].map(str::to_owned);
        let expected = Labels { tags: vec!["red".into()], project: Some("apollo".into()), task: Some("t1".into()) };
        assert_eq!(labels(&given).unwrap(), expected);
        assert!(labels(&["project:a".to_owned(), "project:b".to_owned()]).is_err());
    }

    #[test]
    fn refuses_what_cannot_be_stored() {
        for text in ["", "  \n", "a\0b", &"x".repeat(MAX_CONTENT + 1)] {
            assert!(content(text).is_err());
        }
        for text in ["", "a\nb", &"x".repeat(MAX_KEY + 1)] {
            assert!(key(text).is_err());
        }
    }

    #[test]
    fn refuses_turns_that_are_too_large_or_hold_nul() {
        assert!(said(&"x".repeat(1 << 20)).is_ok());
        assert!(said(&"x".repeat((1 << 20) + 1)).is_err());
        assert!(said("a\0b").is_err());
    }

    #[test]
    fn as_much_is_kept_as_fits() {
        assert_eq!(fitted("tea"), None);
        assert_eq!(fitted("a\0b").unwrap(), "ab");
        let long = fitted(&"é".repeat(MAX_TURN)).unwrap();
        assert_eq!(long.len(), MAX_TURN);
        let at_the_limit = format!("{} AKIAIOSFODNN7EXAMPLE {}", "x".repeat(MAX_TURN - 10), "y".repeat(20));
        assert!(!fitted(&at_the_limit).unwrap().contains("AKIA"));
    }

    #[test]
    fn times_are_clamped() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-03-01T12:00:00Z");
        for (given, kept) in [
            ("9999-12-30T22:00:00Z", "2026-03-01T12:00:00Z"),
            ("2026-03-02T11:00:00Z", "2026-03-02T11:00:00Z"),
            ("2023-05-08T13:56:00Z", "2023-05-08T13:56:00Z"),
            ("-009999-01-02T02:00:00Z", "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(time(at(given), now), at(kept), "{given}");
        }
        assert_eq!(time(Timestamp::MAX, Timestamp::MAX), Timestamp::MAX);
    }

    #[test]
    fn names_with_secrets_are_refused_without_repeating_them() {
        let error = no_secret("the session", "web:ghp_abcdefghij0123456789").unwrap_err().to_string();
        assert!(error.contains("github-token") && !error.contains("abcdefghij"), "{error}");
        assert!(no_secret("the session", "cli:550e8400-e29b-41d4-a716-446655440000").is_ok());
        assert!(directory("/home/ada/ghp_abcdefghij0123456789").is_err());
    }

    #[test]
    fn secrets_do_not_reach_the_store() {
        let (text, kinds) = content("use AKIAIOSFODNN7EXAMPLE for s3").unwrap();
        assert_eq!(text, "use [redacted:aws-key] for s3");
        assert_eq!(kinds, ["aws-key"]);
    }
}
