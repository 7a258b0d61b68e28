//! The tables of the file and their defaults. Each part of the program is given its own table only.
//!
//! A new setting is a field here, a row in `keys.rs` and a comment in `defaults.toml`; tests hold the three together.

use serde::{Deserialize, Serialize};

/// All settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What is remembered, for whom and for how long.
    pub memory: MemoryConfig,
    /// How memory is looked back on.
    pub reflection: ReflectionConfig,
    /// How memories reach the assistant.
    pub inject: InjectConfig,
    /// How assistants' hooks are answered.
    pub hooks: HooksConfig,
    /// The model that summarises and extracts.
    pub model: ModelConfig,
    /// The optional search by meaning.
    pub embeddings: EmbeddingsConfig,
    /// The daemon.
    pub server: ServerConfig,
}

/// `[memory]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// The master switch as written; [`MemoryConfig::is_enabled`] is the answer.
    pub enabled: Option<bool>,
    /// Whose memory it is, shared by every channel; unset means each session for itself.
    pub user_namespace: Option<String>,
    /// An existing directory whose Markdown files are the documents of that namespace.
    pub user_dir: Option<String>,
    /// Whether a compaction leaves a note on where things stand.
    pub working_memory: bool,
    /// How long that note stays valid.
    pub working_memory_ttl_days: u32,
    /// How long that note may be.
    pub working_memory_max_tokens: u32,
    /// Whether the first reply of a session picks up the thread.
    pub proactive_session_greeting: bool,
    /// How many memories come with a message.
    pub recall_limit: u32,
    /// How much room those memories may take.
    pub recall_max_tokens: u32,
    /// What decides which memory comes first.
    pub ranking: Ranking,
    /// Whether facts are taken out of conversations without being asked.
    pub auto_extract: bool,
    /// The provider for consolidation, if not that of `[model]`.
    pub consolidation_provider: Option<String>,
    /// The model for consolidation, if not that of `[model]`.
    pub consolidation_model: Option<String>,
    /// Messages of the person after which a consolidation is due; 0 turns it off.
    pub consolidation_turn_threshold: u32,
    /// Minutes of silence after which a consolidation is due; 0 turns it off.
    pub idle_consolidation_minutes: u32,
    /// The share of the context window above which a compaction is due; 0 turns it off.
    pub trigger_ratio: f64,
    /// The context window, where the model's own is not known.
    pub context_window: u32,
    /// How long a summary may be.
    pub summary_max_tokens: u32,
    /// Turns that a compaction leaves word for word.
    pub keep_recent_turns: u32,
    /// How long automatic pieces of the timeline are kept; 0 means for ever.
    pub timeline_retention_days: u32,
    /// Failed model calls in a row after which the raw messages are archived instead.
    pub max_failures_before_degrade: u32,
    /// Messages of the person after which a conversation is looked back on, as at its end; 0 waits for the end.
    pub flush_every_prompts: u32,
    /// What an assistant's `forget` does.
    pub agent_forget: AgentForget,
    /// The tools that an assistant is offered.
    pub tools: Tools,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            enabled: None,
            user_namespace: None,
            user_dir: None,
            working_memory: true,
            working_memory_ttl_days: 14,
            working_memory_max_tokens: 1000,
            proactive_session_greeting: false,
            recall_limit: 5,
            recall_max_tokens: 1000,
            ranking: Ranking::Fused,
            auto_extract: true,
            consolidation_provider: None,
            consolidation_model: None,
            consolidation_turn_threshold: 3,
            idle_consolidation_minutes: 10,
            trigger_ratio: 0.5,
            context_window: 128_000,
            summary_max_tokens: 1000,
            keep_recent_turns: 6,
            timeline_retention_days: 90,
            max_failures_before_degrade: 3,
            flush_every_prompts: 10,
            agent_forget: AgentForget::Inactive,
            tools: Tools::Set(ToolSet::Default),
        }
    }
}

impl MemoryConfig {
    /// Whether memory is on: as written, else on for a named person and off without one.
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(self.user_namespace.is_some())
    }
}

