//! `throughline forget ID`

use std::io::IsTerminal as _;

use clap::Args;
use throughline_core::engine::ErasedMemory;

use super::failure::Failure;
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
    /// With --erase: do not ask, in a terminal either
    #[arg(long, requires = "erase")]
    yes: bool,
}

impl Forget {
    pub(super) fn run(self, world: &World) -> Answer {
        if self.erase { self.erase(world) } else { self.forget(world) }
    }

    fn forget(self, world: &World) -> Answer {
        let forgotten = world.engine.memories().forget(&self.id)?;
        let id = style::short(forgotten.id.as_str());
        let text = if forgotten.already {
            format!("{id} was forgotten before\n")
        } else {
            format!("forgot {id}; `throughline undo` brings it back\n")
        };
        Ok(Reply::new(&forgotten, text))
    }

    fn erase(self, world: &World) -> Answer {
        if !self.yes && std::io::stdin().is_terminal() && !self.is_agreed(world)? {
            return Err(Failure::new("nothing was erased", "type `erase` to agree, or give --yes"));
        }
        let erased = exports::erase(world, &self.id, self.with_sources)?;
        let text = told(&erased, self.with_sources);
        Ok(Reply::new(&erased, text))
    }
}

impl Forget {
    /// Shows what would go, and has the person type the word.
    fn is_agreed(&self, world: &World) -> Result<bool, Failure> {
        let preview = world.engine.memories().preview_erase(&self.id)?;
        let content = world.engine.memories().show(&self.id)?.entry.content;
        anstream::eprintln!("{}", style::one_line(&content, style::width()));
        let versions = style::count(preview.versions, "version", "versions");
        anstream::eprint!(
            "{versions} and every copy go for good, and no undo brings them back. Type `erase` to agree: "
        );
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map_err(|error| Failure::io("read your answer", &error))?;
        Ok(line.trim() == "erase")
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
