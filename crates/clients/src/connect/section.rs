//! Guidance in Markdown, between two marks. What stands outside of them is the person's.

use throughline_core::transfer::formats::GUIDANCE_MARKS;

use super::{Seen, State, Unfit, line_end};

const BEGIN: &str = GUIDANCE_MARKS[0];
const END: &str = GUIDANCE_MARKS[1];

/// Puts the guidance in, or in the place of an older one. With a heading, the file must be ours or new.
pub(super) fn put(text: &str, head: Option<&str>, guidance: &str) -> Result<String, Unfit> {
    let end = line_end(text);
    let section = format!("{BEGIN}\n{}\n{END}", guidance.trim()).replace('\n', end);
    if let Some((from, to)) = range(text) {
        return Ok(format!("{}{section}{}", &text[..from], &text[to..]));
    }
    match head {
        Some(head) if text.trim().is_empty() => Ok(format!("{head}{section}\n")),
        Some(_) => Err(Unfit::NotOurs),
        None if text.is_empty() => Ok(format!("{section}\n")),
        None if text.ends_with('\n') => Ok(format!("{text}{end}{section}{end}")),
        // No line break after it either, so that taking it out can tell.
        None => Ok(format!("{text}{end}{end}{section}")),
    }
}

/// Takes it out, with the blank line that came with it.
pub(super) fn take(text: &str) -> String {
    let Some((from, to)) = range(text) else { return text.to_owned() };
    let (before, after) = (&text[..from], &text[to..]);
    let one_less =
        |text: &str| text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text)).len();
    let shorter = &before[..one_less(before)];
    if after.is_empty() {
        return shorter[..one_less(shorter)].to_owned();
    }
    let after = after.strip_prefix("\r\n").or(after.strip_prefix('\n')).unwrap_or(after);
    format!("{shorter}{after}")
}

pub(super) fn find(text: &str) -> Seen {
    let state = if range(text).is_some() { State::Whole } else { State::Absent };
    Seen { state, ..Seen::default() }
}

/// Where it stands, marks included.
fn range(text: &str) -> Option<(usize, usize)> {
    let from = text.find(BEGIN)?;
    let length = text[from..].find(END)? + END.len();
    Some((from, from + length))
}
