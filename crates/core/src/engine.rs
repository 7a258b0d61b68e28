//! The engine: a thin facade over one service per noun. Every surface calls it.
//!
//! `engine.memories().remember(..)`: the accessor begins a verb (the clock is read once, here), the service does it.

mod services;

use std::sync::Arc;

use jiff::Timestamp;

use crate::consolidation::ConsolidationService;
use crate::context::ContextService;
use crate::documents::DocumentService;
use crate::embedding::EmbeddingService;
use crate::health::HealthService;
use crate::history::HistoryService;
use crate::memories::MemoryService;
use crate::model::{Actor, Namespace};
use crate::models::ModelService;
use crate::ports::{Clock, Documents, Embedders, Ids, NoEmbedders, Store};
use crate::projects::ProjectService;
use crate::recall::RecallService;
use crate::reflection::ReflectionService;
use crate::sessions::SessionService;
use crate::tasks::TaskService;
use crate::tools::ToolService;
use crate::transfer::TransferService;
use crate::vault::VaultService;

pub use crate::consolidation::{Compaction, Consolidation, Ended, Filled, Retired};
pub use crate::context::{ContextRequest, Given, Prepared, Readable, Tier, Visibility};
pub use crate::documents::{
    DocumentLimit, IDENTITY_LIMIT, IdentityUsage, LineOutcome, ListedDocument, Recorded, RecordedLine, Rendered, Shelf,
    WorkingMemory, Written,
};
pub use crate::error::{EngineError, ErrorCode, chain};
pub use crate::health::{DayActivity, Health, MemoryStatus, Overview, Stats};
pub use crate::history::{Changes, HistoryOf, Restored, Undone};
pub use crate::kernel::Worker;
pub use crate::memories::{
    BulkAction, BulkDone, BulkFailure, Correction, Edit, ErasedMemory, ErasurePreview, Forgotten, NewMemory, Outcome,
    Remembered, Replaced, WhyNot,
};
pub use crate::projects::{Nearest, ProjectOverview, RegisteredProjects};
pub use crate::recall::{Explained, Explanation, OpeningPart, Recalls, Used};
pub use crate::reflection::{Difference, Passes, Reflection, ReflectionSettings};
pub use crate::sessions::{
    ListedSession, Observed, Said, SessionListing, SessionReset, ShownSession, StartSession, Started,
};
pub use crate::settings::{InjectAt, Settings};
pub use crate::tasks::{Finished, NewTask, Period, Report, ReportBy, TaskEdit, Tasks};
pub use crate::tools::{OfferedTool, OfferedTools, ToolAnswer};
pub use crate::transfer::{
    EXPORT_VERSION, Export, ExportedDocument, ImportPreview, ImportReport, Imported, SetAside, Tally,
};
pub use crate::vault::{Embedded, EmbeddingProgress, NewVaultDocument, VaultListing, VaultRemoved, VaultStats};
pub(crate) use services::Services;

/// The memory, ready for use by one actor.
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    documents: Arc<dyn Documents>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    embedders: Arc<dyn Embedders>,
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
        Self { store, documents, clock, ids, embedders: Arc::new(NoEmbedders), settings: Arc::new(settings), actor }
    }

    /// The same memory, whose questions are embedded by these.
    pub fn with_embedders(self, embedders: Arc<dyn Embedders>) -> Self {
        Self { embedders, ..self }
    }

    /// The same memory in somebody else's hands.
    pub fn acting(&self, actor: Actor) -> Self {
        Self { actor, ..self.clone() }
    }

    /// The same memory with other settings.
    fn with_settings(&self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = (*self.settings).clone();
        change(&mut settings);
        Self { settings: Arc::new(settings), ..self.clone() }
    }

    /// The same memory for a model that sees this many tokens at once.
    pub fn with_window(&self, tokens: usize) -> Self {
        self.with_settings(|settings| settings.policy.context_window = tokens)
    }

    /// The same memory for a host whose system prompt nobody else can change: memories go with the message.
    pub fn with_messages_alone(&self) -> Self {
        self.with_settings(|settings| {
            if settings.inject_at == InjectAt::SystemPrompt {
                settings.inject_at = InjectAt::Message;
            }
        })
    }

    /// How this memory is set up.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The time, as the engine sees it.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Where new entries go: the person's facts, or `global` where no namespace is set.
    pub fn facts(&self) -> Namespace {
        self.services().kernel.facts()
    }

    /// Memories: remember, list, show, edit, forget, correct, merge, erase.
    pub fn memories(&self) -> MemoryService<'_> {
        self.services().memories()
    }

    /// Recall, its log, and why something was found.
    pub fn recall(&self) -> RecallService<'_> {
        self.services().recall()
    }

    /// Documents: read, write, record, list.
    pub fn documents(&self) -> DocumentService<'_> {
        self.services().documents()
    }

    /// Sessions: start, observe, list, reset; which of them are due.
    pub fn sessions(&self) -> SessionService<'_> {
        self.services().sessions()
    }

    /// What an assistant is given.
    pub fn context(&self) -> ContextService<'_> {
        self.services().context()
    }

    /// Consolidation of sessions, and their end.
    pub fn consolidation(&self) -> ConsolidationService<'_> {
        self.services().consolidation()
    }

    /// Reflection on documents and knowledge.
    pub fn reflection(&self) -> ReflectionService<'_> {
        self.services().reflection()
    }

    /// Tasks and reports about them.
    pub fn tasks(&self) -> TaskService<'_> {
        self.services().tasks()
    }

    /// Projects and their directories.
    pub fn projects(&self) -> ProjectService<'_> {
        self.services().projects()
    }

    /// The vault: documents, passages, vectors.
    pub fn vault(&self) -> VaultService<'_> {
        self.services().vault()
    }

    /// Vectors of memories and of questions.
    pub fn embedding(&self) -> EmbeddingService<'_> {
        self.services().embedding()
    }

    /// Export and import.
    pub fn transfer(&self) -> TransferService<'_> {
        self.services().transfer()
    }

    /// History, restore, undo.
    pub fn history(&self) -> HistoryService<'_> {
        self.services().history()
    }

    /// Counts, integrity checks, the log of jobs.
    pub fn health(&self) -> HealthService<'_> {
        self.services().health()
    }

    /// Calls to models within the budget, the ledger, circuit breakers.
    pub fn models(&self) -> ModelService<'_> {
        self.services().models()
    }

    /// The tools that assistants call.
    pub fn tools(&self) -> ToolService<'_> {
        self.services().tools()
    }

    /// Begins a verb: reads the clock.
    fn services(&self) -> Services<'_> {
        let world = (&*self.clock, &*self.ids, &*self.embedders);
        Services::new(&*self.store, &*self.documents, world, &self.settings, &self.actor)
    }
}
