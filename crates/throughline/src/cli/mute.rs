//! `throughline mute ID`

use clap::Args;
use throughline_core::model::Memory;

use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Never give a memory to an assistant; it can still be searched for
#[derive(Args)]
pub(super) struct Mute {
    /// An id, the first six characters of one, or a key
    id: String,
    /// Only in the sessions of this project
    #[arg(long)]
    project: Option<String>,
    /// Give it again
    #[arg(long)]
    off: bool,
}

impl Mute {
    pub(super) fn run(self, world: &World) -> Answer {
        let memories = world.engine.memories();
        let memory = match self.off {
            true => memories.unmute(&self.id, self.project.as_deref())?,
            false => memories.mute(&self.id, self.project.as_deref())?,
        };
        let text = format!("{} {}\n", style::short(memory.entry.id.as_str()), told(&memory));
        Ok(Reply::new(&memory, text))
    }
}

/// Where a memory is given, in words.
fn told(memory: &Memory) -> String {
    match (memory.muted, memory.muted_in.as_slice()) {
        (true, _) => "is never given; a search still finds it".to_owned(),
        (false, []) => "is given wherever it fits".to_owned(),
        (false, projects) => format!("is not given in {}; a search still finds it", style::plain(&projects.join(", "))),
    }
}
