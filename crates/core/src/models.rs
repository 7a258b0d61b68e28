//! Calls to models: within the day's budget, written to the ledger. Circuit-breaker state, kept between processes.

use crate::error::Done;
use crate::kernel::Kernel;
use crate::ports::{self, Breaker, Brief, Cost, Model, ModelError, Purpose, Reply, Spent};

/// Calls models.
#[derive(Clone, Copy)]
pub struct ModelService<'e> {
    pub(crate) kernel: Kernel<'e>,
    pub(crate) breakers: &'e dyn ports::Breakers,
    pub(crate) ledger: &'e dyn ports::Ledger,
}

impl ModelService<'_> {
    /// Asks a model, within the day's budget, and writes the ledger.
    pub fn ask(
        &self,
        model: &dyn Model,
        brief: &Brief,
        sink: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Reply, ModelError> {
        let asked = (model.provider(), model.name(), brief.purpose());
        self.within_budget(asked, model.cost(), || {
            let reply = model.complete(brief, sink)?;
            let (tokens_in, tokens_out) = (reply.tokens_in, reply.tokens_out);
            Ok((reply, tokens_in, tokens_out))
        })
    }

    /// Calls a model, by its provider, name and purpose, as long as the day's budget lasts; what it gives comes with the
    /// tokens that were sent and that came back, for the ledger.
    pub(crate) fn within_budget<T>(
        &self,
        (provider, name, purpose): (&str, &str, Purpose),
        cost: Cost,
        call: impl FnOnce() -> Result<(T, u64, u64), ModelError>,
    ) -> Result<T, ModelError> {
        // Not the time at which the verb began: work may go on past midnight.
        let day = self.kernel.clock.now().strftime("%Y-%m-%d").to_string();
        let budget = self.kernel.settings.daily_tokens;
        if budget > 0 && cost == Cost::Tokens && self.spent_on(&day) >= budget {
            return Err(ModelError::BudgetSpent { budget });
        }
        let outcome = call();
        let (tokens_in, tokens_out) = match (cost, &outcome) {
            (Cost::Tokens, Ok((_, tokens_in, tokens_out))) => (*tokens_in, *tokens_out),
            _ => (0, 0),
        };
        let spent = Spent {
            day,
            provider: provider.to_owned(),
            model: name.to_owned(),
            purpose,
            calls: u64::from(outcome.is_ok()),
            failures: u64::from(outcome.is_err()),
            tokens_in,
            tokens_out,
        };
        if let Err(error) = self.ledger.spend(&spent) {
            tracing::warn!(%error, "the ledger could not be written");
        }
        outcome.map(|(value, ..)| value)
    }

    fn spent_on(&self, day: &str) -> u64 {
        let rows = self.ledger.spending(day).unwrap_or_default();
        rows.iter().map(|row| row.tokens_in + row.tokens_out).sum()
    }

    /// What models cost since a day.
    pub fn spending(&self, since: &str) -> Done<Vec<Spent>> {
        Ok(self.ledger.spending(since)?)
    }

    /// How a model fared lately, as far as that is known; `model` names it and where it is.
    pub fn breaker(&self, model: &str) -> Option<Breaker> {
        self.breakers.breaker(model).unwrap_or_else(|error| {
            tracing::warn!(%error, "how the model fared lately is not known");
            None
        })
    }

    /// Keeps how a model fares, for other processes.
    pub fn keep_breaker(&self, model: &str, breaker: &Breaker) {
        if let Err(error) = self.breakers.keep_breaker(model, breaker) {
            tracing::warn!(%error, "how the model fares could not be kept");
        }
    }
}
