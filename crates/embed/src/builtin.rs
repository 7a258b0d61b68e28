//! The built-in model: all-MiniLM-L6-v2, 4 bits per weight, English, compiled in.
//!
//! Its bytes are a part of the program, which the system maps: a page that is never looked at is never read. Loading
//! builds no tables, so that a process that embeds one question pays for little more than the question.

use std::sync::OnceLock;

use pulp::Arch;
use throughline_core::ports::{Cost, EmbedFor, Embedder, ModelError};

use crate::encoder::{Encoder, Layer, Linear, Matrix, Norm, Pooling, Shape};
use crate::product::{GROUP, PANEL};
use crate::rows::WordRows;
use crate::tokens::{Pieces, Tokenizer, Vocabulary, WordPiece};

static BYTES: &[u8] = include_bytes!("../model/minilm-l6-q4.bin");

const MAGIC: &[u8] = b"TLEMBED1";

/// The provider's name.
pub(crate) const PROVIDER: &str = throughline_core::ports::BUILTIN;

/// The model's name: another one means other vectors.
const NAME: &str = "all-minilm-l6-q4";

/// BERT's numbers of special tokens.
const UNKNOWN: u32 = 100;
const FIRST: u32 = 101;
const LAST: u32 = 102;

/// The built-in embedder. Costs nothing until it is asked; the model is shared by the whole process.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltinEmbedder;

#[derive(Debug)]
struct Model {
    encoder: Encoder,
    tokenizer: Tokenizer,
    tokens: usize,
}

/// Words that most sentences of a language have, and no other language here.
const ENGLISH: &str =
    " the a an is are was do does did what when where which who how i my we our you to of and it this that for with ";
const FOREIGN: &str = " le la les des une est dans sans pour avec que qui ce cette et du de el los las un por con para al mi der die \
    das und ist nicht ein eine mit für auf ich wir wie il è che di per ";

/// Whether a text has as many common words of English as of its neighbours. One without any is taken for English.
fn is_english(text: &str) -> bool {
    let text = text.to_lowercase();
    let count = |list: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.filter(|word| list.contains(&format!(" {word} "))).count()
    };
    count(ENGLISH) >= count(FOREIGN)
}

impl Embedder for BuiltinEmbedder {
    fn provider(&self) -> &'static str {
        PROVIDER
    }

    fn name(&self) -> &str {
        NAME
    }

    fn base_url(&self) -> Option<&str> {
        None
    }

    /// It was taught English: what is mostly in another script or language is noise to it.
    fn knows(&self, text: &str) -> bool {
        let letters = text.chars().filter(|c| c.is_alphabetic());
        let (latin, other): (Vec<char>, Vec<char>) = letters.partition(|c| (*c as u32) < 0x250);
        latin.len() >= 4 * other.len() && is_english(text)
    }

    fn cost(&self) -> Cost {
        Cost::Free
    }

    fn embed(&self, texts: &[String], _: EmbedFor) -> Result<Vec<Vec<f32>>, ModelError> {
        let broken = || ModelError::Malformed { provider: PROVIDER, why: "the built-in model is damaged".to_owned() };
        let model = model().ok_or_else(broken)?;
        let tokens: Vec<Vec<u32>> = texts.iter().map(|text| model.tokenizer.encode(text, model.tokens)).collect();
        model.encoder.encode(&tokens).map_err(|_| broken())
    }
}

fn model() -> Option<&'static Model> {
    static MODEL: OnceLock<Option<Model>> = OnceLock::new();
    MODEL.get_or_init(|| Reader { rest: BYTES }.model()).as_ref()
}

/// Reads the file from the beginning to the end; `scripts/embed-model` describes it.
struct Reader {
    rest: &'static [u8],
}

impl Reader {
    fn model(&mut self) -> Option<Model> {
        if self.take(MAGIC.len())? != MAGIC {
            return None;
        }
        let mut sizes = [0; 6];
        for size in &mut sizes {
            *size = self.size()?;
        }
        let [vocabulary, hidden, layers, heads, intermediate, positions] = sizes;
        let epsilon = self.floats(1)?[0];
        let shape = Shape { hidden, heads, intermediate, epsilon };
        let pieces = Pieces::WordPiece(WordPiece::new(self.vocabulary(vocabulary)?, UNKNOWN));
        let tokenizer = Tokenizer { pieces, first: FIRST, last: LAST };
        let words = WordRows::Bits4 {
            values: self.take(vocabulary * hidden / 2)?,
            scales: self.take(vocabulary * hidden / GROUP * 2)?,
        };
        let places = self.floats(positions * hidden)?;
        let norm = self.norm(hidden)?;
        let layers = (0..layers).map(|_| self.layer(&shape)).collect::<Option<Vec<Layer>>>()?;
        let (pooling, arch) = (Pooling::Mean, Arch::new());
        let encoder = Encoder { shape, words, positions: places, norm, layers, pooling, arch };
        self.rest.is_empty().then_some(Model { encoder, tokenizer, tokens: positions })
    }

    fn vocabulary(&mut self, count: usize) -> Option<Vocabulary> {
        let length = self.size()?;
        let (offsets, numbers) = (self.take((count + 1) * 4)?, self.take(count * 2)?);
        Some(Vocabulary::Sorted { offsets, numbers, text: self.take(length)? })
    }

    fn layer(&mut self, shape: &Shape) -> Option<Layer> {
        let Shape { hidden, intermediate, .. } = *shape;
        Some(Layer {
            attention: self.linear(hidden, 3 * hidden)?,
            attention_output: self.linear(hidden, hidden)?,
            attention_norm: self.norm(hidden)?,
            intermediate: self.linear(hidden, intermediate)?,
            output: self.linear(intermediate, hidden)?,
            output_norm: self.norm(hidden)?,
        })
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> Option<Linear> {
        if !inputs.is_multiple_of(GROUP) || !outputs.is_multiple_of(PANEL) {
            return None;
        }
        let bias = self.floats(outputs)?;
        let values = self.take(inputs * outputs / 2)?;
        let scales = self.take(inputs * outputs / GROUP * 2)?;
        Some(Linear { inputs, bias, weights: Matrix::Bits4 { values, scales } })
    }

    fn norm(&mut self, width: usize) -> Option<Norm> {
        Some(Norm { weight: self.floats(width)?, bias: self.floats(width)? })
    }

    fn floats(&mut self, count: usize) -> Option<Vec<f32>> {
        let bytes = self.take(count * 4)?;
        Some(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn size(&mut self) -> Option<usize> {
        self.take(4)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize)
    }

    fn take(&mut self, count: usize) -> Option<&'static [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }
}

/// The model's own tokenizer.
#[cfg(test)]
pub(crate) fn tokenizer() -> &'static Tokenizer {
    &model().unwrap().tokenizer
}
