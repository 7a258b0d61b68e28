//! What people wrote, without what machines wrote: a message goes in, pieces of prose come out as slices of it.
//!
//! Code, logs, tables, headings, quotations and injected memory are left out. Of a code block or a stack trace the one
//! line stays that tells what went wrong.

/// One piece of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The words, as they were written; may hold line breaks.
    pub text: &'a str,
    /// What it is.
    pub form: Form,
    /// Whether it is an item of a list.
    pub is_item: bool,
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Prose.
    Prose,
    /// An unticked box of a list.
    ToDo,
    /// The line of a trace or log that tells the error.
    Error,
}

const FENCE_NAME: &str = "memory-context";

/// A wrapped line has at least so many bytes; a shorter one ended where its author wanted.
const WRAPPED: usize = 60;

/// Longer lines of output tell nothing.
const MAX_ERROR: usize = 400;

/// The pieces of a turn, in order.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut reader = Reader::default();
    outside_memory(text, |part| reader.read(part));
    reader.out
}

/// Only the telling lines, for the output of tools; at most one.
pub fn telling_line(text: &str) -> Option<&str> {
    let mut told = Told::default();
    let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    lines.by_ref().for_each(|(start, line)| told.see(text, start, line));
    told.line
}

/// Calls `each` for the text around `<memory-context>` blocks; one that is not closed lasts to the end.
fn outside_memory<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    let mut rest = text;
    while let Some(open) = find_tag(rest, "<") {
        each(&rest[..open]);
        let Some(close) = find_tag(&rest[open..], "</") else { return };
        let inside = &rest[open + close..];
        rest = inside.find('>').map_or("", |end| &inside[end + 1..]);
    }
    each(rest);
}

fn find_tag(text: &str, opener: &str) -> Option<usize> {
    text.match_indices(opener).map(|(at, _)| at).find(|at| {
        let name = text[at + opener.len()..].trim_start();
        name.get(..FENCE_NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(FENCE_NAME))
    })
}

/// The error that a block of output tells: the first, but the last of a Python trace or a chain of causes.
#[derive(Default)]
struct Told<'a> {
    line: Option<&'a str>,
    last_wins: bool,
}

impl<'a> Told<'a> {
    fn see(&mut self, text: &'a str, start: usize, line: &str) {
        let trimmed = line.trim();
        let last_wins = trimmed.starts_with("Traceback (most recent") || trimmed.starts_with("Caused by:");
        self.last_wins |= last_wins;
        if (self.line.is_none() || self.last_wins) && is_error(trimmed) {
            self.line = Some(with_message(text, start, line));
        }
    }
}

/// The line, and for a Rust panic its message, which stands on the next one.
fn with_message<'a>(text: &'a str, start: usize, line: &str) -> &'a str {
    let end = start + line.len();
    if line.contains(" panicked at ") && line.trim_end().ends_with(':') {
        let next = text[end..].find('\n').map_or(text.len(), |at| end + at);
        if next - start <= MAX_ERROR {
            return text[start..next].trim();
        }
    }
    text[start..end].trim()
}

#[derive(Default)]
struct Reader<'a> {
    out: Vec<Piece<'a>>,
    /// The mark of the code block that is open, and what it told so far.
    fence: Option<(&'static str, Told<'a>)>,
    /// What the stack trace told that stands in the prose.
    trace: Option<Told<'a>>,
    /// Where the prose begins that the next line may continue, and where it ends.
    open: Option<(usize, usize)>,
    /// Whether that prose is an item of a list.
    is_item: bool,
}

