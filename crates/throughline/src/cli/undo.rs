//! `throughline undo`

use clap::Args;

use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Revert the last change
#[derive(Args)]
pub(super) struct Undo {
    /// Leave the last change as it is, so that the next `undo` reverts the one before
    #[arg(long)]
    skip: bool,
}

impl Undo {
    pub(super) fn run(self, world: &World) -> Answer {
        let now = world.now();
        if self.skip {
            let left = world.engine.history().skip()?;
            let text = format!("`{}` of {} stays as it is\n", left.verb, style::date(left.at, &now));
            return Ok(Reply::new(&left, text));
        }
        let undone = world.engine.history().undo()?;
        let (verb, when) = (undone.undone.verb, style::date(undone.undone.at, &now));
        let mut text = format!("undid `{verb}` of {when} by {}\n", style::who(undone.undone.actor.who));
        for memory in &undone.memories {
            text.push_str(&style::memory(memory, &now));
        }
        for name in &undone.documents {
            text.push_str(&format!("{name} is as it was before\n"));
        }
        for task in &undone.tasks {
            text.push_str(&format!("the task {} is as it was before\n", style::short(task.as_str())));
        }
        for project in &undone.projects {
            text.push_str(&format!("the project {project} is as it was before\n"));
        }
        Ok(Reply::new(&undone, text))
    }
}
