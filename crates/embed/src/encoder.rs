//! The forward pass of a BERT: tokens go in, one vector per text comes out. Single-threaded; callers share it between
//! threads.

use std::io;

use pulp::Arch;

use crate::number::{gelu, normalise_rows, softmax, to_unit};
use crate::product::{PANEL, Product, Weights, panels_len};
use crate::rows::WordRows;

/// About so many tokens are computed together, of one text or several. More do not make it faster.
const BATCH_TOKENS: usize = 128;

/// The sizes of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Numbers per token, and in the vector.
    pub(crate) hidden: usize,
    /// Attention heads.
    pub(crate) heads: usize,
    /// Numbers per token inside a layer.
    pub(crate) intermediate: usize,
    /// The layer norm's epsilon.
    pub(crate) epsilon: f32,
}

/// How the vectors of tokens become that of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// Their mean.
    Mean,
    /// That of the first.
    First,
}

/// A matrix with its bias.
#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) inputs: usize,
    pub(crate) bias: Vec<f32>,
    pub(crate) weights: Matrix,
}

/// Where a matrix is.
#[derive(Debug)]
pub(crate) enum Matrix {
    /// Read, in panels.
    Floats(Vec<f32>),
    /// Compiled in.
    Bits4 { values: &'static [u8], scales: &'static [u8] },
}

/// A layer norm.
#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// One layer.
#[derive(Debug)]
pub(crate) struct Layer {
    /// Query, key and value, side by side.
    pub(crate) attention: Linear,
    pub(crate) attention_output: Linear,
    pub(crate) attention_norm: Norm,
    pub(crate) intermediate: Linear,
    pub(crate) output: Linear,
    pub(crate) output_norm: Norm,
}

/// A model.
#[derive(Debug)]
pub(crate) struct Encoder {
    pub(crate) shape: Shape,
    pub(crate) words: WordRows,
    /// What is added to the token at each position; as many rows as a text may have tokens.
    pub(crate) positions: Vec<f32>,
    pub(crate) norm: Norm,
    pub(crate) layers: Vec<Layer>,
    pub(crate) pooling: Pooling,
    pub(crate) arch: Arch,
}

