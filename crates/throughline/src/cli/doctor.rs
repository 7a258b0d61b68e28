//! `throughline doctor`

use clap::Args;
use owo_colors::OwoColorize as _;
use serde::Serialize;
use throughline_core::engine::Health;

use super::Answer;
use super::reply::Reply;
use crate::health;
use crate::world::{Home, World};

/// Check that everything is sound
#[derive(Args)]
pub(super) struct Doctor {
    /// First do what can be done without changing a memory
    #[arg(long)]
    repair: bool,
}

/// What programs are told.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    health: &'a Health,
    /// What was repaired first, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<Vec<String>>,
}

/// What stands before a problem: of the memory itself, and of one that cannot be opened for now.
const DAMAGED: &str = "damaged:";
const CLOSED: &str = "cannot be opened:";

impl Doctor {
    /// Opens the memory itself: one that cannot be opened is a finding, not a failure to look.
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        let mut done = if self.repair { health::close_to_others(&home) } else { Vec::new() };
        let (health, word) = match World::open() {
            Ok(world) => {
                if self.repair {
                    done.extend(health::repair(&world));
                }
                (health::of(&world), DAMAGED)
            }
            Err(error) => (health::of_closed(&error, &home), if error.is_damage() { DAMAGED } else { CLOSED }),
        };
        let health = health::with_daemon(health, &home);
        let mut text = String::new();
        for done in &done {
            text.push_str(&format!("{} {}\n", "repaired:".green().bold(), super::style::plain(done)));
        }
        for problem in &health.problems {
            text.push_str(&format!("{} {}\n", word.red().bold(), super::style::plain(problem)));
        }
        for remark in &health.remarks {
            text.push_str(&format!("{} {}\n", "note:".yellow().bold(), super::style::plain(remark)));
        }
        if health.problems.is_empty() {
            text.push_str(&format!("{} database, index, history and documents are sound\n", "healthy:".green().bold()));
        }
        let report = Report { health: &health, repaired: self.repair.then_some(done) };
        Ok(Reply::new(&report, text).or_failed(!health.problems.is_empty()))
    }
}
