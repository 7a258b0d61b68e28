//! `throughline backup`, `throughline reindex`

use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Write a verified copy of the database
#[derive(Args)]
pub(super) struct Backup {
    /// Where to write it; without it, a dated file in the backups directory
    file: Option<PathBuf>,
}

impl Backup {
    pub(super) fn run(self, world: &World) -> Answer {
        let dated = || {
            let stamp = world.now().strftime("%Y-%m-%d-%H%M%S");
            let named = |suffix: &str| world.home.backups().join(format!("memory-{stamp}{suffix}.db"));
            let numbered = (2..).map(|n| named(&format!("-{n}")));
            std::iter::once(named("")).chain(numbered).find(|path| !path.exists()).unwrap_or_else(|| named(""))
        };
        let target = match self.file {
            Some(file) => std::path::absolute(&file).unwrap_or(file),
            None => dated(),
        };
        if target.to_str().is_none() {
            return Err(Failure::new("the name of the backup is not UTF-8", "choose another name"));
        }
        let bar = bar("pages");
        world.store.backup(&target, &mut |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        })?;
        bar.finish_and_clear();
        if target.parent() != Some(world.home.backups().as_path()) {
            world.engine.note_export(&target.to_string_lossy())?;
        }
        let told = format!("backed up to {}; checked, and found sound\n", target.display());
        Ok(Reply::new(&json!({ "path": target.display().to_string() }), told))
    }
}

/// Rebuild the search index
#[derive(Args)]
pub(super) struct Reindex {}

impl Reindex {
    pub(super) fn run(self, world: &World) -> Answer {
        let bar = bar("memories");
        let count = world.engine.reindex(&mut |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        })?;
        bar.finish_and_clear();
        let told = format!("indexed {} anew\n", style::count(count, "memory", "memories"));
        Ok(Reply::new(&json!({ "indexed": count }), told))
    }
}

/// A progress bar on standard error; invisible where that is no terminal.
pub(super) fn bar(what: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let template = format!("{{bar:32.cyan}} {{pos}}/{{len}} {what} {{per_sec}} {{eta}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}
