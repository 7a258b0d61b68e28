//! An embedder in this process whose vectors know a little about meaning: `car` is near `automobile`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use throughline_core::ports::{EmbedFor, Embedder, Embedders, MadeBy, ModelError};

use crate::model_server::{BAD, vector};

/// An embedder that counts words. It refuses texts with [`BAD`] in them.
pub struct FakeEmbedder {
    provider: &'static str,
    model: String,
    dimension: AtomicUsize,
    fails: AtomicBool,
    texts: Mutex<Vec<String>>,
}

impl FakeEmbedder {
    /// One that runs in this process, as far as anybody can tell.
    pub fn new(model: &str) -> Self {
        Self::of("builtin", model)
    }

    /// One of this provider.
    pub fn of(provider: &'static str, model: &str) -> Self {
        let (dimension, fails) = (AtomicUsize::new(64), AtomicBool::new(false));
        Self { provider, model: model.to_owned(), dimension, fails, texts: Mutex::default() }
    }

    /// Gives vectors of another length from now on.
    pub fn set_dimension(&self, dimension: usize) {
        self.dimension.store(dimension, Ordering::SeqCst);
    }

    /// Cannot be reached from now on, or again.
    pub fn set_failing(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }

    /// Every text that it gave a vector for.
    pub fn texts(&self) -> Vec<String> {
        self.texts.lock().unwrap().clone()
    }
}

impl Embedder for FakeEmbedder {
    fn provider(&self) -> &'static str {
        self.provider
    }

    fn name(&self) -> &str {
        &self.model
    }

    fn base_url(&self) -> Option<&str> {
        None
    }

    fn embed(&self, texts: &[String], _: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        let provider = self.provider;
        if self.fails.load(Ordering::SeqCst) {
            return Err(ModelError::Unreachable { provider, why: "it is down".to_owned() });
        }
        if texts.iter().any(|text| text.contains(BAD)) {
            return Err(ModelError::Refused { provider, status: 400, why: "no".to_owned(), retry_after: None });
        }
        self.texts.lock().unwrap().extend_from_slice(texts);
        let dimension = self.dimension.load(Ordering::SeqCst);
        let numbers = |text: &String| vector(text, dimension).into_iter().map(|number| number as f32).collect();
        Ok(texts.iter().map(numbers).collect())
    }
}

/// These embedders, for whoever asks a question.
pub struct FakeEmbedders(pub Vec<Arc<FakeEmbedder>>);

impl Embedders for FakeEmbedders {
    fn for_questions(&self, by: &MadeBy) -> Option<Arc<dyn Embedder>> {
        let own = self.0.iter().find(|embedder| MadeBy::of(&***embedder).is_same(by))?;
        Some(Arc::clone(own) as Arc<dyn Embedder>)
    }
}
