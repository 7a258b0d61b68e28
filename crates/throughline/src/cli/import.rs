//! `throughline import FILE|FOLDER|-`

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use owo_colors::OwoColorize as _;
use throughline_core::engine::{self, ImportReport, SetAside, Tally};
use throughline_core::import::{self, Format, Found, ImportError, Skipped};

use super::failure::Failure;
use super::keep::bar;
use super::reply::Reply;
use super::{Answer, style};
use crate::world::World;

/// Folders of an export that are looked into.
const SUBFOLDERS: [&str; 5] = ["conversations", "daily", "memories", "memory", "projects"];

/// How wide a line of the report may be.
const WIDTH: usize = 110;

/// Take in an export, another assistant's memory, or notes
#[derive(Args)]
pub(super) struct Import {
    /// A file, a folder with the files of an export, or `-` for standard input
    #[arg(value_name = "FILE|FOLDER|-")]
    from: PathBuf,
    /// What it is, where that cannot be told: throughline, chatgpt, claude, mem0, mcp, markdown, hermes, openclaw, jsonl
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,
    /// Show what would be added and what would not, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Import {
    pub(super) fn run(self, world: &World) -> Answer {
        if self.from.is_dir() {
            return self.take(world, &self.folder()?);
        }
        let name = self.from.to_string_lossy().into_owned();
        let bytes = read(&self.from)?;
        let detected = || import::detect(&name, &bytes).ok();
        if self.format.or_else(detected) == Some(Format::Throughline) {
            return self.own(world, &bytes);
        }
        let found = import::read(&name, &bytes, self.format).map_err(refused)?;
        drop(bytes);
        self.take(world, &found)
    }

    /// What the known files of a folder hold. One that cannot be read costs no other.
    fn folder(&self) -> Result<Found, Failure> {
        let listing = |error: std::io::Error| Failure::io(&format!("list {}", self.from.display()), &error);
        let mut found = Found::default();
        let mut first = None;
        for name in known_files(&self.from).map_err(listing)? {
            let bytes = read(&self.from.join(&name))?;
            match import::read(&name, &bytes, self.format) {
                Ok(part) => found.join(part),
                Err(error) => {
                    found.skip(&name, &error.to_string());
                    first.get_or_insert(error);
                }
            }
        }
        match first {
            Some(error) if found.files.is_empty() => Err(refused(error)),
            None if found.files.is_empty() => Err(Failure::new(
                format!("cannot read the export: {} holds none of the files that are known", self.from.display()),
                "known are conversations.json, memories.json, projects.json, memory.jsonl, CLAUDE.md, AGENTS.md, \
                 MEMORY.md, USER.md and YYYY-MM-DD.md; give any other file by its name",
            )),
            _ => Ok(found),
        }
    }

    fn take(&self, world: &World, found: &Found) -> Answer {
        let bar = bar("pieces");
        let report = world.engine.import_found(found, self.dry_run, &mut |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        });
        bar.finish_and_clear();
        let report = report?;
        Ok(Reply::new(&report, told(&report)))
    }

    /// An export of our own.
    fn own(&self, world: &World, bytes: &[u8]) -> Answer {
        let export: engine::Export = serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
            .map_err(|error| Failure::from(engine::EngineError::BadExport { problem: error.to_string() }))?;
        let counted = |added, kept, documents: usize, turns| {
            format!(
                "{}; {kept} here already; {}; {}\n",
                style::count(added, "memory", "memories"),
                style::count(documents as u64, "document", "documents"),
                style::count(turns, "turn", "turns"),
            )
        };
        if self.dry_run {
            let preview = world.engine.preview_import(&export)?;
            let counts = counted(preview.added, preview.kept, preview.documents.len(), preview.turns);
            let mut told = format!("would import {counts}");
            for name in &preview.differing {
                told.push_str(&format!("{name} differs here and would stay as it is\n"));
            }
            return Ok(Reply::new(&preview, told + "nothing was changed\n"));
        }
        let imported = world.engine.import(&export)?;
        let adopted = &imported.adopted;
        let counts = counted(adopted.added, adopted.kept, imported.documents.len(), adopted.turns);
        let mut told = format!("imported {counts}");
        for id in &adopted.inactive {
            told.push_str(&format!("{} is stored but inactive: its key is taken\n", style::short(id.as_str())));
        }
        for SetAside { name, aside } in &imported.set_aside {
            told.push_str(&format!("{name} differs here and stayed as it is; the imported text is in {aside}\n"));
        }
        Ok(Reply::new(&imported, told))
    }
}

