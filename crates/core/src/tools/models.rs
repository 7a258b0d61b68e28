//! What tools ask of the program that runs them: models are set up there.

use crate::error::{Done, EngineError};
use crate::model::{EntryId, SessionId};
use crate::reflection::Reflection;

/// Work with a model that a tool asks for.
pub trait ToolModels: Send + Sync {
    /// Looks back on the person's memory, or on what was said to one agent; none if another pass is under way.
    fn distill(&self, agent: Option<&str>) -> Result<Option<Reflection>, EngineError>;
    /// Sums a conversation up as it stands; gives the entry in the archive, or nothing where nothing was said.
    fn summarise(&self, session: &SessionId) -> Result<Option<EntryId>, EngineError>;
}

/// No model is set up.
pub(crate) struct NoToolModels;

impl ToolModels for NoToolModels {
    fn distill(&self, _: Option<&str>) -> Done<Option<Reflection>> {
        Err(missing())
    }

    fn summarise(&self, _: &SessionId) -> Done<Option<EntryId>> {
        Err(missing())
    }
}

fn missing() -> EngineError {
    EngineError::invalid("this tool", "needs a model, and none is set up here")
}
