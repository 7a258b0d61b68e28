//! What kind of model a directory holds: its sizes, pooling and prefixes.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use throughline_core::ports::EmbedFor;

use crate::encoder::{Pooling, Shape};
use crate::error::LoadError;

/// No more tokens of a text are looked at, whatever the model could take: time grows faster than the length, and passages
/// are shorter.
const MOST_TOKENS: usize = 256;

/// What a model is.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) shape: Shape,
    pub(crate) layers: usize,
    pub(crate) vocabulary: usize,
    /// Which row of the positions is the first token's.
    pub(crate) first_position: usize,
    /// Rows of the positions in the file.
    pub(crate) positions: usize,
    /// How many tokens of a text are looked at.
    pub(crate) tokens: usize,
    pub(crate) pooling: Pooling,
    storing: String,
    searching: String,
}

/// `config.json`
#[derive(Deserialize)]
struct ModelConfig {
    #[serde(default)]
    model_type: String,
    #[serde(default, rename = "_name_or_path")]
    name: String,
    hidden_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    intermediate_size: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    pad_token_id: Option<usize>,
    position_embedding_type: Option<String>,
}

/// `1_Pooling/config.json`
#[derive(Default, Deserialize)]
#[serde(default)]
struct PoolingConfig {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
}

/// `sentence_bert_config.json`
#[derive(Default, Deserialize)]
struct LengthConfig {
    max_seq_length: Option<usize>,
}

/// `config_sentence_transformers.json`
#[derive(Default, Deserialize)]
struct PromptConfig {
    prompts: Option<HashMap<String, String>>,
}

/// One of `modules.json`
#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn epsilon() -> f32 {
    1e-12
}

impl Description {
    /// Reads a directory's small files.
    pub(crate) fn read(directory: &Path) -> Result<Self, LoadError> {
        let config: Option<ModelConfig> = json(directory, "config.json")?;
        let config = config.ok_or(LoadError::Missing { directory: directory.to_owned(), file: "config.json" })?;
        let first_position = first_position(&config)?;
        check(&config)?;
        let length: LengthConfig = json(directory, "sentence_bert_config.json")?.unwrap_or_default();
        let most = config.max_position_embeddings.saturating_sub(first_position).min(MOST_TOKENS);
        let tokens = length.max_seq_length.unwrap_or(usize::MAX).min(most);
        if tokens < 3 {
            return Err(LoadError::unsupported("it takes no text"));
        }
        let (storing, searching) = prefixes(directory, &config.name)?;
        Ok(Self {
            shape: Shape {
                hidden: config.hidden_size,
                heads: config.num_attention_heads,
                intermediate: config.intermediate_size,
                epsilon: config.layer_norm_eps,
            },
            layers: config.num_hidden_layers,
            vocabulary: config.vocab_size,
            first_position,
            positions: config.max_position_embeddings,
            tokens,
            pooling: pooling(directory)?,
            storing,
            searching,
        })
    }

    /// What goes in front of a text.
    pub(crate) fn prefix(&self, purpose: EmbedFor) -> &str {
        match purpose {
            EmbedFor::Storing => &self.storing,
            EmbedFor::Searching => &self.searching,
        }
    }

    /// Everything besides the weights that changes vectors.
    pub(crate) fn identity(&self) -> String {
        format!("{:?} {} {} {} {}", self.pooling, self.shape.heads, self.tokens, self.storing, self.searching)
    }
}

/// RoBERTa counts positions from behind the number of the padding token.
fn first_position(config: &ModelConfig) -> Result<usize, LoadError> {
    match config.model_type.as_str() {
        "bert" => Ok(0),
        "xlm-roberta" | "roberta" => Ok(config.pad_token_id.unwrap_or(1) + 1),
        "" => Err(LoadError::unsupported("config.json names no model_type")),
        other => Err(LoadError::unsupported(format!("its model_type is `{other}`"))),
    }
}

fn check(config: &ModelConfig) -> Result<(), LoadError> {
    let within = |value: usize, most: usize| (1..=most).contains(&value);
    let is_sound = within(config.hidden_size, 1 << 14)
        && within(config.intermediate_size, 1 << 16)
        && within(config.num_hidden_layers, 1 << 8)
        && within(config.num_attention_heads, config.hidden_size)
        && within(config.vocab_size, 1 << 24)
        && within(config.max_position_embeddings, 1 << 20)
        && config.hidden_size.is_multiple_of(config.num_attention_heads);
    if !is_sound {
        return Err(LoadError::unsupported("the sizes in config.json make no model"));
    }
    if config.hidden_act != "gelu" {
        return Err(LoadError::unsupported(format!("its activation is `{}`", config.hidden_act)));
    }
    match config.position_embedding_type.as_deref() {
        None | Some("absolute") => Ok(()),
        Some(other) => Err(LoadError::unsupported(format!("its positions are `{other}`"))),
    }
}

fn pooling(directory: &Path) -> Result<Pooling, LoadError> {
    let modules: Vec<Module> = json(directory, "modules.json")?.unwrap_or_default();
    let known = ["Transformer", "Pooling", "Normalize"];
    if let Some(other) = modules.iter().find(|module| !known.iter().any(|known| module.kind.ends_with(known))) {
        return Err(LoadError::unsupported(format!("it has a module `{}`", other.kind)));
    }
    match json(directory, "1_Pooling/config.json")? {
        None | Some(PoolingConfig { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }) => {
            Ok(Pooling::Mean)
        }
        Some(PoolingConfig { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }) => Ok(Pooling::First),
        Some(_) => Err(LoadError::unsupported("it pools neither by the mean nor by the first token")),
    }
}

/// The prompts that the model names, else those that are known by its name or its directory's (such as e5's).
fn prefixes(directory: &Path, name: &str) -> Result<(String, String), LoadError> {
    let own: PromptConfig = json(directory, "config_sentence_transformers.json")?.unwrap_or_default();
    let own = own.prompts.unwrap_or_default();
    let prompt = |names: &[&str]| names.iter().find_map(|name| own.get(*name)).cloned().unwrap_or_default();
    let (storing, searching) = (prompt(&["document", "passage"]), prompt(&["query"]));
    if !storing.is_empty() || !searching.is_empty() {
        return Ok((storing, searching));
    }
    let folder = directory.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let known = |purpose: EmbedFor| {
        let prefixes = [name, &*folder].map(|name| purpose.prefix(name));
        prefixes.into_iter().find(|prefix| !prefix.is_empty()).unwrap_or_default().to_owned()
    };
    Ok((known(EmbedFor::Storing), known(EmbedFor::Searching)))
}

/// Reads a file; nothing where there is none.
pub(super) fn json<T: DeserializeOwned>(directory: &Path, file: &str) -> Result<Option<T>, LoadError> {
    let path = directory.join(file);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(LoadError::Read { path, source }),
    };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(LoadError::Malformed { path, why: error.to_string() }),
    }
}
