//! What a model answered, told from what is no answer at all.

use crate::ports::{Finish, Reply};
use crate::prompts::NOTHING;
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
    /// A program's answer.
    #[error("the reply is JSON")]
    Json,
    /// Words that only say that there is none.
    #[error("the reply says that there is no summary")]
    NotGiven,
}

/// The summary in a reply: reasoning and code fences taken off, bounded, without secrets. Empty where the model says that
/// there is nothing to keep.
pub fn summary(reply: &Reply) -> Result<String, NotASummary> {
    if reply.finish != Finish::Complete {
        return Err(if reply.finish == Finish::CutOff { NotASummary::CutOff } else { NotASummary::Refusal });
    }
    let answer = without_reasoning(&reply.text)?;
    let text = without_fence(answer.trim()).trim();
    if text.is_empty() {
        return Err(NotASummary::Empty);
    }
    if text == NOTHING {
        return Ok(String::new());
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
    if is_not_given(text) {
        return Err(NotASummary::NotGiven);
    }
    if is_json(text) {
        return Err(NotASummary::Json);
    }
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // First, so that it hides no secret.
    let without_nul = text[..end].trim_end().replace('\0', "");
    Ok(redact(&without_nul).text.into_owned())
}

/// Takes reasoning out; reasoning that never ends is a reply that never came.
pub fn without_reasoning(text: &str) -> Result<String, NotASummary> {
    let mut rest = text.to_owned();
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")] {
        rest = without_thoughts(&rest, open, close, &mut 0)?;
        // Some servers send the end of the reasoning without its beginning.
        if let Some(end) = find(&rest, close) {
            rest.replace_range(..end + close.len(), "");
        }
        // What was left around a thought may read as the beginning of another.
        if find(&rest, open).is_some() {
            return Err(NotASummary::CutOff);
        }
    }
    Ok(rest)
}

/// The text without what stands between two tags, in one pass. `looked` counts the bytes that were looked at.
fn without_thoughts(text: &str, open: &str, close: &str, looked: &mut usize) -> Result<String, NotASummary> {
    let (mut kept, mut from) = (String::with_capacity(text.len()), 0);
    loop {
        let start = find(&text[from..], open);
        *looked += start.unwrap_or(text.len() - from);
        let Some(start) = start else { break };
        let inside = from + start + open.len();
        let Some(length) = find(&text[inside..], close) else { return Err(NotASummary::CutOff) };
        *looked += length;
        kept.push_str(&text[from..from + start]);
        from = inside + length + close.len();
    }
    kept.push_str(&text[from..]);
    Ok(kept)
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

/// How refusals begin, in lower case.
const REFUSALS: [&str; 44] = [
    "i'm sorry",
    "i am sorry",
    "sorry,",
    "sorry, but",
    "i apologize",
    "i apologise",
    "my apologies",
    "i can't",
    "i cannot",
    "i can not",
    "i'm unable",
    "i am unable",
    "i'm not able",
    "i am not able",
    "i'm not comfortable",
    "i won't",
    "i will not",
    "i must decline",
    "as an ai",
    "as a language model",
    "as a large language model",
    "unfortunately, i",
    "unfortunately i",
    "tut mir leid",
    "es tut mir leid",
    "entschuldigung",
    "leider kann ich",
    "ich kann nicht",
    "ich kann das nicht",
    "lo siento",
    "no puedo",
    "je suis désolé",
    "désolé",
    "je ne peux pas",
    "mi dispiace",
    "desculpe",
    "抱歉",
    "对不起",
    "很抱歉",
    "我无法",
    "我不能",
    "作为一个",
    "申し訳",
    "죄송",
];

/// A refusal is short and begins like one. A long text that mentions one is a summary of a conversation about it.
fn looks_like_refusal(text: &str) -> bool {
    let start: String = text.chars().take(80).collect::<String>().to_lowercase().replace('’', "'");
    text.chars().count() < 400 && REFUSALS.iter().any(|opening| start.starts_with(opening))
}

/// Whether a text only says that there is no summary, in words that are not the ones that were asked for.
fn is_not_given(text: &str) -> bool {
    const WORDS: [&str; 16] = [
        "n/a",
        "na",
        "null",
        "none",
        "nil",
        "undefined",
        "no summary",
        "no summary available",
        "empty",
        "nothing to summarize",
        "nothing to summarise",
        "no conversation",
        "no content",
        "not applicable",
        "无",
        "没有摘要",
    ];
    let bare = text.to_lowercase();
    WORDS.contains(
        &bare.trim_matches(|c: char| matches!(c, '.' | '。' | '!' | '"' | '\'' | '(' | ')' | '*' | '-' | ' ')),
    )
}

/// Whether a text is a program's answer: a JSON object or list, whole or cut off.
fn is_json(text: &str) -> bool {
    let is_whole = text.starts_with(['{', '[']) && serde_json::from_str::<serde_json::Value>(text).is_ok();
    is_whole || text.starts_with("{\"") || text.starts_with("{\n") || text.starts_with("[{")
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
        for refusal in ["Es tut mir leid, das kann ich nicht.", "Lo siento, pero no puedo.", "I apologize, but no."] {
            check(refusal, Err(NotASummary::Refusal));
        }
        for nothing in ["N/A", "n/a.", "null", "None", "No summary.", "(no summary available)", "\"\""] {
            let expected = if nothing == "\"\"" { Ok("\"\"") } else { Err(NotASummary::NotGiven) };
            check(nothing, expected);
        }
        check(r#"{"summary": "the parser"}"#, Err(NotASummary::Json));
        check("```json\n{\"summary\": \"cut", Err(NotASummary::Json));
        check(r#"["the parser", "the lexer"]"#, Err(NotASummary::Json));
        check("[x] the parser is done", Ok("[x] the parser is done"));
    }

    #[test]
    fn thoughts_are_passed_once_however_many_there_are() {
        let text = "so <think>hm</think>".repeat(1000);
        let mut looked = 0;
        let kept = without_thoughts(&text, "<think>", "</think>", &mut looked).unwrap();
        assert_eq!(kept, "so ".repeat(1000));
        assert!(looked <= text.len(), "{looked} bytes of {}", text.len());
        check("<thi<think></think>nk>half a thought", Err(NotASummary::CutOff));
        check("<thi<think></think>nk>a thought</think>- x", Ok("- x"));
    }

    #[test]
    fn nothing_is_one_exact_word() {
        check("NOTHING", Ok(""));
        check("<think>small talk</think>\n\nNOTHING\n", Ok(""));
        check("NOTHING is left of the parser", Ok("NOTHING is left of the parser"));
        check("- nothing", Ok("- nothing"));
    }

    #[test]
    fn a_reply_that_was_cut_off_is_no_summary() {
        let reply = Reply { finish: Finish::CutOff, ..Reply::said("- half") };
        assert_eq!(summary(&reply), Err(NotASummary::CutOff));
    }

    #[test]
    fn nul_goes_and_hides_no_secret() {
        check("- tea\0 please", Ok("- tea please"));
        check("use AKIA\0IOSFODNN7EXAMPLE", Ok("use [redacted:aws-key]"));
    }

    #[test]
    fn is_bounded_inside_no_character() {
        let reply = Reply::said("字".repeat(10_000));
        assert!(summary(&reply).unwrap().len() <= MAX_BYTES);
    }
}
