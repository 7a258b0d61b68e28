//! Conversations that were imported and of which no memories are made yet: how many, and what that takes.

use throughline_core::engine::EngineError;
use throughline_core::model::{SessionId, SessionState};
use throughline_server::Ahead;

use crate::models;
use crate::world::World;

/// Turns that the rules in this program read in a second, and the least that a conversation takes, in seconds: measured on
/// two slow cores.
const TURNS_A_SECOND: f64 = 120.0;
const A_CONVERSATION: f64 = 0.05;

/// Whether memories of them are made without being asked for: nothing has to be paid, and nothing is sent.
pub(crate) fn is_free(world: &World) -> bool {
    models::is_offline(&world.config.config)
}

/// Those that wait, the oldest first.
pub(crate) fn waiting(world: &World) -> Result<Vec<SessionId>, EngineError> {
    let states = world.engine.sessions().all()?;
    Ok(states.into_iter().rev().filter(SessionState::waits_since_import).map(|state| state.session.id).collect())
}

/// What is ahead of them; nothing where none waits.
pub(crate) fn ahead(world: &World) -> Result<Option<Ahead>, EngineError> {
    let states = world.engine.sessions().all()?;
    let waiting: Vec<_> = states.iter().filter(|state| state.waits_since_import()).collect();
    let turns = waiting.iter().map(|state| (state.imported_to.number() - state.consolidated.number()) as u64).sum();
    Ok(estimate(waiting.len() as u64, turns, is_free(world)))
}

fn estimate(conversations: u64, turns: u64, is_free: bool) -> Option<Ahead> {
    let seconds = (turns as f64 / TURNS_A_SECOND).max(conversations as f64 * A_CONVERSATION).ceil() as u64;
    (conversations > 0).then_some(Ahead {
        conversations,
        turns,
        started: false,
        seconds: is_free.then_some(seconds),
        requests: (!is_free).then_some(2 * conversations),
        command: "throughline session consolidate --all --imported",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_names_seconds_where_it_is_free_and_requests_where_a_model_is_asked() {
        assert_eq!(estimate(0, 0, true), None);
        let told = |conversations, turns, is_free| {
            estimate(conversations, turns, is_free).map(|ahead| (ahead.seconds, ahead.requests))
        };
        assert_eq!(told(3, 1_200, true), Some((Some(10), None)));
        assert_eq!(told(1_000, 1_200, true), Some((Some(50), None)), "each takes a moment");
        assert_eq!(told(3, 1_200, false), Some((None, Some(6))));
    }
}
