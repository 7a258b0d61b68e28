//! The engine: the verbs that every surface calls. Here, and only here, the stages and the ports meet.

mod answers;
mod breakers;
mod bulk;
mod commit;
mod consolidate;
mod correct;
mod documents;
mod embed;
mod erase;
mod error;
mod explain;
mod fill;
mod find;
mod history;
mod hosts;
mod import;
mod inspect;
mod jobs;
mod memories;
mod prepare;
mod readable;
mod record;
mod reflect;
mod report;
mod sessions;
mod shelf;
mod tier;
mod tools;
mod transfer;
mod vault;
mod work;

use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::model::{Actor, Change, ChangeId, EntryId, Name, Namespace, Verb};
use crate::ports::{Clock, Documents, Ids, Store};
use crate::recall::Ranking;
use crate::session::Policy;
use crate::tools::Tool;
use crate::working::WorkingLimits;

pub use answers::{
    Changes, Explained, ListedSession, MemoryStatus, OfferedTool, OfferedTools, Passes, Recalls, RegisteredProjects,
    Rendered, SessionListing, SessionReset, ShownSession, Stats, Tasks, VaultListing, VaultRemoved, WorkingMemory,
};
pub use bulk::{BulkAction, BulkDone, BulkFailure, WhyNot};
pub use consolidate::{Compaction, Consolidation, Retired, Worker};
pub use correct::{Correction, Replaced};
pub use documents::{IDENTITY_LIMIT, IdentityUsage, Written};
pub use embed::Embedded;
pub use erase::{ErasedMemory, ErasurePreview};
pub use error::{EngineError, ErrorCode};
pub use explain::{Explanation, Used};
pub use fill::{Ended, Filled};
pub use find::ContextRequest;
pub use history::{HistoryOf, Restored, Undone};
pub use import::{ImportPreview, ImportReport, Tally};
pub use inspect::{Health, Overview, chain};
pub use jobs::DayActivity;
pub use memories::{Edit, Forgotten, NewMemory, Outcome, Remembered};
pub use readable::Readable;
pub use record::{LineOutcome, Recorded, RecordedLine};
pub use reflect::{Difference, Reflection, ReflectionSettings};
pub use report::{Period, Report, ReportBy};
pub use sessions::{Observed, Said, StartSession, Started};
pub use shelf::{DocumentLimit, ListedDocument, Shelf};
pub use tier::Tier;
pub use tools::ToolAnswer;
pub use transfer::{EXPORT_VERSION, Export, ExportedDocument, Imported, SetAside};
pub use vault::{NewVaultDocument, VaultStats};
pub use work::{Finished, Nearest, NewTask, ProjectOverview, TaskEdit};

type Done<T> = Result<T, EngineError>;

/// How this memory is set up; read once, from the config.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Whether memory is given to conversations at all. A person's own commands always work.
    pub enabled: bool,
    /// The person's namespace; unset, everything is session-scoped or global.
    pub namespace: Option<Name>,
    /// Whether working memory is used.
    pub working_memory: bool,
    /// How long and how large working memory is.
    pub working: WorkingLimits,
    /// How many memories a message gets.
    pub recall_limit: usize,
    /// Their budget.
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
    /// The person's messages after which a conversation is searched for what should have been stored; 0 waits for its
    /// end.
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
            namespace: None,
            working_memory: true,
            working: WorkingLimits { ttl_days: 14, max_tokens: 1000 },
            recall_limit: 5,
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

/// The memory, ready for use by one actor.
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    documents: Arc<dyn Documents>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    settings: Arc<Settings>,
    actor: Actor,
}

impl Engine {
    /// Wires the ports together.
    pub fn new(
        store: Arc<dyn Store>,
        documents: Arc<dyn Documents>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        settings: Settings,
        actor: Actor,
    ) -> Self {
        Self { store, documents, clock, ids, settings: Arc::new(settings), actor }
    }

    /// The same memory in somebody else's hands.
    pub fn acting(&self, actor: Actor) -> Self {
        Self { actor, ..self.clone() }
    }

    /// The same memory for a host that sends each message with its memories once and without them afterwards.
    pub fn repeating(&self) -> Self {
        let settings = Settings { inject_repeat: true, ..(*self.settings).clone() };
        Self { settings: Arc::new(settings), ..self.clone() }
    }

    /// The same memory for a model that sees this many tokens at once.
    pub fn with_window(&self, tokens: usize) -> Self {
        let mut settings = (*self.settings).clone();
        settings.policy.context_window = tokens;
        Self { settings: Arc::new(settings), ..self.clone() }
    }

    /// How this memory is set up.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Now, where the person is.
    pub(crate) fn local_now(&self) -> Zoned {
        self.clock.now().to_zoned(self.settings.zone.clone())
    }

    /// The time, as the engine sees it.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Where new entries go: the person's facts, or `global` where no namespace is set.
    pub fn facts(&self) -> Namespace {
        self.settings.namespace.clone().map_or(Namespace::Global, Namespace::Facts)
    }

    fn change(&self, verb: Verb) -> Change {
        let id = ChangeId::new(self.ids.next());
        Change { id, actor: self.actor.clone(), verb, at: self.clock.now(), undoes: None }
    }

    /// The one memory that `reference` names: an id, an exact key, or the beginning of an id.
    fn resolve(&self, reference: &str) -> Done<EntryId> {
        let mut ids = self.store.resolve(reference)?;
        match ids.len() {
            1 => Ok(ids.remove(0)),
            0 => Err(EngineError::NotFound { reference: reference.to_owned() }),
            _ => Err(EngineError::Ambiguous { what: "memories", reference: reference.to_owned(), ids }),
        }
    }
}
