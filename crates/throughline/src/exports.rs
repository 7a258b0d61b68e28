//! Copies that this program left on disk: exports and backups. Erasing follows a memory into them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use throughline_core::engine::{EngineError, ErasedMemory, Export, chain};
use throughline_core::lineage::Trace;
use throughline_core::model::Entry;
use throughline_core::ports::{Erasure, ErasureScope};
use throughline_core::text::bullets;

use crate::backups::{self, Turn};
use crate::spool::Spool;
use crate::world::World;

mod scope;

/// How the names of files begin that hold what was typed and could not be stored.
pub(crate) const UNSAVED: &str = "unsaved-";

/// Why a copy is named.
const STILL_THERE: &str = "words of it still stand there, in what others say or because it was changed since";

pub(crate) use scope::{erase_scope, erase_topic};

/// Erases a memory for good: in the store, in backups, in exports and in what was typed.
pub(crate) fn erase(world: &World, reference: &str, with_sources: bool) -> Result<ErasedMemory, EngineError> {
    let erasure = world.engine.memories().erasure_of(reference, with_sources)?;
    let entry = world.engine.memories().show(reference).ok().map(|memory| memory.entry);
    // Until the end, nobody writes a backup of what is still there. Copies first: while the memory itself is there,
    // erasing can be repeated.
    let turn = Turn::take(&world.home);
    let mut unreached = erase_from_backups(world, &erasure);
    if let Err(error) = &turn {
        unreached.push(format!("backups that are just being written ({})", chain(error)));
    }
    unreached.extend(erase_from_copies(world, &world.engine.transfer().exports()?, &erasure, entry.as_ref()));
    unreached.extend(erase_from_chat_history(&world.home.chat_history(), &erasure));
    unreached.extend(erase_left_over(world, None, &|text| holds(text, &erasure, entry.as_ref())));
    let mut erased = world.engine.memories().erase(reference, with_sources)?;
    erased.erased.unreached.extend(unreached);
    Ok(erased)
}

/// The copies that erasing reaches into.
pub(crate) fn copies(world: &World) -> Result<Vec<String>, EngineError> {
    let files = std::fs::read_dir(world.home.backups()).into_iter().flatten().flatten().map(|file| file.path());
    let mut backups: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "db")).collect();
    backups.sort();
    let backups = backups.into_iter().map(|path| path.display().to_string());
    Ok(backups.chain(world.engine.transfer().exports()?).collect())
}

/// Writes a file whole or not at all, for its owner's eyes only.
pub(crate) fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Erases from every backup, the oldest first, so that the newest stays that; gives those that could not be reached.
fn erase_from_backups(world: &World, erasure: &Erasure) -> Vec<String> {
    let Ok(files) = std::fs::read_dir(world.home.backups()) else { return Vec::new() };
    let ends_in = |path: &Path, end: &str| path.extension().is_some_and(|extension| extension == end);
    let (mut backups, others): (Vec<_>, Vec<_>) =
        files.flatten().map(|file| file.path()).partition(|path| ends_in(path, "db"));
    backups.sort_by_cached_key(|path| path.metadata().and_then(|found| found.modified()).ok());
    // What a backup that was killed left behind.
    for partial in others.iter().filter(|path| ends_in(path, "partial")) {
        if let Err(error) = std::fs::remove_file(partial) {
            tracing::warn!(%error, "a partial backup stays behind");
        }
    }
    // A log whose database was lost cannot be read by itself.
    let logs = others.iter().filter(|path| ends_in(path, "db-wal") && !path.with_extension("db").exists());
    let logs = logs.map(|path| format!("{}, which is left of a database that was lost", path.display()));
    let unreached = |path: PathBuf| {
        let why = erase_in_database(world, &path, erasure).err()?;
        Some(format!("the backup {} ({why})", path.display()))
    };
    backups.into_iter().filter_map(unreached).chain(logs).collect()
}

/// Erases from a copy of the database; says why some of it is still there.
fn erase_in_database(world: &World, path: &Path, erasure: &Erasure) -> Result<(), String> {
    let erased = backups::erase_in(world, path, erasure).map_err(|error| error.to_string())?;
    if erased.unreached.is_empty() { Ok(()) } else { Err(erased.unreached.join("; ")) }
}

/// Erases from a copy of the database.
type EraseInCopy<'a> = &'a dyn Fn(&Path) -> Result<(), String>;

/// Erases from every copy that was written to a file elsewhere; gives those that could not be reached.
///
/// Not from the database itself, whose path may be among them: only SQLite may open that.
fn erase_from_copies(world: &World, paths: &[String], erasure: &Erasure, entry: Option<&Entry>) -> Vec<String> {
    let live = world.home.database().canonicalize().ok();
    let is_live = |path: &str| live.is_some() && Path::new(path).canonicalize().ok() == live;
    let erase_in_copy = |path: &Path| erase_in_database(world, path, erasure);
    let erase = |path: &String| match erase_from_copy(Path::new(path), erasure, entry, &erase_in_copy) {
        Ok(()) => None,
        Err(why) => Some(format!("the copy {path} ({why})")),
    };
    paths.iter().filter(|path| !is_live(path)).filter_map(erase).collect()
}

