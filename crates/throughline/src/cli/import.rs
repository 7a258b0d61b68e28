//! `throughline import FILE|FOLDER|-`, `throughline import --from CLIENT`

pub(super) mod ahead;
mod past;
mod source;

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use owo_colors::OwoColorize as _;
use throughline_clients::Client;
use throughline_core::engine::{ImportReport, Imported, SetAside, Tally};
use throughline_core::transfer::formats::{self, Format, Found, ImportError, Skipped};
use throughline_readers::Reader;

use super::failure::Failure;
use super::keep::bar;
use super::reply::Reply;
use super::{Answer, style};
use crate::transcripts;
use crate::world::World;

use ahead::ahead;
pub(super) use past::take_past;
use source::{Source, archive, is_archive, reader};

/// Folders of an export that are looked into.
const SUBFOLDERS: [&str; 5] = ["conversations", "daily", "memories", "memory", "projects"];

/// How wide a line of the report may be.
const WIDTH: usize = 110;

/// Take in an export, another assistant's memory, or notes
#[derive(Args)]
pub(super) struct Import {
    /// A file, a zip archive as it was mailed, a folder with the files of an export, or `-` for standard input
    #[arg(value_name = "FILE|FOLDER|-", required_unless_present = "from")]
    file: Option<PathBuf>,
    /// Past conversations of an assistant on this machine, from its own files
    #[arg(long, value_name = "CLIENT", value_parser = past_client(), conflicts_with_all = ["file", "format", "project"])]
    from: Option<Client>,
    /// What it is, where that cannot be told: throughline, chatgpt, claude, mem0, mcp, markdown, hermes, openclaw, jsonl
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,
    /// The project that its memories belong to; CLAUDE.md and AGENTS.md below a project's directory belong to that
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Show what would be added and what would not, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Keep what was said and make no memories of it now; `throughline session consolidate --all` does that later
    #[arg(long)]
    later: bool,
}

fn past_client() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(transcripts::CLIENTS.map(Client::as_str)).try_map(|name| name.parse::<Client>())
}

impl Import {
    pub(super) fn run(self, world: &World) -> Answer {
        if let Some(client) = self.from {
            let report = take_past(world, client, self.dry_run)?;
            return Ok(self.answer(world, &report));
        }
        let path = self.file.clone().unwrap_or_default();
        let reader = &mut reader()?;
        if path.is_dir() || is_archive(&path) {
            let found = self.found(world, reader, &path)?;
            return self.take(world, &found);
        }
        let source = Source::open(&path)?;
        if self.format == Some(Format::Throughline) {
            return self.own(world, &source);
        }
        let mut found = match source.found(reader, &path.to_string_lossy(), self.format) {
            Err(ImportError::Own { .. }) => return self.own(world, &source),
            found => found.map_err(refused)?,
        };
        drop(source);
        self.assign(world, &path, &mut found)?;
        self.take(world, &found)
    }

    fn found(&self, world: &World, reader: &mut Reader, path: &Path) -> Result<Found, Failure> {
        if path.is_dir() {
            return self.folder(world, reader, path);
        }
        let mut found = if is_archive(path) {
            archive(reader, path, self.format).map_err(refused)?
        } else {
            let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            Source::open(path)?.found(reader, &name, self.format).map_err(refused)?
        };
        self.assign(world, path, &mut found)?;
        Ok(found)
    }

    /// What the known files of a folder hold. One that cannot be read costs no other.
    fn folder(&self, world: &World, reader: &mut Reader, folder: &Path) -> Result<Found, Failure> {
        let listing = |error: std::io::Error| Failure::io(&format!("list {}", folder.display()), &error);
        let mut found = Found::default();
        let mut first = None;
        for name in known_files(folder).map_err(listing)? {
            let path = folder.join(&name);
            match Source::open(&path)?.found(reader, &name, self.format) {
                Ok(mut part) => {
                    self.assign(world, &path, &mut part)?;
                    found.join(part);
                }
                Err(ImportError::Unknown { .. }) if formats::is_optional(&name) => {}
                Err(error) => {
                    found.skip(&name, &error.to_string());
                    first.get_or_insert(error);
                }
            }
        }
        match first {
            Some(error) if found.files.is_empty() => Err(refused(error)),
            None if found.files.is_empty() => Err(Failure::new(
                format!("cannot read the export: {} holds none of the files that are known", folder.display()),
                "known are conversations.json, memories.json, projects.json, memory.jsonl, CLAUDE.md, AGENTS.md, \
                 MEMORY.md, USER.md and YYYY-MM-DD.md; give any other file by its name",
            )),
            _ => Ok(found),
        }
    }