impl<'a> Reader<'a> {
    fn read(&mut self, text: &'a str) {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            self.line(text, at, line);
            at += line.len();
        }
        self.end_prose(text);
        self.end_trace();
        if let Some((_, told)) = self.fence.take() {
            self.push(told.line, Form::Error);
        }
    }

    fn line(&mut self, text: &'a str, start: usize, line: &'a str) {
        let trimmed = line.trim();
        if let Some((mark, told)) = &mut self.fence {
            if trimmed.starts_with(*mark) {
                let told = self.fence.take().and_then(|(_, told)| told.line);
                self.push(told, Form::Error);
            } else {
                told.see(text, start, line);
            }
            return;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            self.end_prose(text);
            // A block that is opened and closed on one line is no block.
            if !trimmed[mark.len()..].contains(mark) {
                self.fence = Some((mark, Told::default()));
            }
            return;
        }
        let in_trace = self.trace.is_some() && line.starts_with([' ', '\t']) && !trimmed.is_empty();
        if in_trace || is_frame(line) || is_error(trimmed) {
            self.end_prose(text);
            self.trace.get_or_insert_default().see(text, start, line);
            return;
        }
        self.end_trace();
        self.prose_line(text, start, line);
    }

    fn prose_line(&mut self, text: &'a str, start: usize, line: &'a str) {
        let trimmed = line.trim();
        let (marker, form) = list_marker(trimmed);
        if trimmed.is_empty() || is_furniture(trimmed) || is_code(&trimmed[marker..]) {
            return self.end_prose(text);
        }
        let begin = start + (line.len() - line.trim_start().len());
        let end = begin + trimmed.len();
        if let Some((open, before)) = self.open
            && continues(&text[open..before], trimmed)
        {
            self.open = Some((open, end));
            return;
        }
        self.end_prose(text);
        match form {
            Form::ToDo => self.push(Some(&trimmed[marker..]), form),
            _ => (self.open, self.is_item) = (Some((begin + marker, end)), marker > 0),
        }
    }

    fn end_prose(&mut self, text: &'a str) {
        if let Some((start, end)) = self.open.take() {
            self.push(Some(&text[start..end]), Form::Prose);
        }
    }

    fn end_trace(&mut self) {
        let told = self.trace.take().and_then(|told| told.line);
        self.push(told, Form::Error);
    }

    fn push(&mut self, text: Option<&'a str>, form: Form) {
        let is_item = form == Form::ToDo || form == Form::Prose && self.is_item;
        let piece = |text| Piece { text, form, is_item };
        self.out.extend(text.map(str::trim).filter(|text| !text.is_empty()).map(piece));
    }
}

/// Whether a line goes on with the sentence before it: that one was wrapped, and this one begins like a middle.
fn continues(before: &str, line: &str) -> bool {
    let last = before.rsplit('\n').next().unwrap_or_default();
    last.len() >= WRAPPED
        && !before.ends_with(['.', '!', '?', ':', '。', '！', '？', '：'])
        && line.starts_with(|c: char| c.is_lowercase())
}

/// The length of `- `, `* `, `1. `, `- [ ] `, and what the item is.
fn list_marker(line: &str) -> (usize, Form) {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let mark = match rest.chars().next() {
        Some('-' | '*' | '+' | '•' | '·') if digits == 0 => rest.chars().next().map_or(0, char::len_utf8),
        Some('.' | ')') if (1..=3).contains(&digits) => digits + 1,
        Some('、') if (1..=3).contains(&digits) => return (digits + '、'.len_utf8(), Form::Prose),
        _ => return (0, Form::Prose),
    };
    let after = line[mark..].trim_start();
    if after.len() == line.len() - mark {
        return (0, Form::Prose);
    }
    let at = line.len() - after.len();
    match after.get(..4) {
        Some("[ ] ") => (at + 4, Form::ToDo),
        Some("[x] " | "[X] ") => (at + 4, Form::Prose),
        _ => (at, Form::Prose),
    }
}

/// Headings, tables, quotations, rules and tags.
pub(super) fn is_furniture(line: &str) -> bool {
    line.starts_with(['#', '|', '>', '<', '┌', '│', '└', '├'])
        || line.contains("</")
        || line.contains("<!")
        || line.contains("<think")
        || !line.chars().any(char::is_alphanumeric)
}

/// A frame of a stack trace, or the line that announces one.
pub(super) fn is_frame(line: &str) -> bool {
    let trimmed = line.trim();
    let indented = line.starts_with([' ', '\t']);
    trimmed.starts_with("Traceback (most recent")
        || trimmed.starts_with("Caused by:")
        || trimmed.starts_with("stack backtrace:")
        || (trimmed.starts_with("File \"") && trimmed.contains(", line "))
        || (trimmed.starts_with("at ") && trimmed.ends_with(')') && trimmed.contains(['(', ':']))
        || (indented && trimmed.starts_with("at ") && trimmed.contains(':'))
}

/// Code, logs and encoded data: too many signs for its letters, or the end of a statement.
pub(super) fn is_code(line: &str) -> bool {
    if line.ends_with(['{', '}', ';']) || line.starts_with("$ ") || line.starts_with("//") || is_log(line) {
        return true;
    }
    let (mut signs, mut all, mut longest, mut run) = (0, 0, 0, 0);
    for c in line.chars() {
        run = if c.is_ascii_alphanumeric() { run + 1 } else { 0 };
        longest = longest.max(run);
        all += usize::from(!c.is_whitespace());
        signs += usize::from(matches!(
            c,
            '{' | '}' | '(' | ')' | '[' | ']' | ';' | '=' | '<' | '>' | '|' | '&' | '$' | '\\' | '%' | '+'
        ));
    }
    longest > 80 || signs * 6 > all
}

