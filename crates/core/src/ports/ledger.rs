//! The ledger: what models cost.

use super::{Purpose, Stored};

/// What models cost, per day.
pub trait Ledger {
    /// Adds to the ledger.
    fn spend(&self, spent: &Spent) -> Stored<()>;
    /// What was spent since a day, newest first.
    fn spending(&self, since: &str) -> Stored<Vec<Spent>>;
}

/// What a model cost on a day, for a purpose.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Spent {
    /// `YYYY-MM-DD`, in UTC.
    pub day: String,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// What for.
    pub purpose: Purpose,
    /// Calls that gave a reply.
    pub calls: u64,
    /// Calls that did not.
    pub failures: u64,
    /// Tokens that were sent.
    pub tokens_in: u64,
    /// Tokens that came back.
    pub tokens_out: u64,
}
