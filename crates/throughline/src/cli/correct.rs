//! `throughline correct` and `throughline merge`

use clap::Args;
use owo_colors::OwoColorize as _;
use serde_json::json;
use throughline_core::engine::{Correction, Outcome, Replaced};

use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Put what is right in the place of what is wrong
#[derive(Args)]
pub(super) struct Correct {
    /// What is right
    #[arg(required = true)]
    text: Vec<String>,
    /// The id or key of what is wrong; without it, memories that may be meant are shown and nothing changes
    #[arg(long, value_name = "ID|KEY")]
    wrong: Option<String>,
}

impl Correct {
    pub(super) fn run(self, world: &World) -> Answer {
        let text = self.text.join(" ");
        let Some(wrong) = &self.wrong else { return proposals(&text, world) };
        let replaced = world.engine.memories().correct(wrong, &Correction::by_person(text))?;
        Ok(receipt(&replaced, "corrected", world))
    }
}

/// What fits less than this is not what is wrong.
const LEAST_PROPOSED: f64 = 0.1;

/// What a correction may mean: for the person to choose from.
fn proposals(text: &str, world: &World) -> Answer {
    let mut hits = world.engine.memories().wrong_about(text)?;
    hits.retain(|hit| hit.score >= LEAST_PROPOSED);
    let now = world.now();
    let mut told = String::new();
    if hits.is_empty() {
        told.push_str("nothing that is stored sounds like this; `throughline remember` stores it\n");
    } else {
        for hit in &hits {
            told.push_str(&style::hit(hit, &now, true, false));
        }
        let first = style::short(hits[0].memory.entry.id.as_str());
        told.push_str(&format!(
            "nothing changed yet; if the first is wrong: add {}\n",
            format!("--wrong {first}").bold()
        ));
    }
    Ok(Reply::new(&json!({ "proposals": hits }), told).or_nothing(true))
}

/// Make one memory of several that say the same
#[derive(Args)]
pub(super) struct Merge {
    /// Their ids or keys; the first one stands
    #[arg(required = true, num_args = 2.., value_name = "ID|KEY")]
    memories: Vec<String>,
    /// What the one that stands says from now on
    #[arg(long)]
    text: Option<String>,
}

impl Merge {
    pub(super) fn run(self, world: &World) -> Answer {
        let replaced = world.engine.memories().merge(&self.memories, self.text.as_deref())?;
        Ok(receipt(&replaced, "merged", world))
    }
}

fn receipt(replaced: &Replaced, word: &str, world: &World) -> Reply {
    let now = world.now();
    let word = if replaced.outcome == Outcome::Unchanged { "already known" } else { word };
    let mut text = format!("{}\n{}", word.green(), style::memory(&replaced.memory, &now));
    for old in &replaced.superseded {
        let line = format!("in place of {}: {}", style::short(old.entry.id.as_str()), old.entry.content);
        text.push_str(&format!("{}\n", style::one_line(&style::plain(&line), style::width()).dimmed()));
    }
    text.push_str(&style::left_out(&replaced.redacted));
    Reply::new(replaced, text)
}
