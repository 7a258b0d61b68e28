//! What there is, and whether it is well.

mod jobs;

use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::{DocumentService, IdentityUsage};
use crate::embedding::EmbeddingService;
use crate::error::{Done, EngineError, chain};
use crate::kernel::Kernel;
use crate::models::ModelService;
use crate::off_record::{OffRecordService, PauseState};
use crate::ports::{self, Spent, StoreStats};
use crate::threads::WorkingMemory;
use crate::vault::{EmbeddingProgress, VaultService, VaultStats};

pub use jobs::DayActivity;

/// What the memory holds, at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Overview {
    /// Counts, its fields at the same level.
    #[serde(flatten)]
    pub store: StoreStats,
    /// How full identity is, where there is one.
    pub identity: Option<IdentityUsage>,
    /// When working memory expires, where it is fresh.
    pub working_expires_at: Option<jiff::Timestamp>,
    /// What the vault holds.
    pub vault: VaultStats,
    /// How many memories have a vector, and of which model; nothing before the first was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<EmbeddingProgress>,
}

/// What is wrong, and what only deserves attention.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Health {
    /// Damage: the memory cannot be trusted until it is mended.
    pub problems: Vec<String>,
    /// Worth knowing.
    pub remarks: Vec<String>,
}

/// What the memory holds, and what models cost lately.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Stats {
    /// What it holds, its fields at the same level.
    #[serde(flatten)]
    pub overview: Overview,
    /// What models cost in the last seven days.
    pub spending: Vec<Spent>,
}

/// Where the memory is and how it is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MemoryStatus {
    /// Where it is kept.
    pub memory: String,
    /// The config file, where there is one.
    pub config: Option<String>,
    /// The version of this program.
    pub version: &'static str,
    /// Whether nothing is observed or given at the moment.
    pub pause: PauseState,
    /// What it holds.
    pub stats: Overview,
    /// What has been going on.
    pub working: WorkingMemory,
    /// What a quick look finds; `doctor` and `/api/health` look at everything.
    pub health: Health,
}

/// Counts, integrity checks, the log of jobs.
#[derive(Clone, Copy)]
pub struct HealthService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) activity: &'e dyn ports::Activity,
    pub(crate) index: &'e dyn ports::Index,
    pub(crate) integrity: &'e dyn ports::Health,
    pub(crate) jobs: &'e dyn ports::Jobs,
    pub(crate) tokens: &'e dyn ports::ChangeWatch,
    pub(crate) documents: DocumentService<'e>,
    pub(crate) embedding: EmbeddingService<'e>,
    pub(crate) vault: VaultService<'e>,
    pub(crate) models: ModelService<'e>,
    pub(crate) off_record: OffRecordService<'e>,
}

impl HealthService<'_> {
    /// What the memory holds, and what models cost in the last seven days.
    pub fn stats(&self) -> Done<Stats> {
        let week = jiff::SignedDuration::from_hours(24 * 7);
        let since = self.kernel.now.checked_sub(week).unwrap_or_default().strftime("%Y-%m-%d").to_string();
        Ok(Stats { overview: self.overview()?, spending: self.models.spending(&since)? })
    }

    /// What the memory holds.
    pub fn overview(&self) -> Done<Overview> {
        self.documents.notice_all_or_warn();
        let identity = self.documents.profile()?.map(|(_, usage)| usage);
        let working_expires_at = self.documents.working()?.map(|working| working.expires_at);
        let (vault, embeddings) = (self.vault.stats()?, self.embedding.last_progress()?);
        Ok(Overview { store: self.integrity.stats()?, identity, working_expires_at, vault, embeddings })
    }

    /// What a quick look finds: documents that cannot be read, identity over its limit. The store is not checked.
    pub fn quick(&self) -> Done<Health> {
        let mut health = Health { problems: self.noticed()?, remarks: Vec::new() };
        self.remark_identity(&mut health);
        Ok(health)
    }

    /// Documents that cannot be read; what changed in others waits where nothing can be written for now.
    fn noticed(&self) -> Done<Vec<String>> {
        match self.documents.notice_each() {
            Err(EngineError::Store(error)) if error.is_unwritten() => Ok(Vec::new()),
            noticed => noticed,
        }
    }

    /// Tidies the store, and says what was done.
    pub fn tidy(&self) -> Done<Vec<String>> {
        Ok(self.integrity.tidy()?)
    }

    fn remark_identity(&self, health: &mut Health) {
        if let Ok(Some((_, usage))) = self.documents.profile()
            && usage.is_over()
        {
            health.remarks.push(format!("the profile is over its limit {usage}: assistants can no longer add to it"));
        }
    }

    fn remark_pause(&self) -> Option<String> {
        let state = self.off_record.state().ok().filter(|state| state.paused)?;
        let until = state.until.map(|until| format!(" until {until}")).unwrap_or_default();
        Some(format!("memory is paused{until}: nothing is observed or given; `throughline resume` ends it"))
    }

    /// Whether store, index and documents are sound.
    pub fn check(&self) -> Health {
        let mut health = Health::default();
        match self.integrity.check() {
            Ok(problems) => health.problems.extend(problems),
            Err(error) => health.problems.push(format!("the store cannot be checked: {}", chain(&error))),
        }
        match self.noticed() {
            Ok(problems) => health.problems.extend(problems),
            Err(error) => health.problems.push(format!("the documents cannot be read: {}", chain(&error))),
        }
        health.remarks.extend(self.integrity.hindrances());
        self.remark_identity(&mut health);
        health.remarks.extend(self.remark_pause());
        match self.documents.copies() {
            Ok(copies) => health.remarks.extend(copies),
            Err(error) => health.problems.push(format!("the documents cannot be listed: {}", chain(&error))),
        }
        health
    }

    /// Whether this process began upkeep of the index that is not done.
    pub fn has_upkeep(&self) -> bool {
        self.index.has_upkeep()
    }

    /// Does the upkeep of the index that is left, unless others are at it.
    pub fn keep_up(&self) -> Done<()> {
        Ok(self.index.keep_up()?)
    }

    /// Gives memory back that was not used since the last call.
    pub fn trim(&self) {
        self.integrity.trim();
    }

    /// Rebuilds the index from the rows and the documents.
    pub fn reindex(&self, progress: &mut dyn FnMut(u64, u64)) -> Done<u64> {
        let count = self.index.rebuild(progress)?;
        self.documents.notice_all()?;
        Ok(count)
    }
}