/// What decides the order of recalled memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ranking {
    /// Words, recency, trust and significance together.
    #[default]
    Fused,
    /// Words alone.
    Bm25,
}

/// What happens to an entry that an assistant forgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentForget {
    /// It is set aside and can be brought back.
    #[default]
    Inactive,
    /// It is deleted.
    Delete,
}

/// The tools that an assistant is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tools {
    /// A set with a name.
    Set(ToolSet),
    /// Exactly these.
    Only(Vec<String>),
}

/// The sets of tools that have a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolSet {
    /// The few that daily use needs.
    #[default]
    Default,
    /// Every one there is.
    All,
}

/// `[reflection]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReflectionConfig {
    /// Hours between passes; 0 turns them off.
    pub every_hours: u32,
    /// The hour at which quiet begins.
    pub quiet_from: u32,
    /// The hour at which quiet ends.
    pub quiet_until: u32,
    /// The share of the facts that one pass may remove or change.
    pub max_share: f64,
    /// Whether repeated knowledge is promoted to patterns and profile.
    pub promote: bool,
    /// Whether knowledge that says the same is merged.
    pub merge: bool,
}

impl Default for ReflectionConfig {
    fn default() -> Self {
        Self { every_hours: 24, quiet_from: 0, quiet_until: 0, max_share: 0.2, promote: true, merge: true }
    }
}

/// `[inject]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InjectConfig {
    /// Where recalled memories are put.
    pub recall: RecallPlace,
    /// Whether a memory may come again while an earlier copy is still visible.
    pub repeat: bool,
    /// Whether passages of the vault come along.
    pub vault: bool,
}

/// `[hooks]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HooksConfig {
    /// Milliseconds after which a message goes on without memories.
    pub prompt_deadline_ms: u32,
}

impl Default for HooksConfig {
    fn default() -> Self {
        Self { prompt_deadline_ms: 250 }
    }
}

/// Where recalled memories are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecallPlace {
    /// In front of the person's message, so that the system prompt stays as it is.
    #[default]
    Message,
    /// At the end of the system prompt, anew each turn.
    SystemPrompt,
    /// Nowhere.
    Off,
}

/// `[model]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// Who answers.
    pub provider: ModelProvider,
    /// Where, if not at the provider's usual address.
    pub base_url: Option<String>,
    /// Which model, by the provider's name for it.
    pub model: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Tokens that may be spent a day; 0 is no limit.
    pub daily_tokens: u32,
}

/// Who summarises and extracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelProvider {
    /// The built-in rules: no network, nothing invented.
    #[default]
    Offline,
    /// Ollama.
    Ollama,
    /// Any OpenAI-compatible endpoint.
    #[serde(rename = "openai")]
    OpenAi,
    /// Anthropic.
    Anthropic,
}

/// `[embeddings]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingsConfig {
    /// Who embeds.
    pub provider: EmbeddingsProvider,
    /// Where, if not at the provider's usual address.
    pub base_url: Option<String>,
    /// Which model, by the provider's name for it.
    pub model: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
}

/// Who turns text into vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingsProvider {
    /// Nobody: search goes by words.
    #[default]
    None,
    /// The built-in embedder.
    Builtin,
    /// Ollama.
    Ollama,
    /// Any OpenAI-compatible endpoint.
    #[serde(rename = "openai")]
    OpenAi,
}

/// `[server]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// Where the daemon listens; 0 lets the system choose.
    pub port: u16,
    /// Names besides those of loopback that lead to it.
    pub hosts: Vec<String>,
    /// Hours between automatic backups; 0 makes none.
    pub backup_every_hours: u32,
    /// Automatic backups that are kept.
    pub keep_backups: u32,
    /// A certificate in a PEM file; with it, everything is encrypted.
    pub tls_cert: Option<String>,
    /// Its private key.
    pub tls_key: Option<String>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { port: 7077, hosts: Vec::new(), backup_every_hours: 24, keep_backups: 7, tls_cert: None, tls_key: None }
    }
}
