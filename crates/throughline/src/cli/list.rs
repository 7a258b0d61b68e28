//! `throughline list`

use clap::Args;
use throughline_core::model::Memory;
use throughline_core::ports::Page;
use throughline_core::recall::{Criteria, StatusFilter};

use super::filters::Filters;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// List memories, newest first
#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    filters: Filters,
    /// active, inactive or any
    #[arg(long, default_value = "active")]
    status: StatusFilter,
    /// How many at most
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Where the previous page ended
    #[arg(long)]
    cursor: Option<String>,
}

impl List {
    pub(super) fn run(self, world: &World) -> Answer {
        let now = world.now();
        let criteria = Criteria { status: self.status, ..self.filters.criteria() };
        let is_narrowed = criteria != Criteria::default() || self.cursor.is_some();
        let filter = criteria.filter(&now)?;
        let listing = world.engine.memories().list(&filter, &Page { limit: self.limit, cursor: self.cursor })?;
        let room = style::width().saturating_sub(56).max(24);
        let row = |memory: &Memory| {
            let entry = &memory.entry;
            vec![
                style::short(entry.id.as_str()).to_owned(),
                style::one_line(&format!("{}{}", muted(memory), entry.content), room),
                entry.layer.to_string(),
                memory.significance.value().to_string(),
                style::date(entry.created_at, &now),
                memory.recall_count.to_string(),
            ]
        };
        let mut text = if listing.memories.is_empty() && is_narrowed {
            "nothing fits these filters; `throughline list` alone shows every memory\n".to_owned()
        } else if listing.memories.is_empty() {
            "nothing yet; try `throughline remember \"I prefer short answers\"`\n".to_owned()
        } else {
            let headings = ["id", "memory", "layer", "sig", "stored", "recalled"];
            style::table(&headings, listing.memories.iter().map(row).collect())
        };
        if let Some(cursor) = &listing.cursor {
            text.push_str(&format!("\nthere is more: repeat the command with --cursor {cursor}\n"));
        }
        Ok(Reply::new(&listing, text).or_nothing(listing.memories.is_empty()))
    }
}

/// What is said in front of a memory that is not given.
fn muted(memory: &Memory) -> String {
    match (memory.muted, memory.muted_in.as_slice()) {
        (true, _) => "(muted) ".to_owned(),
        (false, []) => String::new(),
        (false, projects) => format!("(muted in {}) ", projects.join(", ")),
    }
}