impl Encoder {
    /// One vector of length 1 per text, in order. Texts are computed one behind the other, without padding, so that
    /// texts of different lengths can share a batch.
    pub(crate) fn encode(&self, texts: &[Vec<u32>]) -> io::Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let mut tokens = 0;
            let fits = |text: &&Vec<u32>| {
                tokens += text.len();
                tokens <= BATCH_TOKENS
            };
            let (batch, others) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            vectors.extend(self.batch(batch)?);
            rest = others;
        }
        Ok(vectors)
    }

    fn batch(&self, texts: &[Vec<u32>]) -> io::Result<Vec<Vec<f32>>> {
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let mut hidden = self.embed(texts)?;
        for layer in &self.layers {
            self.layer(layer, &lengths, &mut hidden);
        }
        let mut rest = &hidden[..];
        let pooled = lengths.iter().map(|length| {
            let (rows, others) = rest.split_at(length * self.shape.hidden);
            rest = others;
            self.pool(rows)
        });
        Ok(pooled.collect())
    }

    fn embed(&self, texts: &[Vec<u32>]) -> io::Result<Vec<f32>> {
        let width = self.shape.hidden;
        let mut hidden = vec![0.0; texts.iter().map(Vec::len).sum::<usize>() * width];
        let mut rows = hidden.chunks_exact_mut(width);
        for text in texts {
            for ((token, position), row) in text.iter().zip(self.positions.chunks_exact(width)).zip(&mut rows) {
                self.words.read(*token, row)?;
                row.iter_mut().zip(position).for_each(|(value, position)| *value += position);
            }
        }
        normalise_rows(self.arch, &mut hidden, &self.norm.weight, &self.norm.bias, self.shape.epsilon);
        Ok(hidden)
    }

    fn layer(&self, layer: &Layer, lengths: &[usize], hidden: &mut [f32]) {
        let attended = self.attend(&self.apply(&layer.attention, hidden), lengths);
        self.add(&self.apply(&layer.attention_output, &attended), &layer.attention_norm, hidden);
        let mut inner = self.apply(&layer.intermediate, hidden);
        gelu(self.arch, &mut inner);
        self.add(&self.apply(&layer.output, &inner), &layer.output_norm, hidden);
    }

    fn apply(&self, linear: &Linear, input: &[f32]) -> Vec<f32> {
        let (rows, columns) = (input.len() / linear.inputs, linear.bias.len());
        let mut output = vec![0.0; rows * columns];
        let weights = match &linear.weights {
            Matrix::Floats(panels) => Weights::Floats(panels),
            Matrix::Bits4 { values, scales } => Weights::Bits4 { values, scales },
        };
        Product {
            input,
            input_stride: linear.inputs,
            rows,
            depth: linear.inputs,
            weights,
            columns,
            bias: &linear.bias,
            output: &mut output,
            output_stride: columns,
        }
        .run(self.arch);
        output
    }

    fn add(&self, addend: &[f32], norm: &Norm, hidden: &mut [f32]) {
        hidden.iter_mut().zip(addend).for_each(|(value, addend)| *value += addend);
        normalise_rows(self.arch, hidden, &norm.weight, &norm.bias, self.shape.epsilon);
    }

    /// Attention within each text. `attention` has query, key and value of each token.
    fn attend(&self, attention: &[f32], lengths: &[usize]) -> Vec<f32> {
        let width = self.shape.hidden;
        let mut output = vec![0.0; attention.len() / 3];
        let mut first = 0;
        for length in lengths {
            let tokens = &attention[first * 3 * width..][..length * 3 * width];
            let output = &mut output[first * width..][..length * width];
            for head in 0..self.shape.heads {
                self.attend_with(head, tokens, *length, output);
            }
            first += length;
        }
        output
    }

    fn attend_with(&self, head: usize, tokens: &[f32], length: usize, output: &mut [f32]) {
        let width = self.shape.hidden;
        let size = width / self.shape.heads;
        let (stride, offset) = (3 * width, head * size);
        let keys = key_panels(&tokens[width + offset..], stride, length, size);
        let mut scores = vec![0.0; length * length];
        let product = Product {
            input: &tokens[offset..],
            input_stride: stride,
            rows: length,
            depth: size,
            weights: Weights::Floats(&keys),
            columns: length,
            bias: &[],
            output: &mut scores,
            output_stride: length,
        };
        product.run(self.arch);
        for row in scores.chunks_exact_mut(length) {
            softmax(self.arch, row, 1.0 / (size as f32).sqrt());
        }
        let values = value_panels(&tokens[2 * width + offset..], stride, length, size);
        let product = Product {
            input: &scores,
            input_stride: length,
            rows: length,
            depth: length,
            weights: Weights::Floats(&values),
            columns: size,
            bias: &[],
            output: &mut output[offset..],
            output_stride: width,
        };
        product.run(self.arch);
    }

    fn pool(&self, rows: &[f32]) -> Vec<f32> {
        let width = self.shape.hidden;
        let mut vector = rows[..width].to_vec();
        if self.pooling == Pooling::Mean {
            // The sum has the direction of the mean.
            for row in rows.chunks_exact(width).skip(1) {
                vector.iter_mut().zip(row).for_each(|(value, add)| *value += add);
            }
        }
        to_unit(&mut vector);
        vector
    }
}

/// A panel has 16 tokens side by side.
fn key_panels(keys: &[f32], stride: usize, length: usize, size: usize) -> Vec<f32> {
    let mut panels = vec![0.0; panels_len(size, length)];
    for token in 0..length {
        let panel = &mut panels[token / PANEL * PANEL * size..][..PANEL * size];
        for (weights, value) in panel.chunks_exact_mut(PANEL).zip(&keys[token * stride..][..size]) {
            weights[token % PANEL] = *value;
        }
    }
    panels
}

/// A panel has 16 numbers of each token.
fn value_panels(values: &[f32], stride: usize, length: usize, size: usize) -> Vec<f32> {
    let mut panels = vec![0.0; panels_len(length, size)];
    for (number, panel) in panels.chunks_exact_mut(PANEL * length).enumerate() {
        let columns = number * PANEL..size.min(number * PANEL + PANEL);
        for (token, weights) in panel.chunks_exact_mut(PANEL).enumerate() {
            weights[..columns.len()].copy_from_slice(&values[token * stride..][columns.clone()]);
        }
    }
    panels
}
