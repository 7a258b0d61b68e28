//! `throughline model`: which models there are, and which one is used.

pub(super) mod choose;
mod embed;
mod list;

use clap::Subcommand;

use super::Answer;

/// Choose and check models
#[derive(Subcommand)]
pub(super) enum ModelCommand {
    /// Show which models could summarise and remember, which one does, and what each costs
    List(list::List),
    /// Choose the model that summarises and remembers: try it, then write it to the config file
    Use(choose::Use),
    /// Choose the model that searches by meaning: check it, then write it to the config file
    Embed(embed::Embed),
}

impl ModelCommand {
    pub(super) fn run(self) -> Answer {
        match self {
            Self::List(command) => command.run(),
            Self::Use(command) => command.run(),
            Self::Embed(command) => command.run(),
        }
    }
}
