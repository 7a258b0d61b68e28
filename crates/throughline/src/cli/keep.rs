//! `throughline backup`, `throughline reindex`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;
use serde_json::json;
use throughline_core::engine::chain;
use throughline_core::ports::Clock as _;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::backups::{self, BackupError, Proved, Turn};
use crate::daemon::{Claim, lost_by};
use crate::vectors::{self, Effort, Embedding, Of};
use crate::world::{Home, World, WorldClock, private_directory};

/// Write a verified copy of the database; list, check or restore one
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Backup {
    #[command(subcommand)]
    command: Option<BackupCommand>,
    /// Where to write it; without it, a dated file in the backups directory
    file: Option<PathBuf>,
    /// Check a copy instead, by restoring it on the side; nothing else is touched
    #[arg(long, value_name = "COPY", conflicts_with = "file")]
    check: Option<PathBuf>,
    /// Put a copy in the place of the database, which is kept as a backup itself; not while a daemon uses it
    #[arg(long, value_name = "COPY", conflicts_with_all = ["file", "check"])]
    restore: Option<PathBuf>,
}

#[derive(Subcommand)]
enum BackupCommand {
    /// List the copies in the backups directory, newest first
    List,
}

impl Backup {
    pub(super) fn run(self) -> Answer {
        if matches!(self.command, Some(BackupCommand::List)) {
            return list();
        }
        match (self.check, self.restore) {
            (Some(copy), _) => check(&copy),
            (_, Some(copy)) => restore(&copy),
            _ => write(self.file, &World::open()?),
        }
    }
}

fn write(file: Option<PathBuf>, world: &World) -> Answer {
    let _turn = Turn::take(&world.home).map_err(|error| failed(&error))?;
    let target = match file {
        Some(file) => std::path::absolute(&file).unwrap_or(file),
        None => backups::dated(world),
    };
    if target.to_str().is_none() {
        return Err(Failure::new("the name of the backup is not UTF-8", "choose another name"));
    }
    let bar = bar("pages");
    let written = backups::write(world, &target, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        true
    });
    written.map_err(|error| failed(&error))?;
    bar.finish_and_clear();
    if target.parent() != Some(world.home.backups().as_path()) {
        world.engine.transfer().note_export(&target.to_string_lossy())?;
    }
    let told = format!("backed up to {}; checked, and found sound\n", target.display());
    Ok(Reply::new(&json!({ "path": target.display().to_string() }), told))
}

fn list() -> Answer {
    let home = Home::find()?;
    let copies = backups::list(&home).map_err(|error| Failure::io("list the backups", &error))?;
    let now = WorldClock::from_environment()?.now().to_zoned(TimeZone::system());
    let row = |copy: &backups::Copy| {
        let written = style::date(copy.written_at, &now);
        vec![copy.name.clone(), written, format!("{:.1} MB", copy.bytes as f64 / 1e6)]
    };
    let is_empty = copies.is_empty();
    let text = if is_empty {
        "no backups yet; `throughline backup` writes one\n".to_owned()
    } else {
        let how = "\n`throughline backup --check NAME` proves one, `--restore NAME` brings it back\n";
        style::table(&["name", "written", "size"], copies.iter().map(row).collect()) + how
    };
    let directory = home.backups().display().to_string();
    Ok(Reply::new(&json!({ "directory": directory, "backups": copies }), text).or_nothing(is_empty))
}

fn check(copy: &Path) -> Answer {
    let home = Home::find()?;
    let copy = backups::named(&home, copy);
    let proved = backups::prove(&home, &copy).map_err(|error| failed(&error))?;
    let told = format!("{} can be restored: {}\n", copy.display(), proved.in_words());
    let Proved { memories, turns } = proved;
    Ok(Reply::new(&json!({ "path": copy.display().to_string(), "memories": memories, "turns": turns }), told))
}

