//! Embedders: text goes in, vectors come out. Optional everywhere, and never believed without a look.

use std::sync::Arc;

use super::{MadeBy, ModelError};

/// What a text is embedded for: some models want to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedFor {
    /// To be found.
    Storing,
    /// To find.
    Searching,
}

/// Whoever turns text into vectors.
pub trait Embedder: Send + Sync {
    /// The provider's name, as in the config.
    fn provider(&self) -> &'static str;
    /// The model's name, as the provider knows it.
    fn name(&self) -> &str;
    /// Where it is asked, without any password; nothing at the provider's usual address.
    fn base_url(&self) -> Option<&str>;
    /// One vector for each text, in order. The caller checks that it is so.
    fn embed(&self, texts: &[String], purpose: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError>;
}

impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn provider(&self) -> &'static str {
        (**self).provider()
    }

    fn name(&self) -> &str {
        (**self).name()
    }

    fn base_url(&self) -> Option<&str> {
        (**self).base_url()
    }

    fn embed(&self, texts: &[String], purpose: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        (**self).embed(texts, purpose)
    }
}

/// Finds the embedder for questions.
pub trait Embedders: Send + Sync {
    /// The embedder that made a set, quick enough for a question; `None` where it cannot be asked, or none is set up.
    fn for_questions(&self, by: &MadeBy) -> Option<Arc<dyn Embedder>>;
}

/// No embedder at all.
#[derive(Debug, Clone, Copy)]
pub struct NoEmbedders;

impl Embedders for NoEmbedders {
    fn for_questions(&self, _: &MadeBy) -> Option<Arc<dyn Embedder>> {
        None
    }
}
