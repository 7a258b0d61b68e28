//! How models fare, kept between processes.

use crate::ports::Breaker;

use super::Engine;

impl Engine {
    /// How a model fared lately, as far as that is known; `model` names it and where it is.
    pub fn breaker(&self, model: &str) -> Option<Breaker> {
        self.store.breaker(model).unwrap_or_else(|error| {
            tracing::warn!(%error, "how the model fared lately is not known");
            None
        })
    }

    /// Keeps how a model fares, for other processes.
    pub fn keep_breaker(&self, model: &str, breaker: &Breaker) {
        if let Err(error) = self.store.keep_breaker(model, breaker) {
            tracing::warn!(%error, "how the model fares could not be kept");
        }
    }
}
