//! What becomes of conversations that were imported: memories, in the background where that costs nothing.

use serde::Serialize;
use throughline_core::engine::ImportReport;
use throughline_server::Ahead;

use super::super::style;
use crate::world::World;
use crate::{background, imported};

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
