//! Which number a token has.

use std::collections::HashMap;

/// Tokens and their numbers.
#[derive(Debug)]
pub(crate) enum Vocabulary {
    /// Read from a model's directory.
    Map(HashMap<String, u32>),
    /// Compiled in, sorted: it is searched where it lies, and nothing is built when a process starts.
    Sorted {
        /// Where each token begins in the text, and the end; u32, little-endian.
        offsets: &'static [u8],
        /// The tokens' numbers; u16, little-endian.
        numbers: &'static [u8],
        /// All tokens.
        text: &'static [u8],
    },
}

impl Vocabulary {
    /// The number of a token.
    pub(crate) fn get(&self, token: &str) -> Option<u32> {
        match self {
            Self::Map(map) => map.get(token).copied(),
            Self::Sorted { offsets, numbers, text } => {
                let (offsets, numbers) = (offsets.as_chunks::<4>().0, numbers.as_chunks::<2>().0);
                let offset = |index: usize| offsets.get(index).map(|bytes| u32::from_le_bytes(*bytes) as usize);
                let (mut low, mut high) = (0, numbers.len());
                while low < high {
                    let middle = low.midpoint(high);
                    let here = text.get(offset(middle)?..offset(middle + 1)?)?;
                    match here.cmp(token.as_bytes()) {
                        std::cmp::Ordering::Less => low = middle + 1,
                        std::cmp::Ordering::Greater => high = middle,
                        std::cmp::Ordering::Equal => return Some(u16::from_le_bytes(numbers[middle]).into()),
                    }
                }
                None
            }
        }
    }
}
