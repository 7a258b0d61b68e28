//! Which of the proposed operations are done. Decides; touches nothing.

use std::collections::HashSet;

use crate::consolidation::facts::{Said, Support, has_quantifier, sharp, support, words};
use crate::model::{EntryId, MemorySection, Significance, Turn};
use crate::ports::Dropped;
use crate::recall::similarity;
use crate::text::{bullets, redact::redact};

use super::lines::Line;
use super::reply::{Operation, Proposal};
use super::same::negations;

/// New facts of one pass, at most.
const MAX_ADDED: usize = 20;
/// Longest fact that is written, in characters.
const MAX_CHARS: usize = 500;
/// A fact that shares this much with one that stands there is that fact.
const SAME_FACT: f64 = 0.8;

/// What a plan is made from.
pub struct Input<'a> {
    /// The facts as they stand now.
    pub lines: &'a [Line],
    /// The short names that the model was given, and the facts that they meant.
    pub names: &'a [(String, EntryId)],
    /// What was said since the last pass, without the words of other people.
    pub said: &'a [Turn],
    /// Whether the document has the three sections.
    pub has_sections: bool,
    /// The share of the facts that may be removed or changed.
    pub max_share: f64,
}

/// One thing to do; facts are named by their place in [`Input::lines`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A new fact.
    Add {
        /// The words.
        text: String,
        /// Its weight.
        significance: Significance,
        /// Where it goes.
        section: MemorySection,
    },
    /// Another weight.
    Reweigh {
        /// The fact.
        line: usize,
        /// The new weight.
        to: Significance,
    },
    /// Several facts become the first, which says `text` and has the highest weight.
    Merge {
        /// The one that stands.
        stands: usize,
        /// Those that go.
        others: Vec<usize>,
        /// What it says.
        text: String,
        /// Its weight.
        to: Significance,
    },
    /// A fact goes to another section.
    Move {
        /// The fact.
        line: usize,
        /// Where it goes.
        section: MemorySection,
    },
    /// A fact goes.
    Prune {
        /// The fact.
        line: usize,
    },
}

impl Step {
    /// The facts that it touches.
    pub fn touched(&self) -> Vec<usize> {
        match self {
            Self::Add { .. } => Vec::new(),
            Self::Reweigh { line, .. } | Self::Move { line, .. } | Self::Prune { line } => vec![*line],
            Self::Merge { stands, others, .. } => std::iter::once(*stands).chain(others.iter().copied()).collect(),
        }
    }

    fn removed(&self) -> usize {
        match self {
            Self::Prune { .. } => 1,
            Self::Merge { others, .. } => others.len(),
            _ => 0,
        }
    }

    /// How many facts are removed or changed; one that stays as it is costs nothing.
    fn cost(&self, lines: &[Line]) -> usize {
        match self {
            Self::Merge { stands, others, text, to } => {
                let stays = lines[*stands].text == *text && lines[*stands].significance == *to;
                others.len() + usize::from(!stays)
            }
            step => step.touched().len(),
        }
    }
}

/// What is done, and what is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order in which they are done.
    pub steps: Vec<Step>,
    /// What was proposed and is not done, with the reason.
    pub dropped: Vec<Dropped>,
}

/// Judges a proposal. The facts that are removed or changed are at most a share of all, the weakest first; what is left
/// over waits for the next pass. One small step is always possible, or short files would never be tidied.
pub fn plan(input: &Input<'_>, proposal: &Proposal) -> Plan {
    let mut plan = Plan { steps: Vec::new(), dropped: proposal.unreadable.clone() };
    let mut changes: Vec<(u8, &Operation, Step)> = Vec::new();
    let mut decided: HashSet<usize> = HashSet::new();
    let mut added: Vec<Step> = Vec::new();
    for operation in &proposal.operations {
        match step(input, operation, &decided, &added) {
            Err(reason) => plan.dropped.push(operation.dropped(reason)),
            Ok(step @ Step::Add { .. }) => added.push(step),
            Ok(step) => {
                let touched = step.touched();
                let weakest = touched.iter().map(|line| input.lines[*line].significance.value()).min();
                decided.extend(touched);
                changes.push((weakest.unwrap_or_default(), operation, step));
            }
        }
    }
    changes.sort_by_key(|(weakest, ..)| *weakest);
    let limit = limit(input.lines.len(), input.max_share);
    let mut spent = 0;
    for (_, operation, step) in changes {
        let cost = step.cost(input.lines);
        let is_small = limit > 0 && spent == 0 && step.removed() <= 1;
        if spent + cost <= limit || is_small {
            spent += cost;
            plan.steps.push(step);
        } else {
            plan.dropped.push(operation.dropped("left for the next pass: enough was changed in this one"));
        }
    }
    plan.steps.extend(added);
    plan
}

/// How many facts may be removed or changed.
fn limit(facts: usize, max_share: f64) -> usize {
    let share = (facts as f64 * max_share.clamp(0.0, 1.0)).floor() as usize;
    if max_share > 0.0 { share.max(1) } else { 0 }
}