fn restore(copy: &Path) -> Answer {
    let home = Home::find()?;
    let copy = backups::named(&home, copy);
    private_directory(&home.backups())?;
    // Held until the end: no daemon begins on half of a memory.
    let claim = Claim::take(&home).map_err(|error| Failure::io("tell whether a daemon runs", &error))?;
    let _claim = match claim {
        Ok(claim) => Some(claim),
        // One that has lost its database waits for exactly this, and goes on by itself.
        Err(running) if backups::is_gone(&home) || running.as_ref().and_then(lost_by).is_some() => None,
        Err(_) => return Err(Failure::daemon_runs(&home)),
    };
    let stamp = WorldClock::from_environment()?.now().strftime("%Y-%m-%d-%H%M%S").to_string();
    let (proved, kept) = backups::restore(&home, &copy, &stamp).map_err(|error| failed(&error))?;
    let mut told = format!("restored {}: {}\n", copy.display(), proved.in_words());
    if let Some(kept) = &kept {
        told.push_str(&format!("what was there before is in {}\n", kept.display()));
    }
    let kept = kept.map(|kept| kept.display().to_string());
    Ok(Reply::new(&json!({ "restored": copy.display().to_string(), "kept": kept }), told))
}

fn failed(error: &BackupError) -> Failure {
    Failure::new(chain(error), error.hint())
}

/// Rebuild the search index
#[derive(Args)]
pub(super) struct Reindex {
    /// Give every memory and passage that has none a vector of the configured embedder, and wait for it; the index of
    /// words stays as it is
    #[arg(long)]
    vectors: bool,
    /// Only merge what is due of the index of words: what an earlier command left when it ended
    #[arg(long, conflicts_with = "vectors")]
    merge: bool,
}

impl Reindex {
    pub(super) fn run(self, world: &World) -> Answer {
        if self.vectors {
            return embed(world);
        }
        if self.merge {
            world.engine.health().keep_up()?;
            return Ok(Reply::new(&json!({}), "nothing is left to merge\n"));
        }
        let bar = bar("memories");
        let count = world.engine.health().reindex(&mut |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        })?;
        bar.finish_and_clear();
        let mut told = format!("indexed {} anew\n", style::count(count, "memory", "memories"));
        let embeddings = world.engine.embedding().last_progress()?;
        if let Some(progress) = &embeddings {
            told.push_str(&format!("{}\n", style::embedded(progress)));
        }
        Ok(Reply::new(&json!({ "indexed": count, "embeddings": embeddings }), told))
    }
}

/// Embeds memories, then passages of the vault.
fn embed(world: &World) -> Answer {
    let run = |of: Of, what: &str| {
        let bar = bar(what);
        let done = vectors::embed(world, of, Effort::WHOLE, &mut |done, total| {
            bar.set_length(total);
            bar.set_position(done);
            true
        });
        bar.finish_and_clear();
        let none = || {
            let hint = "set `provider` under `[embeddings]` in the config file";
            Failure::new("no embedder is configured", hint)
        };
        done?.map(Embedding::told).ok_or_else(none)
    };
    let (memories, passages) = (run(Of::Memories, "memories")?, run(Of::Passages, "passages")?);
    let mut told = match world.engine.embedding().last_progress()? {
        Some(progress) => format!("{}\n", style::embedded(&progress)),
        None => "there is no memory to embed\n".to_owned(),
    };
    let problem = memories.problem.as_ref().or(passages.problem.as_ref());
    if let Some(problem) = problem {
        told.push_str(&format!("some have no vector: {}\n", style::plain(problem)));
    }
    let failed = problem.is_some();
    Ok(Reply::new(&json!({ "memories": memories, "passages": passages }), told).or_failed(failed))
}

/// A progress bar on standard error; invisible where that is no terminal.
pub(super) fn bar(what: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let template = format!("{{bar:32.cyan}} {{pos}}/{{len}} {what} {{eta}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}
