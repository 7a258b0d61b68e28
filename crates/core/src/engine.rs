//! The engine: a thin facade over one service per noun. Every surface calls it.
//!
//! `engine.memories().remember(..)`: the accessor begins a verb (the clock is read once, here), the service does it.

mod services;

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use crate::consolidation::ConsolidationService;
use crate::context::ContextService;
use crate::documents::DocumentService;
use crate::embedding::EmbeddingService;
use crate::health::HealthService;
use crate::history::HistoryService;
use crate::memories::MemoryService;
use crate::model::{Actor, EntryId, Namespace, SessionId};
use crate::models::ModelService;
use crate::off_record::OffRecordService;
use crate::ports::{Clock, Documents, Embedders, Ids, NoEmbedders, ReadingAhead, Store};
use crate::projects::ProjectService;
use crate::recall::RecallService;
use crate::reflection::ReflectionService;
use crate::review::ReviewService;
use crate::sessions::SessionService;
use crate::tasks::TaskService;
use crate::threads::ThreadService;
use crate::tools::{NoToolModels, ToolModels, ToolService};
use crate::transfer::TransferService;
use crate::vault::VaultService;

pub use crate::consolidation::{Compaction, Consolidation, Ended, Retired, SentMessage};
pub use crate::context::{ContextRequest, Given, InView, Prepared, Readable, Tier, Visibility};
pub use crate::documents::{
    DocumentLimit, IDENTITY_LIMIT, IdentityUsage, LineOutcome, ListedDocument, Recorded, RecordedLine, Rendered, Shelf,
    Written,
};
pub use crate::error::{EngineError, ErrorCode, chain};
pub use crate::health::{DayActivity, Health, MemoryStatus, Overview, Stats};
pub use crate::history::{Changes, HistoryOf, Restored, ToldChanges, Undone};
pub use crate::kernel::Worker;
pub use crate::memories::{
    About, BulkAction, BulkDone, BulkFailure, Correction, Edit, ErasedMemory, ErasedScope, ErasurePreview, Fold,
    FoldedCopy, Forgotten, NewMemory, Outcome, Remembered, Replaced, ScopePreview, ScopeWords, WhyNot,
};
pub use crate::off_record::PauseState;
pub use crate::projects::{AcceptedFile, ProjectAt, ProjectLine, ProjectListing, ProjectOverview, ProjectRules};
pub use crate::recall::{Explained, Explanation, OpeningPart, Recalls, Used};
pub use crate::reflection::{Difference, Passes, Reflection, ReflectionSettings};
pub use crate::review::{Evidence, ReviewItem, ReviewListing, Reviewed, Verdict};
pub use crate::sessions::{
    ListedSession, Observed, RemovedTurns, Said, SessionListing, SessionReset, ShownSession, StartSession, Started,
};
pub use crate::settings::{InjectAt, Settings};
pub use crate::tasks::{Finished, NewTask, Period, Report, ReportBy, TaskEdit, Tasks};
pub use crate::threads::{ClosedThread, ListedThread, ThreadListing, WorkingMemory};
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
    /// The same store, for what somebody waits for.
    replies: Arc<dyn Store>,
    documents: Arc<dyn Documents>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    embedders: Arc<dyn Embedders>,
    tool_models: Arc<dyn ToolModels>,
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
        let (replies, embedders, tool_models) = (store.for_replies(), Arc::new(NoEmbedders), Arc::new(NoToolModels));
        Self { store, replies, documents, clock, ids, embedders, tool_models, settings: Arc::new(settings), actor }
    }

    /// The same memory, whose questions are embedded by these.
    pub fn with_embedders(self, embedders: Arc<dyn Embedders>) -> Self {
        Self { embedders, ..self }
    }

    /// The same memory, which tools have looked back on by this.
    pub fn with_tool_models(self, tool_models: Arc<dyn ToolModels>) -> Self {
        Self { tool_models, ..self }
    }

    /// The same memory in somebody else's hands.
    pub fn acting(&self, actor: Actor) -> Self {
        Self { actor, ..self.clone() }
    }

    /// The same memory on the way to a reply: a write that would wait for another writer gives up soon.
    pub fn for_replies(&self) -> Self {
        Self { store: Arc::clone(&self.replies), ..self.clone() }
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

    /// The same memory for somebody who works in these directories: off the record where one of them is excluded.
    pub fn working_in<'a>(&self, directories: impl IntoIterator<Item = &'a Path>) -> Self {
        let is_excluded = directories.into_iter().any(|directory| self.settings.exclude.covers_directory(directory));
        self.with_settings(|settings| settings.exclude.everything |= is_excluded)
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
        self.services().replying().recall()
    }

    /// Documents: read, write, record, list.
    pub fn documents(&self) -> DocumentService<'_> {
        self.services().documents()
    }

    /// Sessions: start, observe, list, reset; which of them are due.
    pub fn sessions(&self) -> SessionService<'_> {
        self.services().sessions()
    }

    /// Pauses, and what is off the record.
    pub fn off_record(&self) -> OffRecordService<'_> {
        self.services().off_record()
    }

    /// What an assistant is given.
    pub fn context(&self) -> ContextService<'_> {
        self.services().replying().context()
    }

    /// The same after a reply, to note what was given: nobody waits for it, so that it may wait for another writer.
    pub fn context_afterwards(&self) -> ContextService<'_> {
        self.services().context()
    }

    /// Consolidation of sessions, and their end.
    pub fn consolidation(&self) -> ConsolidationService<'_> {
        self.services().consolidation()
    }

    /// Keeps a summary of a conversation in the archive, with the caller as its source; returns the entry's id.
    pub fn keep_summary(&self, session: &SessionId, text: &str) -> Result<Option<EntryId>, EngineError> {
        self.services().off_record().check(Some(session), None)?;
        self.services().consolidation_by_caller().keep_summary(session, text)
    }

    /// Reflection on documents and knowledge.
    pub fn reflection(&self) -> ReflectionService<'_> {
        self.services().reflection()
    }

    /// What was learnt and not seen yet.
    pub fn review(&self) -> ReviewService<'_> {
        self.services().review()
    }

    /// Tasks and reports about them.
    pub fn tasks(&self) -> TaskService<'_> {
        self.services().tasks()
    }

    /// Threads: what conversations left to go on from.
    pub fn threads(&self) -> ThreadService<'_> {
        self.services().threads()
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
        ToolService { services: self.services(), tool_models: &*self.tool_models }
    }

    /// Several verbs about one message of a conversation follow, on this thread: as long as what this gives is kept, what they
    /// read may be as it is now, but for what they write. A store that is far away asks for it together.
    pub fn reading(&self, session: Option<&SessionId>, message: Option<&str>) -> ReadingAhead {
        self.context().reading(session, message)
    }

    /// Begins a verb: reads the clock.
    fn services(&self) -> Services<'_> {
        let world = (&*self.clock, &*self.ids, &*self.embedders);
        Services::new((&*self.store, &*self.replies), &*self.documents, world, &self.settings, &self.actor)
    }
}
