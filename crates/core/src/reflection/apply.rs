//! A plan, done to a text. Only the bytes of the lines that a step names are touched.

use jiff::civil::Date;

use crate::model::{DocumentName, Importance, MemorySection, Significance};
use crate::ports::{Applied, Dropped};
use crate::text::{bullets, sections};

use super::lines::{Line, has_sections, headings, lines};
use super::plan::{Plan, Step};

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The new text.
    pub text: String,
    /// What was done.
    pub applied: Vec<Applied>,
    /// What could not be done, and what the plan left out.
    pub dropped: Vec<Dropped>,
}

/// Does a plan. What cannot be found in the text afterwards (a person's code fence may be open) is not done.
pub fn apply(name: &DocumentName, text: &str, facts: &[Line], plan: &Plan, today: Date) -> Outcome {
    let in_place = edited(text, facts, &plan.steps);
    let mut outcome = Outcome { text: in_place, applied: Vec::new(), dropped: plan.dropped.clone() };
    for step in &plan.steps {
        let done = match step {
            Step::Move { line, section } => moved(name, &outcome.text, &facts[*line], *section),
            Step::Add { text, significance, section } => {
                added(name, &outcome.text, text, *significance, *section, today)
            }
            _ => Some(outcome.text.clone()),
        };
        match done {
            Some(text) => {
                outcome.text = text;
                outcome.applied.push(told(name, step, facts, &outcome.text));
            }
            None => outcome.dropped.push(Dropped {
                op: if matches!(step, Step::Add { .. }) { "add" } else { "move" }.to_owned(),
                ids: Vec::new(),
                reason: "the file's Markdown leaves no place for it".to_owned(),
            }),
        }
    }
    if keeps_what_matters(name, facts, &plan.steps, &outcome.text) {
        return outcome;
    }
    let reason = "the file cannot be changed without losing a protected fact".to_owned();
    let all = Dropped { op: "unknown".to_owned(), ids: Vec::new(), reason };
    Outcome { text: text.to_owned(), applied: Vec::new(), dropped: [plan.dropped.clone(), vec![all]].concat() }
}

/// The text with weights changed, merged lines rewritten and lines taken out, each where it stands.
fn edited(text: &str, facts: &[Line], steps: &[Step]) -> String {
    let mut edits: Vec<(&Line, String)> = Vec::new();
    for step in steps {
        match step {
            Step::Reweigh { line, to } => edits.push((&facts[*line], with_weight(text, &facts[*line], *to))),
            Step::Prune { line } => edits.push((&facts[*line], String::new())),
            Step::Merge { stands, others, text: says, to } => {
                let line = &facts[*stands];
                let item =
                    if line.text == *says { with_weight(text, line, *to) } else { saying(text, line, says, *to) };
                edits.push((line, item));
                edits.extend(others.iter().map(|other| (&facts[*other], String::new())));
            }
            Step::Add { .. } | Step::Move { .. } => {}
        }
    }
    edits.sort_by_key(|(line, _)| line.span.start);
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (line, item) in edits {
        out.push_str(&text[from..line.span.start]);
        out.push_str(&item);
        from = line.span.end;
    }
    out.push_str(&text[from..]);
    out
}

/// A line with another weight; every other byte of it stays.
fn with_weight(text: &str, line: &Line, to: Significance) -> String {
    let item = &text[line.span.clone()];
    if line.significance == to {
        return item.to_owned();
    }
    let (marker, rest) = item.split_at(marker_len(item));
    let (_, words) = bullets::weight(rest);
    format!("{marker}[sig:{}] {}", to.value(), words.trim_start())
}

/// A line with other words.
fn saying(text: &str, line: &Line, says: &str, to: Significance) -> String {
    let item = &text[line.span.clone()];
    let (marker, rest) = item.split_at(marker_len(item));
    let line_break = &rest[rest.trim_end_matches(['\n', '\r']).len()..];
    let has_weight = bullets::weight(rest).0.is_some() || to != Importance::default().significance();
    let weight = if has_weight { format!("[sig:{}] ", to.value()) } else { String::new() };
    format!("{marker}{weight}{says}{line_break}")
}

