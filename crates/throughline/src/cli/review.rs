//! `throughline review`

use std::io::IsTerminal as _;

use clap::{Args, ValueEnum};
use console::{Key, Term};
use jiff::Zoned;
use owo_colors::OwoColorize as _;
use throughline_core::engine::{Evidence, ReviewItem, Reviewed, Verdict};

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Look through what was learnt and not seen yet: keep, edit, drop, make it a rule
///
/// In a terminal, one key decides each. Nothing is held back meanwhile: it counts as known. Dropping what replaced
/// something else brings that back.
#[derive(Args)]
pub(super) struct Review {
    /// Decide about this one: an id, or the first six characters of one
    id: Option<String>,
    /// keep, edit, drop or rule
    #[arg(requires = "id")]
    verdict: Option<Decision>,
    /// With edit: what it says from now on
    #[arg(requires = "verdict")]
    text: Vec<String>,
    /// Print the list and ask nothing
    #[arg(long, conflicts_with = "id")]
    list: bool,
    /// How many at most
    #[arg(long, default_value_t = 50, conflicts_with = "id")]
    limit: usize,
    /// Where the previous page ended
    #[arg(long, conflicts_with = "id")]
    cursor: Option<String>,
    #[arg(from_global)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Decision {
    Keep,
    Edit,
    Drop,
    Rule,
}

impl From<Decision> for Verdict {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Keep => Self::Keep,
            Decision::Edit => Self::Edit,
            Decision::Drop => Self::Drop,
            Decision::Rule => Self::Rule,
        }
    }
}

/// The keys, on a line.
const KEYS: &str = "k keep · e edit · d drop · r rule · s later · q quit · ? help";

/// The same with what they do.
const KEYS_IN_FULL: &str = "k  keep it: it is right
e  edit it in the line, and keep it
d  drop it; what it replaced stands again
r  keep it as a rule, which assistants always get
s  leave it for later, as Enter and the space bar do
q  quit; what is not decided is left for later";

/// What a key means.
enum Pressed {
    Decide(Verdict),
    Later,
    Quit,
}

impl Review {
    pub(super) fn run(self, world: &World) -> Answer {
        if let Some(id) = &self.id {
            return self.decide(id, world);
        }
        let listing = world.engine.review().list(self.limit, self.cursor.as_deref())?;
        let is_asked = !self.list && !self.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if is_asked && !listing.items.is_empty() {
            return ask_about(&listing.items, world);
        }
        let now = world.now();
        let mut text: String = listing.items.iter().map(|item| shown(item, &now) + "\n").collect();
        if let Some(cursor) = &listing.cursor {
            text.push_str(&format!("there is more: repeat the command with --cursor {cursor}\n"));
        }
        if listing.items.is_empty() {
            text.push_str("nothing new was learnt\n");
        }
        Ok(Reply::new(&listing, text).or_nothing(listing.items.is_empty()))
    }

    fn decide(&self, id: &str, world: &World) -> Answer {
        let Some(verdict) = self.verdict else {
            return Err(Failure::new("no verdict is given", "say keep, edit, drop or rule behind the id"));
        };
        let content = (!self.text.is_empty()).then(|| self.text.join(" "));
        let reviewed = world.engine.review().decide(id, verdict.into(), content.as_deref())?;
        Ok(Reply::new(&reviewed, told(&reviewed)))
    }
}

/// Shows one after the other, and does what the person decides.
fn ask_about(items: &[ReviewItem], world: &World) -> Answer {
    let terminal = Term::stdout();
    let failed = |error: std::io::Error| Failure::io("read from the terminal", &error);
    let mut decided = 0;
    for (at, item) in items.iter().enumerate() {
        anstream::print!("{}", shown(item, &world.now()));
        let place = format!("{} of {}", at + 1, items.len());
        anstream::println!("{}", format!("{place}  {KEYS}").dimmed());
        let verdict = match pressed(&terminal).map_err(failed)? {
            Pressed::Decide(verdict) => verdict,
            Pressed::Later => {
                anstream::println!("left for later");
                continue;
            }
            Pressed::Quit => break,
        };
        let content = if verdict == Verdict::Edit { Some(edited(&item.memory.entry.content)?) } else { None };
        if content.as_deref().is_some_and(|content| content.trim() == item.memory.entry.content.trim()) {
            anstream::println!("unchanged: left for later");
            continue;
        }
        let reviewed = world.engine.review().decide(item.memory.entry.id.as_str(), verdict, content.as_deref())?;
        anstream::println!("{}", told(&reviewed));
        decided += 1;
    }
    let left = items.len() - decided;
    let text = format!("{} decided, {left} left for later\n", decided);
    Ok(Reply::new(&serde_json::json!({ "decided": decided, "left": left }), text))
}

/// Waits for a key that means something.
fn pressed(terminal: &Term) -> std::io::Result<Pressed> {
    loop {
        return Ok(match terminal.read_key()? {
            Key::Char('k' | 'K') => Pressed::Decide(Verdict::Keep),
            Key::Char('e' | 'E') => Pressed::Decide(Verdict::Edit),
            Key::Char('d' | 'D') => Pressed::Decide(Verdict::Drop),
            Key::Char('r' | 'R') => Pressed::Decide(Verdict::Rule),
            Key::Char('s' | 'S' | ' ') | Key::Enter => Pressed::Later,
            Key::Char('?' | 'h' | 'H') => {
                anstream::println!("{}", KEYS_IN_FULL.dimmed());
                continue;
            }
            Key::Char('q' | 'Q') | Key::Escape | Key::CtrlC => Pressed::Quit,
            _ => continue,
        });
    }
}

/// The text as the person changes it in the line.
fn edited(content: &str) -> Result<String, Failure> {
    let failed = |error: rustyline::error::ReadlineError| {
        Failure::new(format!("the memory was not changed: {error}"), "run the command again")
    };
    let mut editor = rustyline::DefaultEditor::new().map_err(failed)?;
    editor.readline_with_initial("› ", (content, "")).map_err(failed)
}

/// What was learnt, where from, and what it replaced.
fn shown(item: &ReviewItem, now: &Zoned) -> String {
    let mut text = style::memory(&item.memory, now);
    for former in item.replaced.iter().chain(&item.also_replaced) {
        let former = style::one_line(&former.entry.content, style::width() - 14);
        text.push_str(&format!("    {} {}\n", "replaced".yellow(), former.strikethrough()));
    }
    for evidence in &item.evidence {
        text.push_str(&format!("    {}\n", said(evidence, now).dimmed()));
    }
    text
}

/// `“I live in Porto now” · Trip to Porto · yesterday 10:00`
fn said(evidence: &Evidence, now: &Zoned) -> String {
    let entry = &evidence.turn.entry;
    let quote = style::one_line(&entry.content, 60);
    let title = evidence.title.as_deref().map(|title| format!(" · {}", style::one_line(title, 40))).unwrap_or_default();
    format!("“{quote}”{title} · {}", style::date(entry.created_at, now))
}

fn told(reviewed: &Reviewed) -> String {
    let id = style::short(reviewed.memory.entry.id.as_str());
    let mut text = match reviewed.verdict {
        Verdict::Keep => format!("{id} is kept\n"),
        Verdict::Edit => format!("{id} is changed\n"),
        Verdict::Rule => format!("{id} is a rule now\n"),
        Verdict::Drop => format!("{id} is dropped\n"),
    };
    for memory in &reviewed.restored {
        let content = style::one_line(&memory.entry.content, style::width() - 16);
        text.push_str(&format!("it stands again: {content}\n"));
    }
    text
}
