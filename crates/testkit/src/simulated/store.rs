//! A store around another. Every call passes [`Around`] first.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use throughline_core::embedding::Baseline;
use throughline_core::model::*;
use throughline_core::ports::*;
use throughline_core::recall::{CandidateMark, Filter, Pool, RecallRecord, Retrieved, Terms};
use throughline_core::sessions::{Backlog, DueRules};
use throughline_core::vault::{Chunk, Passage, UnreadFile, VaultDocument};

use super::Around;
use super::bugs::{Pending, PlantedBug, is_unindexed, past_every_turn, without_unindexed};

type Stored<T> = Result<T, StoreError>;

/// A store in which something happens around every call.
pub struct SimulatedStore {
    inner: Arc<dyn Store>,
    around: Arc<dyn Around>,
    bug: Option<PlantedBug>,
    pending: Arc<Pending>,
}

impl SimulatedStore {
    /// Around this store.
    pub fn new(inner: Arc<dyn Store>, around: Arc<dyn Around>, bug: Option<PlantedBug>) -> Self {
        Self { inner, around, bug, pending: Arc::default() }
    }

    fn has(&self, bug: PlantedBug) -> bool {
        self.bug == Some(bug)
    }

    fn call<T>(&self, name: &'static str, call: impl FnOnce(&Arc<dyn Store>) -> Stored<T>) -> Stored<T> {
        self.around.before(name)?;
        let done = call(&self.inner)?;
        self.around.after(name)?;
        Ok(done)
    }
}

impl Replying for SimulatedStore {
    fn for_replies(&self) -> Arc<dyn Store> {
        let (around, pending) = (Arc::clone(&self.around), Arc::clone(&self.pending));
        Arc::new(Self { inner: self.inner.for_replies(), around, bug: self.bug, pending })
    }
}

impl ReadsAhead for SimulatedStore {
    fn read_ahead(&self, upcoming: &Upcoming<'_>) -> ReadingAhead {
        self.inner.read_ahead(upcoming)
    }
}

/// Implements a port by calling the store within, except what is written by hand.
macro_rules! around {
    ($port:ident { $(fn $name:ident($($given:ident: $kind:ty),* $(,)?) -> $out:ty;)* } $(by hand { $($hand:tt)* })?) => {
        impl $port for SimulatedStore {
            $(fn $name(&self, $($given: $kind),*) -> Stored<$out> {
                self.call(stringify!($name), |store| store.$name($($given),*))
            })*
            $($($hand)*)?
        }
    };
}

around! {
    Activity {
        fn doings(starts: &[Timestamp]) -> Vec<Doings>;
        fn was_in_use(from: Timestamp, until: Timestamp) -> bool;
    }
}

around! {
    Breakers {
        fn breaker(provider: &str) -> Option<Breaker>;
        fn keep_breaker(provider: &str, breaker: &Breaker) -> ();
    }
}

around! {
    Candidates {
        fn fetch(marks: &[CandidateMark]) -> Vec<Option<Retrieved>>;
        fn marks(ids: &[EntryId]) -> Vec<Option<CandidateMark>>;
        fn texts(ids: &[EntryId]) -> Vec<String>;
        fn search_passages(terms: &Terms, limit: usize) -> Vec<(Passage, f64)>;
    }
    by hand {
        fn search(&self, search: &Search) -> Stored<Pool> {
            self.call("search", |store| {
                let pool = store.search(search)?;
                if self.has(PlantedBug::MissingIndexUpdate) { without_unindexed(store, pool) } else { Ok(pool) }
            })
        }

        fn contains(&self, needles: &[String], filter: &Filter, limit: usize) -> Stored<Vec<Retrieved>> {
            self.call("contains", |store| {
                let mut found = store.contains(needles, filter, limit)?;
                found.retain(|found| !(self.has(PlantedBug::MissingIndexUpdate) && is_unindexed(&found.memory.entry)));
                Ok(found)
            })
        }
    }
}

around! {
    ChangeWatch {
        fn change_tokens() -> ChangeTokens;
        fn wait_for_change(usual: Duration, longest: Duration) -> ();
    }
}

around! {
    Changes {
        fn changes(limit: usize) -> Vec<Change>;
        fn undoable() -> Option<Undoable>;
        fn erasure_mark() -> ErasureMark;
    }
    by hand {
        fn apply(&self, change: &Change, ops: &[Op], last: &mut dyn FnMut() -> bool) -> Stored<Vec<Entry>> {
            self.call("apply", |store| {
                self.pending.catch_up(store)?;
                if self.has(PlantedBug::PointerPastTurn) {
                    return store.apply(change, &past_every_turn(store, ops)?, last);
                }
                store.apply(change, ops, last)
            })
        }
    }
}

around! {
    Entries {
        fn memory(id: &EntryId) -> Option<Memory>;
        fn keyed(namespace: &Namespace, project: Option<&str>, key: &str) -> Option<Entry>;
        fn resolve(reference: &str) -> Vec<EntryId>;
        fn list(filter: &Filter, page: &Page) -> Listing;
    }
}

