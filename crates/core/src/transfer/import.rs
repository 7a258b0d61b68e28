//! Takes in what was found elsewhere: memories as one change, in several transactions; turns as they were said.
//!
//! Every id follows from what was found, the change's too: an import that was killed goes on where it was, and one that
//! is repeated adds nothing. What a person forgot stays forgotten; what went away because the import was undone comes
//! back.

mod plan;
mod preview;

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::error::{Done, EngineError};
use crate::kernel::{Race as _, conflict, retry};
use crate::model::{ChangeId, Entry, EntryId, Layer, Status, Verb};
use crate::ports::{ErasureMark, NewSession, Op, StoreError};
use crate::transfer::TransferService;
use crate::transfer::formats::{Found, FoundFile, Skipped, join_skipped};

use plan::Plan;

pub use preview::ImportPreview;

/// How much goes into one transaction.
const CHUNK: usize = 500;

/// What became of the pieces of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Tally {
    /// New here.
    pub added: u64,
    /// Here once, and back now that the undone import is repeated.
    pub brought_back: u64,
    /// Here already, word for word.
    pub here: u64,
    /// Here already, but it says something else by now: what is here stayed.
    pub differing: u64,
    /// Here already, and forgotten: it stays so.
    pub forgotten: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.added += other.added;
        self.brought_back += other.brought_back;
        self.here += other.here;
        self.differing += other.differing;
        self.forgotten += other.forgotten;
    }

    /// Whether anything was, or would be, changed.
    pub fn changes(&self) -> u64 {
        self.added + self.brought_back
    }
}

/// The receipt for an import, or what it would be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ImportReport {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// What was read.
    pub files: Vec<FoundFile>,
    /// Lines of the profile: what the person told another assistant about themself, and what that kept about them.
    pub profile: Tally,
    /// Memories of layer 1.
    pub knowledge: Tally,
    /// Memories of layer 2: what happened.
    pub archive: Tally,
    /// Turns of conversations.
    pub turns: Tally,
    /// Conversations that are new here.
    pub sessions: u64,
    /// When the first and the last of the new turns were said.
    pub first_said_at: Option<Timestamp>,
    /// See `first_said_at`.
    pub last_said_at: Option<Timestamp>,
    /// Secrets that were taken out, by kind.
    pub redacted: BTreeMap<&'static str, u64>,
    /// What was not taken, and why.
    pub skipped: Vec<Skipped>,
    /// What was taken, but not as it stands there, and why.
    pub adjusted: Vec<Skipped>,
    /// A few of the new ones, in order.
    pub samples: Vec<String>,
    /// What `undo` reverts; nothing where no memory changed.
    pub change: Option<ChangeId>,
}

impl ImportReport {
    /// The same, and what became of another part of the import.
    pub fn join(&mut self, other: Self) {
        self.files.extend(other.files);
        self.profile.add(&other.profile);
        self.knowledge.add(&other.knowledge);
        self.archive.add(&other.archive);
        self.turns.add(&other.turns);
        self.sessions += other.sessions;
        self.first_said_at = self.first_said_at.into_iter().chain(other.first_said_at).min();
        self.last_said_at = self.last_said_at.into_iter().chain(other.last_said_at).max();
        for (kind, count) in other.redacted {
            *self.redacted.entry(kind).or_default() += count;
        }
        join_skipped(&mut self.skipped, other.skipped);
        join_skipped(&mut self.adjusted, other.adjusted);
        let room = plan::SAMPLES.saturating_sub(self.samples.len());
        self.samples.extend(other.samples.into_iter().take(room));
        self.change = self.change.take().or(other.change);
    }

    fn tally(&mut self, layer: Layer) -> &mut Tally {
        if layer == Layer::Archive { &mut self.archive } else { &mut self.knowledge }
    }
}

impl TransferService<'_> {
    /// Takes in what was found, or says what that would do. Turns are kept; memories are one change, for `undo`.
    pub fn import_found(&self, found: &Found, dry_run: bool, progress: &mut dyn FnMut(u64, u64)) -> Done<ImportReport> {
        let (mut done, mut refused) = (HashSet::new(), HashSet::new());
        let mut attempt = |since: &ErasureMark| {
            retry(
                || conflict("the import"),
                || {
                    let mut plan = Plan::of(self, found, &done, &refused)?;
                    plan.report.dry_run = dry_run;
                    if dry_run {
                        // Which id the change gets shows when it is made.
                        plan.report.change = None;
                        return Ok(Some(plan.report));
                    }
                    match self.carry_out(&plan, since, &mut done, progress) {
                        // The same import was made elsewhere, and came here with an export: this one is a change of its own.
                        Err(EngineError::Store(StoreError::Conflict { what })) if what == plan.change.id.as_str() => {
                            refused.insert(plan.change.id);
                            Ok(None)
                        }
                        outcome => Ok(outcome.unless_outrun_or_taken()?.flatten().map(|()| plan.report)),
                    }
                },
            )
        };
        self.kernel.unless_erased(&mut attempt)
    }

    fn carry_out(
        &self,
        plan: &Plan,
        since: &ErasureMark,
        done: &mut HashSet<EntryId>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Done<Option<()>> {
        let total = (plan.ops.len() + plan.turns.len()) as u64;
        let mut so_far = 0;
        for chunk in plan.ops.chunks(CHUNK) {
            let ops: Vec<Op> = chunk.iter().cloned().chain([Op::Unerased(since.clone())]).collect();
            let entries = self.kernel.changes.apply(&plan.change, &ops, &mut || true)?;
            done.extend(entries.into_iter().map(|entry| entry.id));
            so_far += chunk.len() as u64;
            progress(so_far, total);
        }
        let profile = plan.profile.documents();
        if !profile.is_empty()
            && self
                .documents
                .commit_learnt(&plan.change, &[Op::Unerased(since.clone())], &profile, &plan.learnt)?
                .is_none()
        {
            return Ok(None);
        }
        let mut told = HashSet::new();
        for chunk in plan.turns.chunks(CHUNK) {
            let sessions = chunk.iter().filter(|turn| told.insert(&turn.session));
            let sessions: Vec<NewSession> =
                sessions.filter_map(|turn| plan.sessions.get(&turn.session).cloned()).collect();
            self.turns.append_imported(&sessions, chunk)?;
            so_far += chunk.len() as u64;
            progress(so_far, total);
        }
        Ok(Some(()))
    }

    /// The imports that were undone.
    pub(crate) fn undone_imports(&self) -> Done<HashSet<ChangeId>> {
        let changes = self.kernel.changes.changes(usize::MAX)?;
        let undone: HashSet<&ChangeId> = changes.iter().filter_map(|change| change.undoes.as_ref()).collect();
        let imports = changes.iter().filter(|change| change.verb == Verb::Import && undone.contains(&change.id));
        Ok(imports.map(|change| change.id.clone()).collect())
    }

    /// An inactive entry as it comes back, if it went away because its import was undone.
    pub(crate) fn brought_back(&self, entry: &Entry, undone: &HashSet<ChangeId>) -> Done<Option<Entry>> {
        if entry.status == Status::Active || undone.is_empty() {
            return Ok(None);
        }
        let newest = self.history.entry_versions(&entry.id)?.pop();
        let went_with_it = newest.and_then(|version| version.change.undoes).is_some_and(|id| undone.contains(&id));
        let back = Entry { status: Status::Active, updated_at: self.kernel.now, ..entry.clone() };
        Ok(went_with_it.then_some(back))
    }
}
