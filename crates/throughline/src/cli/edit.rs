//! `throughline edit ID`

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use throughline_core::engine;

use super::failure::Failure;
use super::remember::{Weight, receipt};
use super::{Answer, style};
use crate::exports::{UNSAVED, write_private};
use crate::world::{World, editor};

/// Change a memory, in your editor or by options
#[derive(Args)]
pub(super) struct Edit {
    /// An id, the first six characters of one, or a key
    id: String,
    /// The new text; without any option, your editor opens
    #[arg(long)]
    content: Option<String>,
    /// The new key; an empty one removes it
    #[arg(long)]
    key: Option<String>,
    #[command(flatten)]
    weight: Weight,
    /// All its tags (repeat for several); an empty one removes them
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The project it is about; an empty one removes it
    #[arg(long)]
    project: Option<String>,
}

impl Edit {
    pub(super) fn run(self, world: &World) -> Answer {
        let or_none = |text: String| Some(text).filter(|text| !text.is_empty());
        let mut edit = engine::Edit {
            content: self.content,
            key: self.key.map(or_none),
            importance: self.weight.importance()?,
            tags: (!self.tags.is_empty()).then(|| self.tags.into_iter().filter_map(or_none).collect()),
            project: self.project.map(or_none),
            expected_version: None,
        };
        let memory = world.engine.memories().show(&self.id)?;
        if edit == engine::Edit::default() {
            let text = in_editor(&memory.entry.content, ".md", "give the new text: --content TEXT")?;
            edit.content = Some(text.clone());
            edit.expected_version = Some(memory.entry.version);
            let edited = world.engine.memories().edit(memory.entry.id.as_str(), &edit);
            return Ok(receipt(&edited.map_err(|error| keep(&text, error.into(), world))?, world));
        }
        let edited = world.engine.memories().edit(memory.entry.id.as_str(), &edit)?;
        Ok(receipt(&edited, world))
    }
}

/// The text after the person's editor is done with it; `without_one` says what to do where there is no editor.
pub(super) fn in_editor(text: &str, suffix: &str, without_one: &str) -> Result<String, Failure> {
    let opening = |error: std::io::Error| Failure::io("open your editor", &error);
    let editor = editor().ok_or_else(|| Failure::new("no editor is set", format!("set `EDITOR`, or {without_one}")))?;
    let mut file = tempfile::Builder::new().prefix("memory-").suffix(suffix).tempfile().map_err(opening)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(opening)?;
    // `$EDITOR` may hold arguments: a shell reads it the way git lets one.
    let mut command = if cfg!(windows) { Command::new(&editor) } else { Command::new("sh") };
    if !cfg!(windows) {
        command.arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor);
    }
    let status = command.arg(file.path()).status().map_err(opening)?;
    if !status.success() {
        let message = format!("your editor `{}` ended with {status}", style::plain(&editor));
        return Err(Failure::new(message, "nothing was changed"));
    }
    // Editors that save by renaming leave the open file behind: what counts is what the path holds now.
    std::fs::read_to_string(file.path()).map_err(opening)
}

/// What was typed is not thrown away because it could not be stored: it is kept in a file that the failure names.
pub(super) fn keep(text: &str, failure: Failure, world: &World) -> Failure {
    keep_in(&world.home.data, world.engine.now(), text, failure)
}

/// The same, in a directory.
pub(super) fn keep_in(directory: &Path, now: Timestamp, text: &str, failure: Failure) -> Failure {
    let stamp = now.to_zoned(TimeZone::system()).strftime("%Y-%m-%d-%H%M%S").to_string();
    let path = directory.join(format!("{UNSAVED}{stamp}.txt"));
    match write_private(&path, text) {
        Ok(()) => failure.with_hint(format!("what you wrote is in {}", path.display())),
        Err(_) => failure,
    }
}
