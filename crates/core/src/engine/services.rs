//! Wires the services of one verb: each gets the ports it needs, and all share one reading of the clock.

use std::sync::LazyLock;

use crate::consolidation::ConsolidationService;
use crate::context::ContextService;
use crate::documents::DocumentService;
use crate::embedding::EmbeddingService;
use crate::health::HealthService;
use crate::history::HistoryService;
use crate::kernel::Kernel;
use crate::lineage::LineageService;
use crate::memories::MemoryService;
use crate::model::{Actor, Source};
use crate::models::ModelService;
use crate::off_record::OffRecordService;
use crate::ports::{Clock, Documents, Embedders, Ids, Store};
use crate::projects::ProjectService;
use crate::recall::{RecallLog, RecallService};
use crate::reflection::ReflectionService;
use crate::review::ReviewService;
use crate::sessions::SessionService;
use crate::settings::Settings;
use crate::tasks::TaskService;
use crate::threads::ThreadService;
use crate::transfer::TransferService;
use crate::vault::VaultService;

/// Who consolidates.
fn consolidation_actor() -> &'static Actor {
    static ACTOR: LazyLock<Actor> = LazyLock::new(|| Actor::new(Source::System, "consolidation"));
    &ACTOR
}

/// Who reflects.
fn reflection_actor() -> &'static Actor {
    static ACTOR: LazyLock<Actor> = LazyLock::new(|| Actor::new(Source::System, "reflection"));
    &ACTOR
}

/// The services of one verb.
#[derive(Clone, Copy)]
pub(crate) struct Services<'e> {
    pub(crate) store: &'e dyn Store,
    /// The same store, for what somebody waits for.
    replies: &'e dyn Store,
    files: &'e dyn Documents,
    embedders: &'e dyn Embedders,
    pub(crate) kernel: Kernel<'e>,
}

impl<'e> Services<'e> {
    /// Reads the clock.
    pub(super) fn new(
        (store, replies): (&'e dyn Store, &'e dyn Store),
        files: &'e dyn Documents,
        (clock, ids, embedders): (&'e dyn Clock, &'e dyn Ids, &'e dyn Embedders),
        settings: &'e Settings,
        actor: &'e Actor,
    ) -> Self {
        Self {
            store,
            replies,
            files,
            embedders,
            kernel: Kernel {
                changes: store,
                leases: store,
                ahead: store,
                clock,
                ids,
                settings,
                actor,
                now: clock.now(),
            },
        }
    }

    /// The same verb in somebody else's name.
    pub(crate) fn acting<'a>(self, actor: &'a Actor) -> Services<'a>
    where
        'e: 'a,
    {
        Services { kernel: self.kernel.acting(actor), ..self }
    }

    /// The same verb on the way to a reply: a write that would wait for another writer gives up soon.
    pub(crate) fn replying(self) -> Self {
        let kernel = Kernel { changes: self.replies, leases: self.replies, ahead: self.replies, ..self.kernel };
        Services { store: self.replies, kernel, ..self }
    }

