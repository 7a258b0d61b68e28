//! The engine and the model, side by side.

use throughline_core::engine::{Edit, EngineError};
use throughline_core::model::EntryId;
use throughline_core::ports::StoreError;
use throughline_testkit::{Fresh, World};

use super::acts::Act;
use super::plain::{Model, State};

pub(crate) struct Pair {
    pub(crate) world: World,
    pub(crate) model: Model,
    /// The place of the store: dropped after the world.
    _fresh: Fresh,
}

impl Pair {
    pub(crate) fn new() -> Self {
        let fresh = Fresh::new(crate::fixture());
        Self { world: World::around(fresh.store()), model: Model::default(), _fresh: fresh }
    }

    /// Does one thing to both, and compares what it touched.
    pub(crate) fn act(&mut self, act: &Act) {
        self.world.clock.advance(jiff::SignedDuration::from_secs(1));
        match act {
            Act::Remember { content, key, project, tag, layer } => {
                let tags = tag.iter().cloned().collect();
                let (content, key, project) = (content.clone(), key.clone(), project.clone());
                let status = throughline_core::model::Status::Active;
                let (task, supersedes) = (None, Vec::new());
                self.remember(State { content, key, project, task, layer: *layer, tags, supersedes, status });
            }
            Act::EditText { which, content } => {
                let edit = Edit { content: Some(content.clone()), ..Edit::default() };
                self.edit(which, &edit, |state| State { content: content.clone(), ..state });
            }
            Act::EditKey { which, key } => {
                let edit = Edit { key: Some(key.clone()), ..Edit::default() };
                self.edit(which, &edit, |state| State { key: key.clone(), ..state });
            }
            Act::Forget { which } => self.forget_one(which),
            Act::ForgetByKey { key } => self.forget_by_key(key),
            Act::Restore { which, version } => self.restore(which, *version),
            Act::Correct { which, content, tag } => self.correct(which, content, tag.as_ref()),
            Act::Merge { first, others, alike, content } => self.merge(first, others, *alike, content.as_deref()),
            Act::Undo => self.undo(),
            Act::Recall { word } => self.recall(word),
            Act::List { status } => self.list(*status),
            Act::AddTask { title, state, project } => self.add_task(title, state, project.as_ref()),
            Act::UpdateTask { which, change } => self.update_task(*which, change),
            Act::FinishTask { which, conclusion } => self.finish_task(*which, conclusion.as_deref()),
            Act::ReopenTask { which } => self.set_status(*which, throughline_core::model::TaskStatus::Open),
            Act::RemoveTask { which } => self.set_status(*which, throughline_core::model::TaskStatus::Removed),
        }
    }

    /// A memory that was not there before.
    pub(crate) fn is_new(&self, id: &EntryId) -> bool {
        !self.model.memories.contains_key(id)
    }
}

/// What was done, or that the key is another's. Anything else that fails is a failure.
pub(crate) fn unless_taken<T>(got: Result<T, EngineError>) -> Option<T> {
    match got {
        Ok(done) => Some(done),
        Err(EngineError::Store(StoreError::KeyTaken { .. })) => None,
        Err(error) => panic!("{error:?}"),
    }
}
