//! The models that tools of assistants ask for, as they are set up here.

use std::sync::Arc;

use throughline_core::engine::{Consolidation, EngineError, Reflection};
use throughline_core::model::{EntryId, SessionId};
use throughline_core::tools::ToolModels;

use crate::world::World;
use crate::{background, models};

/// A memory whose own models do the work.
pub(crate) struct OwnModels(World);

impl OwnModels {
    /// Without the models of clients: a client that waits for a tool is not asked meanwhile.
    pub(crate) fn of(world: &World) -> Self {
        Self(World { sampling: Arc::default(), ..world.clone() })
    }

    /// A client that is asked may take minutes: no tool waits for its turn behind that.
    fn is_impatient(&self) -> bool {
        models::uses_sampling(&self.0.config.config)
    }
}

impl ToolModels for OwnModels {
    fn distill(&self, agent: Option<&str>) -> Result<Option<Reflection>, EngineError> {
        match agent {
            Some(agent) => background::reflect_for(&self.0, agent, false, &|| self.is_impatient()),
            None => background::reflect_until(&self.0, None, false, &|| self.is_impatient()),
        }
    }

    fn summarise(&self, session: &SessionId) -> Result<Option<EntryId>, EngineError> {
        match background::consolidate_until(&self.0, session, None, &|| self.is_impatient())? {
            Consolidation::Busy => Err(busy()),
            _ => self.0.engine.consolidation().summary_of(session),
        }
    }
}

/// As for a reflection.
fn busy() -> EngineError {
    EngineError::Invalid { field: "a summary", problem: "is under way already; try again in a moment".to_owned() }
}
