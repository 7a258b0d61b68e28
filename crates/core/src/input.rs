//! Input made safe to store: bounded, free of secrets, links told from labels. Touches nothing.

use crate::error::{Done, EngineError};
use crate::text::redact::redact;

/// Largest entry, in bytes: more belongs into the vault.
const MAX_CONTENT: usize = 64 * 1024;
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
    if text.len() > MAX_CONTENT {
        return Err(EngineError::invalid("the text", format!("has {} bytes; at most {MAX_CONTENT} fit", text.len())));
    }
    if text.contains('\0') {
        return Err(EngineError::invalid("the text", "contains a NUL character"));
    }
    let redacted = redact(text);
    Ok((redacted.text.into_owned(), redacted.kinds))
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
        return Err(EngineError::invalid(field, format!("{text:?} contains a control character")));
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
    fn secrets_do_not_reach_the_store() {
        let (text, kinds) = content("use AKIAIOSFODNN7EXAMPLE for s3").unwrap();
        assert_eq!(text, "use [redacted:aws-key] for s3");
        assert_eq!(kinds, ["aws-key"]);
    }
}
