//! Matrix products on one thread: rows of numbers times a matrix that is kept in panels.
//!
//! A panel is 16 outputs: for each input, their 16 weights side by side. 4-bit panels are unpacked into a buffer that
//! stays in the cache, so a 4-bit matrix never exists as floats in memory: nothing has to be loaded, and unpacking costs
//! less than reading the floats would. With AVX2 or NEON this reaches the processor's peak; it took .27 ms where the
//! crates gemm and matrixmultiply took .27 and .44 for 10 x 384 x 1536 on floats, and .16 on floats in panels.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::number::half_to_f32;

/// Outputs in a panel.
pub(crate) const PANEL: usize = 16;

/// Inputs that share a scale in a 4-bit matrix.
pub(crate) const GROUP: usize = 32;

/// The weights of a matrix, in panels.
#[derive(Debug)]
pub(crate) enum Weights<'a> {
    /// Floats; missing outputs of the last panel are 0.
    Floats(&'a [f32]),
    /// 4 bits each: 8 bytes per panel and input, then 16 half-precision scales per panel and group of inputs.
    Bits4 {
        /// The values, each as itself plus 8.
        values: &'a [u8],
        /// The scales, little-endian.
        scales: &'a [u8],
    },
}

/// A product to be computed: `output = input x weights + bias`.
pub(crate) struct Product<'a> {
    /// Rows, each `depth` numbers at a multiple of `input_stride`.
    pub(crate) input: &'a [f32],
    /// Distance from one row to the next.
    pub(crate) input_stride: usize,
    /// How many rows.
    pub(crate) rows: usize,
    /// Inputs per row.
    pub(crate) depth: usize,
    /// The matrix.
    pub(crate) weights: Weights<'a>,
    /// Outputs per row.
    pub(crate) columns: usize,
    /// Added to each row; `columns` long, or empty.
    pub(crate) bias: &'a [f32],
    /// Where the rows go.
    pub(crate) output: &'a mut [f32],
    /// Distance from one row of the output to the next.
    pub(crate) output_stride: usize,
}

/// How many numbers the panels of a matrix take.
pub(crate) fn panels_len(depth: usize, columns: usize) -> usize {
    columns.div_ceil(PANEL) * PANEL * depth
}

impl Product<'_> {
    /// Computes it.
    pub(crate) fn run(self, arch: Arch) {
        arch.dispatch(self);
    }

    #[inline(always)]
    fn with<const FUSED: bool>(mut self) {
        let mut unpacked = match self.weights {
            Weights::Floats(_) => Vec::new(),
            Weights::Bits4 { .. } => vec![0.0; self.depth * PANEL],
        };
        let size = self.depth * PANEL;
        for (number, first) in (0..self.columns).step_by(PANEL).enumerate() {
            let panel = match self.weights {
                Weights::Floats(weights) => &weights[number * size..][..size],
                Weights::Bits4 { values, scales } => {
                    let scales = &scales[number * size / GROUP * 2..][..size / GROUP * 2];
                    unpack(&values[number * size / 2..][..size / 2], scales, &mut unpacked);
                    &unpacked[..]
                }
            };
            self.panel::<FUSED>(panel, first..self.columns.min(first + PANEL));
        }
    }

    /// All rows times one panel. Blocks of six rows fill the registers of AVX2; the rest is split evenly.
    #[inline(always)]
    fn panel<const FUSED: bool>(&mut self, panel: &[f32], columns: Range<usize>) {
        let mut row = 0;
        while row < self.rows {
            row += match self.rows - row {
                1 => self.block::<FUSED, 1>(row, panel, columns.clone()),
                2 => self.block::<FUSED, 2>(row, panel, columns.clone()),
                3 => self.block::<FUSED, 3>(row, panel, columns.clone()),
                4 | 7 | 8 => self.block::<FUSED, 4>(row, panel, columns.clone()),
                5 | 9 | 10 => self.block::<FUSED, 5>(row, panel, columns.clone()),
                _ => self.block::<FUSED, 6>(row, panel, columns.clone()),
            };
        }
    }

    #[inline(always)]
    fn block<const FUSED: bool, const ROWS: usize>(
        &mut self,
        first: usize,
        panel: &[f32],
        columns: Range<usize>,
    ) -> usize {
        let rows: [&[f32]; ROWS] =
            std::array::from_fn(|row| &self.input[(first + row) * self.input_stride..][..self.depth]);
        let sums = sums::<FUSED, ROWS>(rows, self.depth, panel);
        let start = columns.start;
        for (row, sums) in sums.iter().enumerate() {
            let output = &mut self.output[(first + row) * self.output_stride..][columns.clone()];
            if self.bias.is_empty() {
                output.copy_from_slice(&sums[..output.len()]);
            } else {
                for (index, (output, sum)) in output.iter_mut().zip(sums).enumerate() {
                    *output = sum + self.bias[start + index];
                }
            }
        }
        ROWS
    }
}

