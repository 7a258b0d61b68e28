//! `throughline model embed`

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use throughline_core::ports::{EmbedFor, Embedder};
use throughline_embed::{BuiltinEmbedder, DirectoryEmbedder, LoadError};

use super::super::failure::Failure;
use super::super::reply::Reply;
use super::super::section::SectionEdit;
use super::super::{Answer, style};
use crate::daemon;
use crate::world::Home;

/// Sentences that say the same in other words.
const CHECKED: [&str; 2] = ["when do we ship a release?", "We deploy on Fridays"];

/// Choose the model that searches by meaning: check it, then write it to the config file
#[derive(Args)]
pub(in crate::cli) struct Embed {
    /// A directory with config.json, tokenizer.json and model.safetensors; "builtin" for the model that is a part of this
    /// program; "none" to search by words
    #[arg(value_name = "DIR|builtin|none")]
    model: PathBuf,
}

/// What was checked.
struct Checked {
    provider: &'static str,
    model: Option<String>,
    dimension: Option<usize>,
    directory: Option<String>,
}

impl Embed {
    pub(super) fn run(self) -> Answer {
        let home = Home::find()?;
        let checked = match self.model.to_str() {
            Some("none") => Checked { provider: "none", model: None, dimension: None, directory: None },
            Some("builtin") => checked(&BuiltinEmbedder, None)?,
            _ => in_directory(&self.model)?,
        };
        let path = write(&home, &checked)?;
        let told = told(&home, &checked, &path);
        let answer = json!({
            "provider": checked.provider, "model": checked.model, "dimension": checked.dimension,
            "directory": checked.directory, "config": path.display().to_string(),
        });
        Ok(Reply::new(&answer, told))
    }
}

fn in_directory(directory: &Path) -> Result<Checked, Failure> {
    let failed = |error: &LoadError| Failure::new(throughline_core::engine::chain(error), error.hint());
    let embedder = DirectoryEmbedder::open(directory).map_err(|error| failed(&error))?;
    embedder.load().map_err(failed)?;
    let place = embedder.base_url().map(str::to_owned);
    checked(&embedder, place)
}

/// Embeds two sentences, and looks at the vectors.
fn checked(embedder: &dyn Embedder, directory: Option<String>) -> Result<Checked, Failure> {
    let hint = "get the model's files again, or choose another model";
    let vectors = embedder.embed(&CHECKED.map(str::to_owned), EmbedFor::Storing);
    let vectors = vectors.map_err(|error| Failure::new(error.to_string(), hint))?;
    let is_vector = |vector: &Vec<f32>| {
        vector.iter().all(|number| number.is_finite()) && vector.iter().any(|number| *number != 0.0)
    };
    if vectors.len() != CHECKED.len() || !vectors.iter().all(is_vector) || vectors[0] == vectors[1] {
        return Err(Failure::new("the model makes no usable vectors", hint));
    }
    let (provider, model) = (embedder.provider(), Some(embedder.name().to_owned()));
    Ok(Checked { provider, model, dimension: Some(vectors[0].len()), directory })
}

/// Writes the choice to the config file; gives the file.
fn write(home: &Home, checked: &Checked) -> Result<PathBuf, Failure> {
    let model = checked.directory.as_ref().map(|directory| format!(" and `model` to \"{directory}\""));
    let by_hand = format!("set `provider` under `embeddings` to \"{}\"{}", checked.provider, model.unwrap_or_default());
    let edit = SectionEdit::read(home, &by_hand)?;
    let directory = checked.directory.as_deref().map(|directory| ("model", directory.into()));
    let set: Vec<_> = [("provider", checked.provider.into())].into_iter().chain(directory).collect();
    let edit = edit.changed("embeddings", &set, &[])?;
    edit.write()?;
    Ok(edit.path)
}

fn told(home: &Home, checked: &Checked, path: &Path) -> String {
    let mut told = match (&checked.model, checked.dimension) {
        (Some(model), Some(dimension)) => {
            let model = style::plain(model);
            format!("{} {model} works: {dimension} numbers per text\n", checked.provider)
        }
        _ => "searching by words alone; vectors that are there stay\n".to_owned(),
    };
    told.push_str(&format!("written to {}\n", style::plain(&path.display().to_string())));
    if daemon::is_running(home) {
        told.push_str("the daemon reads the file when it starts: restart it\n");
    }
    if checked.model.is_some() {
        told.push_str("the vault gets its vectors in the background; `throughline vault reembed` makes them now\n");
    }
    told
}
