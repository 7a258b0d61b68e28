//! The models that tools of assistants ask for, as they are set up here.

use throughline_core::engine::{EngineError, Reflection};
use throughline_core::model::{EntryId, SessionId};
use throughline_core::tools::ToolModels;

use crate::background;
use crate::world::World;

/// A memory whose own models do the work.
pub(crate) struct OwnModels(pub(crate) World);

impl ToolModels for OwnModels {
    fn distill(&self, agent: Option<&str>) -> Result<Option<Reflection>, EngineError> {
        match agent {
            Some(agent) => background::reflect_for(&self.0, agent, false),
            None => background::reflect(&self.0, None, false),
        }
    }

    fn summarise(&self, session: &SessionId) -> Result<Option<EntryId>, EngineError> {
        background::summarise(&self.0, session)
    }
}
