//! How the memory is: what the engine finds, and what only the files around it show.

use std::path::{Path, PathBuf};

use throughline_core::engine::{EngineError, Health, MemoryStatus, chain};
use throughline_core::ports::StoreError;

use crate::daemon::{channel_remarks, find, lost_by, token};
use crate::vectors;
use crate::world::{Home, OpenError, World, is_open_to_others};
use crate::{connections, embedders};

/// A disk with less room than this is worth a word.
#[cfg(unix)]
const LITTLE_ROOM: u64 = 32 << 20;

/// Everything that is wrong or worth knowing.
pub(crate) fn of(world: &World) -> Health {
    // A lock that another process holds is a finding, and not waited for.
    let mut health = world.engine.for_replies().health().check();
    if let Err(error @ StoreError::Lost { .. }) = world.store.change_tokens() {
        let hint = error.hint().unwrap_or_default();
        health.problems.insert(0, format!("{error} ({hint})"));
    }
    health.remarks.extend(unembedded(world));
    health.remarks.extend(copies(world));
    with_clients(with_places(health, &world.home))
}

/// Does what can be done without changing a memory: shortens the log, sweeps up after erasing, makes an index anew that does not
/// agree with its rows. Says what was done, and what could not be.
pub(crate) fn repair(world: &World) -> Vec<String> {
    let health = world.engine.health();
    let mut done = health.tidy().unwrap_or_else(|error| vec![format!("nothing in the database: {}", chain(&error))]);
    if health.check().problems.iter().any(|problem| problem.contains("`throughline reindex`")) {
        done.push(match health.reindex(&mut |_, _| {}) {
            Ok(count) => format!("the index was made anew: {count} memories"),
            Err(error) => format!("not the index: {}", chain(&error)),
        });
    }
    done
}

/// Takes others' rights from what is the person's alone; says from what.
pub(crate) fn close_to_others(home: &Home) -> Vec<String> {
    let closed = private_places(home).into_iter().filter(|path| too_open(path).is_some() && close(path).is_ok());
    closed.map(|path| format!("{} can be read by nobody else now", path.display())).collect()
}

#[cfg(unix)]
fn close(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut rights = std::fs::metadata(path)?.permissions();
    rights.set_mode(rights.mode() & !0o077);
    std::fs::set_permissions(path, rights)
}

#[cfg(not(unix))]
fn close(_: &Path) -> std::io::Result<()> {
    Ok(())
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
    let copies = world.engine.for_replies().memories().fold(true).ok()?.copies.len();
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
    health.remarks.extend(private_places(home).iter().filter_map(|path| too_open(path)));
    health.remarks.extend(little_room(&home.data));
    health
}

/// What nobody else may read.
fn private_places(home: &Home) -> Vec<PathBuf> {
    let mut places = vec![home.data.clone(), home.config.clone(), home.database(), home.token()];
    places.dedup();
    places
}

/// What to know about a disk that is nearly full.
#[cfg(unix)]
fn little_room(directory: &Path) -> Option<String> {
    let found = rustix::fs::statvfs(directory).ok()?;
    let available = found.f_bavail.saturating_mul(found.f_frsize);
    let is_little = available < LITTLE_ROOM && !found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY);
    is_little.then(|| {
        let megabytes = available >> 20;
        format!("the disk has {megabytes} MB left: new memories may be refused; reading, forgetting and erasing go on")
    })
}

#[cfg(not(unix))]
fn little_room(_: &Path) -> Option<String> {
    None
}

/// What may take a moment, since programs are asked what they are: only for whoever asks how everything is.
fn with_clients(mut health: Health) -> Health {
    health.remarks.extend(connections::remarks());
    health
}

fn too_open(path: &Path) -> Option<String> {
    let is_open = is_open_to_others(&std::fs::metadata(path).ok()?);
    is_open.then(|| format!("{} can be read by others: chmod go-rwx it", path.display()))
}
