//! Who embeds questions: the embedder of each set of vectors, made when it is first needed and kept.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use throughline_core::engine::chain;
use throughline_core::ports::{Embedder, Embedders, MadeBy};

use crate::embedders;
use crate::world::World;

/// An embedder that was looked for; nothing where it cannot be asked.
type Known = (MadeBy, Option<Arc<dyn Embedder>>);

/// Embedders for questions. A remote one has `limit` to answer.
struct QuestionEmbedders {
    world: World,
    limit: Duration,
    known: Mutex<Vec<Known>>,
}

impl World {
    /// The same memory, in which a remote embedder has so long to embed a question. Costs nothing until the first one.
    pub(crate) fn asking_within(self, limit: Duration) -> Self {
        let embedders = QuestionEmbedders { world: self.clone(), limit, known: Mutex::default() };
        let engine = self.engine.clone().with_embedders(Arc::new(embedders));
        Self { engine, ..self }
    }
}

impl Embedders for QuestionEmbedders {
    fn for_questions(&self, by: &MadeBy) -> Option<Arc<dyn Embedder>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, embedder)) = known.iter().find(|(known, _)| known == by) {
            return embedder.clone();
        }
        let embedder = embedders::for_asking(&self.world, by, self.limit).unwrap_or_else(|error| {
            tracing::warn!(error = chain(&error), %by, "questions are not embedded");
            None
        });
        known.push((by.clone(), embedder.clone()));
        embedder
    }
}