    pub(crate) fn log(self) -> RecallLog<'e> {
        RecallLog { kernel: self.kernel, recalls: self.store }
    }

    pub(crate) fn models(self) -> ModelService<'e> {
        ModelService { kernel: self.kernel, breakers: self.store, ledger: self.store }
    }

    pub(crate) fn vault(self) -> VaultService<'e> {
        VaultService {
            kernel: self.kernel,
            candidates: self.store,
            vault_store: self.store,
            vectors: self.store,
            log: self.log(),
            models: self.models(),
        }
    }

    pub(crate) fn embedding(self) -> EmbeddingService<'e> {
        EmbeddingService { kernel: self.kernel, vectors: self.store, models: self.models(), embedders: self.embedders }
    }

    pub(crate) fn documents(self) -> DocumentService<'e> {
        DocumentService {
            kernel: self.kernel,
            entries: self.store,
            history: self.store,
            index: self.store,
            project_store: self.store,
            thread_store: self.store,
            turns: self.store,
            files: self.files,
            vault: self.vault(),
        }
    }

    pub(crate) fn recall(self) -> RecallService<'e> {
        RecallService {
            kernel: self.kernel,
            entries: self.store,
            candidates: self.store,
            recalls: self.store,
            session_store: self.store,
            log: self.log(),
            documents: self.documents(),
            embedding: self.embedding(),
            vectors: self.store,
            lineage: self.lineage(),
        }
    }

    pub(crate) fn lineage(self) -> LineageService<'e> {
        LineageService { entries: self.store, withdrawals: self.store }
    }

    pub(crate) fn memories(self) -> MemoryService<'e> {
        let (documents, recall) = (self.documents(), self.recall());
        MemoryService {
            kernel: self.kernel,
            bundles: self.store,
            entries: self.store,
            eraser: self.store,
            history: self.store,
            candidates: self.store,
            session_store: self.store,
            task_store: self.store,
            turns: self.store,
            mutes: self.store,
            files: self.files,
            documents,
            noticing: self.replying().documents(),
            recall,
            threads: self.threads(),
        }
    }

    pub(crate) fn threads(self) -> ThreadService<'e> {
        ThreadService { kernel: self.kernel, thread_store: self.store, documents: self.documents() }
    }

    pub(crate) fn tasks(self) -> TaskService<'e> {
        let threads = self.threads();
        TaskService { kernel: self.kernel, entries: self.store, task_store: self.store, threads }
    }

    pub(crate) fn projects(self) -> ProjectService<'e> {
        let (documents, tasks) = (self.documents(), self.tasks());
        ProjectService {
            kernel: self.kernel,
            entries: self.store,
            history: self.store,
            project_store: self.store,
            files: self.files,
            documents,
            tasks,
        }
    }

    pub(crate) fn off_record(self) -> OffRecordService<'e> {
        OffRecordService { kernel: self.kernel, unrecorded: self.store, project_store: self.store }
    }

    pub(crate) fn context(self) -> ContextService<'e> {
        ContextService {
            kernel: self.kernel,
            entries: self.store,
            injections: self.store,
            mutes: self.store,
            session_store: self.store,
            task_store: self.store,
            turns: self.store,
            documents: self.documents(),
            log: self.log(),
            memories: self.memories(),
            projects: self.projects(),
            off_record: self.off_record(),
            recall: self.recall(),
            threads: self.threads(),
            vault: self.vault(),
            attempts: 1,
        }
    }

    pub(crate) fn sessions(self) -> SessionService<'e> {
        SessionService {
            kernel: self.kernel,
            session_store: self.store,
            turns: self.store,
            context: self.replying().context(),
            projects: self.projects(),
            off_record: self.off_record(),
            tasks: self.tasks(),
        }
    }

    /// Consolidation, in the program's own name.
    pub(crate) fn consolidation(self) -> ConsolidationService<'e> {
        self.acting(consolidation_actor()).consolidation_by_caller()
    }

    /// The same in the caller's name: an assistant may hand in its own summary.
    pub(crate) fn consolidation_by_caller(self) -> ConsolidationService<'e> {
        ConsolidationService {
            kernel: self.kernel,
            activity: self.store,
            entries: self.store,
            session_store: self.store,
            task_store: self.store,
            turns: self.store,
            documents: self.documents(),
            memories: self.memories(),
            models: self.models(),
            recall: self.recall(),
            sessions: self.sessions(),
            threads: self.threads(),
        }
    }

    /// Reflection, in the program's own name.
    pub(crate) fn reflection(self) -> ReflectionService<'e> {
        self.acting(reflection_actor()).reflection_by_caller()
    }

    fn reflection_by_caller(self) -> ReflectionService<'e> {
        ReflectionService {
            kernel: self.kernel,
            entries: self.store,
            history: self.store,
            integrity: self.store,
            passes: self.store,
            session_store: self.store,
            turns: self.store,
            documents: self.documents(),
            memories: self.memories(),
            models: self.models(),
            projects: self.projects(),
            recall: self.recall(),
            threads: self.threads(),
        }
    }

    pub(crate) fn review(self) -> ReviewService<'e> {
        ReviewService {
            kernel: self.kernel,
            candidates: self.store,
            entries: self.store,
            history: self.store,
            reviews: self.store,
            documents: self.documents(),
            memories: self.memories(),
            recall: self.recall(),
            sessions: self.sessions(),
        }
    }

    pub(crate) fn history(self) -> HistoryService<'e> {
        let (documents, memories, tasks) = (self.documents(), self.memories(), self.tasks());
        HistoryService {
            kernel: self.kernel,
            history: self.store,
            reviews: self.store,
            task_store: self.store,
            files: self.files,
            documents,
            memories,
            tasks,
        }
    }

    pub(crate) fn transfer(self) -> TransferService<'e> {
        let (documents, memories) = (self.documents(), self.memories());
        TransferService {
            kernel: self.kernel,
            bundles: self.store,
            entries: self.store,
            history: self.store,
            session_store: self.store,
            turns: self.store,
            files: self.files,
            documents,
            memories,
            lineage: self.lineage(),
        }
    }

    pub(crate) fn health(self) -> HealthService<'e> {
        let (documents, vault, models) = (self.documents(), self.vault(), self.models());
        HealthService {
            kernel: self.kernel,
            activity: self.store,
            index: self.store,
            integrity: self.store,
            jobs: self.store,
            tokens: self.store,
            documents,
            embedding: self.embedding(),
            vault,
            models,
            off_record: self.off_record(),
        }
    }
}
