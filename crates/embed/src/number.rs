//! Functions of numbers that the forward pass needs. Written without branches, so that the compiler vectorises the loops.

use pulp::Arch;

/// A half-precision number. Infinities and NaN come out as large finite numbers: no sound model has any.
#[inline(always)]
pub(crate) fn half_to_f32(bits: u16) -> f32 {
    let bits = u32::from(bits);
    // The exponent's bias is 15 there and 127 here: 2^112 makes up for it, also below the smallest normal number.
    let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((112 + 127) << 23);
    f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16)
}

/// e^x, to about 7 digits; 0 below -87.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding and taking away 1.5 x 2^23 rounds to a whole number.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let whole = x * std::f32::consts::LOG2_E + ROUND;
    let power = whole.to_bits() << 23;
    let whole = whole - ROUND;
    // ln 2 in two parts, so that the difference keeps its digits.
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let series = 1.987_569_2e-4;
    let series = series * rest + 1.398_199_9e-3;
    let series = series * rest + 8.333_452e-3;
    let series = series * rest + 4.166_579_6e-2;
    let series = series * rest + 1.666_666_5e-1;
    let series = series * rest + 0.5;
    let series = series * rest * rest + rest + 1.0;
    f32::from_bits(series.to_bits().wrapping_add(power))
}

/// The error function, to 2e-7 (Abramowitz and Stegun, 7.1.26).
#[inline(always)]
fn erf(x: f32) -> f32 {
    let magnitude = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * magnitude);
    let series = 1.061_405_4 * t - 1.453_152;
    let series = series * t + 1.421_413_7;
    let series = series * t - 0.284_496_74;
    let series = series * t + 0.254_829_6;
    (1.0 - series * t * exp(-magnitude * magnitude)).copysign(x)
}

/// The Gaussian error linear unit, of each number.
pub(crate) fn gelu(arch: Arch, values: &mut [f32]) {
    arch.dispatch(|| {
        for value in values {
            *value = 0.5 * *value * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
        }
    });
}

/// Turns scores, each times `scale`, into shares that add up to 1.
pub(crate) fn softmax(arch: Arch, scores: &mut [f32], scale: f32) {
    arch.dispatch(|| {
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        for score in scores.iter_mut() {
            *score = exp((*score - most) * scale);
        }
        let sum = sum(scores);
        for score in scores {
            *score /= sum;
        }
    });
}

/// The sum in eight lanes: added one by one, floats cannot be vectorised.
#[inline(always)]
fn sum(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0_f32; 8];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

/// Brings every row to mean 0 and variance 1, then scales and shifts each column.
pub(crate) fn normalise_rows(arch: Arch, rows: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    let width = weight.len();
    arch.dispatch(|| {
        let mut squares = vec![0.0; width];
        for row in rows.chunks_exact_mut(width) {
            let mean = sum(row) / width as f32;
            for (square, value) in squares.iter_mut().zip(&*row) {
                *square = (value - mean) * (value - mean);
            }
            let factor = 1.0 / (sum(&squares) / width as f32 + epsilon).sqrt();
            for ((value, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
                *value = (*value - mean) * factor * weight + bias;
            }
        }
    });
}

/// Scales a vector to length 1; one without a direction stays as it is.
pub(crate) fn to_unit(vector: &mut [f32]) {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt() as f32;
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_erf_agree_with_tables() {
        for x in -860..=0 {
            let x = f64::from(x) / 10.0;
            let (ours, exact) = (f64::from(exp(x as f32)), x.exp());
            assert!((ours - exact).abs() <= exact * 1e-5, "exp({x}) = {ours}, not {exact}");
        }
        for (x, exact) in [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (2.0, 0.995_322_3), (5.0, 1.0)] {
            assert!((erf(x) - exact).abs() < 5e-7 && (erf(-x) + exact).abs() < 5e-7, "erf({x}) = {}", erf(x));
        }
    }

    #[test]
    fn halves_are_read_with_their_sign_and_below_the_normal_range() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65504.0),
            (0, 0.0),
        ] {
            assert_eq!(half_to_f32(bits), value);
        }
    }

    #[test]
    fn shares_add_up_and_rows_are_normalised() {
        let mut scores = [1.0, 2.0, 3.0, 1000.0, -1000.0, 4.0, 5.0, 6.0, 7.0];
        softmax(Arch::new(), &mut scores, 1.0);
        assert_eq!(scores[3], 1.0);
        assert!(scores[4] == scores[4].abs() && (scores.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        let mut row = [1.0, 3.0];
        normalise_rows(Arch::new(), &mut row, &[1.0, 2.0], &[0.0, 10.0], 0.0);
        assert_eq!(row, [-1.0, 12.0]);
    }
}
