//! `throughline doctor`

use clap::Args;
use owo_colors::OwoColorize as _;

use super::Answer;
use super::reply::Reply;
use crate::health;
use crate::world::{Home, World};

/// Check that everything is sound
#[derive(Args)]
pub(super) struct Doctor {}

impl Doctor {
    /// Opens the memory itself: one that cannot be opened is a finding, not a failure to look.
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        let health = match World::open() {
            Ok(world) => health::of(&world),
            Err(error) => health::of_closed(&error, &home),
        };
        let health = health::with_daemon(health, &home);
        let mut text = String::new();
        for problem in &health.problems {
            text.push_str(&format!("{} {}\n", "damaged:".red().bold(), super::style::plain(problem)));
        }
        for remark in &health.remarks {
            text.push_str(&format!("{} {}\n", "note:".yellow().bold(), super::style::plain(remark)));
        }
        if health.problems.is_empty() {
            text.push_str(&format!("{} database, index, history and documents are sound\n", "healthy:".green().bold()));
        }
        Ok(Reply::new(&health, text).or_failed(!health.problems.is_empty()))
    }
}
