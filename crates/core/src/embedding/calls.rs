//! Calls to an embedder: batches in, checked vectors out. Texts that an embedder refuses are told from an embedder that
//! does not work: that one refuses anything.

use crate::models::ModelService;
use crate::ports::{Cost, EmbedFor, Embedder, ModelError, Purpose};
use crate::text::tokens;
use crate::vault::{Packed, VectorError, checked};

/// A text that every embedder takes.
const PROBE: &str = "throughline";

/// Providers that run in this process and cost nothing: no budget, no ledger.
const IN_PROCESS: [&str; 2] = ["builtin", "directory"];

/// What became of one text: its vector, or why it was refused.
pub(crate) type Outcome = Result<Packed, String>;

/// Why no vectors came.
pub(crate) enum Trouble {
    /// It may lie in the texts.
    Texts(ModelError),
    /// It lies elsewhere.
    Else(ModelError),
}

impl Trouble {
    pub(crate) fn into_error(self) -> ModelError {
        match self {
            Self::Texts(error) | Self::Else(error) => error,
        }
    }
}

/// Calls to one embedder.
#[derive(Clone, Copy)]
pub(crate) struct EmbedCalls<'a> {
    pub(crate) models: ModelService<'a>,
    pub(crate) embedder: &'a dyn Embedder,
}

impl EmbedCalls<'_> {
    /// An outcome for each text, in order. `dimension` is the one that all vectors must have; where that is not known, it
    /// is set.
    pub(crate) fn outcomes(&self, texts: &[String], dimension: &mut Option<usize>) -> Result<Vec<Outcome>, ModelError> {
        let outcomes = match self.embed(texts, EmbedFor::Storing, *dimension) {
            Ok(vectors) => packed(&vectors),
            Err(Trouble::Else(error)) => return Err(error),
            Err(Trouble::Texts(_)) => {
                let probed = self.embed(&[PROBE.to_owned()], EmbedFor::Storing, *dimension);
                *dimension = probed.map_err(Trouble::into_error)?.first().map(Vec::len);
                self.split(texts, *dimension)?
            }
        };
        let found = || outcomes.iter().find_map(|outcome| outcome.as_ref().ok()).map(Packed::dimension);
        *dimension = dimension.or_else(found);
        Ok(outcomes)
    }

    /// Halves a batch until a text that is refused stands alone.
    fn split(&self, texts: &[String], dimension: Option<usize>) -> Result<Vec<Outcome>, ModelError> {
        match self.embed(texts, EmbedFor::Storing, dimension) {
            Ok(vectors) => Ok(packed(&vectors)),
            Err(Trouble::Else(error)) => Err(error),
            Err(Trouble::Texts(error)) if texts.len() <= 1 => {
                Ok(texts.iter().map(|_| Err(error.to_string())).collect())
            }
            Err(Trouble::Texts(_)) => {
                let (left, right) = texts.split_at(texts.len() / 2);
                let mut outcomes = self.split(left, dimension)?;
                outcomes.extend(self.split(right, dimension)?);
                Ok(outcomes)
            }
        }
    }

    /// Checked vectors, within the day's budget; written to the ledger.
    pub(crate) fn embed(
        &self,
        texts: &[String],
        purpose: EmbedFor,
        dimension: Option<usize>,
    ) -> Result<Vec<Vec<f32>>, Trouble> {
        let vectors = self.ask(texts, purpose).map_err(|error| match error {
            ModelError::Refused { status: 400 | 413 | 422, .. } => Trouble::Texts(error),
            error => Trouble::Else(error),
        })?;
        let malformed = |why: VectorError| {
            Trouble::Texts(ModelError::Malformed { provider: self.embedder.provider(), why: why.to_string() })
        };
        checked(texts.len(), &vectors, dimension).map_err(malformed)?;
        Ok(vectors)
    }

    fn ask(&self, texts: &[String], purpose: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        let embedder = self.embedder;
        if IN_PROCESS.contains(&embedder.provider()) {
            return embedder.embed(texts, purpose);
        }
        let tokens = texts.iter().map(|text| tokens::estimate(text) as u64).sum();
        let asked = (embedder.provider(), embedder.name(), Purpose::Embedding);
        self.models.within_budget(asked, Cost::Tokens, || {
            let vectors = embedder.embed(texts, purpose)?;
            Ok((vectors, tokens, 0))
        })
    }
}

fn packed(vectors: &[Vec<f32>]) -> Vec<Outcome> {
    vectors.iter().map(|vector| Ok(Packed::of(vector))).collect()
}