/// A copy is told by what it holds, not by its name: a backup, a JSON export, or Markdown that begins like ours. Anything
/// else is left as it is.
fn erase_from_copy(
    path: &Path,
    erasure: &Erasure,
    entry: Option<&Entry>,
    erase_in_copy: EraseInCopy<'_>,
) -> Result<(), String> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err("it is no longer there; if it was moved, it still holds this".to_owned());
        }
        // Opening a pipe would wait for whoever writes to it.
        Ok(file) if !file.is_file() => return Err("it is no longer a plain file, and was not opened".to_owned()),
        looked => looked.map_err(|error| error.to_string())?,
    };
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    if bytes.starts_with(b"SQLite format 3\0") {
        return erase_in_copy(path);
    }
    let text = String::from_utf8(bytes).map_err(|_| "it was changed since".to_owned())?;
    let without = match serde_json::from_str::<Export>(&text) {
        Ok(export) => {
            serde_json::to_string_pretty(&export.without(erasure, entry)).map_err(|error| error.to_string())?
        }
        Err(_) if text.starts_with(Export::MARKDOWN_TITLE) => without_in_markdown(&text, erasure),
        Err(_) => text.clone(),
    };
    if without != text {
        write_private(path, &without).map_err(|error| error.to_string())?;
    }
    if holds(&without, erasure, entry) { Err(STILL_THERE.to_owned()) } else { Ok(()) }
}

/// Removes what was put aside in the home and belongs to a scope: turns that a server has not taken, and with everything also what was
/// typed and could not be stored. Names what `is_left` finds in the rest.
fn erase_left_over(world: &World, scope: Option<&ErasureScope>, is_left: &dyn Fn(&str) -> bool) -> Vec<String> {
    let files = std::fs::read_dir(&world.home.data).into_iter().flatten().flatten().map(|file| file.path());
    let erase = |path: PathBuf| {
        if scope == Some(&ErasureScope::Everything) {
            return std::fs::remove_file(&path).err().map(|error| format!("{} ({error})", path.display()));
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        is_left(&text).then(|| format!("{}, which was typed and not stored", path.display()))
    };
    let unsaved = files.filter(|path| is_unsaved(path)).filter_map(erase);
    unsaved.chain(Spool::of(&world.home).erase(scope, is_left)).collect()
}

fn is_unsaved(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_named = name.is_some_and(|name| name.starts_with(UNSAVED) && name.ends_with(".txt"));
    is_named && path.symlink_metadata().is_ok_and(|file| file.is_file())
}

/// Takes every line that repeats it out of the lines that were typed in chats.
fn erase_from_chat_history(path: &Path, erasure: &Erasure) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let traces = Trace::all_of(erasure);
    let repeats = |line: &str| holds(line, erasure, None) || traces.iter().any(|trace| trace.is_in(line));
    without_typed(path, &text, &repeats)
}

/// Takes lines out of what was typed in chats; says why it could not.
fn without_typed(path: &Path, text: &str, repeats: &dyn Fn(&str) -> bool) -> Option<String> {
    let left: String = text.split_inclusive('\n').filter(|line| !repeats(line)).collect();
    if left == text {
        return None;
    }
    write_private(path, &left).err().map(|error| format!("{} ({error})", path.display()))
}

/// Whether any line of what is erased still stands in a text, as it is or as JSON writes it, or a word that hardly anything
/// else has.
fn holds(text: &str, erasure: &Erasure, entry: Option<&Entry>) -> bool {
    let texts = erasure.texts.iter().chain(entry.map(|entry| &entry.content));
    let lines = texts.flat_map(|text| text.lines()).map(str::trim).filter(|line| !line.is_empty());
    let is_there = |line: &str| {
        let quoted = serde_json::to_string(line).unwrap_or_default();
        text.contains(line) || text.contains(quoted.trim_matches('"'))
    };
    let traces = Trace::all_of(erasure);
    let mut rare = traces.iter().flat_map(Trace::rare_words);
    let lower = text.to_lowercase();
    lines.into_iter().any(is_there) || rare.any(|word| lower.contains(&word.to_lowercase()))
}

/// Takes the list items that name its entries out of a Markdown export, with their continuation lines, and its bullets.
fn without_in_markdown(text: &str, erasure: &Erasure) -> String {
    let text = erasure
        .bullets
        .iter()
        .fold(text.to_owned(), |text, (name, content)| bullets::without_content(name, &text, content));
    let marks: Vec<String> = erasure.memories.iter().map(|id| format!(" `{id}` (")).collect();
    let mut items: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        match items.last_mut() {
            Some(item) if line.starts_with("  ") && item.starts_with("- ") => item.push_str(line),
            _ => items.push(line.to_owned()),
        }
    }
    items.retain(|item| !(item.starts_with("- ") && marks.iter().any(|mark| item.contains(mark))));
    items.concat()
}

#[cfg(test)]
mod tests {
    use throughline_core::model::EntryId;

    use super::*;

    fn erasure() -> Erasure {
        let texts = vec!["three".to_owned()];
        Erasure { memories: vec![EntryId::new("cccccc")], texts, ..Erasure::default() }
    }

    #[test]
    fn a_markdown_item_goes_with_its_continuation_and_nothing_else() {
        let text =
            "# Memory\n\n- one `aaaaaa` (sig 3)\n- two\n\n  more two `bbbbbb` (sig 3)\n- three `cccccc` (sig 3)\n";
        let expected = text.replace("- three `cccccc` (sig 3)\n", "");
        assert_eq!(without_in_markdown(text, &erasure()), expected);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_copy_of_ours_is_neither_opened_nor_rewritten() {
        let dir = tempfile::tempdir().unwrap();
        let (pipe, link, notes) = (dir.path().join("pipe"), dir.path().join("link"), dir.path().join("notes.md"));
        let text = "# Notes\n\n- three `cccccc` (sig 3)\n";
        std::fs::write(&notes, text).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(&notes, &link).unwrap();
        for path in [&pipe, &link, &notes] {
            let erased = erase_from_copy(path, &erasure(), None, &|_| Err("unsupported".to_owned()));
            assert!(erased.is_err(), "{}", path.display());
        }
        assert_eq!(std::fs::read_to_string(&notes).unwrap(), text);
    }
}
