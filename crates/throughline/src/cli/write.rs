//! `throughline write ADDRESS < text`

use std::io::Read as _;

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::engine::{EngineError, Outcome};
use throughline_core::model::{ContentHash, Namespace};

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Largest document that is read from standard input.
const MAX_BYTES: u64 = 1024 * 1024;

/// Replace a document with what is on standard input
#[derive(Args)]
pub(super) struct Write {
    /// user/profile, user/working, user/patterns, or any document of yours
    address: String,
    /// Write only if the document still has this hash, as `read --json` or an earlier write gave it
    #[arg(long, value_name = "HASH")]
    if_match: Option<String>,
}

impl Write {
    pub(super) fn run(self, world: &World) -> Answer {
        let Namespace::Document(name) = &self.address.parse()? else {
            return Err(EngineError::NotWritable { address: self.address }.into());
        };
        let mut bytes = Vec::new();
        let read = std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failure::io("read standard input", &error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(Failure::new(
                "standard input is longer than 1 MiB",
                "documents are short; nothing was changed",
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::new("standard input is not UTF-8", "nothing was changed; write it as UTF-8 text"))?;
        let expected = self.if_match.map(ContentHash::stored);
        let written = world.engine.documents().write(name, &text, expected.as_ref())?;
        let word = match written.outcome {
            Outcome::Created => "created",
            Outcome::Updated => "updated",
            Outcome::Unchanged => "unchanged",
        };
        let mut told = format!("{} {name}\n", word.green());
        if let Some(usage) = written.usage {
            let flag = if usage.is_over() { "over the limit: assistants cannot add to it" } else { "" };
            told.push_str(&format!("{} {}\n", usage.dimmed(), flag.yellow()));
        }
        told.push_str(&style::left_out(&written.redacted));
        Ok(Reply::new(&written, told))
    }
}
