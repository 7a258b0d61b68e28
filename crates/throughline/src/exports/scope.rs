//! Erasing a conversation, a project, everything, or turns, in the store and in every copy that this program left.

use std::collections::HashSet;
use std::path::Path;

use throughline_core::engine::{EngineError, ErasedScope, Export, ScopeWords, chain};
use throughline_core::lineage::Trace;
use throughline_core::model::TurnId;
use throughline_core::ports::{Erased, Erasure, ErasureScope};

use super::{STILL_THERE, erase_from_backups, erase_in_database, holds, write_private};
use crate::backups::Turn;
use crate::world::World;

/// Erases a scope for good.
pub(crate) fn erase_scope(world: &World, scope: &ErasureScope) -> Result<ErasedScope, EngineError> {
    let erasure = world.engine.memories().scope_erasure(scope)?;
    let words = world.engine.memories().scope_words(scope)?;
    let without = |mut export: Export| {
        export = export.without_scope(scope);
        export.bundle.memories.retain(|memory| !erasure.memories.contains(&memory.entry.id));
        erasure.bullets.iter().fold(export, |export, (name, content)| export.without_line(name, content))
    };
    // Until the end, nobody writes a backup of what is still there.
    let turn = Turn::take(&world.home);
    let mut unreached = match scope {
        ErasureScope::Everything => remove_copies(world)?,
        _ => erase_from_all_copies(world, &erasure, &words.statements, &without)?,
    };
    unreached.extend(erase_typed(&world.home.chat_history(), &words));
    let said = Erasure { texts: words.said.iter().chain(&words.statements).cloned().collect(), ..Erasure::default() };
    unreached.extend(super::erase_left_over(world, Some(scope), &|text| holds(text, &said, None)));
    if let Err(error) = &turn {
        unreached.push(format!("backups that are just being written ({})", chain(error)));
    }
    let mut erased = world.engine.memories().erase_scope(scope)?;
    erased.erased.unreached.extend(unreached);
    Ok(erased)
}

/// Erases turns for good, and what the program made that has the words of a topic.
pub(crate) fn erase_topic(world: &World, topic: &str, turns: &[TurnId]) -> Result<Erased, EngineError> {
    let erasure = world.engine.memories().topic_erasure(topic, turns);
    let without = |export: Export| export.without(&erasure, None);
    let turn = Turn::take(&world.home);
    let mut unreached = erase_from_all_copies(world, &erasure, &[], &without)?;
    if let Err(error) = &turn {
        unreached.push(format!("backups that are just being written ({})", chain(error)));
    }
    unreached.extend(super::erase_from_chat_history(&world.home.chat_history(), &erasure));
    unreached.extend(super::erase_left_over(world, None, &|text| holds(text, &erasure, None)));
    let mut erased = world.engine.memories().erase_topic(topic, turns)?;
    erased.unreached.extend(unreached);
    Ok(erased)
}

/// Takes what was said in a conversation, or names what came of it, out of the lines that were typed in chats.
fn erase_typed(path: &Path, words: &ScopeWords) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let said: HashSet<&str> = words.said.iter().flat_map(|text| text.lines()).map(str::trim).collect();
    let traces: Vec<Trace> = words.statements.iter().map(|text| Trace::of(text)).collect();
    let repeats = |line: &str| said.contains(line.trim()) || traces.iter().any(|trace| trace.is_in(line));
    super::without_typed(path, &text, &repeats)
}

/// Takes something out of every backup and export; gives those that could not be reached, or that still have one of the statements.
fn erase_from_all_copies(
    world: &World,
    erasure: &Erasure,
    statements: &[String],
    without: &dyn Fn(Export) -> Export,
) -> Result<Vec<String>, EngineError> {
    let mut unreached = erase_from_backups(world, erasure);
    for path in world.engine.transfer().exports()? {
        if let Err(why) = erase_from_export(world, Path::new(&path), erasure, statements, without) {
            unreached.push(format!("the copy {path} ({why})"));
        }
    }
    Ok(unreached)
}

fn erase_from_export(
    world: &World,
    path: &Path,
    erasure: &Erasure,
    statements: &[String],
    without: &dyn Fn(Export) -> Export,
) -> Result<(), String> {
    match copy_at(world, path)? {
        Copy::Database => erase_in_database(world, path, erasure),
        Copy::Json(export) => {
            let text = serde_json::to_string_pretty(&without(*export)).map_err(|error| error.to_string())?;
            write_private(path, &text).map_err(|error| error.to_string())?;
            let said = Erasure { texts: statements.to_vec(), ..Erasure::default() };
            if holds(&text, &said, None) { Err(STILL_THERE.to_owned()) } else { Ok(()) }
        }
        Copy::Other => Err("it is no JSON: delete it yourself".to_owned()),
    }
}

/// Removes backups, and exports that are still ours; names the others.
fn remove_copies(world: &World) -> Result<Vec<String>, EngineError> {
    let mut unreached = Vec::new();
    let backups = std::fs::read_dir(world.home.backups()).into_iter().flatten().flatten().map(|file| file.path());
    let history = world.home.chat_history();
    for path in backups.filter(|path| path.is_file()).chain(history.exists().then_some(history)) {
        unreached.extend(std::fs::remove_file(&path).err().map(|error| format!("{} ({error})", path.display())));
    }
    for path in world.engine.transfer().exports()? {
        let removed = match copy_at(world, Path::new(&path)) {
            Ok(Copy::Other) => Err("it is no JSON: delete it yourself".to_owned()),
            Ok(_) => std::fs::remove_file(&path).map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        unreached.extend(removed.err().map(|why| format!("the copy {path} ({why})")));
    }
    Ok(unreached)
}

/// What a copy is, by what it holds.
enum Copy {
    Database,
    Json(Box<Export>),
    Other,
}

fn copy_at(world: &World, path: &Path) -> Result<Copy, String> {
    let live = world.home.database().canonicalize().ok();
    if live.is_some() && path.canonicalize().ok() == live {
        return Err("it is the memory itself".to_owned());
    }
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err("it is no longer there; if it was moved, it still holds this".to_owned());
        }
        Ok(file) if !file.is_file() => return Err("it is no longer a plain file, and was not opened".to_owned()),
        looked => looked.map_err(|error| error.to_string())?,
    };
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    if bytes.starts_with(b"SQLite format 3\0") {
        return Ok(Copy::Database);
    }
    Ok(serde_json::from_slice(&bytes).map_or(Copy::Other, |export| Copy::Json(Box::new(export))))
}