    /// Gives what a file holds to the project that is named, or that such a file belongs to by where it lies.
    fn assign(&self, world: &World, path: &Path, found: &mut Found) -> Result<(), Failure> {
        let project = match &self.project {
            Some(name) => Some(name.clone()),
            None if path.to_str().is_some_and(formats::is_of_project) => project_around(world, path, self.dry_run)?,
            None => None,
        };
        if let Some(project) = project {
            found.assign(&project);
        }
        Ok(())
    }

    fn take(&self, world: &World, found: &Found) -> Answer {
        Ok(self.answer(world, &self.report(world, found)?))
    }

    fn report(&self, world: &World, found: &Found) -> Result<ImportReport, Failure> {
        let bar = bar("pieces");
        let report = world.engine.transfer().import_found(found, self.dry_run, &mut |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        });
        bar.finish_and_clear();
        Ok(report?)
    }

    /// The report, and what becomes of the conversations.
    fn answer(&self, world: &World, report: &ImportReport) -> Reply {
        let ahead = if report.dry_run || report.turns.added == 0 { None } else { ahead(world, !self.later) };
        let mut text = told(report);
        text.extend(ahead.iter().map(ahead::told));
        Reply::new(&ahead::Reported { report, ahead: ahead.as_ref() }, text)
    }

    /// An export of our own.
    fn own(&self, world: &World, source: &Source<'_>) -> Answer {
        if self.project.is_some() {
            let hint = "import it without `--project`";
            return Err(Failure::new("the memories of a Throughline export keep their own projects", hint));
        }
        let export = source.own()?;
        if self.dry_run {
            let preview = world.engine.transfer().preview_import(&export)?;
            let told = told_own(&preview.imported, true);
            return Ok(Reply::new(&preview, told));
        }
        let imported = world.engine.transfer().import(&export)?;
        let told = told_own(&imported, false);
        Ok(Reply::new(&imported, told))
    }
}

/// What became, or would become, of an export of our own.
fn told_own(imported: &Imported, dry_run: bool) -> String {
    let adopted = &imported.adopted;
    let mut parts = vec![
        style::count(adopted.added, "memory", "memories"),
        format!("{} here already", adopted.kept),
        style::count(imported.documents.len() as u64, "document", "documents"),
        style::count(adopted.turns, "turn", "turns"),
    ];
    let work = [(adopted.tasks, "task", "tasks"), (adopted.projects, "project", "projects")];
    parts
        .extend(work.iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| style::count(*count, one, many)));
    let (import, be, stay, stand) = match dry_run {
        true => ("would import", "would be", "would stay", "would stand"),
        false => ("imported", "is", "stayed", "stands"),
    };
    let mut told = format!("{import} {}\n", parts.join("; "));
    for id in &adopted.inactive {
        told.push_str(&format!("{} {be} stored but inactive: its key is taken\n", style::short(id.as_str())));
    }
    for SetAside { name, aside } in &imported.set_aside {
        told.push_str(&format!("{name} differs here and {stay} as it is; the imported text {stand} in {aside}\n"));
    }
    for project in imported.left_out.iter().filter_map(|name| name.as_project()) {
        told.push_str(&format!(
            "the memory file of project {project} stays where it is; the exported text is not written\n"
        ));
    }
    if imported.withheld > 0 {
        let what = style::count(imported.withheld, "piece", "pieces");
        told.push_str(&format!("{what} not taken: forgotten or erased here\n"));
    }
    told.push_str(if dry_run { "nothing was changed\n" } else { "" });
    told
}

