//! Language models outside this process, over HTTP, as a program or behind an MCP client: a brief goes in, a reply comes out, in one attempt;
//! [`Careful`] makes several of it.
//!
//! A key is sent to its own server and nowhere else: not to a redirect, not into an error, not into a log. What a
//! server sends is bounded and never believed. Calls block: from an async program they belong on a blocking thread.

mod anthropic;
mod ask;
mod careful;
mod command;
mod embed;
mod http;
mod ollama;
mod openai;
mod sampling;
mod settings;
mod upstream;
mod window;
mod wire;

pub use anthropic::Anthropic;
pub use careful::{Careful, CarefulEmbedder, Pause, Policy, ThreadPause};
pub use command::{COMMAND_TIMEOUT, CommandModel, CommandSettings, MODEL_RUN, ReadyMade, kill_programs, split_words};
pub use embed::HttpEmbedder;
pub use ollama::{Ollama, ollama_models};
pub use openai::OpenAi;
pub use sampling::{SAMPLING_POLICY, SAMPLING_TIMEOUT, SamplingModel};
pub use settings::{HttpSettings, Secret, SettingsError, Timeouts};
pub use upstream::{Api, Upstream};
