//! Matrix products on one thread: rows of numbers times a matrix that is kept in panels.
//!
//! A panel is 16 outputs: for each input, their 16 weights side by side. 4-bit panels are unpacked into a buffer that
//! stays in the cache, so a 4-bit matrix never exists as floats in memory, and nothing has to be loaded.
//!
//! Why no matrix crate: 10 x 384 times 384 x 1536, one thread of a machine with AVX2, took .44 ms with matrixmultiply, .27
//! with gemm (both on floats, which they repack in every call), .16 here on floats and .27 on 4 bits. At 128 rows, all but
//! matrixmultiply reach the processor's peak.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::number::half_to_f32;

/// Outputs in a panel.
pub(crate) const PANEL: usize = 16;

/// Rows in a block.
const BLOCK: usize = 6;

/// Inputs that share a scale in a 4-bit matrix.
pub(crate) const GROUP: usize = 32;

/// Weights in half a group.
const HALF: usize = GROUP / 2 * PANEL;

/// The weights of a matrix, in panels.
#[derive(Debug)]
pub(crate) enum Weights<'a> {
    /// Floats; missing outputs of the last panel are 0.
    Floats(&'a [f32]),
    /// 4 bits each, with 16 half-precision scales per panel and group of inputs.
    Bits4 {
        /// The values, each plus 8. In a group, the first half is in the low nibbles and the second in the high ones.
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
        let blocks = self.blocks();
        let size = self.depth * PANEL;
        let mut unpacked = match self.weights {
            Weights::Floats(_) => Vec::new(),
            Weights::Bits4 { .. } => vec![0.0; size],
        };
        for (number, first) in (0..self.columns).step_by(PANEL).enumerate() {
            let panel = match self.weights {
                Weights::Floats(weights) => &weights[number * size..][..size],
                Weights::Bits4 { values, scales } => {
                    let scales = &scales[number * size / GROUP * 2..][..size / GROUP * 2];
                    unpack(&values[number * size / 2..][..size / 2], scales, &mut unpacked);
                    &unpacked[..]
                }
            };
            self.panel::<FUSED>(&blocks, panel, first..self.columns.min(first + PANEL));
        }
    }

    /// The input in blocks of rows; in a block, the rows' numbers side by side for each input. The product then reads
    /// memory in order, and the compiler keeps the sums in registers.
    #[inline(always)]
    fn blocks(&self) -> Vec<f32> {
        let mut blocks = vec![0.0; self.rows * self.depth];
        let mut row = 0;
        while row < self.rows {
            let size = block_size(self.rows - row);
            let block = &mut blocks[row * self.depth..][..size * self.depth];
            for place in 0..size {
                let input = &self.input[(row + place) * self.input_stride..][..self.depth];
                for (values, value) in block.chunks_exact_mut(size).zip(input) {
                    values[place] = *value;
                }
            }
            row += size;
        }
        blocks
    }

    /// All rows times one panel.
    #[inline(always)]
    fn panel<const FUSED: bool>(&mut self, blocks: &[f32], panel: &[f32], columns: Range<usize>) {
        let mut row = 0;
        while row < self.rows {
            let size = block_size(self.rows - row);
            let block = &blocks[row * self.depth..][..size * self.depth];
            match size {
                1 => self.store(row, sums::<FUSED, 1>(block, panel), columns.clone()),
                2 => self.store(row, sums::<FUSED, 2>(block, panel), columns.clone()),
                3 => self.store(row, sums::<FUSED, 3>(block, panel), columns.clone()),
                4 => self.store(row, sums::<FUSED, 4>(block, panel), columns.clone()),
                5 => self.store(row, sums::<FUSED, 5>(block, panel), columns.clone()),
                _ => self.store(row, sums::<FUSED, BLOCK>(block, panel), columns.clone()),
            }
            row += size;
        }
    }

    #[inline(always)]
    fn store<const ROWS: usize>(&mut self, first: usize, sums: [[f32; PANEL]; ROWS], columns: Range<usize>) {
        for (row, sums) in sums.iter().enumerate() {
            let output = &mut self.output[(first + row) * self.output_stride..][columns.clone()];
            output.copy_from_slice(&sums[..output.len()]);
            if let Some(bias) = self.bias.get(columns.clone()) {
                output.iter_mut().zip(bias).for_each(|(output, bias)| *output += bias);
            }
        }
    }
}

/// Rows that are computed together: six fill the registers of AVX2. The last few are split evenly.
#[inline(always)]
fn block_size(left: usize) -> usize {
    match left {
        1..=BLOCK => left,
        7 | 8 => 4,
        9 | 10 => 5,
        _ => BLOCK,
    }
}

#[inline(always)]
fn sums<const FUSED: bool, const ROWS: usize>(block: &[f32], panel: &[f32]) -> [[f32; PANEL]; ROWS] {
    let mut sums = [[0.0_f32; PANEL]; ROWS];
    for (values, weights) in block.as_chunks::<ROWS>().0.iter().zip(panel.as_chunks::<PANEL>().0) {
        for row in 0..ROWS {
            for column in 0..PANEL {
                let (value, weight, sum) = (values[row], weights[column], sums[row][column]);
                // Without the instruction, `mul_add` is a slow call.
                sums[row][column] = if FUSED { value.mul_add(weight, sum) } else { value * weight + sum };
            }
        }
    }
    sums
}

/// Half a group at a time: long plain loops over what lies side by side are what the compiler vectorises.
#[inline(always)]
fn unpack(values: &[u8], scales: &[u8], panel: &mut [f32]) {
    let (values, _) = values.as_chunks::<HALF>();
    let (scales, _) = scales.as_chunks::<{ PANEL * 2 }>();
    let (halves, _) = panel.as_chunks_mut::<HALF>();
    for ((values, scales), halves) in values.iter().zip(scales).zip(halves.as_chunks_mut::<2>().0) {
        let scales: [f32; PANEL] =
            std::array::from_fn(|j| half_to_f32(u16::from_le_bytes([scales[2 * j], scales[2 * j + 1]])));
        let mut tiled = [0.0; HALF];
        tiled.as_chunks_mut().0.iter_mut().for_each(|tile| *tile = scales);
        let [low, high] = halves;
        for i in 0..HALF {
            low[i] = (i32::from(values[i] & 15) - 8) as f32 * tiled[i];
        }
        for i in 0..HALF {
            high[i] = (i32::from(values[i] >> 4) - 8) as f32 * tiled[i];
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
        // Input 0 has the values -8..8 for the 16 outputs, input 16 all 7, the others 0; the scale of output j is 2^-j.
        let mut values = vec![0x88_u8; HALF];
        for (j, value) in values[..PANEL].iter_mut().enumerate() {
            *value = j as u8 | 15 << 4;
        }
        let scales: Vec<u8> = (0..PANEL as u16).flat_map(|j| ((15 - j) << 10).to_le_bytes()).collect();
        let mut panel = vec![9.0; GROUP * PANEL];
        unpack(&values, &scales, &mut panel);
        for (j, weight) in panel[..PANEL].iter().enumerate() {
            let scale = if j == 15 { 0.0 } else { 0.5_f32.powi(j as i32) };
            assert_eq!((*weight, panel[HALF + j]), ((j as f32 - 8.0) * scale, 7.0 * scale), "{j}");
        }
        assert!(panel[PANEL..HALF].iter().chain(&panel[HALF + PANEL..]).all(|weight| *weight == 0.0));
    }
}
