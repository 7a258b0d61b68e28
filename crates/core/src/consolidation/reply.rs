//! What a model answered, told from what is no answer at all.

use crate::ports::{Finish, Reply};
use crate::text::redact::redact;

/// Longest summary that is stored, in bytes.
const MAX_BYTES: usize = 8 * 1024;

/// Why a reply is not a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotASummary {
    /// It broke off.
    #[error("the reply was cut off")]
    CutOff,
    /// Nothing is left of it.
    #[error("the reply is empty")]
    Empty,
    /// The model would not.
    #[error("the reply is a refusal")]
    Refusal,
    /// A web page.
    #[error("the reply is HTML")]
    Html,
    /// A message about an error.
    #[error("the reply is an error message")]
    Error,
}

/// The summary in a reply: reasoning and code fences taken off, bounded, without secrets.
pub fn summary(reply: &Reply) -> Result<String, NotASummary> {
    if reply.finish != Finish::Complete {
        return Err(if reply.finish == Finish::CutOff { NotASummary::CutOff } else { NotASummary::Refusal });
    }
    let answer = without_reasoning(&reply.text)?;
    let text = without_fence(answer.trim()).trim();
    if text.is_empty() {
        return Err(NotASummary::Empty);
    }
    if looks_like_html(text) {
        return Err(NotASummary::Html);
    }
    if looks_like_refusal(text) {
        return Err(NotASummary::Refusal);
    }
    if looks_like_error(text) {
        return Err(NotASummary::Error);
    }
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Ok(redact(text[..end].trim_end()).text.into_owned())
}

/// Takes reasoning out; reasoning that never ends is a reply that never came.
pub fn without_reasoning(text: &str) -> Result<String, NotASummary> {
    let mut rest = text.to_owned();
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")] {
        while let Some(start) = find(&rest, open) {
            let Some(length) = find(&rest[start..], close) else { return Err(NotASummary::CutOff) };
            rest.replace_range(start..start + length + close.len(), "");
        }
        // Some servers send the end of the reasoning without its beginning.
        if let Some(end) = find(&rest, close) {
            rest.replace_range(..end + close.len(), "");
        }
    }
    Ok(rest)
}

/// Where an ASCII tag stands, whatever its case.
fn find(text: &str, tag: &str) -> Option<usize> {
    text.as_bytes().windows(tag.len()).position(|window| window.eq_ignore_ascii_case(tag.as_bytes()))
}

fn without_fence(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("```") else { return text };
    let body = inside.split_once('\n').map_or("", |(_, body)| body);
    body.strip_suffix("```").unwrap_or(body)
}

fn looks_like_html(text: &str) -> bool {
    let start: String = text.chars().take(200).collect::<String>().to_lowercase();
    let start = start.trim_start();
    start.starts_with("<!doctype") || start.starts_with("<html") || start.contains("<body") || start.contains("<head>")
}

/// A refusal is short and begins like one. A long text that mentions one is a summary of a conversation about it.
fn looks_like_refusal(text: &str) -> bool {
    const OPENINGS: [&str; 16] = [
        "i'm sorry",
        "i am sorry",
        "sorry,",
        "i can't",
        "i cannot",
        "i can not",
        "i'm unable",
        "i am unable",
        "as an ai",
        "i won't",
        "unfortunately, i",
        "抱歉",
        "对不起",
        "很抱歉",
        "我无法",
        "作为一个",
    ];
    let start: String = text.chars().take(80).collect::<String>().to_lowercase().replace('’', "'");
    text.chars().count() < 400 && OPENINGS.iter().any(|opening| start.starts_with(opening))
}

fn looks_like_error(text: &str) -> bool {
    let start: String = text.chars().take(80).collect::<String>().to_lowercase();
    let is_json_error = start.starts_with('{') && start.contains("\"error\"");
    let openings = ["error:", "internal server error", "bad gateway", "service unavailable", "rate limit", "upstream"];
    text.chars().count() < 400 && (is_json_error || openings.iter().any(|opening| start.starts_with(opening)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, NotASummary>) {
        let reply = Reply::said(text);
        assert_eq!(summary(&reply).as_deref().map_err(|error| *error), expected, "{text:?}");
    }

    #[test]
    fn takes_the_summary_and_leaves_the_rest() {
        check("## Working on\n- parser", Ok("## Working on\n- parser"));
        check("<think>hm</think>\n## Topics\n- x", Ok("## Topics\n- x"));
        check("hm, so</think>\n\n- x", Ok("- x"));
        check("```markdown\n- x\n```", Ok("- x"));
        check("- I'm sorry, said Ann, and we moved on", Ok("- I'm sorry, said Ann, and we moved on"));
    }

    #[test]
    fn knows_what_is_no_summary() {
        check("", Err(NotASummary::Empty));
        check(" \n<think>only thoughts</think>", Err(NotASummary::Empty));
        check("<think>for ever", Err(NotASummary::CutOff));
        check("<!DOCTYPE html><html>…", Err(NotASummary::Html));
        check("<html><body>502</body></html>", Err(NotASummary::Html));
        check("I’m sorry, but I can't help with that.", Err(NotASummary::Refusal));
        check("抱歉，我无法完成。", Err(NotASummary::Refusal));
        check("{\"error\": {\"message\": \"overloaded\"}}", Err(NotASummary::Error));
        check("Internal Server Error", Err(NotASummary::Error));
    }

    #[test]
    fn a_reply_that_was_cut_off_is_no_summary() {
        let reply = Reply { finish: Finish::CutOff, ..Reply::said("- half") };
        assert_eq!(summary(&reply), Err(NotASummary::CutOff));
    }

    #[test]
    fn is_bounded_inside_no_character() {
        let reply = Reply::said("字".repeat(10_000));
        assert!(summary(&reply).unwrap().len() <= MAX_BYTES);
    }
}