fn step(input: &Input<'_>, operation: &Operation, decided: &HashSet<usize>, added: &[Step]) -> Result<Step, String> {
    if let Operation::Add { text, significance, section } = operation {
        return add(input, text, *significance, *section, added);
    }
    let mut lines = Vec::new();
    for id in operation.ids() {
        let line = find(input, id)?;
        if decided.contains(&line) {
            return Err(format!("`{}` was decided on already", shown(id)));
        }
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    match operation {
        Operation::Add { .. } => Err("is not about a fact".to_owned()),
        Operation::Reweigh { significance, .. } => reweigh(input, lines[0], *significance),
        Operation::Merge { text, .. } => merge(input, &lines, text),
        Operation::Move { section, .. } => match input.lines[lines[0]].section {
            _ if !input.has_sections => Err("the document has no sections".to_owned()),
            Some(at) if at == *section => Err("it stands there already".to_owned()),
            _ => Ok(Step::Move { line: lines[0], section: *section }),
        },
        Operation::Prune { .. } if input.lines[lines[0]].is_protected() => Err(protected(&input.lines[lines[0]])),
        Operation::Prune { .. } => Ok(Step::Prune { line: lines[0] }),
    }
}

/// The fact that a short name means, if it is still there.
fn find(input: &Input<'_>, name: &str) -> Result<usize, String> {
    let meant = input.names.iter().find(|(short, _)| short == name);
    let (_, id) = meant.ok_or_else(|| format!("`{}` was never shown", shown(name)))?;
    input.lines.iter().position(|line| line.id == *id).ok_or_else(|| format!("`{name}` is gone"))
}

fn shown(name: &str) -> String {
    name.chars().take(20).filter(|c| !c.is_control()).collect()
}

fn protected(line: &Line) -> String {
    format!("significance {} is protected", line.significance.value())
}

fn reweigh(input: &Input<'_>, line: usize, to: i64) -> Result<Step, String> {
    let to = Significance::new(to).map_err(|error| error.to_string())?;
    let fact = &input.lines[line];
    if to == fact.significance {
        return Err("it weighs that already".to_owned());
    }
    if fact.is_protected() && to < fact.significance {
        return Err(protected(fact));
    }
    Ok(Step::Reweigh { line, to })
}

fn add(
    input: &Input<'_>,
    text: &str,
    significance: Option<i64>,
    section: Option<MemorySection>,
    added: &[Step],
) -> Result<Step, String> {
    let text = one_line(text)?;
    if added.len() >= MAX_ADDED {
        return Err("enough was added in this pass".to_owned());
    }
    // What an assistant found and the person accepted is a fact of a project, and never one about the person.
    let is_said = match support(&text, &Said { before: &[], turns: input.said }) {
        Support::Own => true,
        Support::Accepted => input.has_sections,
        Support::Loose | Support::None => false,
    };
    if !is_said {
        return Err("the person did not say that".to_owned());
    }
    let is_known = |known: &str| known == text || similarity(known, &text) >= SAME_FACT;
    let said_now = added.iter().any(|step| matches!(step, Step::Add { text, .. } if is_known(text)));
    if said_now || input.lines.iter().any(|line| is_known(&line.text)) {
        return Err("it stands there already".to_owned());
    }
    let significance = Significance::new(significance.unwrap_or(3)).map_err(|error| error.to_string())?;
    Ok(Step::Add { text, significance, section: section.unwrap_or_default() })
}

/// A merge keeps the highest weight; a protected fact keeps every word, any other at least a third of them, and nothing
/// is made up.
fn merge(input: &Input<'_>, lines: &[usize], text: &str) -> Result<Step, String> {
    if lines.len() < 2 {
        return Err("a merge needs two facts at least".to_owned());
    }
    let text = one_line(text)?;
    let said = words(&text);
    let mut theirs: HashSet<String> = HashSet::new();
    for line in lines {
        let fact = &input.lines[*line];
        let own = words(&fact.text);
        let kept = own.iter().filter(|word| said.contains(*word)).count();
        let is_kept = if fact.is_protected() { kept == own.len() } else { kept > 0 && kept * 3 >= own.len() };
        if !is_kept && text != fact.text {
            return Err(if fact.is_protected() { protected(fact) } else { "it would lose one of them".to_owned() });
        }
        theirs.extend(own);
    }
    let is_one_of_them = lines.iter().any(|line| input.lines[*line].text == text);
    if !is_one_of_them && !is_made_of(&text, lines.iter().map(|line| input.lines[*line].text.as_str())) {
        return Err("none of them says that".to_owned());
    }
    let to = lines.iter().map(|line| input.lines[*line].significance).max().ok_or("it names no fact")?;
    // The one that says it already stands, so that its line stays as it is.
    let stands = lines.iter().copied().find(|line| input.lines[*line].text == text).unwrap_or(lines[0]);
    let others = lines.iter().copied().filter(|line| *line != stands).collect();
    Ok(Step::Merge { stands, others, text, to })
}

/// A fact as it can stand on one line: blanks folded, no weight of its own, no secret.
fn one_line(text: &str) -> Result<String, String> {
    let (_, text) = bullets::weight(text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if text.is_empty() {
        Err("it is empty".to_owned())
    } else if text.chars().count() > MAX_CHARS {
        Err(format!("it is longer than {MAX_CHARS} characters"))
    } else if !redact(&text).kinds.is_empty() {
        Err("it holds a secret".to_owned())
    } else {
        Ok(text)
    }
}

/// Whether a text is put together from these: at most a third of its words are grammar of its own, no name, number or
/// quantifier is new, and it says no as they do.
fn is_made_of<'a>(text: &str, lines: impl Iterator<Item = &'a str> + Clone) -> bool {
    let theirs: HashSet<String> = lines.clone().flat_map(words).collect();
    let said = words(text);
    let known = said.iter().filter(|word| theirs.contains(*word)).count();
    let lower = lines.clone().collect::<Vec<_>>().join("\n").to_lowercase();
    let is_sharp_known = sharp(text).iter().all(|word| lower.contains(word.as_str()));
    let denies = |text: &str| negations(text) > 0;
    let is_denied_alike = lines.clone().any(denies) == denies(text);
    known * 3 >= said.len() * 2
        && is_sharp_known
        && is_denied_alike
        && (!has_quantifier(text) || has_quantifier(&lower))
}

#[cfg(test)]
#[path = "plan/tests.rs"]
mod tests;
