//! `throughline forget ID`

use clap::Args;
use throughline_core::engine::ErasedMemory;

use super::reply::Reply;
use super::{Answer, style};
use crate::exports;
use crate::world::World;

/// Make a memory inactive, or erase it for good
#[derive(Args)]
pub(super) struct Forget {
    /// An id, the first six characters of one, or a key
    id: String,
    /// Leave no byte of it: in the database, its history, the index, the logs, backups and exports
    #[arg(long)]
    erase: bool,
    /// With --erase: also erase the turns of conversations that it came from
    #[arg(long, requires = "erase")]
    with_sources: bool,
}

impl Forget {
    pub(super) fn run(self, world: &World) -> Answer {
        if self.erase { self.erase(world) } else { self.forget(world) }
    }

    fn forget(self, world: &World) -> Answer {
        let forgotten = world.engine.forget(&self.id)?;
        let id = style::short(forgotten.id.as_str());
        let text = if forgotten.already {
            format!("{id} was forgotten before\n")
        } else {
            format!("forgot {id}; `throughline undo` brings it back\n")
        };
        Ok(Reply::new(&forgotten, text))
    }

    fn erase(self, world: &World) -> Answer {
        let erased = exports::erase(world, &self.id, self.with_sources)?;
        let text = told(&erased, self.with_sources);
        Ok(Reply::new(&erased, text))
    }
}

fn told(receipt: &ErasedMemory, with_sources: bool) -> String {
    let erased = &receipt.erased;
    let mut text = format!(
        "erased {} for good: {}, {}, {}\n",
        style::short(receipt.id.as_str()),
        style::count(erased.versions, "version", "versions"),
        style::count(erased.recalls, "recall in the log", "recalls in the log"),
        style::count(erased.turns, "turn", "turns"),
    );
    if !with_sources && !receipt.sources.is_empty() {
        let ids = receipt.sources.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        text.push_str(&format!("it came from turns that are still there: {ids} (--with-sources erases them too)\n"));
    }
    for place in &erased.unreached {
        text.push_str(&format!("not reached: {}\n", style::plain(place)));
    }
    text
}