fn marker_len(item: &str) -> usize {
    item.len() - item[1..].trim_start_matches([' ', '\t']).len()
}

/// The text with a line in another section: its own bytes, at the end of that section.
fn moved(name: &DocumentName, text: &str, line: &Line, to: MemorySection) -> Option<String> {
    let stands =
        lines(name, text).into_iter().find(|other| other.text == line.text && other.section == line.section)?;
    let rest = [&text[..stands.span.start], &text[stands.span.end..]].concat();
    let item = &text[stands.span.clone()];
    let words = item[marker_len(item)..].trim_end();
    let longer = sections::with_added(&rest, headings(to), words, Importance::default());
    let is_there = |other: &Line| {
        other.text == line.text && other.section == Some(to) && other.significance == stands.significance
    };
    lines(name, &longer).iter().any(is_there).then_some(longer)
}

fn added(
    name: &DocumentName,
    text: &str,
    says: &str,
    significance: Significance,
    section: MemorySection,
    today: Date,
) -> Option<String> {
    let is_dated = says.get(..10).is_some_and(|start| start.parse::<Date>().is_ok());
    let is_event = has_sections(name) && section == MemorySection::Happened;
    let says = if is_event && !is_dated { format!("{today} {says}") } else { says.to_owned() };
    let item = format!("[sig:{}] {says}", significance.value());
    let longer = if has_sections(name) {
        sections::with_added(text, headings(section), &item, Importance::default())
    } else {
        bullets::with_added(text, &item, Importance::default())
    };
    lines(name, &longer).iter().any(|line| line.text == says).then_some(longer)
}

/// A last look: every protected fact still says what it said, and weighs no less, unless its words went into a merge.
fn keeps_what_matters(name: &DocumentName, before: &[Line], steps: &[Step], text: &str) -> bool {
    let after = lines(name, text);
    let merged = |at: usize| {
        steps.iter().find_map(|step| match step {
            Step::Merge { text, .. } if step.touched().contains(&at) => Some(text.as_str()),
            _ => None,
        })
    };
    before.iter().enumerate().filter(|(_, line)| line.is_protected()).all(|(at, line)| {
        let says = merged(at).unwrap_or(&line.text);
        after.iter().any(|other| other.text == says && other.significance >= line.significance)
    })
}

/// What a step did, in words.
fn told(name: &DocumentName, step: &Step, facts: &[Line], after: &str) -> Applied {
    let text = |line: &usize| format!("“{}”", facts[*line].text);
    let (op, what) = match step {
        Step::Add { text, section, .. } if has_sections(name) => {
            ("add", format!("“{text}” to {}", headings(*section)[0]))
        }
        Step::Add { text, .. } => ("add", format!("“{text}”")),
        Step::Reweigh { line, to } => {
            ("reweigh", format!("{} from {} to {}", text(line), facts[*line].significance.value(), to.value()))
        }
        Step::Merge { others, text: says, .. } => {
            ("merge", format!("{} into “{says}”", others.iter().map(text).collect::<Vec<_>>().join(" and ")))
        }
        Step::Move { line, section } => ("move", format!("{} to {}", text(line), headings(*section)[0])),
        Step::Prune { line } => ("prune", text(line)),
    };
    let mut ids: Vec<_> = step.touched().into_iter().map(|line| facts[line].id.clone()).collect();
    let (Step::Add { text: says, .. } | Step::Merge { text: says, .. }) = step else {
        return Applied { op: op.to_owned(), document: Some(name.clone()), ids, what };
    };
    let new =
        lines(name, after).into_iter().filter(|line| line.text.ends_with(says.as_str()) && !ids.contains(&line.id));
    ids.extend(new.map(|line| line.id).collect::<Vec<_>>());
    Applied { op: op.to_owned(), document: Some(name.clone()), ids, what }
}
