//! How a memory is set up: read from the config once, and handed to every service.

use jiff::tz::TimeZone;

use crate::documents::working::WorkingLimits;
use crate::model::Name;
use crate::off_record::Exclude;
use crate::recall::Ranking;
use crate::reflection::ReflectionSettings;
use crate::sessions::Policy;
use crate::tools::Tool;

/// How this memory is set up; read once, from the config.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Whether memory is given to conversations at all. A person's own commands always work.
    pub enabled: bool,
    /// Where nothing is observed and nothing is given.
    pub exclude: Exclude,
    /// The person's namespace; unset, everything is session-scoped or global.
    pub namespace: Option<Name>,
    /// Whether working memory is used.
    pub working_memory: bool,
    /// How long and how large working memory is.
    pub working: WorkingLimits,
    /// What the rules and the state of a project may take of a session's opening, in tokens.
    pub project_max_tokens: usize,
    /// How many memories a message gets.
    pub recall_limit: usize,
    /// How many turns and summaries a message gets beside them.
    pub evidence_limit: usize,
    /// The budget of both.
    pub recall_max_tokens: usize,
    /// How hits are ordered.
    pub ranking: Ranking,
    /// Where memories that fit a message go.
    pub inject_at: InjectAt,
    /// Whether a memory is given again while it is still in view.
    pub inject_repeat: bool,
    /// Whether passages of the vault that fit a message are given too.
    pub inject_vault: bool,
    /// Whether the first reply is asked to pick up the thread.
    pub greeting: bool,
    /// When to consolidate, and what to keep.
    pub policy: Policy,
    /// Tokens that models may cost a day; 0 is no limit.
    pub daily_tokens: u64,
    /// Where the person's days begin and end.
    pub zone: TimeZone,
    /// The tools that an assistant is offered.
    pub tools: Vec<Tool>,
    /// Whether what an assistant forgets is erased for good.
    pub agent_erases: bool,
    /// The person's messages after which a conversation is consolidated whatever else is switched off; 0 turns it off.
    pub flush_every: usize,
    /// How memory is looked back on, and how often.
    pub reflection: ReflectionSettings,
}

/// Where memories that fit a message go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InjectAt {
    /// In front of the message, fenced: the system prompt stays the same.
    #[default]
    Message,
    /// Behind the system prompt, every turn.
    SystemPrompt,
    /// Nowhere.
    Off,
}

impl Settings {
    /// Which tools are offered; none where memory is off.
    pub fn offered(&self) -> &[Tool] {
        if self.enabled { &self.tools } else { &[] }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            exclude: Exclude::default(),
            namespace: None,
            working_memory: true,
            working: WorkingLimits { ttl_days: 14, max_tokens: 1000 },
            project_max_tokens: 400,
            recall_limit: 5,
            evidence_limit: 10,
            recall_max_tokens: 1000,
            ranking: Ranking::Fused,
            inject_at: InjectAt::Message,
            inject_repeat: false,
            inject_vault: false,
            greeting: false,
            policy: Policy::default(),
            daily_tokens: 0,
            zone: TimeZone::UTC,
            tools: Tool::USUAL.to_vec(),
            agent_erases: false,
            flush_every: 10,
            reflection: ReflectionSettings::default(),
        }
    }
}
