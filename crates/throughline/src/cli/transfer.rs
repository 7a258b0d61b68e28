//! `throughline export`

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use throughline_core::engine;

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::exports::write_private;
use crate::world::World;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Json,
    Markdown,
}

/// Print everything, as JSON or Markdown
#[derive(Args)]
pub(super) struct Export {
    /// json imports back identical; markdown is for reading
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
    /// Write to a file instead; erasing a memory later reaches into it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Export {
    pub(super) fn run(self, world: &World) -> Answer {
        let export = world.engine.transfer().export()?;
        let text = match self.format {
            Format::Markdown => export.to_markdown(),
            Format::Json => serde_json::to_string_pretty(&export).map_err(|error| {
                Failure::new(format!("cannot write JSON: {error}"), "this is a bug: please report it")
            })?,
        };
        let Some(out) = self.out else {
            return Ok(match self.format {
                Format::Json => Reply::new(&export, "").with_data(text),
                Format::Markdown => Reply::text(text),
            });
        };
        let out = std::path::absolute(&out).unwrap_or(out);
        check_target(&out, world)?;
        write_private(&out, &text).map_err(|error| Failure::io(&format!("write {}", out.display()), &error))?;
        world.engine.transfer().note_export(&out.to_string_lossy())?;
        let told = format!("exported {} to {}\n", size(&export), out.display());
        let memories = export.bundle.memories.len();
        Ok(Reply::new(&serde_json::json!({ "path": out.display().to_string(), "memories": memories }), told))
    }
}

/// An export may replace an earlier export, and nothing else.
fn check_target(out: &Path, world: &World) -> Result<(), Failure> {
    let refused = |why: &str| Err(Failure::new(format!("{}: {why}", out.display()), "export to another file"));
    if out.to_str().is_none() {
        return refused("the name is not UTF-8");
    }
    let folder = out.parent().and_then(|parent| parent.canonicalize().ok());
    let documents = world
        .engine
        .settings()
        .namespace
        .as_ref()
        .and_then(|name| world.home.data.join(name.as_str()).canonicalize().ok());
    if let (Some(folder), Some(documents)) = (folder, documents)
        && folder.starts_with(documents)
    {
        return refused("your documents are kept there");
    }
    match std::fs::metadata(out) {
        Err(_) => Ok(()),
        Ok(_) if world.engine.transfer().exports()?.iter().any(|known| Path::new(known) == out) => Ok(()),
        Ok(_) => refused("there is a file already"),
    }
}

fn size(export: &engine::Export) -> String {
    let memories = style::count(export.bundle.memories.len() as u64, "memory", "memories");
    format!("{memories} and {}", style::count(export.documents.len() as u64, "document", "documents"))
}
