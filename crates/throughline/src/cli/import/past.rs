//! Past conversations of an assistant on this machine.

use throughline_clients::Client;
use throughline_core::engine::ImportReport;
use throughline_core::transfer::formats::Found;

use super::super::failure::Failure;
use super::super::keep::bar;
use crate::transcripts;
use crate::world::World;

/// So many turns are taken in at a time: what all files hold together need not fit into memory.
const BATCH: usize = 5_000;

/// Takes in every conversation of an assistant, or says what that would do.
pub(in crate::cli) fn take_past(world: &World, client: Client, dry_run: bool) -> Result<ImportReport, Failure> {
    let files = transcripts::find(client)?;
    if files.is_empty() {
        let message = format!("{client} has no past conversations on this machine");
        return Err(Failure::new(message, "they are looked for where it keeps them; docs/importing.md says where"));
    }
    let bar = bar("conversations");
    bar.set_length(files.len() as u64);
    let mut whole = ImportReport { dry_run, ..ImportReport::default() };
    let mut batch = Found::default();
    for file in &files {
        match file.read(world) {
            Some(found) => batch.join(found),
            None => batch.skip(&file.path.display().to_string(), "cannot be read, or is off the record"),
        }
        if batch.turns.len() >= BATCH {
            whole.join(take(world, &std::mem::take(&mut batch), dry_run)?);
        }
        bar.inc(1);
    }
    whole.join(take(world, &batch, dry_run)?);
    bar.finish_and_clear();
    Ok(whole)
}

fn take(world: &World, found: &Found, dry_run: bool) -> Result<ImportReport, Failure> {
    Ok(world.engine.transfer().import_found(found, dry_run, &mut |_, _| {})?)
}
