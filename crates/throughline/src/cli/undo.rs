//! `throughline undo`

use clap::Args;

use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Revert the last change
#[derive(Args)]
pub(super) struct Undo {}

impl Undo {
    pub(super) fn run(self, world: &World) -> Answer {
        let now = world.now();
        let undone = world.engine.undo()?;
        let (verb, when) = (undone.undone.verb, style::date(undone.undone.at, &now));
        let mut text = format!("undid `{verb}` of {when} by {}\n", style::who(undone.undone.actor.who));
        for memory in &undone.memories {
            text.push_str(&style::memory(memory, &now));
        }
        for name in &undone.documents {
            text.push_str(&format!("{name} is as it was before\n"));
        }
        Ok(Reply::new(&undone, text))
    }
}