around! {
    Eraser {
        fn erase(erasure: &Erasure) -> Erased;
    }
    by hand {
        fn make_room(&self) -> bool {
            self.inner.make_room()
        }

        fn removing(&self, begins: bool) {
            self.inner.removing(begins);
        }
    }
}

around! {
    Health {
        fn stats() -> StoreStats;
        fn check() -> Vec<String>;
        fn tidy() -> Vec<String>;
    }
    by hand {
        fn hindrances(&self) -> Vec<String> {
            self.inner.hindrances()
        }

        fn ending(&self) {
            self.inner.ending();
        }

        fn trim(&self) {
            self.inner.trim();
        }
    }
}

around! {
    History {
        fn entry_versions(id: &EntryId) -> Vec<EntryVersion>;
        fn document_versions(name: &DocumentName) -> Vec<DocumentVersion>;
        fn document_changed_at(name: &DocumentName) -> Option<Timestamp>;
        fn known_documents() -> Vec<KnownDocument>;
    }
}

around! {
    Index {
        fn replace_bullets(name: &DocumentName, hash: &ContentHash, stamp: Option<&str>, bullets: &[Entry]) -> ();
        fn keep_up() -> ();
        fn rebuild(progress: &mut dyn FnMut(u64, u64)) -> u64;
    }
    by hand {
        fn has_upkeep(&self) -> bool {
            self.inner.has_upkeep()
        }
    }
}

