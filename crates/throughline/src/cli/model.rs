//! `throughline model embed`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use throughline_core::ports::{EmbedFor, Embedder};
use throughline_embed::{BuiltinEmbedder, DirectoryEmbedder, LoadError};

use super::failure::Failure;
use super::reply::Reply;
use super::{Answer, style};
use crate::config::{self, Format};
use crate::daemon;
use crate::exports::write_private;
use crate::world::Home;

/// Sentences that say the same in other words.
const CHECKED: [&str; 2] = ["when do we ship a release?", "We deploy on Fridays"];

/// Choose and check models
#[derive(Subcommand)]
pub(super) enum ModelCommand {
    /// Choose the model that searches by meaning: check it, then write it to the config file
    Embed(Embed),
}

impl ModelCommand {
    pub(super) fn run(self) -> Answer {
        match self {
            Self::Embed(command) => command.run(),
        }
    }
}

/// Choose the model that searches by meaning: check it, then write it to the config file
#[derive(Args)]
pub(super) struct Embed {
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
    fn run(self) -> Answer {
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

/// Writes the choice to the config file, which keeps its comments; gives the file.
fn write(home: &Home, checked: &Checked) -> Result<PathBuf, Failure> {
    let found = match config::find(&home.config)? {
        Some(found) => found,
        None => config::write_first_run(&home.config).map_err(|error| Failure::io("write the config file", &error))?,
    };
    // A link stays one.
    let path = found.canonicalize().unwrap_or(found);
    if Format::of(&path) != Some(Format::Toml) {
        let model = checked.directory.as_ref().map(|directory| format!(" and `model` to \"{directory}\""));
        let hint =
            format!("set `provider` under `embeddings` to \"{}\"{}", checked.provider, model.unwrap_or_default());
        return Err(Failure::new(format!("only a TOML file is changed, not {}", path.display()), hint));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::io("read the config file", &error))?;
    let changed = with_choice(&text, checked)?;
    config::parse(&changed, Format::Toml)?;
    write_private(&path, &changed).map_err(|error| Failure::io("write the config file", &error))?;
    Ok(path)
}

fn with_choice(text: &str, checked: &Checked) -> Result<String, Failure> {
    let hint = "`throughline config check` says where it is wrong";
    let mut document: toml_edit::DocumentMut =
        text.parse().map_err(|_| Failure::new("the config file is no TOML", hint))?;
    let table = document.entry("embeddings").or_insert_with(toml_edit::table);
    let table = table.as_table_like_mut().ok_or_else(|| Failure::new("`embeddings` is no table", hint))?;
    table.insert("provider", toml_edit::value(checked.provider));
    if let Some(directory) = &checked.directory {
        table.insert("model", toml_edit::value(directory));
    }
    Ok(document.to_string())
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
