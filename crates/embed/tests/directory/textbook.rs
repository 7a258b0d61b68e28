//! BERT's forward pass in double precision, one number at a time.

use crate::{HEADS, HIDDEN, LAYERS, Tensors};

pub(crate) fn embed(tensors: &Tensors, tokens: &[usize], first_position: usize, is_mean: bool) -> Vec<f64> {
    let row = |name: &str, row: usize| &tensors[name].1[row * HIDDEN..(row + 1) * HIDDEN];
    let mut hidden: Vec<Vec<f64>> = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let word = row("embeddings.word_embeddings.weight", *token);
        let position = row("embeddings.position_embeddings.weight", place + first_position);
        let kind = row("embeddings.token_type_embeddings.weight", 0);
        let sum: Vec<f64> = (0..HIDDEN).map(|i| word[i] + position[i] + kind[i]).collect();
        hidden.push(norm(tensors, "embeddings.LayerNorm", &sum));
    }
    for layer in 0..LAYERS {
        hidden = forward(tensors, &format!("encoder.layer.{layer}"), &hidden);
    }
    let count = if is_mean { hidden.len() } else { 1 };
    let pooled: Vec<f64> = (0..HIDDEN).map(|i| hidden[..count].iter().map(|token| token[i]).sum::<f64>()).collect();
    let length = pooled.iter().map(|number| number * number).sum::<f64>().sqrt();
    pooled.iter().map(|number| number / length).collect()
}

fn forward(tensors: &Tensors, name: &str, hidden: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let all = |part: &str, rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
        rows.iter().map(|row| linear(tensors, &format!("{name}.{part}"), row)).collect()
    };
    let (query, key) = (all("attention.self.query", hidden), all("attention.self.key", hidden));
    let attended = attend(&query, &key, &all("attention.self.value", hidden));
    let added = add(&all("attention.output.dense", &attended), hidden);
    let hidden: Vec<Vec<f64>> =
        added.iter().map(|row| norm(tensors, &format!("{name}.attention.output.LayerNorm"), row)).collect();
    let inner: Vec<Vec<f64>> =
        all("intermediate.dense", &hidden).iter().map(|row| row.iter().map(|x| gelu(*x)).collect()).collect();
    let added = add(&all("output.dense", &inner), &hidden);
    added.iter().map(|row| norm(tensors, &format!("{name}.output.LayerNorm"), row)).collect()
}

fn attend(query: &[Vec<f64>], key: &[Vec<f64>], value: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let size = HIDDEN / HEADS;
    let mut output = vec![vec![0.0; HIDDEN]; query.len()];
    for head in 0..HEADS {
        let part = head * size..(head + 1) * size;
        for (query, output) in query.iter().zip(&mut output) {
            let score = |key: &Vec<f64>| part.clone().map(|i| query[i] * key[i]).sum::<f64>() / (size as f64).sqrt();
            let scores: Vec<f64> = key.iter().map(|key| score(key).exp()).collect();
            let sum: f64 = scores.iter().sum();
            for (score, value) in scores.iter().zip(value) {
                part.clone().for_each(|i| output[i] += score / sum * value[i]);
            }
        }
    }
    output
}

fn add(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

fn linear(tensors: &Tensors, name: &str, row: &[f64]) -> Vec<f64> {
    let (weights, bias) = (&tensors[&format!("{name}.weight")].1, &tensors[&format!("{name}.bias")].1);
    let dot = |weights: &[f64]| weights.iter().zip(row).map(|(a, b)| a * b).sum::<f64>();
    weights.chunks_exact(row.len()).zip(bias).map(|(weights, bias)| dot(weights) + bias).collect()
}

fn norm(tensors: &Tensors, name: &str, row: &[f64]) -> Vec<f64> {
    let (weight, bias) = (&tensors[&format!("{name}.weight")].1, &tensors[&format!("{name}.bias")].1);
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    let variance = row.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / row.len() as f64;
    let factor = 1.0 / (variance + 1e-12).sqrt();
    row.iter().enumerate().map(|(i, number)| (number - mean) * factor * weight[i] + bias[i]).collect()
}

/// With the error function as its series.
fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let (mut term, mut sum) = (z, z);
    for n in 1..200_i32 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    0.5 * x * (1.0 + sum * 2.0 / std::f64::consts::PI.sqrt())
}