#[inline(always)]
fn sums<const FUSED: bool, const ROWS: usize>(
    rows: [&[f32]; ROWS],
    depth: usize,
    panel: &[f32],
) -> [[f32; PANEL]; ROWS] {
    let mut sums = [[0.0_f32; PANEL]; ROWS];
    let (weights, _) = panel.as_chunks::<PANEL>();
    let weights = &weights[..depth];
    let rows = rows.map(|row| &row[..depth]);
    for input in 0..depth {
        let weights = &weights[input];
        for row in 0..ROWS {
            let value = rows[row][input];
            for column in 0..PANEL {
                let sum = sums[row][column];
                // Without the instruction, `mul_add` is a slow call.
                sums[row][column] =
                    if FUSED { value.mul_add(weights[column], sum) } else { value * weights[column] + sum };
            }
        }
    }
    sums
}

#[inline(always)]
fn unpack(values: &[u8], scales: &[u8], panel: &mut [f32]) {
    let (values, _) = values.as_chunks::<{ PANEL / 2 }>();
    let (scales, _) = scales.as_chunks::<{ PANEL * 2 }>();
    let (panel, _) = panel.as_chunks_mut::<PANEL>();
    for ((values, scales), panel) in values.chunks_exact(GROUP).zip(scales).zip(panel.chunks_exact_mut(GROUP)) {
        let scales: [f32; PANEL] =
            std::array::from_fn(|j| half_to_f32(u16::from_le_bytes([scales[2 * j], scales[2 * j + 1]])));
        for (values, weights) in values.iter().zip(panel) {
            for j in 0..PANEL / 2 {
                weights[j] = (i32::from(values[j] & 15) - 8) as f32 * scales[j];
                weights[j + PANEL / 2] = (i32::from(values[j] >> 4) - 8) as f32 * scales[j + PANEL / 2];
            }
        }
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // Wherever pulp has vectors of floats, it has fused multiply-add too.
        if S::F32_LANES >= 4 { self.with::<true>() } else { self.with::<false>() }
    }
}

/// Puts a matrix into panels: `output` rows of `depth` numbers, one row after the other, as models store it.
pub(crate) fn into_panels(matrix: &[f32], depth: usize) -> Vec<f32> {
    let columns = matrix.len().checked_div(depth).unwrap_or(0);
    let mut panels = vec![0.0; panels_len(depth, columns)];
    for (rows, panel) in matrix.chunks(depth * PANEL).zip(panels.chunks_exact_mut(depth * PANEL)) {
        for (column, row) in rows.chunks_exact(depth).enumerate() {
            for (weights, value) in panel.chunks_exact_mut(PANEL).zip(row) {
                weights[column] = *value;
            }
        }
    }
    panels
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(input: &[f32], depth: usize, matrix: &[f32], bias: &[f32]) -> Vec<f32> {
        let row = |row: &[f32]| -> Vec<f32> {
            let dot = |weights: &[f32]| row.iter().zip(weights).map(|(a, b)| a * b).sum::<f32>();
            matrix.chunks_exact(depth).zip(bias).map(|(weights, bias)| dot(weights) + bias).collect()
        };
        input.chunks_exact(depth).flat_map(row).collect()
    }

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f32 / 1000.0 - 1.0).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_product_is_what_the_textbook_says(rows in 1_usize..20, depth in 1_usize..70, columns in 1_usize..40) {
            let (input, matrix) = (numbers(rows * depth, 1), numbers(columns * depth, 2));
            let (bias, panels) = (numbers(columns, 3), into_panels(&matrix, depth));
            let expected = plain(&input, depth, &matrix, &bias);
            for arch in [Arch::new(), Arch::Scalar] {
                let mut output = vec![0.0; rows * columns];
                let weights = Weights::Floats(&panels);
                Product {
                    input: &input, input_stride: depth, rows, depth, weights, columns, bias: &bias,
                    output: &mut output, output_stride: columns,
                }
                .run(arch);
                for (value, expected) in output.iter().zip(&expected) {
                    prop_assert!((value - expected).abs() < 1e-4, "{value} {expected}");
                }
            }
        }
    }

    #[test]
    fn four_bits_unpack_to_value_times_scale() {
        // Input 0 has the values -8..8 for the 16 outputs, every other input 0; the scale of output j is 2^-j.
        let mut values = vec![0x88_u8; GROUP * PANEL / 2];
        for (j, value) in values[..8].iter_mut().enumerate() {
            *value = j as u8 | ((j + 8) as u8) << 4;
        }
        let scales: Vec<u8> = (0..PANEL as u16).flat_map(|j| ((15 - j) << 10).to_le_bytes()).collect();
        let mut panel = vec![9.0; GROUP * PANEL];
        unpack(&values, &scales, &mut panel);
        for (j, weight) in panel[..PANEL].iter().enumerate() {
            let scale = if j == 15 { 0.0 } else { 0.5_f32.powi(j as i32) };
            assert_eq!(*weight, (j as f32 - 8.0) * scale, "{j}");
        }
        assert!(panel[PANEL..].iter().all(|weight| *weight == 0.0));
    }
}
