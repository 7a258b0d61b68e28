//! What becomes of conversations that were imported: memories, in the background where that costs nothing.

use std::time::Duration;

use serde::Serialize;
use throughline_core::engine::ImportReport;
use throughline_server::Ahead;

use super::super::keep::bar;
use super::super::style;
use crate::world::World;
use crate::{background, imported};

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

/// What is ahead; begins it where no model has to be paid or told anything. None where nothing waits.
pub(in crate::cli) fn ahead(world: &World, begins: bool) -> Option<Ahead> {
    let mut ahead = imported::ahead(world).ok()??;
    let args = ["session", "consolidate", "--all", "--imported", "--json"];
    ahead.started = begins && imported::is_free(world) && background::detached(world, &args);
    Some(ahead)
}

/// Waits a few seconds for what was begun, with a line of progress. Gives how many conversations are done, and what is ahead
/// still.
pub(in crate::cli) fn wait(world: &World, begun: Ahead) -> (u64, Option<Ahead>) {
    if !begun.started {
        return (0, Some(begun));
    }
    let bar = bar("conversations read");
    bar.set_length(begun.conversations);
    let mut waited = Duration::ZERO;
    loop {
        let rest = imported::ahead(world).ok().flatten().map(|rest| Ahead { started: true, ..rest });
        let left = rest.as_ref().map_or(0, |rest| rest.conversations);
        let done = begun.conversations.saturating_sub(left);
        bar.set_position(done);
        if left == 0 || waited >= PATIENCE {
            bar.finish_and_clear();
            return (done, rest);
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
}

pub(in crate::cli) fn told(ahead: &Ahead) -> String {
    let what = style::count(ahead.conversations, "conversation", "conversations");
    match (ahead.started, ahead.seconds, ahead.requests) {
        (true, Some(seconds), _) => format!(
            "{what}: memories of them are made in the background, in about {}; `{}` shows how far it is\n",
            duration(seconds),
            ahead.command
        ),
        (_, Some(seconds), _) => {
            format!("{what}: `{}` makes memories of them, in about {}\n", ahead.command, duration(seconds))
        }
        (_, None, requests) => format!(
            "{what}: `{}` makes memories of them with your model, in about {} requests\n",
            ahead.command,
            requests.unwrap_or_default()
        ),
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..90 => style::count(seconds.max(1), "second", "seconds"),
        _ => style::count(seconds.div_ceil(60), "minute", "minutes"),
    }
}