/// Takes in a file or a folder, or says what that would give.
pub(super) fn take_in(world: &World, path: &Path, dry_run: bool) -> Result<ImportReport, Failure> {
    let file = Some(path.to_owned());
    let import = Import { file, from: None, format: None, project: None, dry_run, later: true };
    let found = import.found(world, &mut reader()?, path)?;
    import.report(world, &found)
}

/// Whether an archive is an export of one of these.
pub(super) fn is_export_of(path: &Path, wanted: &[Format]) -> bool {
    let found = is_archive(path).then(|| archive(&mut reader().ok()?, path, None).ok()).flatten();
    found.is_some_and(|found| found.files.iter().any(|file| wanted.contains(&file.format)))
}

/// The project in whose directory a file lies. A dry run gives no directory a name.
fn project_around(world: &World, path: &Path, dry_run: bool) -> Result<Option<String>, Failure> {
    let Some(dir) = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned)) else {
        return Ok(None);
    };
    let projects = world.engine.projects();
    let found = if dry_run { projects.at(&dir)? } else { projects.enter(&dir)? };
    Ok(found.map(|project| project.name.to_string()))
}

fn refused(error: ImportError) -> Failure {
    Failure::new(error.to_string(), error.hint())
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
            } else if kind.is_file() && formats::is_known(&name) {
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
        let project = file.project.as_ref().map(|project| format!(", of project {project}")).unwrap_or_default();
        told.push_str(&style::one_line(&format!("{} is {}{project}", file.name, file.format), WIDTH));
        told.push('\n');
    }
    let kinds = [
        ("profile", &report.profile),
        ("knowledge", &report.knowledge),
        ("archive", &report.archive),
        ("turns", &report.turns),
    ];
    for (kind, tally) in kinds.into_iter().filter(|(_, tally)| **tally != Tally::default()) {
        told.push_str(&format!("{kind:<10} {}\n", counted(tally, report.dry_run)));
    }
    if report.sessions > 0 {
        let said = report.first_said_at.zip(report.last_said_at);
        let dates = said.map(|(first, last)| format!(", {} to {}", day(first), day(last))).unwrap_or_default();
        told.push_str(&format!("{:<10} {} new{dates}\n", "sessions", report.sessions));
    }
    for (kind, count) in &report.redacted {
        told.push_str(&format!("{:<10} {}\n", "redacted", style::count(*count, kind, kind)));
    }
    for (what, pieces) in [("skipped", &report.skipped), ("adjusted", &report.adjusted)] {
        for piece in pieces {
            told.push_str(&format!("{what:<10} {}\n", style::one_line(&why(piece), 2 * WIDTH)));
        }
    }
    for sample in &report.samples {
        told.push_str(&format!("{}\n", format!("  + {}", style::one_line(sample, WIDTH)).dimmed()));
    }
    let new = report.profile.added + report.knowledge.changes() + report.archive.changes() + report.turns.added;
    let more = new.saturating_sub(report.samples.len() as u64);
    if more > 0 && !report.samples.is_empty() {
        told.push_str(&format!("{}\n", format!("  and {more} more").dimmed()));
    }
    let memories = report.profile.added + report.knowledge.changes() + report.archive.changes();
    told.push_str(match (report.dry_run, memories, report.turns.added) {
        (true, ..) => "nothing was changed\n",
        (false, 0, 0) => "nothing new\n",
        (false, 0, _) => "`throughline recall --kind turn` finds what was said\n",
        (false, _, 0) => "`throughline undo` takes it back\n",
        (false, ..) => "`throughline undo` takes the memories back; what was said is kept\n",
    });
    told
}

fn day(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
}

/// `line 4: is not JSON`, `line 4, line 7 and 2 more: each is not JSON`
fn why(Skipped { reason, count, places }: &Skipped) -> String {
    let more = match count.saturating_sub(places.len() as u64) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let is_verb = ["is ", "has ", "goes ", "imports "].iter().any(|verb| reason.starts_with(verb));
    let each = if *count > 1 && is_verb { "each " } else { "" };
    format!("{}{more}: {each}{reason}", places.join(", "))
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