fn refused(error: ImportError) -> Failure {
    Failure::new(error.to_string(), error.hint())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let reading = |error: std::io::Error| {
        let hint = "give what `throughline export` wrote, a file or folder that docs/importing.md lists, or `-`";
        Failure::new(format!("cannot read {}: {error}", path.display()), hint)
    };
    if path.as_os_str() != "-" {
        return std::fs::read(path).map_err(reading);
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(reading)?;
    Ok(bytes)
}

/// The files of a folder that are known by their names, sorted; links are not followed.
fn known_files(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut known = Vec::new();
    let mut todo = vec![String::new()];
    while let Some(below) = todo.pop() {
        for entry in std::fs::read_dir(folder.join(&below))? {
            let entry = entry?;
            let Ok(file) = entry.file_name().into_string() else { continue };
            let name = if below.is_empty() { file.clone() } else { format!("{below}/{file}") };
            let kind = entry.file_type()?;
            if kind.is_dir() && below.is_empty() && SUBFOLDERS.contains(&file.as_str()) {
                todo.push(file);
            } else if kind.is_file() && import::is_known(&name) {
                known.push(name);
            }
        }
    }
    known.sort();
    Ok(known)
}

/// The report for people.
fn told(report: &ImportReport) -> String {
    let mut told = String::new();
    for file in &report.files {
        told.push_str(&style::one_line(&format!("{} is {}", file.name, file.format), WIDTH));
        told.push('\n');
    }
    let kinds = [("knowledge", &report.knowledge), ("archive", &report.archive), ("turns", &report.turns)];
    for (kind, tally) in kinds.into_iter().filter(|(_, tally)| **tally != Tally::default()) {
        told.push_str(&format!("{kind:<10} {}\n", counted(tally, report.dry_run)));
    }
    if report.sessions > 0 {
        told.push_str(&format!("{:<10} {} new\n", "sessions", report.sessions));
    }
    for (kind, count) in &report.redacted {
        told.push_str(&format!("{:<10} {}\n", "redacted", style::count(*count, kind, kind)));
    }
    for Skipped { reason, count, places } in &report.skipped {
        let more = if *count > places.len() as u64 { ", …" } else { "" };
        let line = format!("{count} that {reason}: {}{more}", places.join(", "));
        told.push_str(&format!("{:<10} {}\n", "skipped", style::one_line(&line, WIDTH)));
    }
    for sample in &report.samples {
        told.push_str(&format!("{}\n", format!("  + {}", style::one_line(sample, WIDTH)).dimmed()));
    }
    told.push_str(match (report.dry_run, report.knowledge.changes() + report.archive.changes(), report.turns.added) {
        (true, ..) => "nothing was changed\n",
        (false, 0, 0) => "nothing new\n",
        (false, 0, _) => {
            "`throughline recall --kind turn` finds what was said; `throughline session consolidate --all` makes memories of it\n"
        }
        (false, _, 0) => "`throughline undo` takes it back\n",
        (false, ..) => "`throughline undo` takes the memories back; what was said is kept\n",
    });
    told
}

fn counted(tally: &Tally, dry_run: bool) -> String {
    let added = if dry_run { "to add" } else { "added" };
    let counts = [
        (tally.added, added),
        (tally.brought_back, if dry_run { "to bring back" } else { "brought back" }),
        (tally.here, "here already"),
        (tally.differing, "here with another text, which stays"),
        (tally.forgotten, "forgotten here, which stay so"),
    ];
    let parts = counts.into_iter().filter(|(count, what)| *count > 0 || *what == added);
    parts.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join("; ")
}
