//! Which parts of a message are the person's own words: a message goes in, slices of it come out.
//!
//! Left out is what others or machines wrote: mail, forwarded and quoted text, transcripts, logs, code, documents, and
//! whatever the message hands over as material ("translate this: …", "here is what they sent"). In doubt a text is material:
//! what is left out here is still evidence in the transcript, and what is let in may become part of the person's identity.

mod phrases;
mod quotations;

use std::collections::HashMap;

use super::prose::{is_code, is_error, is_frame};
use super::steps;
use phrases::{Lead, lead_of};

pub use quotations::{QUOTED, without_quotations};

/// The person's own words, in order: runs of lines, trimmed.
pub fn own_words(message: &str) -> Vec<&str> {
    let message = phrases::after_attribution(message);
    let mut reader = Reader::default();
    outside_tags(message, &mut |part| reader.read(part));
    reader.own
}

/// Calls `each` for the text outside of elements that stand at the beginning of a line or have a name that transcripts use;
/// stops where it answers that the rest is material.
fn outside_tags<'a>(text: &'a str, each: &mut dyn FnMut(&'a str) -> bool) {
    let closings = closings(text);
    // Where the part that is read begins, where its first word does, and where the next tag is looked for.
    let (mut start, mut words, mut from) = (0, first_word(text, 0), 0);
    while let Some(open) = text[from..].find('<').map(|at| from + at) {
        steps::count(open - from + 1);
        from = open + 1;
        let Some(name) = tag_name(&text[open + 1..]) else { continue };
        steps::count(name.len());
        let close = closings.get(name).and_then(|all| all.get(all.partition_point(|at| *at < open))).copied();
        let is_at_start = words >= open || text[start..open].trim_end_matches([' ', '\t']).ends_with('\n');
        let is_element = phrases::is_transcript_tag(name) || is_at_start && close.is_some();
        if !is_element {
            continue;
        }
        if !each(&text[start..open]) {
            return;
        }
        let Some(close) = close else { return };
        start = text[close..].find('>').map_or(text.len(), |end| close + end + 1);
        (words, from) = (first_word(text, start), start);
    }
    each(&text[start..]);
}

/// Where the first word from here on begins.
fn first_word(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_start().len()
}

/// Where elements end, by their names: looked for once, since a tag that nobody closes would look through all that follows.
fn closings(text: &str) -> HashMap<&str, Vec<usize>> {
    let mut closings: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, mark) in text.match_indices("</") {
        let name = &text[at + mark.len()..];
        let end = name.find(|c: char| !is_of_name(c)).unwrap_or(name.len());
        steps::count(end + 1);
        closings.entry(&name[..end]).or_default().push(at);
    }
    closings
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

fn tag_name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !is_of_name(c))?;
    let name = &text[..end];
    let follows = text[end..].starts_with(['>', ' ', '/', '\n']);
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && follows).then_some(name)
}

#[derive(Default)]
struct Reader<'a> {
    own: Vec<&'a str>,
    /// The run of own lines that the next line may continue.
    run: Option<(usize, usize)>,
}

impl<'a> Reader<'a> {
    /// Reads a part of the message; says whether what follows it may be own words.
    fn read(&mut self, text: &'a str) -> bool {
        let lines = lines(text);
        let (transcript, data) = (transcript_from(&lines), data(&lines));
        let (mut nth, mut fence, mut in_output) = (0, None, false);
        while let Some(&(start, line)) = lines.get(nth) {
            let trimmed = line.trim();
            steps::count(line.len());
            nth += 1;
            if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
                self.end_run(text);
                fence = if fence.is_none() && !trimmed[mark.len()..].contains(mark) { Some(mark) } else { None };
                continue;
            }
            if fence.is_some() {
                continue;
            }
            if begins_material(&lines, nth - 1) {
                self.end_run(text);
                return false;
            }
            if trimmed.is_empty() {
                in_output = false;
                continue;
            }
            if is_signature(trimmed) {
                self.run = None;
                continue;
            }
            // What a program printed goes on to the next blank line.
            in_output |= is_output(line);
            if in_output || is_marked(line) || transcript.is_some_and(|from| nth > from) || data[nth - 1] {
                self.end_run(text);
                continue;
            }
            let from = start + (line.len() - line.trim_start().len());
            let has_more = lines[nth..].iter().any(|(_, line)| !line.trim().is_empty());
            match lead_of(trimmed, has_more) {
                Lead::None => self.add(from, from + trimmed.len()),
                // The person's part of the line is theirs; the rest is not.
                Lead::Material(end) => {
                    self.add(from, from + end);
                    self.end_run(text);
                    return false;
                }
            }
        }
        self.end_run(text);
        true
    }

    fn add(&mut self, from: usize, to: usize) {
        self.run = Some((self.run.map_or(from, |(start, _)| start), to));
    }

    fn end_run(&mut self, text: &'a str) {
        let run = self.run.take().map(|(from, to)| text[from..to].trim());
        self.own.extend(run.filter(|run| !run.is_empty()));
    }
}

