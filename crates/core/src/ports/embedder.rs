//! Embedders: text goes in, vectors come out. Optional everywhere, and never believed without a look.

use std::sync::Arc;

use super::{Cost, MadeBy, ModelError};

/// What a text is embedded for: some models want to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedFor {
    /// To be found.
    Storing,
    /// To find.
    Searching,
}

impl EmbedFor {
    /// What some models want in front of a text, to know what it is for. Servers do not add it.
    pub fn prefix(self, model: &str) -> &'static str {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let (storing, searching) = if name.starts_with("nomic-embed-text") {
            ("search_document: ", "search_query: ")
        } else if name.contains("e5-") {
            ("passage: ", "query: ")
        } else if name.starts_with("mxbai-embed") {
            ("", "Represent this sentence for searching relevant passages: ")
        } else {
            ("", "")
        };
        match self {
            Self::Storing => storing,
            Self::Searching => searching,
        }
    }
}

/// Whoever turns text into vectors.
pub trait Embedder: Send + Sync {
    /// The provider's name, as in the config.
    fn provider(&self) -> &'static str;
    /// The model's name, as the provider knows it.
    fn name(&self) -> &str;
    /// Where it is asked, without any password; nothing at the provider's usual address.
    fn base_url(&self) -> Option<&str>;
    /// What a call costs. One that runs in this process is free.
    fn cost(&self) -> Cost {
        Cost::Tokens
    }
    /// Whether it knows the language of a text. Where it does not, its vectors say nothing, and words decide.
    fn knows(&self, _text: &str) -> bool {
        true
    }
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

    fn cost(&self) -> Cost {
        (**self).cost()
    }

    fn knows(&self, text: &str) -> bool {
        (**self).knows(text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_told_what_a_text_is_for() {
        assert_eq!(EmbedFor::Searching.prefix("nomic-embed-text:latest"), "search_query: ");
        assert_eq!(EmbedFor::Storing.prefix("intfloat/multilingual-e5-small"), "passage: ");
        assert_eq!(EmbedFor::Searching.prefix("text-embedding-3-small"), "");
    }
}