around! {
    Injections {
        fn injected(session: &SessionId) -> Vec<EntryId>;
        fn note_injected(session: &SessionId, memories: &[EntryId]) -> ();
        fn note_given(given: &NewlyGiven<'_>) -> Option<String>;
    }
}

around! {
    Jobs {
        fn note_run(run: &Run) -> ();
        fn runs(job: Job, limit: usize) -> Vec<Run>;
    }
}

around! {
    Leases {
        fn acquire(lease: &Lease, now: Timestamp, gone: &dyn Fn(&Holder) -> bool) -> bool;
        fn lease(name: &str) -> Option<Lease>;
        fn release(lease: &Lease) -> ();
    }
}

around! {
    Ledger {
        fn spend(spent: &Spent) -> ();
        fn spending(since: &str) -> Vec<Spent>;
    }
}

around! {
    MemoryVectors {
        fn memory_sets() -> Vec<MemorySet>;
        fn begin_memory_set(by: &MadeBy, baseline: &Baseline) -> MemorySet;
        fn unembedded_memories(limit: usize) -> Vec<UnembeddedMemory>;
        fn count_unembedded_memories() -> u64;
        fn keep_memory_vectors(set: &VectorSetId, made: &[MemoryVector]) -> ();
        fn finish_memory_set(set: &VectorSetId) -> bool;
        fn count_memory_vectors(set: &VectorSetId) -> (u64, u64);
        fn nearest_memories(set: &VectorSetId, query: &[f32], filter: &Filter, limit: usize) -> Vec<(EntryId, Kind, f64)>;
        fn cosines(set: &VectorSetId, query: &[f32], marks: &[CandidateMark]) -> Vec<Option<f64>>;
    }
}

around! {
    Mutes {
        fn mutes() -> Vec<Mute>;
        fn mute(mute: &Mute) -> ();
        fn unmute(memory: &EntryId, project: Option<&str>) -> bool;
    }
}

around! {
    OffRecord {
        fn pauses() -> Vec<Pause>;
        fn begin_pause(pause: &Pause) -> ();
        fn end_pauses(at: Timestamp) -> ();
        fn note_unkept(session: &SessionId, turns: &[TurnId], is_latest: bool) -> ();
        fn unkept(session: &SessionId) -> Vec<TurnId>;
        fn is_latest_unkept(session: &SessionId) -> bool;
    }
}

around! {
    Projects {
        fn projects() -> Vec<Project>;
        fn project(name: &Name) -> Option<Project>;
        fn project_names() -> Vec<String>;
        fn roots() -> Vec<ProjectRoot>;
        fn name_root(root: &ProjectRoot) -> ();
        fn accepted_lines(project: &Name) -> HashSet<EntryId>;
        fn accept_lines(project: &Name, lines: &[EntryId]) -> ();
    }
}

around! {
    Recalls {
        fn recalls(session: Option<&SessionId>, limit: usize) -> Vec<RecallRecord>;
        fn recall_record(id: &RecallId) -> Option<RecallRecord>;
    }
    by hand {
        fn note(&self, recall: RecallRecord) {
            self.inner.note(recall);
        }
    }
}

around! {
    Reflections {
        fn note_pass(pass: &Pass) -> ();
        fn passes(target: Option<&str>, limit: usize) -> Vec<Pass>;
    }
}

around! {
    Reviews {
        fn unseen(page: &Page) -> UnseenPage;
        fn note_seen(memory: &EntryId, at: Timestamp) -> ();
        fn note_unseen(memory: &EntryId) -> ();
        fn touched(change: &ChangeId) -> Option<Undoable>;
    }
}

around! {
    Sessions {
        fn sessions() -> Vec<SessionState>;
        fn session(id: &SessionId) -> Option<SessionState>;
        fn session_page(channel: Option<&str>, page: &Page) -> SessionPage;
        fn open_session(new: &NewSession) -> SessionState;
        fn open_new_session(new: &NewSession) -> Option<SessionState>;
        fn set_opening(id: &SessionId, opening: &str, since: &ErasureMark) -> String;
        fn reset_session(id: &SessionId) -> ();
        fn end_session(id: &SessionId, at: Timestamp) -> ();
        fn due_sessions(rules: &DueRules, among: &Among) -> Vec<Backlog>;
        fn note_failure(session: &SessionId) -> u32;
    }
}

around! {
    Tasks {
        fn tasks() -> Vec<Task>;
        fn done_tasks(limit: usize) -> Vec<Task>;
        fn done_tasks_sharing(words: &[String], limit: usize) -> Vec<Task>;
        fn task(id: &TaskId) -> Option<Task>;
        fn task_versions(id: &TaskId) -> Vec<TaskVersion>;
    }
}

around! {
    Threads {
        fn open_threads(namespace: &Name) -> Vec<Thread>;
        fn shown_threads(namespace: &Name) -> Vec<Thread>;
        fn thread_of(namespace: &Name, session: &SessionId) -> Option<Thread>;
    }
}

around! {
    Transfer {
        fn bundle() -> Bundle;
        fn note_export(path: &str) -> ();
        fn exports() -> Vec<String>;
    }
    by hand {
        fn adopt(
            &self,
            change: &Change,
            bundle: &Bundle,
            since: &ErasureMark,
            last: &mut dyn FnMut(&Adopted) -> bool,
        ) -> Stored<Adopted> {
            self.call("adopt", |store| store.adopt(change, bundle, since, last))
        }
    }
}

around! {
    Turns {
        fn append(turns: &[Turn]) -> usize;
        fn append_imported(sessions: &[NewSession], turns: &[Turn]) -> usize;
        fn turns_named(reference: &str, limit: usize) -> Vec<Turn>;
        fn turns_after(id: &SessionId, after: Position) -> Vec<(Position, Turn)>;
        fn turn_page(id: &SessionId, after: Option<&TurnId>, limit: usize) -> Option<Vec<Turn>>;
        fn first_messages(sessions: &[SessionId]) -> Vec<Option<String>>;
        fn said_after(of: &TurnsOf, after: &TurnMark, since: Timestamp, limit: usize) -> (Vec<Turn>, TurnMark);
        fn remove_old(until: Timestamp, unread_until: Timestamp, limit: usize) -> usize;
    }
    by hand {
        fn append_to(&self, session: &NewSession, turns: &[Turn]) -> Stored<usize> {
            self.call("append_to", |store| {
                self.pending.catch_up(store)?;
                if self.has(PlantedBug::AcknowledgeBeforeCommit) {
                    return Ok(self.pending.acknowledge(session, turns));
                }
                store.append_to(session, turns)
            })
        }
    }
}

around! {
    Vault {
        fn vault_documents() -> Vec<VaultDocument>;
        fn replace_documents(documents: &[(VaultDocument, Vec<Chunk>)]) -> ();
        fn restamp_document(document: &VaultDocument) -> ();
        fn remove_documents(ids: &[VaultId], left_out: &[String]) -> u64;
        fn left_out() -> Vec<String>;
        fn take_in_again(paths: &[String]) -> ();
        fn chunks_of(document: &VaultId) -> Vec<Chunk>;
        fn unread_files() -> Vec<UnreadFile>;
        fn note_unread_files(unread: &[UnreadFile], others: &[String]) -> ();
        fn vault_size() -> (u64, u64);
    }
}

around! {
    Vectors {
        fn vector_sets() -> Vec<VectorSet>;
        fn refused(by: &MadeBy) -> u64;
        fn without_vector(by: &MadeBy, after: &ChunkMark, limit: usize) -> (Vec<(EntryId, String)>, ChunkMark);
        fn keep_vectors(by: &MadeBy, made: &Made) -> ();
        fn serve_if_complete(by: &MadeBy) -> bool;
        fn nearest(set: &VectorSetId, query: &[f32], limit: usize) -> Vec<(Passage, f64)>;
    }
}

around! {
    Withdrawals {
        fn withdrawn(turns: &[TurnId], sessions: &[SessionId]) -> Option<Vec<Withdrawn>>;
    }
    by hand {
        fn withdrawals_of(&self, texts: &[String]) -> Stored<Vec<Option<Withdrawn>>> {
            if self.has(PlantedBug::DroppedTombstone) {
                return Ok(vec![None; texts.len()]);
            }
            self.call("withdrawals_of", |store| store.withdrawals_of(texts))
        }

        fn erased_turns(&self, turns: &[TurnId]) -> Stored<HashSet<TurnId>> {
            if self.has(PlantedBug::DroppedTombstone) {
                return Ok(HashSet::new());
            }
            self.call("erased_turns", |store| store.erased_turns(turns))
        }
    }
}
