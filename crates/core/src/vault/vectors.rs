//! Vectors, packed: one bit for each number to look through all of them, one byte for each to settle the order.
//!
//! A vector is brought to length 1 first, so that the product of two is their cosine. Nothing that is not a number,
//! and no vector without a direction, is ever packed.

/// The longest vector that is taken: more is no embedding.
const MAX_DIMENSION: usize = 16_384;

/// Up to so many vectors all bytes are compared and the bits are not needed; beyond, the bits choose so many.
const EXACT: usize = 1_000;

/// Why an embedder's answer is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// Not one for each text.
    #[error("{found} vectors for {asked} texts")]
    Count {
        /// How many texts were sent.
        asked: usize,
        /// How many vectors came.
        found: usize,
    },
    /// They are not alike, or not as before.
    #[error("a vector of {found} numbers instead of {expected}")]
    Dimension {
        /// As the others.
        expected: usize,
        /// This one.
        found: usize,
    },
    /// Not a number, infinite, or all zero.
    #[error("a vector that points nowhere")]
    NotANumber,
}

/// A vector as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Packed {
    /// The sign of each number, eight to a byte, the last byte filled with zeros.
    pub bits: Vec<u8>,
    /// What one step of a byte stands for.
    pub scale: f32,
    /// Each number in steps, as the bytes of signed ones.
    pub bytes: Vec<u8>,
}

impl Packed {
    /// Packs a vector that was [`checked`].
    pub fn of(vector: &[f32]) -> Self {
        let vector = unit(vector);
        let largest = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        let byte = |number: &f32| (number / scale).round().clamp(-127.0, 127.0) as i8 as u8;
        Self { bits: signs(&vector), scale, bytes: vector.iter().map(byte).collect() }
    }

    /// How many numbers it has.
    pub fn dimension(&self) -> usize {
        self.bytes.len()
    }
}

/// The same direction at length 1.
pub(crate) fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| f64::from(*number) * f64::from(*number)).sum::<f64>().sqrt();
    let shrink = if length > 0.0 { 1.0 / length } else { 0.0 };
    vector.iter().map(|number| (f64::from(*number) * shrink) as f32).collect()
}

fn signs(vector: &[f32]) -> Vec<u8> {
    let byte =
        |eight: &[f32]| eight.iter().enumerate().fold(0, |byte, (at, number)| byte | (u8::from(*number > 0.0) << at));
    vector.chunks(8).map(byte).collect()
}

/// An embedder's answer, if it can be used: one vector for each text, all alike, and as long as those before.
pub fn checked(asked: usize, vectors: &[Vec<f32>], expected: Option<usize>) -> Result<usize, VectorError> {
    if vectors.len() != asked {
        return Err(VectorError::Count { asked, found: vectors.len() });
    }
    let dimension = expected.or_else(|| vectors.first().map(Vec::len)).unwrap_or_default();
    for vector in vectors {
        if vector.len() != dimension || vector.len() > MAX_DIMENSION {
            return Err(VectorError::Dimension { expected: dimension.min(MAX_DIMENSION), found: vector.len() });
        }
        let points = vector.iter().any(|number| *number != 0.0);
        if !points || !vector.iter().all(|number| number.is_finite()) {
            return Err(VectorError::NotANumber);
        }
    }
    Ok(dimension)
}

/// How many signs differ.
pub fn hamming(a: &[u8], b: &[u8]) -> u32 {
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: u32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| (x ^ y).count_ones()).sum();
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    rest + a.zip(b).map(|(x, y)| (word(x) ^ word(y)).count_ones()).sum::<u32>()
}

/// A vector that is looked for: its signs, and its numbers as they are, so that only one side is rounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Sought {
    /// As in [`Packed`].
    pub bits: Vec<u8>,
    numbers: Vec<f32>,
}

impl Sought {
    /// Prepares a vector that was [`checked`].
    pub fn of(vector: &[f32]) -> Self {
        let numbers = unit(vector);
        Self { bits: signs(&numbers), numbers }
    }

    /// The cosine with a packed vector, nearly.
    pub fn cosine(&self, scale: f32, bytes: &[u8]) -> f64 {
        const LANES: usize = 8;
        // Several sums at a time: the compiler may not reorder one.
        let mut sums = [0.0_f32; LANES];
        for (numbers, bytes) in self.numbers.chunks(LANES).zip(bytes.chunks(LANES)) {
            for ((sum, number), byte) in sums.iter_mut().zip(numbers).zip(bytes) {
                *sum += number * f32::from(*byte as i8);
            }
        }
        f64::from(sums.iter().sum::<f32>()) * f64::from(scale)
    }
}

/// How many vectors are compared by their bytes.
pub fn exact_limit(wanted: usize) -> usize {
    EXACT.max(wanted.saturating_mul(10))
}

/// Of so many memories, how many are compared by their bytes: in a small memory the signs decide less.
pub fn rescored(of: usize, wanted: usize) -> usize {
    const SMALL: usize = 10_000;
    let few = if of <= SMALL { EXACT } else { EXACT / 2 };
    few.max(wanted.saturating_mul(4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_vector_is_refused() {
        let good = vec![vec![1.0, 2.0], vec![0.5, -1.0]];
        assert_eq!(checked(2, &good, None), Ok(2));
        assert_eq!(checked(3, &good, None), Err(VectorError::Count { asked: 3, found: 2 }));
        assert_eq!(checked(2, &good, Some(3)), Err(VectorError::Dimension { expected: 3, found: 2 }));
        for bad in [f32::NAN, f32::INFINITY] {
            assert_eq!(checked(1, &[vec![bad, 1.0]], None), Err(VectorError::NotANumber));
        }
        assert_eq!(checked(1, &[vec![0.0; 4]], None), Err(VectorError::NotANumber));
        assert_eq!(checked(1, &[vec![]], None), Err(VectorError::NotANumber));
    }

    #[test]
    fn the_same_direction_is_the_same_vector() {
        let (one, ten) = (Packed::of(&[0.1, -0.2, 0.3]), Packed::of(&[1.0, -2.0, 3.0]));
        assert_eq!(one, ten);
        assert!((Sought::of(&[0.1, -0.2, 0.3]).cosine(ten.scale, &ten.bytes) - 1.0).abs() < 0.01);
        assert_eq!(hamming(&one.bits, &Packed::of(&[-0.1, 0.2, -0.3]).bits), 3);
    }

    proptest! {
        #[test]
        fn the_packed_cosine_is_close(
            a in proptest::collection::vec(-1.0f32..1.0, 70), b in proptest::collection::vec(-1.0f32..1.0, 70),
        ) {
            prop_assume!(checked(2, &[a.clone(), b.clone()], None).is_ok());
            let (x, y) = (unit(&a), unit(&b));
            let exact: f64 = x.iter().zip(&y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            let packed = Packed::of(&b);
            prop_assert!((Sought::of(&a).cosine(packed.scale, &packed.bytes) - exact).abs() < 0.01);
            let differ = a.iter().zip(&b).filter(|(a, b)| (**a > 0.0) != (**b > 0.0)).count();
            prop_assert_eq!(hamming(&Packed::of(&a).bits, &packed.bits) as usize, differ);
        }
    }
}
