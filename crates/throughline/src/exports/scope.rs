//! Erasing a conversation, a project, everything, or turns, in the store and in every copy that this program left.

use std::path::Path;

use throughline_core::engine::{EngineError, ErasedScope, Export, chain};
use throughline_core::model::TurnId;
use throughline_core::ports::{Erased, Erasure, ErasureScope};

use super::{erase_from_backups, write_private};
use crate::backups::{self, Turn};
use crate::world::World;

/// Erases a scope for good.
pub(crate) fn erase_scope(world: &World, scope: &ErasureScope) -> Result<ErasedScope, EngineError> {
    let erasure = world.engine.memories().scope_erasure(scope)?;
    let without = |mut export: Export| {
        export = export.without_scope(scope);
        export.bundle.memories.retain(|memory| !erasure.memories.contains(&memory.entry.id));
        erasure.bullets.iter().fold(export, |export, (name, content)| export.without_line(name, content))
    };
    // Until the end, nobody writes a backup of what is still there.
    let turn = Turn::take(&world.home);
    let mut unreached = match scope {
        ErasureScope::Everything => remove_copies(world)?,
        _ => erase_from_all_copies(world, &erasure, &without)?,
    };
    if let Err(error) = &turn {
        unreached.push(format!("backups that are just being written ({})", chain(error)));
    }
    let mut erased = world.engine.memories().erase_scope(scope)?;
    erased.erased.unreached.extend(unreached);
    Ok(erased)
}

/// Erases turns for good.
pub(crate) fn erase_turns(world: &World, turns: &[TurnId]) -> Result<Erased, EngineError> {
    let erasure = Erasure { turns: turns.to_vec(), at: world.engine.now(), ..Erasure::default() };
    let turn = Turn::take(&world.home);
    let mut unreached = erase_from_all_copies(world, &erasure, &|export: Export| export.without_turns(turns))?;
    if let Err(error) = &turn {
        unreached.push(format!("backups that are just being written ({})", chain(error)));
    }
    let mut erased = world.engine.memories().erase_turns(turns)?;
    erased.unreached.extend(unreached);
    Ok(erased)
}

/// Takes something out of every backup and export; gives those that could not be reached.
fn erase_from_all_copies(
    world: &World,
    erasure: &Erasure,
    without: &dyn Fn(Export) -> Export,
) -> Result<Vec<String>, EngineError> {
    let mut unreached = erase_from_backups(world, erasure);
    for path in world.engine.transfer().exports()? {
        if let Err(why) = erase_from_export(world, Path::new(&path), erasure, without) {
            unreached.push(format!("the copy {path} ({why})"));
        }
    }
    Ok(unreached)
}

fn erase_from_export(
    world: &World,
    path: &Path,
    erasure: &Erasure,
    without: &dyn Fn(Export) -> Export,
) -> Result<(), String> {
    match copy_at(world, path)? {
        Copy::Database => backups::erase_in(world, path, erasure).map(drop).map_err(|error| error.to_string()),
        Copy::Json(export) => {
            let text = serde_json::to_string_pretty(&without(*export)).map_err(|error| error.to_string())?;
            write_private(path, &text).map_err(|error| error.to_string())
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
