//! How the memory is: what the engine finds, and what only the files around it show.

use std::path::Path;

use throughline_core::engine::{EngineError, Health, MemoryStatus, chain};
use throughline_core::ports::StoreError;

use crate::daemon::{channel_remarks, find, lost_by, token};
use crate::vectors;
use crate::world::{Home, OpenError, World};
use crate::{connections, embedders};

/// Everything that is wrong or worth knowing.
pub(crate) fn of(world: &World) -> Health {
    let mut health = world.engine.health().check();
    if let Err(error @ StoreError::Lost { .. }) = world.store.change_tokens() {
        let hint = error.hint().unwrap_or_default();
        health.problems.insert(0, format!("{error} ({hint})"));
    }
    health.remarks.extend(unembedded(world));
    health.remarks.extend(copies(world));
    with_clients(with_places(health, &world.home))
}

/// How many memories have no vector yet, where an embedder is set up and more wait than a run is begun for.
fn unembedded(world: &World) -> Option<String> {
    let by = embedders::made_by(world).ok().flatten()?;
    let progress =
        world.engine.embedding().progress(&by).ok().filter(|progress| progress.missing() >= vectors::PILE)?;
    let (embedded, of) = (progress.embedded, progress.of);
    Some(format!(
        "embedded {embedded} of {of} memories by {by}: the rest is done in the background, or by `throughline reindex --vectors`"
    ))
}

/// How many memories repeat another.
fn copies(world: &World) -> Option<String> {
    let copies = world.engine.memories().fold(true).ok()?.copies.len();
    let word = if copies == 1 { "memory repeats" } else { "memories repeat" };
    (copies > 0).then(|| format!("{copies} {word} another: `throughline fold` makes one of them"))
}

/// The same, with what a daemon says that runs on this memory: it may have lost the database that it opened although another
/// one is in its place, and its channels may hear nothing.
pub(crate) fn with_daemon(mut health: Health, home: &Home) -> Health {
    let Some(running) = find(home) else { return health };
    if let Some(problem) = lost_by(&running) {
        health.problems.push(format!("the daemon says: {problem}"));
    }
    if let Ok(token) = token(home) {
        health.remarks.extend(channel_remarks(&running, &token));
    }
    health
}

/// The same where the memory cannot be opened: that is a finding, not a failure to look.
pub(crate) fn of_closed(error: &OpenError, home: &Home) -> Health {
    let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
    let health = Health { problems: vec![format!("{}{hint}", chain(error))], remarks: Vec::new() };
    with_clients(with_places(health, home))
}

/// Where the memory is, what it holds, and what a quick look finds.
pub(crate) fn status(world: &World) -> Result<MemoryStatus, EngineError> {
    Ok(MemoryStatus {
        memory: world.home.data.display().to_string(),
        config: world.config.path.as_ref().map(|path| path.display().to_string()),
        version: env!("CARGO_PKG_VERSION"),
        pause: world.engine.off_record().state()?,
        stats: world.engine.health().overview()?,
        working: world.engine.threads().working_memory()?,
        health: with_places(world.engine.health().quick()?, &world.home),
    })
}

fn with_places(mut health: Health, home: &Home) -> Health {
    for path in [home.data.clone(), home.config.clone(), home.database()] {
        health.remarks.extend(too_open(&path));
    }
    health
}

/// What may take a moment, since programs are asked what they are: only for whoever asks how everything is.
fn with_clients(mut health: Health) -> Health {
    health.remarks.extend(connections::remarks());
    health
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
