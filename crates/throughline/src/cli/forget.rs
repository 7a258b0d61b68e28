//! `throughline forget ID`

use clap::Args;
use throughline_core::engine::{EngineError, ErasedMemory};
use throughline_core::ports::Erasure;

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
        let entry = match world.engine.show(&self.id) {
            Ok(memory) => memory.entry,
            // A line that was removed from its document is known by its history alone.
            Err(EngineError::NotFound { .. }) => {
                let erased = world.engine.erase(&self.id, false)?;
                return Ok(Reply::new(&erased, told(&erased, false)));
            }
            Err(error) => return Err(error.into()),
        };
        let erasure = Erasure {
            memories: vec![entry.id.clone()],
            turns: if self.with_sources { entry.provenance.clone() } else { Vec::new() },
            bullets: exports::bullet_of(&entry).into_iter().collect(),
        };
        // Copies first: while the memory itself is there, erasing can be repeated.
        let mut unreached = exports::erase_from_backups(&world.home.backups(), &erasure);
        unreached.extend(exports::erase_from_copies(
            &world.engine.exports()?,
            &world.home.database(),
            &entry,
            &erasure,
        ));
        unreached.extend(exports::erase_from_chat_history(&world.home.chat_history(), &entry));
        let mut erased = world.engine.erase(entry.id.as_str(), self.with_sources)?;
        erased.erased.unreached.extend(unreached);
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
