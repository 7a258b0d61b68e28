//! From tensors to a model that computes.

use std::sync::Mutex;

use pulp::Arch;

use super::config::Description;
use super::safetensors::SafeTensors;
use crate::encoder::{Encoder, Layer, Linear, Matrix, Norm, Shape};
use crate::error::LoadError;
use crate::product::into_panels;
use crate::rows::WordRows;

/// The tensor that every model has; what stands in front of it stands in front of all.
const WORDS: &str = "embeddings.word_embeddings.weight";

/// Reads all but the rows of the vocabulary.
pub(crate) fn read(file: SafeTensors, description: &Description) -> Result<Encoder, LoadError> {
    let prefix = file.names().find_map(|name| name.strip_suffix(WORDS)).map(str::to_owned);
    let prefix = prefix.ok_or_else(|| LoadError::unsupported(format!("its weights have no `{WORDS}`")))?;
    let mut tensors = Tensors { file, prefix, matrix: Vec::new() };
    let shape = description.shape;
    let words = tensors.place(WORDS, &[description.vocabulary, shape.hidden])?;
    let positions = positions(&mut tensors, description)?;
    let norm = tensors.norm("embeddings.LayerNorm", shape.hidden)?;
    let layers = (0..description.layers).map(|number| tensors.layer(number, shape)).collect::<Result<_, _>>()?;
    let words = WordRows::File {
        file: Mutex::new(tensors.file.file),
        start: words.start,
        kind: words.kind,
        count: words.shape[0],
    };
    Ok(Encoder { shape, words, positions, norm, layers, pooling: description.pooling, arch: Arch::new() })
}

/// The rows of the positions that a text can have, the token type's added.
fn positions(tensors: &mut Tensors, description: &Description) -> Result<Vec<f32>, LoadError> {
    let width = description.shape.hidden;
    let all = tensors.numbers("embeddings.position_embeddings.weight", &[description.positions, width])?;
    let types = "embeddings.token_type_embeddings.weight";
    let kinds = tensors.rows(types)?;
    let kind = tensors.numbers(types, &[kinds, width])?;
    let mut positions = all[description.first_position * width..][..description.tokens * width].to_vec();
    for row in positions.chunks_exact_mut(width) {
        row.iter_mut().zip(&kind).for_each(|(value, kind)| *value += kind);
    }
    Ok(positions)
}

struct Tensors {
    file: SafeTensors,
    prefix: String,
    /// The matrix that is being put into panels.
    matrix: Vec<f32>,
}

impl Tensors {
    fn layer(&mut self, number: usize, shape: Shape) -> Result<Layer, LoadError> {
        let Shape { hidden, intermediate, .. } = shape;
        let name = format!("encoder.layer.{number}");
        let attention = ["query", "key", "value"].map(|part| format!("{name}.attention.self.{part}"));
        Ok(Layer {
            attention: self.linear(&attention, hidden, hidden)?,
            attention_output: self.linear(&[format!("{name}.attention.output.dense")], hidden, hidden)?,
            attention_norm: self.norm(&format!("{name}.attention.output.LayerNorm"), hidden)?,
            intermediate: self.linear(&[format!("{name}.intermediate.dense")], hidden, intermediate)?,
            output: self.linear(&[format!("{name}.output.dense")], intermediate, hidden)?,
            output_norm: self.norm(&format!("{name}.output.LayerNorm"), hidden)?,
        })
    }

    /// One matrix of several, one below the other.
    fn linear(&mut self, names: &[String], inputs: usize, outputs: usize) -> Result<Linear, LoadError> {
        let mut bias = Vec::new();
        self.matrix.clear();
        for name in names {
            let name = format!("{}{name}", self.prefix);
            self.file.append(&format!("{name}.weight"), &[outputs, inputs], &mut self.matrix)?;
            self.file.append(&format!("{name}.bias"), &[outputs], &mut bias)?;
        }
        Ok(Linear { inputs, bias, weights: Matrix::Floats(into_panels(&self.matrix, inputs)) })
    }

    fn norm(&mut self, name: &str, width: usize) -> Result<Norm, LoadError> {
        let weight = self.numbers(&format!("{name}.weight"), &[width])?;
        Ok(Norm { weight, bias: self.numbers(&format!("{name}.bias"), &[width])? })
    }

    fn numbers(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, LoadError> {
        let mut numbers = Vec::new();
        self.file.append(&format!("{}{name}", self.prefix), shape, &mut numbers)?;
        Ok(numbers)
    }

    fn place(&self, name: &str, shape: &[usize]) -> Result<super::safetensors::Place, LoadError> {
        self.file.place(&format!("{}{name}", self.prefix), shape)
    }

    fn rows(&self, name: &str) -> Result<usize, LoadError> {
        self.file.rows(&format!("{}{name}", self.prefix))
    }
}