fn is_log(line: &str) -> bool {
    let level = |word: &str| matches!(word, "INFO" | "DEBUG" | "WARN" | "ERROR" | "TRACE" | "WARNING");
    let mut words = line.split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | ':')).filter(|w| !w.is_empty());
    let dated =
        line.len() > 19 && line.is_char_boundary(10) && line[..10].bytes().filter(u8::is_ascii_digit).count() >= 8;
    words.by_ref().take(if dated { 6 } else { 1 }).any(level)
}

/// Whether the line tells an error: `error: …`, `error[E0502]: …`, `ValueError: …`, `main.c:3:1: error: …`.
pub(super) fn is_error(line: &str) -> bool {
    if line.len() > MAX_ERROR || line.len() < 8 {
        return false;
    }
    let line = line.strip_prefix("E  ").map_or(line, str::trim_start);
    let line = line.strip_prefix("Caused by: ").unwrap_or(line);
    let starts = |prefix: &str| line.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let head = line.split_once(": ").map_or("", |(head, _)| head);
    let named = !head.contains(char::is_whitespace)
        && (head.ends_with("Error") || head.ends_with("Exception"))
        && head.len() > "Error".len();
    named
        || ["error: ", "error[", "fatal: ", "panic: ", "uncaught ", "exception in thread"].into_iter().any(starts)
        || line.contains(": error: ")
        || line.contains(": fatal error: ")
        || (line.contains(" panicked at ") && line.starts_with("thread "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, Form)]) {
        let found: Vec<_> = pieces(text).into_iter().map(|piece| (piece.text, piece.form)).collect();
        assert_eq!(found, expected, "of {text:?}");
    }

    #[test]
    fn leaves_out_what_is_no_prose() {
        check("# Plan\n\n> quoted\n| a | b |\n---\nkept", &[("kept", Form::Prose)]);
        check("see\n```rust\nfn main() {}\n```\nthen", &[("see", Form::Prose), ("then", Form::Prose)]);
        check("let x = 3;\nif (a) {\n}\nfoo(bar(baz), [1]) => x\nfine", &[("fine", Form::Prose)]);
        check("2026-02-03 10:00:00 INFO started\n[WARN] slow\nok then", &[("ok then", Form::Prose)]);
        check("<div>\na </b> b\n<p>x</p>\nfine", &[("fine", Form::Prose)]);
    }

    #[test]
    fn keeps_the_telling_line() {
        let python = "It fails:\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\n    x = y.z\n\
            ValueError: first\n\nDuring handling:\nKeyError: 'a'\nwhat now?";
        let (told, prose) = (Form::Error, Form::Prose);
        check(
            python,
            &[
                ("It fails:", prose),
                ("ValueError: first", told),
                ("During handling:", prose),
                ("KeyError: 'a'", told),
                ("what now?", prose),
            ],
        );
        check(
            "```\nerror[E0502]: cannot borrow\n --> src/a.rs:1\nerror: aborting\n```",
            &[("error[E0502]: cannot borrow", told)],
        );
        check(
            "TypeError: x is undefined\n    at f (a.js:1:2)\n    at g (b.js:3:4)\nHelp",
            &[("TypeError: x is undefined", told), ("Help", prose)],
        );
        let java = "Exception in thread \"main\" java.lang.RuntimeException: outer\n\tat A.b(A.java:1)\nCaused by: java.io.IOException: disk full\n\tat C.d(C.java:2)";
        assert_eq!(telling_line(java), Some("Caused by: java.io.IOException: disk full"));
        let rust = "running\nthread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\nnote: run with";
        assert_eq!(telling_line(rust), Some("thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds"));
        assert_eq!(telling_line("all fine\n0 errors"), None);
    }

    #[test]
    fn reads_lists_and_wrapped_lines() {
        check(
            "- [ ] buy milk\n- [x] call Bob\n2. third\n1、第四",
            &[("buy milk", Form::ToDo), ("call Bob", Form::Prose), ("third", Form::Prose), ("第四", Form::Prose)],
        );
        let wrapped =
            "This line was wrapped by an editor at about seventy characters, as mail\nclients do.\nshort\nlines";
        assert_eq!(pieces(wrapped)[0].text, &wrapped[..wrapped.find("\nshort").unwrap()]);
        assert_eq!(pieces(wrapped).len(), 3);
    }

    #[test]
    fn injected_memory_is_not_read() {
        check("<memory-context>\n- I prefer tabs\n</memory-context>\n\nhello there", &[("hello there", Form::Prose)]);
        check("a<Memory-Context x>b</ memory-context >c <memory-context>d", &[("a", Form::Prose), ("c", Form::Prose)]);
    }
}
