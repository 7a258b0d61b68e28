//! `throughline recall QUERY`

use std::ffi::OsString;

use clap::Args;
use throughline_core::model::Kind;
use throughline_core::recall::{Criteria, RecallRequest};

use super::failure::Failure;
use super::filters::Filters;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Find memories by plain words
#[derive(Args)]
pub(super) struct Recall {
    /// What to look for, in plain words: no character has a special meaning
    #[arg(required = true)]
    query: Vec<OsString>,
    /// How many at most
    #[arg(long, default_value_t = 10)]
    limit: usize,
    #[command(flatten)]
    filters: Filters,
    /// Only this kind (repeat for several): entry, bullet, turn or chunk (a passage of the vault); without it, all but chunks
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
    /// Show each memory whole; without it, as much as fits on a line
    #[arg(long)]
    full: bool,
    /// Show how each score came about
    #[arg(long)]
    why: bool,
}

impl Recall {
    pub(super) fn run(self, world: &World) -> Answer {
        let now = world.now();
        let filter = Criteria { kinds: self.kinds, ..self.filters.criteria() }.filter(&now)?;
        let words: Vec<_> = self.query.iter().map(|word| word.to_string_lossy()).collect();
        let query = words.join(" ");
        if query.trim().is_empty() {
            let hint = "say it in plain words: `throughline recall \"when do we deploy?\"`; `throughline list` shows every memory";
            return Err(Failure::new("there is nothing to look for", hint));
        }
        let request = RecallRequest { query, limit: self.limit, filter };
        let recall = world.engine.recall().recall(&request)?;
        let text = if recall.hits.is_empty() {
            "nothing found\n".to_owned()
        } else {
            recall.hits.iter().map(|hit| style::hit(hit, &now, self.full, self.why)).collect()
        };
        Ok(Reply::new(&recall, text).or_nothing(recall.hits.is_empty()))
    }
}
