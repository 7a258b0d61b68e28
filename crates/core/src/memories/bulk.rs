//! The same verb on many memories. Each is a change of its own, so that one that cannot be done costs no other.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{Done, EngineError, ErrorCode};
use crate::kernel::{Race as _, conflict, retry};
use crate::memories::{Edit, MemoryService, Outcome, Remembered};
use crate::model::{Entry, EntryId, Status, Verb};
use crate::ports::Op;

/// What is done to each of many memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BulkAction {
    /// Make it inactive.
    Forget,
    /// Give it a tag.
    Tag,
    /// Take a tag away.
    Untag,
    /// Bring it back.
    Restore,
}

/// What became of many memories.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct BulkDone {
    /// Those with which it was done.
    pub done: Vec<EntryId>,
    /// Those with which it was not.
    pub failed: Vec<BulkFailure>,
}

/// A memory with which it was not done.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BulkFailure {
    /// As it was given.
    pub id: String,
    /// Why.
    pub error: WhyNot,
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WhyNot {
    /// A word for programs.
    pub code: ErrorCode,
    /// What is wrong.
    pub message: String,
    /// What to try next.
    pub hint: Option<std::borrow::Cow<'static, str>>,
}

impl From<&EngineError> for WhyNot {
    fn from(error: &EngineError) -> Self {
        Self { code: error.code(), message: crate::error::chain(error), hint: error.hint() }
    }
}

impl MemoryService<'_> {
    /// Does the same to many memories. A tag is needed to give or take one.
    pub fn bulk(&self, action: BulkAction, references: &[String], tag: Option<&str>) -> Done<BulkDone> {
        let tag = match (action, tag.map(str::trim).filter(|tag| !tag.is_empty())) {
            (BulkAction::Tag | BulkAction::Untag, None) => return Err(EngineError::invalid("the tag", "is missing")),
            (BulkAction::Forget | BulkAction::Restore, Some(_)) => {
                return Err(EngineError::invalid("the tag", "is given, but nothing is tagged"));
            }
            (_, tag) => tag.unwrap_or_default(),
        };
        let mut outcome = BulkDone::default();
        for reference in references {
            let done = match action {
                BulkAction::Forget => self.forget(reference).map(|forgotten| forgotten.id),
                BulkAction::Restore => self.bring_back(reference).map(|remembered| remembered.memory.entry.id),
                BulkAction::Tag => self.retag(reference, &|tags| tags.push(tag.to_owned())),
                BulkAction::Untag => self.retag(reference, &|tags| tags.retain(|known| known != tag)),
            };
            match done {
                Ok(id) => outcome.done.push(id),
                Err(error) => outcome.failed.push(BulkFailure { id: reference.clone(), error: WhyNot::from(&error) }),
            }
        }
        Ok(outcome)
    }

    /// Changes the tags of a memory by a function of what they are now.
    fn retag(&self, reference: &str, change: &dyn Fn(&mut Vec<String>)) -> Done<EntryId> {
        let id = self.resolve(reference)?;
        retry(
            || conflict(reference),
            || {
                let entry = self.memory(&id)?.entry;
                let mut tags = entry.tags;
                change(&mut tags);
                let edit = Edit { tags: Some(tags), expected_version: Some(entry.version), ..Edit::default() };
                Ok(self.edit(id.as_str(), &edit).unless_outrun()?.map(|_| id.clone()))
            },
        )
    }

    /// Brings a memory back as it was when it was last active.
    pub fn bring_back(&self, reference: &str) -> Done<Remembered> {
        let id = self.resolve(reference)?;
        if self.memory(&id)?.entry.status == Status::Active {
            return self.receipt(&id, Outcome::Unchanged, Vec::new());
        }
        let versions = self.history.entry_versions(&id)?;
        let active = versions.iter().rfind(|version| version.entry.status == Status::Active);
        let never = || EngineError::invalid("the memory", "was never active");
        self.restore_version(&id, active.ok_or_else(never)?.entry.version)
    }

    /// Brings an earlier version of a memory back, as its newest.
    pub(crate) fn restore_version(&self, id: &EntryId, version: u32) -> Done<Remembered> {
        let no_version = || EngineError::NoVersion { reference: id.to_string(), version };
        self.kernel.unless_erased(|since| {
            let versions = self.history.entry_versions(id)?;
            let wanted =
                versions.into_iter().find(|candidate| candidate.entry.version == version).ok_or_else(no_version)?;
            let current = self.memory(id)?.entry;
            let next = revived(&current, wanted.entry, self.kernel.now);
            if (Entry { updated_at: current.updated_at, ..next.clone() }) == current {
                return self.receipt(id, Outcome::Unchanged, Vec::new());
            }
            self.kernel.apply(Verb::Restore, &[Op::Update(next), Op::Unerased(since.clone())])?;
            self.receipt(id, Outcome::Updated, Vec::new())
        })
    }
}

/// An earlier state as the next version of what is there now.
pub(crate) fn revived(current: &Entry, earlier: Entry, now: Timestamp) -> Entry {
    Entry { version: current.version, updated_at: now, ..earlier }
}