fn lines(text: &str) -> Vec<(usize, &str)> {
    let starts = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    // U+2028, U+2029 and a lone carriage return end a line in some programs: nothing behind them is trusted to be one.
    starts.collect()
}

/// Whether everything from this line on is a document, a mail or a transcript.
fn begins_material(lines: &[(usize, &str)], at: usize) -> bool {
    let line = lines[at].1.trim();
    let is_header = |nth: usize| lines.get(nth).is_some_and(|(_, line)| phrases::is_header(line.trim()));
    let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    let is_timecode = line.contains(" --> ");
    let is_mail = is_header(at) && (is_header(at + 1) || is_header(at + 2));
    is_heading || is_timecode || is_mail || phrases::is_forward_mark(line) || phrases::is_attribution(line)
}

/// Quotations, tables, comments, differences and indented text.
fn is_marked(line: &str) -> bool {
    let trimmed = line.trim();
    let is_indented = line.starts_with('\t') || line.starts_with("    ");
    let has_mark = trimmed.starts_with(['>', '|', '<', '│', '├', '└', '┌', '%', '@', '＞', '｜']);
    let is_comment = ["//", "/*", "*/", "--", ";;", "\"\"\""].into_iter().any(|mark| trimmed.starts_with(mark));
    let is_difference = {
        let mut chars = trimmed.chars();
        let first = chars.next();
        matches!(first, Some('+' | '-')) && chars.next().is_some_and(|c| !c.is_whitespace() && !c.is_ascii_digit())
    };
    is_indented || has_mark || is_comment || is_difference || is_code(trimmed) || phrases::is_stamped(trimmed)
}

/// Prompts and what programs print.
fn is_output(line: &str) -> bool {
    const PROMPTS: [&str; 6] = ["$ ", "% ", ">>> ", "❯ ", "➜ ", "C:\\"];
    const QUERIES: [&str; 6] = ["SELECT", "INSERT", "UPDATE", "CREATE", "DELETE", "ALTER"];
    const BEGINS: [&str; 6] = ["BEGIN:", "FAILED ", "thread '", "npm ERR", "Exception", "warning: "];
    let trimmed = line.trim();
    let begins = |marks: &[&str]| marks.iter().any(|mark| trimmed.starts_with(mark));
    let is_shell =
        trimmed.split_whitespace().next().is_some_and(|word| word.contains('@') && word.ends_with(['#', '$', '%']));
    let first = trimmed.split(' ').next().unwrap_or_default();
    is_shell || QUERIES.contains(&first) || begins(&PROMPTS) || begins(&BEGINS) || is_frame(line) || is_error(trimmed)
}

/// The first of several lines that begin with the names of speakers.
fn transcript_from(lines: &[(usize, &str)]) -> Option<usize> {
    let is_spoken = |line: &str| {
        steps::count(line.len());
        phrases::is_speaker_line(line.trim())
    };
    let mut spoken = lines.iter().enumerate().filter(|(_, (_, line))| is_spoken(line)).map(|(nth, _)| nth);
    let first = spoken.next();
    spoken.next().and(first)
}

/// Of each line whether it stands among lines of `key: value` or of values with commas.
fn data(lines: &[(usize, &str)]) -> Vec<bool> {
    let mut data = vec![false; lines.len()];
    for (is_like, least) in [(phrases::is_setting as fn(&str) -> bool, 3), (phrases::is_record, 2)] {
        let mut run = 0;
        for nth in 0..=lines.len() {
            let line = lines.get(nth).map_or("", |(_, line)| line);
            steps::count(line.len());
            if nth < lines.len() && is_like(line.trim()) {
                run += 1;
                continue;
            }
            if run >= least {
                data[nth - run..nth].fill(true);
            }
            run = 0;
        }
    }
    data
}

/// `— Steve Jobs`: what stands above is theirs.
fn is_signature(line: &str) -> bool {
    let Some(name) = ["— ", "– ", "-- ", "——", "―"].into_iter().find_map(|mark| line.strip_prefix(mark))
    else {
        return false;
    };
    let words = name.split_whitespace().count();
    (1..=5).contains(&words) && name.trim_start().starts_with(|c: char| c.is_uppercase() || c as u32 > 0x2e80)
}

#[cfg(test)]
mod tests;
