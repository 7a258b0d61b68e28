//! What becomes of conversations that were imported: memories, in the background where that costs nothing.

use std::time::Duration;

use serde::Serialize;
use throughline_core::engine::ImportReport;

use super::super::keep::bar;
use super::super::style;
use crate::world::World;
use crate::{background, models};

/// Turns that the rules in this program read in a second, and the least that a conversation takes, in seconds: measured on
/// two slow cores.
const TURNS_A_SECOND: f64 = 120.0;
const A_CONVERSATION: f64 = 0.05;

/// How long a person waits for what was begun in the background, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(100);

/// A report, and what becomes of the conversations in it.
#[derive(Serialize)]
pub(super) struct Reported<'a> {
    #[serde(flatten)]
    pub(super) report: &'a ImportReport,
    #[serde(rename = "consolidation", skip_serializing_if = "Option::is_none")]
    pub(super) ahead: Option<&'a Ahead>,
}

/// Conversations that were imported and are not summarised yet.
#[derive(Serialize)]
pub(in crate::cli) struct Ahead {
    conversations: u64,
    turns: u64,
    /// Whether it was begun in the background.
    started: bool,
    /// How long it takes, in seconds, where that can be told.
    seconds: Option<u64>,
    /// How often a model is asked.
    requests: Option<u64>,
    /// What does it, or shows how far it is.
    command: &'static str,
}

impl Ahead {
    /// What is ahead; begins it where no model has to be paid or told anything. None where nothing waits.
    pub(in crate::cli) fn of(world: &World, begins: bool) -> Option<Self> {
        let states = world.engine.sessions().all().ok()?;
        let waiting: Vec<_> = states.iter().filter(|state| state.waits_since_import()).collect();
        let turns = waiting.iter().map(|state| (state.imported_to.number() - state.consolidated.number()) as u64).sum();
        let conversations = waiting.len() as u64;
        if conversations == 0 {
            return None;
        }
        let is_free = models::is_offline(&world.config.config);
        let args = ["session", "consolidate", "--all", "--imported", "--json"];
        let started = begins && is_free && background::detached(world, &args);
        let seconds = (turns as f64 / TURNS_A_SECOND).max(conversations as f64 * A_CONVERSATION).ceil() as u64;
        Some(Self {
            conversations,
            turns,
            started,
            seconds: is_free.then_some(seconds),
            requests: (!is_free).then_some(2 * conversations),
            command: "throughline session consolidate --all --imported",
        })
    }

    pub(in crate::cli) fn conversations(&self) -> u64 {
        self.conversations
    }

    /// Waits a few seconds for what was begun, with a line of progress. Gives how many conversations are done, and what is
    /// ahead still.
    pub(in crate::cli) fn wait(self, world: &World) -> (u64, Option<Self>) {
        if !self.started {
            return (0, Some(self));
        }
        let bar = bar("conversations read");
        bar.set_length(self.conversations);
        let mut waited = Duration::ZERO;
        loop {
            let rest = Self::of(world, false).map(|rest| Self { started: true, ..rest });
            let left = rest.as_ref().map_or(0, |rest| rest.conversations);
            let done = self.conversations.saturating_sub(left);
            bar.set_position(done);
            if left == 0 || waited >= PATIENCE {
                bar.finish_and_clear();
                return (done, rest);
            }
            std::thread::sleep(PAUSE);
            waited += PAUSE;
        }
    }

    pub(in crate::cli) fn told(&self) -> String {
        let what = style::count(self.conversations, "conversation", "conversations");
        match (self.started, self.seconds, self.requests) {
            (true, Some(seconds), _) => format!(
                "{what}: memories of them are made in the background, in about {}; `{}` shows how far it is\n",
                duration(seconds),
                self.command
            ),
            (_, Some(seconds), _) => {
                format!("{what}: `{}` makes memories of them, in about {}\n", self.command, duration(seconds))
            }
            (_, None, requests) => format!(
                "{what}: `{}` makes memories of them with your model, in about {} requests\n",
                self.command,
                requests.unwrap_or_default()
            ),
        }
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..90 => style::count(seconds.max(1), "second", "seconds"),
        _ => style::count(seconds.div_ceil(60), "minute", "minutes"),
    }
}
