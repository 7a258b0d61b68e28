//! What every service stands on: one reading of the clock, new ids, transactions, retries on conflict, leases.

use jiff::{SignedDuration, Timestamp, Zoned};

use crate::error::{Done, EngineError};
use crate::model::{Actor, Change, ChangeId, Entry, Namespace, SessionId, Verb};
use crate::ports::{
    Changes, Clock, ErasureMark, Holder, Ids, Lease, Leases, Op, ReadingAhead, ReadsAhead, StoreError, Upcoming,
};
use crate::settings::Settings;

/// How often a write is decided anew after a conflict. Each conflict means that another writer made progress.
const TRIES: usize = 64;

/// How long a lease lasts if its holder neither finishes nor dies.
const LEASE: SignedDuration = SignedDuration::from_mins(10);

/// Who is at work, and how to tell that another worker is gone.
pub struct Worker<'a> {
    /// This worker.
    pub holder: Holder,
    /// Whether another worker of this host is known to be gone.
    pub is_gone: &'a dyn Fn(&Holder) -> bool,
}

/// What one verb works with. The clock is read once, when the verb begins: all that a verb writes has one time. Leases and
/// the budget, which long work meets again and again, read it anew.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<'e> {
    pub(crate) changes: &'e dyn Changes,
    pub(crate) leases: &'e dyn Leases,
    pub(crate) ahead: &'e dyn ReadsAhead,
    pub(crate) clock: &'e dyn Clock,
    pub(crate) ids: &'e dyn Ids,
    pub(crate) settings: &'e Settings,
    pub(crate) actor: &'e Actor,
    pub(crate) now: Timestamp,
}

impl<'e> Kernel<'e> {
    /// The same verb in somebody else's name.
    pub(crate) fn acting<'a>(self, actor: &'a Actor) -> Kernel<'a>
    where
        'e: 'a,
    {
        Kernel { actor, ..self }
    }
}

impl Kernel<'_> {
    /// An identifier that was never given before.
    pub(crate) fn new_id(&self) -> String {
        self.ids.next()
    }

    /// Now, where the person is.
    pub(crate) fn local_now(&self) -> Zoned {
        self.now.to_zoned(self.settings.zone.clone())
    }

    /// Where new entries go: the person's facts, or `global` where no namespace is set.
    pub(crate) fn facts(&self) -> Namespace {
        self.settings.namespace.clone().map_or(Namespace::Global, Namespace::Facts)
    }

    /// Tells the store what this verb reads from here on, until what this gives is dropped.
    pub(crate) fn reading(&self, upcoming: Upcoming<'_>) -> ReadingAhead {
        self.ahead.read_ahead(&Upcoming { person: self.settings.namespace.as_ref(), ..upcoming })
    }

    /// The same for a verb about a conversation.
    pub(crate) fn reading_of(&self, session: &SessionId) -> ReadingAhead {
        self.reading(Upcoming { session: Some(session), ..Upcoming::default() })
    }

    /// A change that this actor makes now.
    pub(crate) fn change(&self, verb: Verb) -> Change {
        let id = ChangeId::new(self.new_id());
        Change { id, actor: self.actor.clone(), verb, at: self.now, undoes: None }
    }

    /// Applies operations as one change, in one transaction; durable when it returns.
    pub(crate) fn apply(&self, verb: Verb, ops: &[Op]) -> Result<Vec<Entry>, StoreError> {
        self.changes.apply(&self.change(verb), ops, &mut || true)
    }

    /// Does work that writes what it makes of stored texts. It is given a mark, which its write carries ([`Op::Unerased`]):
    /// where something was erased in between, it begins again, from what is left.
    pub(crate) fn unless_erased<T>(&self, mut work: impl FnMut(&ErasureMark) -> Done<T>) -> Done<T> {
        retry(
            || StoreError::Erased.into(),
            || {
                let since = self.changes.erasure_mark()?;
                match work(&since) {
                    Err(EngineError::Store(StoreError::Erased)) => Ok(None),
                    outcome => outcome.map(Some),
                }
            },
        )
    }

    /// Does work that nobody else may do under this name at the same time; `None` where another worker holds the lease.
    ///
    /// The work is given a function that renews the lease and says whether it is still held. It calls that after
    /// anything that may take long: a lease that expired meanwhile may be another worker's now.
    pub(crate) fn with_lease<T>(
        &self,
        name: &str,
        worker: &Worker<'_>,
        work: impl FnOnce(&dyn Fn() -> Done<bool>) -> Done<T>,
    ) -> Done<Option<T>> {
        let lease = |now: Timestamp| Lease {
            name: name.to_owned(),
            holder: worker.holder.clone(),
            until: now.checked_add(LEASE).unwrap_or(Timestamp::MAX),
        };
        let hold = || {
            let now = self.clock.now();
            Ok(self.leases.acquire(&lease(now), now, worker.is_gone)?)
        };
        if !hold()? {
            return Ok(None);
        }
        let outcome = work(&hold);
        // The work is done either way; a lease that is not released expires.
        if let Err(error) = self.leases.release(&lease(self.clock.now())) {
            tracing::warn!(%error, name, "a lease was not released");
        }
        outcome.map(Some)
    }
}

/// Decides and writes until no other writer was faster. `attempt` reads, decides and applies; `None` makes it start over.
/// `exhausted` is the error after too many attempts.
pub(crate) fn retry<T>(
    exhausted: impl FnOnce() -> EngineError,
    mut attempt: impl FnMut() -> Done<Option<T>>,
) -> Done<T> {
    for _ in 0..TRIES {
        if let Some(done) = attempt()? {
            return Ok(done);
        }
    }
    Err(exhausted())
}

/// The error where other writers were faster every time.
pub(crate) fn conflict(what: impl ToString) -> EngineError {
    StoreError::Conflict { what: what.to_string() }.into()
}

/// Tells a lost race from a failure.
pub(crate) trait Race<T> {
    /// `None` where another writer changed it in between.
    fn unless_outrun(self) -> Done<Option<T>>;
    /// `None` where another writer changed it in between, or took the key.
    fn unless_outrun_or_taken(self) -> Done<Option<T>>;
}

impl<T, E: Into<EngineError>> Race<T> for Result<T, E> {
    fn unless_outrun(self) -> Done<Option<T>> {
        match self.map_err(Into::into) {
            Err(EngineError::Store(StoreError::Conflict { .. })) => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    fn unless_outrun_or_taken(self) -> Done<Option<T>> {
        match self.map_err(Into::into) {
            Err(EngineError::Store(StoreError::KeyTaken { .. })) => Ok(None),
            outcome => outcome.unless_outrun(),
        }
    }
}
