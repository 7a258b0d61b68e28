//! `throughline remember TEXT`

use std::io::Read as _;

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::engine::{NewMemory, Outcome, Remembered};
use throughline_core::model::{Importance, Layer, Significance, Source};

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// More than any memory holds: what is longer is refused, not read.
const MAX_BYTES: u64 = 128 * 1024;

/// Store a memory
#[derive(Args)]
pub(super) struct Remember {
    /// What to remember; `-` reads it from standard input
    #[arg(required = true)]
    text: Vec<String>,
    /// A key; storing again under it replaces what it says
    #[arg(long)]
    key: Option<String>,
    /// knowledge, or identity for what every conversation should know about you
    #[arg(long, default_value = "knowledge", value_parser = writable_layer)]
    layer: Layer,
    #[command(flatten)]
    weight: Weight,
    /// A tag (repeat for several); project:NAME and task:NAME are links
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The project it is about
    #[arg(long)]
    project: Option<String>,
    /// Whose word it is: user, agent or system
    #[arg(long, default_value = "user")]
    source: Source,
}

/// How much it matters, in either spelling.
#[derive(Args)]
pub(super) struct Weight {
    /// Significance, 1 to 5; 4 and 5 are never pruned
    #[arg(long, value_name = "1..5", conflicts_with = "importance", allow_negative_numbers = true, value_parser = step)]
    sig: Option<i64>,
    /// Importance, 0 to 1
    #[arg(long, value_name = "0..1", allow_negative_numbers = true, value_parser = share)]
    importance: Option<f64>,
}

impl Weight {
    pub(super) fn importance(&self) -> Result<Option<Importance>, Failure> {
        let by_step = self.sig.map(Significance::new).transpose()?.map(Importance::from);
        let exact = self.importance.map(Importance::new).transpose()?;
        Ok(exact.or(by_step))
    }
}

fn step(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "expected a whole number from 1 to 5".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())
}

fn writable_layer(text: &str) -> Result<Layer, String> {
    match text.parse::<Layer>().map_err(|error| error.to_string())? {
        Layer::Archive => Err("the archive is written by conversations; use knowledge or identity".to_owned()),
        layer => Ok(layer),
    }
}

impl Remember {
    pub(super) fn run(self, world: &World) -> Answer {
        let new = NewMemory {
            content: text(&self.text)?,
            key: self.key,
            layer: self.layer,
            importance: self.weight.importance()?,
            tags: self.tags,
            project: self.project,
            source: self.source,
            session: None,
            provenance: Vec::new(),
        };
        let remembered = world.engine.memories().remember(&new)?;
        Ok(receipt(&remembered, world))
    }
}

/// The words given, or standard input for `-`.
fn text(words: &[String]) -> Result<String, Failure> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    let read = std::io::stdin().take(MAX_BYTES).read_to_string(&mut text);
    read.map_err(|error| Failure::io("read standard input", &error))?;
    Ok(text)
}

/// What became of a memory, for people and programs.
pub(super) fn receipt(remembered: &Remembered, world: &World) -> Reply {
    let word = match remembered.outcome {
        Outcome::Created => "remembered",
        Outcome::Updated => "updated",
        Outcome::Unchanged => "already known",
    };
    let mut text = format!("{}\n{}", word.green(), style::memory(&remembered.memory, &world.now()));
    if !remembered.superseded.is_empty() {
        let ids: Vec<&str> = remembered.superseded.iter().map(|id| id.as_str()).collect();
        let back = "`throughline undo` takes it back";
        text.push_str(&format!("{} it replaced {}; {back}\n", "note:".yellow().bold(), ids.join(", ")));
    }
    text.push_str(&style::left_out(&remembered.redacted));
    Reply::new(remembered, text)
}
