//! The model that makes memories of conversations: the one in use, and those that are here.

use serde::Serialize;

use super::plan::Done;
use crate::cli::model::choose::choose;
use crate::models::available::{Available, Choice};

/// A model, and which of its own where it has to be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) choice: Choice,
    pub(super) model: Option<String>,
}

/// What becomes of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct Step {
    /// The one in use.
    pub(in crate::cli) now: String,
    pub(in crate::cli) costs: &'static str,
    /// The one that takes its place, and what that costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) choose: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) then_costs: Option<&'static str>,
    #[serde(skip)]
    chosen: Option<Chosen>,
}

/// Those that could be chosen now.
pub(super) fn offers(models: &[Available]) -> Vec<&Available> {
    let is_offered = |model: &&Available| model.available && !model.chosen && Choice::named(&model.name).is_some();
    models.iter().filter(is_offered).collect()
}

/// Decides.
pub(super) fn plan(models: &[Available], chosen: Option<&Chosen>) -> Step {
    let now = models.iter().find(|model| model.chosen);
    Step {
        now: now.map_or("offline".to_owned(), |model| model.name.clone()),
        costs: now.map_or(Choice::Offline.costs(), |model| model.costs),
        choose: chosen.map(|chosen| chosen.choice.as_str()),
        then_costs: chosen.map(|chosen| chosen.choice.costs()),
        chosen: chosen.cloned(),
    }
}

/// Tries the model and chooses it; one that does not work is not chosen.
pub(super) fn act(step: &Step, done: &mut Done) {
    let Some(Chosen { choice, model }) = &step.chosen else { return };
    match choose(*choice, model.clone()) {
        Ok(told) => done.did(told),
        Err(failure) => done.failed(format!("{} was not chosen: {failure}", choice.as_str())),
    }
}
