//! Circuit-breaker state, kept between processes.

use jiff::Timestamp;

use super::Stored;

/// Circuit-breaker state of model providers.
pub trait Breakers {
    /// The state of a provider's breaker; nothing where none was kept.
    fn breaker(&self, provider: &str) -> Stored<Option<Breaker>>;
    /// Keeps the state of a provider's breaker.
    fn keep_breaker(&self, provider: &str, breaker: &Breaker) -> Stored<()>;
}

/// How a provider fared lately: kept between processes, so that a model that fails is left alone by all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Breaker {
    /// Failures in a row.
    pub failures: u32,
    /// Until when the model is left alone; past it, a probe decides.
    pub open_until: Option<Timestamp>,
}
