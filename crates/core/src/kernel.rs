//! What every service stands on: one reading of the clock, new ids, transactions, retries on conflict, leases.

use jiff::{SignedDuration, Timestamp, Zoned};

use crate::error::Done;
use crate::model::{Actor, Change, ChangeId, Entry, Namespace, Verb};
use crate::ports::{Clock, Holder, Ids, Lease, Op, Store, StoreError};
use crate::settings::Settings;

/// How often a write is decided anew after a conflict. Each conflict means that another writer made progress.
pub(crate) const TRIES: usize = 64;

/// How long a lease lasts if its holder neither finishes nor dies.
const LEASE: SignedDuration = SignedDuration::from_mins(10);

/// Who is at work, and how to tell that another worker is gone.
pub struct Worker<'a> {
    /// This worker.
    pub holder: Holder,
    /// Whether another worker of this host is known to be gone.
    pub is_gone: &'a dyn Fn(&Holder) -> bool,
}

/// What one verb works with. The clock is read once, when the verb begins.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<'e> {
    pub(crate) store: &'e dyn Store,
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

    /// A change that this actor makes now.
    pub(crate) fn change(&self, verb: Verb) -> Change {
        let id = ChangeId::new(self.new_id());
        Change { id, actor: self.actor.clone(), verb, at: self.now, undoes: None }
    }

    /// Applies operations as one change, in one transaction; durable when it returns.
    pub(crate) fn apply(&self, verb: Verb, ops: &[Op]) -> Result<Vec<Entry>, StoreError> {
        self.store.apply(&self.change(verb), ops, &mut || true)
    }

    /// Decides and writes until no other writer was faster. `attempt` reads, decides and applies; a conflict, or `None`,
    /// makes it start over. `what` names the thing in the error after too many conflicts.
    pub(crate) fn retry<T>(&self, what: &str, mut attempt: impl FnMut() -> Done<Option<T>>) -> Done<T> {
        for _ in 0..TRIES {
            match attempt() {
                Ok(Some(done)) => return Ok(done),
                Ok(None) => {}
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Conflict { what: what.to_owned() }.into())
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
            Ok(self.store.acquire(&lease(now), now, worker.is_gone)?)
        };
        if !hold()? {
            return Ok(None);
        }
        let outcome = work(&hold);
        // The work is done either way; a lease that is not released expires.
        if let Err(error) = self.store.release(&lease(self.clock.now())) {
            tracing::warn!(%error, name, "a lease was not released");
        }
        outcome.map(Some)
    }
}
