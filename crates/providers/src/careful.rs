//! A model with patience and with limits: bounded tries, and a rest after too many failures.
//!
//! What somebody has read is never taken back: a chat reply that has begun is not tried again. Other briefs give their
//! text to the sink once, when all of it is there. Time is a port, and so is chance.

mod breaker;
mod embedding;
mod pause;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use throughline_core::ports::{Breaker, Brief, Clock, Cost, Model, ModelError, Purpose, Reply, SummaryOf};

use breaker::{Gate, Pass};
pub use embedding::CarefulEmbedder;
pub use pause::{Pause, ThreadPause};

/// How often, how long, how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Tries in all, the first included.
    pub tries: u32,
    /// The first pause; each further one is twice as long.
    pub first_pause: Duration,
    /// The longest pause. A server that asks for a longer one is not tried again.
    pub longest_pause: Duration,
    /// Failures in a row after which the model is left alone.
    pub failures: u32,
    /// For how long.
    pub rest: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            tries: 3,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            failures: 5,
            rest: Duration::from_secs(60),
        }
    }
}

/// Any model, with care.
pub struct Careful<M> {
    model: M,
    policy: Policy,
    clock: Arc<dyn Clock>,
    pause: Arc<dyn Pause>,
    gate: Mutex<Gate>,
    keep: Option<Keep>,
}

/// Told how a provider fares, whenever that changes.
type Keep = Box<dyn Fn(&Breaker) + Send + Sync>;

impl<M: Model> Careful<M> {
    /// With the usual limits.
    pub fn new(model: M, clock: Arc<dyn Clock>, pause: Arc<dyn Pause>) -> Self {
        Self::with_policy(model, clock, pause, Policy::default())
    }

    /// With limits of its own.
    pub fn with_policy(model: M, clock: Arc<dyn Clock>, pause: Arc<dyn Pause>, policy: Policy) -> Self {
        Self { model, policy, clock, pause, gate: Mutex::default(), keep: None }
    }

    /// The same, and this hears of every change of the breaker, so that the next process can know.
    #[must_use]
    pub fn keeping(self, keep: impl Fn(&Breaker) + Send + Sync + 'static) -> Self {
        Self { keep: Some(Box::new(keep)), ..self }
    }

    /// What the next process should know.
    pub fn breaker(&self) -> Breaker {
        self.lock().breaker()
    }

    /// Goes on from what an earlier process knew.
    pub fn restore(&self, breaker: Breaker) {
        *self.lock() = Gate::from(breaker);
    }

    fn lock(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One try, if the breaker lets it through.
    fn try_once(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        let Some(pass) = self.lock().enter(self.clock.now(), &self.policy) else {
            return Err(ModelError::Resting { provider: self.model.provider() });
        };
        let _visit = Visit { gate: &self.gate, pass };
        let result = self.model.complete(brief, sink);
        match &result {
            Err(error) if error.is_passing() => {
                let now = self.clock.now();
                self.change(|gate| gate.failed(pass, now, &self.policy));
            }
            Ok(_) | Err(ModelError::Refused { .. }) => self.change(Gate::answered),
            // It says nothing about the server.
            Err(_) => {}
        }
        result
    }

    /// Changes the breaker; whoever keeps it is told outside the lock, and only of what is new.
    fn change(&self, change: impl FnOnce(&mut Gate)) {
        let (before, after) = {
            let mut gate = self.lock();
            let before = gate.breaker();
            change(&mut gate);
            (before, gate.breaker())
        };
        if let Some(keep) = self.keep.as_ref().filter(|_| before != after) {
            keep(&after);
        }
    }

    /// How long to wait before the next try; `None` is the end of the tries.
    fn patience(&self, tried: u32, error: &ModelError) -> Option<Duration> {
        if !error.is_passing() || tried >= self.policy.tries || self.lock().is_open(self.clock.now(), &self.policy) {
            return None;
        }
        let longest = self.policy.longest_pause;
        let doubled = self.policy.first_pause.saturating_mul(1_u32.checked_shl(tried - 1).unwrap_or(u32::MAX));
        let spread = 0.5 + self.pause.chance().clamp(0.0, 1.0) / 2.0;
        let own = doubled.min(longest).mul_f64(spread);
        match error {
            ModelError::Refused { retry_after: Some(asked), .. } => (*asked <= longest).then(|| own.max(*asked)),
            _ => Some(own),
        }
    }

    /// Tries until it works, no try is left, or something was said that cannot be taken back.
    fn persist(
        &self,
        brief: &Brief,
        sink: &mut dyn FnMut(&str) -> bool,
        has_begun: &dyn Fn() -> bool,
    ) -> Result<Reply, ModelError> {
        let mut tried = 1;
        loop {
            let error = match self.try_once(brief, sink) {
                Err(error) if !has_begun() => error,
                result => return result,
            };
            let Some(wait) = self.patience(tried, &error) else { return Err(error) };
            tracing::debug!(provider = self.model.provider(), tried, ?wait, %error, "trying again");
            if !self.pause.pause(wait, &mut || sink("")) {
                return Err(ModelError::Cancelled);
            }
            tried += 1;
        }
    }
}

impl<M: Model> Model for Careful<M> {
    fn provider(&self) -> &'static str {
        self.model.provider()
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    fn cost(&self) -> Cost {
        self.model.cost()
    }

    fn summarises(&self) -> SummaryOf {
        self.model.summarises()
    }

    fn can_chat(&self) -> bool {
        self.model.can_chat()
    }

    fn context_window(&self) -> Option<usize> {
        self.model.context_window()
    }

    fn complete(&self, brief: &Brief, sink: &mut dyn FnMut(&str) -> bool) -> Result<Reply, ModelError> {
        if brief.purpose() == Purpose::Chat {
            let has_begun = std::cell::Cell::new(false);
            let mut sink = |piece: &str| {
                has_begun.set(has_begun.get() || !piece.is_empty());
                sink(piece)
            };
            return self.persist(brief, &mut sink, &|| has_begun.get());
        }
        let reply = self.persist(brief, &mut |_| sink(""), &|| false)?;
        if reply.text.is_empty() || sink(&reply.text) { Ok(reply) } else { Err(ModelError::Cancelled) }
    }
}

/// A call that was let through. A probe gives its place back whatever happens, even if the sink panics.
struct Visit<'a> {
    gate: &'a Mutex<Gate>,
    pass: Pass,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner).leave(self.pass);
    }
}
