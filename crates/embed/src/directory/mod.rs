//! Models in a directory: `config.json`, `tokenizer.json` and `model.safetensors`, as sentence-transformers writes them.
//!
//! BERT and XLM-RoBERTa of any size, with mean or first-token pooling. Opening reads the small files; the layers are read
//! when something is embedded for the first time, and the rows of the vocabulary one by one as they are needed. A file that is
//! overwritten in place meanwhile gives wrong vectors: replace it by renaming another over it.

mod config;
mod safetensors;
mod tokenizer;
mod weights;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use throughline_core::ports::{Cost, EmbedFor, Embedder, ModelError};

use crate::encoder::Encoder;
use crate::error::LoadError;
use crate::tokens::Tokenizer;
use config::Description;
use safetensors::SafeTensors;

/// The provider's name.
const PROVIDER: &str = "directory";

/// An embedder whose model is in a directory.
#[derive(Debug)]
pub struct DirectoryEmbedder {
    directory: PathBuf,
    place: String,
    name: String,
    description: Description,
    model: OnceLock<Result<Model, LoadError>>,
}

#[derive(Debug)]
struct Model {
    encoder: Encoder,
    tokenizer: Tokenizer,
}

impl DirectoryEmbedder {
    /// Reads what the model is. Its name has a digest of its files, so that vectors of another model are never taken for
    /// its own; the whole of the weights is not read for that.
    pub fn open(directory: &Path) -> Result<Self, LoadError> {
        if !directory.is_dir() {
            return Err(LoadError::NoDirectory { path: directory.to_owned() });
        }
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let description = Description::read(&directory)?;
        let digest = SafeTensors::open(&directory)?.digest(&description.identity())?;
        let own = directory.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy());
        let (name, place) = (format!("{own}@{digest}"), directory.display().to_string());
        Ok(Self { place, name, description, directory, model: OnceLock::new() })
    }

    /// Reads the layers and the tokenizer, unless that is done.
    pub fn load(&self) -> Result<(), &LoadError> {
        self.model().map(|_| ())
    }

    /// How many numbers a vector has.
    pub fn dimension(&self) -> usize {
        self.description.shape.hidden
    }

    /// How many layers the model has.
    pub fn layers(&self) -> usize {
        self.description.layers
    }

    /// How many tokens of a text are looked at.
    pub fn tokens(&self) -> usize {
        self.description.tokens
    }

    fn model(&self) -> Result<&Model, &LoadError> {
        self.model.get_or_init(|| self.read()).as_ref()
    }

    fn read(&self) -> Result<Model, LoadError> {
        let tokenizer = tokenizer::read(&self.directory)?;
        let encoder = weights::read(SafeTensors::open(&self.directory)?, &self.description)?;
        Ok(Model { encoder, tokenizer })
    }
}

impl Embedder for DirectoryEmbedder {
    fn provider(&self) -> &'static str {
        PROVIDER
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn base_url(&self) -> Option<&str> {
        Some(&self.place)
    }

    fn cost(&self) -> Cost {
        Cost::Free
    }

    fn embed(&self, texts: &[String], purpose: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        let failed = |why: String| ModelError::Malformed { provider: PROVIDER, why };
        let model = self.model().map_err(|error| failed(error.to_string()))?;
        let prefix = self.description.prefix(purpose);
        let encode = |text: &String| model.tokenizer.encode(&format!("{prefix}{text}"), self.description.tokens);
        let tokens: Vec<Vec<u32>> = texts.iter().map(encode).collect();
        model.encoder.encode(&tokens).map_err(|error| failed(error.to_string()))
    }
}
