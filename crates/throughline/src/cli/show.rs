//! `throughline show ID`

use clap::Args;
use owo_colors::OwoColorize as _;

use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Show one memory
#[derive(Args)]
pub(super) struct Show {
    /// An id, the first six characters of one, or a key
    id: String,
}

impl Show {
    pub(super) fn run(self, world: &World) -> Answer {
        let now = world.now();
        let memory = world.engine.memories().show(&self.id)?;
        let entry = &memory.entry;
        let mut text = format!("{}\n\n", style::plain(&entry.content));
        let mut line = |name: &str, value: String| {
            text.push_str(&format!("{} {}\n", format!("{name:>12}").dimmed(), style::plain(&value)));
        };
        line("id", entry.id.to_string());
        entry.key.iter().for_each(|key| line("key", key.clone()));
        line("address", entry.namespace.to_string());
        line("layer", entry.layer.to_string());
        line("status", entry.status.to_string());
        if memory.muted {
            line("muted", "everywhere: never given, still searchable".to_owned());
        }
        if !memory.muted_in.is_empty() {
            line("muted", format!("in {}", memory.muted_in.join(", ")));
        }
        line("from", style::who(entry.source).to_owned());
        line("significance", format!("{} (importance {})", memory.significance.value(), entry.importance.value()));
        if !entry.tags.is_empty() {
            line("tags", entry.tags.join(", "));
        }
        entry.project.iter().for_each(|project| line("project", project.clone()));
        entry.task.iter().for_each(|task| line("task", task.clone()));
        if let Some(session) = &entry.session {
            line("session", format!("{} ({session})", world.engine.sessions().title(session)?));
        }
        line("stored", style::date(entry.created_at, &now));
        line("changed", format!("{} (version {})", style::date(entry.updated_at, &now), entry.version));
        entry.expires_at.iter().for_each(|at| line("expires", style::date(*at, &now)));
        let last = memory.last_recalled_at.map(|at| format!(", last {}", style::date(at, &now))).unwrap_or_default();
        line("recalled", format!("{}{last}", style::count(memory.recall_count, "time", "times")));
        Ok(Reply::new(&memory, text))
    }
}
