//! An embedder with patience and with limits, as for models: bounded tries, and a rest after too many failures.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use throughline_core::ports::{Breaker, Clock, EmbedFor, Embedder, ModelError};

use super::breaker::Gate;
use super::{Keep, Pause, Policy};

/// Any embedder, with care.
pub struct CarefulEmbedder<E> {
    embedder: E,
    policy: Policy,
    clock: Arc<dyn Clock>,
    pause: Arc<dyn Pause>,
    gate: Mutex<Gate>,
    keep: Keep,
}

impl<E: Embedder> CarefulEmbedder<E> {
    /// Goes on from what an earlier process knew; `keep` hears of every change, so that the next one can.
    pub fn new(
        embedder: E,
        clock: Arc<dyn Clock>,
        pause: Arc<dyn Pause>,
        policy: Policy,
        breaker: Breaker,
        keep: impl Fn(&Breaker) + Send + Sync + 'static,
    ) -> Self {
        Self { embedder, policy, clock, pause, gate: Mutex::new(Gate::from(breaker)), keep: Box::new(keep) }
    }

    fn try_once(&self, texts: &[String], purpose: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        let pass = self.with_gate(|gate| gate.enter(self.clock.now(), &self.policy));
        let Some(pass) = pass else { return Err(ModelError::Resting { provider: self.embedder.provider() }) };
        let result = self.embedder.embed(texts, purpose);
        let now = self.clock.now();
        self.with_gate(|gate| {
            match &result {
                Err(error) if error.is_passing() => gate.failed(pass, now, &self.policy),
                Ok(_) | Err(ModelError::Refused { .. }) => gate.answered(),
                Err(_) => {}
            }
            gate.leave(pass);
        });
        result
    }

    /// Works on the breaker; whoever keeps it is told outside the lock, and only of what is new.
    fn with_gate<T>(&self, work: impl FnOnce(&mut Gate) -> T) -> T {
        let (value, before, after) = {
            let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
            let before = gate.breaker();
            let value = work(&mut gate);
            (value, before, gate.breaker())
        };
        if before != after {
            (self.keep)(&after);
        }
        value
    }

    fn patience(&self, tried: u32, error: &ModelError) -> Option<Duration> {
        if !error.is_passing() || tried >= self.policy.tries {
            return None;
        }
        let doubled = self.policy.first_pause.saturating_mul(1_u32.checked_shl(tried - 1).unwrap_or(u32::MAX));
        let own = doubled.min(self.policy.longest_pause).mul_f64(0.5 + self.pause.chance().clamp(0.0, 1.0) / 2.0);
        match error {
            ModelError::Refused { retry_after: Some(asked), .. } => {
                (*asked <= self.policy.longest_pause).then(|| own.max(*asked))
            }
            _ => Some(own),
        }
    }
}

impl<E: Embedder> Embedder for CarefulEmbedder<E> {
    fn provider(&self) -> &'static str {
        self.embedder.provider()
    }

    fn name(&self) -> &str {
        self.embedder.name()
    }

    fn base_url(&self) -> Option<&str> {
        self.embedder.base_url()
    }

    fn embed(&self, texts: &[String], purpose: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut tried = 1;
        loop {
            let error = match self.try_once(texts, purpose) {
                Ok(vectors) => return Ok(vectors),
                Err(error) => error,
            };
            let Some(wait) = self.patience(tried, &error) else { return Err(error) };
            tracing::debug!(provider = self.provider(), tried, ?wait, %error, "trying again");
            self.pause.pause(wait, &mut || true);
            tried += 1;
        }
    }
}
