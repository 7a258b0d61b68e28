//! `throughline history [ID]`, `throughline restore ID VERSION`

use clap::Args;
use throughline_core::engine::{Changes, HistoryOf, Restored};
use throughline_core::model::{Change, Status, TaskVersion};

use super::remember::receipt;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Show every version of a memory or document, or the latest changes
#[derive(Args)]
pub(super) struct History {
    /// An id, a key, a task, or a document such as user/profile; without it, the latest changes of all
    id: Option<String>,
    /// How many changes at most
    #[arg(long, default_value_t = 20)]
    limit: usize,
}

impl History {
    pub(super) fn run(self, world: &World) -> Answer {
        match &self.id {
            None => self.changes(world),
            Some(id) => versions(id, world),
        }
    }

    fn changes(&self, world: &World) -> Answer {
        let changes = world.engine.history().changes(self.limit)?;
        let row = |change: &Change| {
            let mut row = made(change, world);
            row.push(change.verb.to_string());
            row
        };
        let text = if changes.is_empty() {
            "no changes yet\n".to_owned()
        } else {
            style::table(&["when", "by", "through", "did"], changes.iter().map(row).collect())
        };
        let nothing = changes.is_empty();
        Ok(Reply::new(&Changes { changes }, text).or_nothing(nothing))
    }
}

/// When, who, and through what.
fn made(change: &Change, world: &World) -> Vec<String> {
    vec![style::date(change.at, &world.now()), style::who(change.actor.who).to_owned(), style::plain(&change.actor.via)]
}

fn versions(id: &str, world: &World) -> Answer {
    let history = world.engine.history().of(id)?;
    let room = style::width().saturating_sub(60).max(24);
    let row = |number: u32, change: &Change, text: String| {
        let mut row = vec![number.to_string()];
        row.extend(made(change, world));
        row.extend([change.verb.to_string(), style::one_line(&text, room)]);
        row
    };
    let rows: Vec<Vec<String>> = match &history {
        HistoryOf::Entry { versions } => versions
            .iter()
            .map(|version| {
                let forgotten = if version.entry.status == Status::Inactive { "(forgotten) " } else { "" };
                row(version.entry.version, &version.change, format!("{forgotten}{}", version.entry.content))
            })
            .collect(),
        HistoryOf::Task { versions } => versions
            .iter()
            .map(|TaskVersion { task, change }| {
                row(task.version, change, format!("({}) {}: {}", task.status, task.title, task.state))
            })
            .collect(),
        HistoryOf::Document { versions } => versions
            .iter()
            .map(|version| {
                row(version.version, &version.change, version.text.clone().unwrap_or("(removed)".to_owned()))
            })
            .collect(),
    };
    let nothing = rows.is_empty();
    let text = if nothing {
        "no versions yet\n".to_owned()
    } else {
        style::table(&["version", "when", "by", "through", "did", "text"], rows)
    };
    Ok(Reply::new(&history, text).or_nothing(nothing))
}

/// Bring an earlier version back
#[derive(Args)]
pub(super) struct Restore {
    /// An id, a key, a task, or a document such as user/profile
    id: String,
    /// The version, as `throughline history` numbers them
    #[arg(value_name = "VERSION")]
    number: u32,
}

impl Restore {
    pub(super) fn run(self, world: &World) -> Answer {
        Ok(match world.engine.history().restore(&self.id, self.number)? {
            Restored::Memory(restored) => receipt(&restored, world),
            Restored::Document(document) => {
                let told = format!("restored {} as it was in version {}\n", document.name, self.number);
                Reply::new(&document, told)
            }
            Restored::Task(task) => {
                let told = format!("restored the task {} as it was in version {}\n", task.id, self.number);
                Reply::new(&task, told)
            }
        })
    }
}
