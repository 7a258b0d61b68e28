//! `throughline fold`

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::engine::FoldedCopy;

use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Make one of memories and lines that say the same
#[derive(Args)]
pub(super) struct Fold {
    /// List the copies, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Fold {
    pub(super) fn run(self, world: &World) -> Answer {
        let fold = world.engine.memories().fold(self.dry_run)?;
        let mut text: String = fold.copies.iter().map(shown).collect();
        let copies = style::count(fold.copies.len() as u64, "copy", "copies");
        text.push_str(&match (fold.copies.is_empty(), self.dry_run) {
            (true, _) => "every statement stands in one place\n".to_owned(),
            (false, true) => format!("{copies} would be folded; nothing was changed\n"),
            (false, false) => format!("folded {copies}; `throughline undo` brings them back\n"),
        });
        Ok(Reply::new(&fold, text))
    }
}

fn shown(copy: &FoldedCopy) -> String {
    let content = style::one_line(&style::plain(&copy.content), style::width());
    let (kept, folded) = (style::short(copy.kept.as_str()), style::short(copy.folded.as_str()));
    let places = format!("  {kept} in {} stays; {folded} in {} goes", copy.kept_in, copy.folded_from);
    format!("{content}\n{}\n", places.dimmed())
}
