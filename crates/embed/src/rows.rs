//! The embeddings of tokens: a large table of which each text needs a few rows.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::{Mutex, PoisonError};

use crate::number::half_to_f32;
use crate::product::GROUP;

/// How numbers are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 32 bits.
    F32,
    /// Half precision.
    F16,
    /// The upper half of 32 bits.
    Bf16,
}

impl Kind {
    /// Bytes per number.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// Reads little-endian numbers.
    pub(crate) fn read(self, bytes: &[u8], numbers: &mut [f32]) {
        match self {
            Self::F32 => {
                let bytes = bytes.as_chunks::<4>().0;
                numbers.iter_mut().zip(bytes).for_each(|(number, bytes)| *number = f32::from_le_bytes(*bytes));
            }
            Self::F16 => {
                let halves = bytes.as_chunks::<2>().0.iter().map(|bytes| half_to_f32(u16::from_le_bytes(*bytes)));
                numbers.iter_mut().zip(halves).for_each(|(number, half)| *number = half);
            }
            Self::Bf16 => {
                let uppers = bytes.as_chunks::<2>().0.iter().map(|bytes| u32::from(u16::from_le_bytes(*bytes)) << 16);
                numbers.iter_mut().zip(uppers).for_each(|(number, bits)| *number = f32::from_bits(bits));
            }
        }
    }
}

/// A table of rows, by token.
#[derive(Debug)]
pub(crate) enum WordRows {
    /// Compiled in, 4 bits per number and a half-precision scale for each group.
    Bits4 {
        /// Element 2i of a row in the low nibble of byte i, plus 8.
        values: &'static [u8],
        /// Little-endian.
        scales: &'static [u8],
    },
    /// Read from a file when it is needed: of 250,000 rows, a question takes ten.
    File {
        /// The open file.
        file: Mutex<File>,
        /// Where the table begins in it.
        start: u64,
        /// How its numbers are written.
        kind: Kind,
        /// How many rows there are.
        count: usize,
    },
}

impl WordRows {
    /// Reads a token's row.
    pub(crate) fn read(&self, token: u32, row: &mut [f32]) -> io::Result<()> {
        let token = token as usize;
        match self {
            Self::Bits4 { values, scales } => {
                let values = &values[token * row.len() / 2..][..row.len() / 2];
                let scales = &scales[token * row.len() / GROUP * 2..][..row.len() / GROUP * 2];
                let groups = row.chunks_exact_mut(GROUP).zip(values.chunks_exact(GROUP / 2));
                for ((row, values), scale) in groups.zip(scales.as_chunks::<2>().0) {
                    let scale = half_to_f32(u16::from_le_bytes(*scale));
                    for (pair, value) in row.as_chunks_mut::<2>().0.iter_mut().zip(values) {
                        *pair = [value & 15, value >> 4].map(|value| (f32::from(value) - 8.0) * scale);
                    }
                }
                Ok(())
            }
            Self::File { file, start, kind, count } => {
                if token >= *count {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "the vocabulary has more tokens than the model",
                    ));
                }
                let mut bytes = vec![0; row.len() * kind.size()];
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(start + (token * bytes.len()) as u64))?;
                file.read_exact(&mut bytes)?;
                kind.read(&bytes, row);
                Ok(())
            }
        }
    }
}
