//! `throughline doctor`

use std::path::Path;

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::engine::{Health, chain};

use super::Answer;
use super::reply::Reply;
use crate::connections;
use crate::world::{Home, World};

/// Check that everything is sound
#[derive(Args)]
pub(super) struct Doctor {}

impl Doctor {
    /// Opens the memory itself: one that cannot be opened is a finding, not a failure to look.
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        let mut health = match World::open() {
            Ok(world) => world.engine.health(),
            Err(error) => {
                let problem = chain(&error);
                let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
                Health { problems: vec![format!("{problem}{hint}")], remarks: Vec::new() }
            }
        };
        for path in [home.data.clone(), home.config.clone(), home.database()] {
            health.remarks.extend(too_open(&path));
        }
        health.remarks.extend(connections::remarks());
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

#[cfg(unix)]
fn too_open(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o077;
    (mode != 0).then(|| format!("{} can be read by others: chmod go-rwx it", path.display()))
}

#[cfg(not(unix))]
fn too_open(_: &Path) -> Option<String> {
    None
}
