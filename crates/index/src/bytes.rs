//! Numbers as bytes: varints and fixed widths, little-endian. Reading beyond the end is an error.

use crate::error::Corrupt;

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads from the front of a slice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// From a place in a part.
    pub(crate) fn at(bytes: &'a [u8], offset: usize) -> Result<Self, Corrupt> {
        bytes.get(offset..).map(Self::new).ok_or(Corrupt("an offset lies outside of its part"))
    }

    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, Corrupt> {
        let (&first, rest) = self.rest.split_first().ok_or(Corrupt("a part is too short"))?;
        self.rest = rest;
        Ok(first)
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Corrupt> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Corrupt("a part is too short"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Corrupt> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Corrupt("a part is too short"))?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Corrupt> {
        self.fixed().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Corrupt> {
        self.fixed().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Corrupt> {
        self.fixed().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, Corrupt> {
        self.fixed().map(i64::from_le_bytes)
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, Corrupt> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let next = self.byte()?;
            value |= u64::from(next & 0x7f) << shift;
            if next < 0x80 {
                return Ok(value);
            }
        }
        Err(Corrupt("a number has no end"))
    }

    #[inline]
    pub(crate) fn varint_u32(&mut self) -> Result<u32, Corrupt> {
        u32::try_from(self.varint()?).map_err(|_| Corrupt("a number is too large"))
    }

    /// Reads numbers in ascending order, each as a varint of its distance from the one before it plus one; `next` is the least that
    /// the first can be. All of them are below `limit`.
    pub(crate) fn ascending(&mut self, numbers: &mut [u32], next: u32, limit: u32) -> Result<(), Corrupt> {
        let is_short = |gaps: &&[u8]| gaps.iter().fold(0, |any, gap| any | gap) < 0x80;
        let mut next = u64::from(next);
        // Gaps of one byte, which most blocks of common terms have, need no branches.
        if let Some(gaps) = self.rest.get(..numbers.len()).filter(is_short) {
            for (number, gap) in numbers.iter_mut().zip(gaps) {
                *number = (next + u64::from(*gap)) as u32;
                next += u64::from(*gap) + 1;
            }
            self.rest = &self.rest[numbers.len()..];
        } else {
            for number in numbers {
                let at = next + u64::from(self.varint_u32()?);
                *number = at as u32;
                next = at + 1;
            }
        }
        // They ascend: the last tells about all.
        if next <= u64::from(limit) { Ok(()) } else { Err(Corrupt("no such document")) }
    }

    pub(crate) fn varint_usize(&mut self) -> Result<usize, Corrupt> {
        usize::try_from(self.varint()?).map_err(|_| Corrupt("a number is too large"))
    }
}

/// Numbers of one width above the least of them: random access without decoding the others.
pub(crate) fn put_column(out: &mut Vec<u8>, values: &[i64]) {
    let base = values.iter().copied().min().unwrap_or(0);
    let above = |value: i64| value.wrapping_sub(base) as u64;
    let most = values.iter().map(|value| above(*value)).max().unwrap_or(0);
    let width = (64 - most.leading_zeros()).div_ceil(8) as u8;
    out.push(width);
    out.extend_from_slice(&base.to_le_bytes());
    for value in values {
        out.extend_from_slice(&above(*value).to_le_bytes()[..usize::from(width)]);
    }
}

/// A column as it was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    width: usize,
    /// The bits of one number.
    mask: u64,
    base: i64,
    start: usize,
}

impl Column {
    /// Reads where a column of `count` numbers stands in `part`, and where the next one begins.
    pub(crate) fn read(part: &[u8], start: usize, count: usize) -> Result<(Self, usize), Corrupt> {
        let mut bytes = Bytes::at(part, start)?;
        let (width, base) = (usize::from(bytes.byte()?), bytes.i64()?);
        if width > 8 {
            return Err(Corrupt("a column is too wide"));
        }
        bytes.take(width * count)?;
        let mask = if width == 0 { 0 } else { u64::MAX >> (64 - 8 * width) };
        let column = Self { width, mask, base, start: start + 9 };
        Ok((column, column.start + width * count))
    }

    #[inline]
    pub(crate) fn get(&self, part: &[u8], nth: usize) -> Result<i64, Corrupt> {
        let from = self.start + nth * self.width;
        let above = match part.get(from..).and_then(<[u8]>::first_chunk) {
            // One load, and what belongs to the next numbers is cut off.
            Some(bytes) => u64::from_le_bytes(*bytes) & self.mask,
            None => {
                let bytes = part.get(from..from + self.width).ok_or(Corrupt("a column is too short"))?;
                bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
            }
        };
        Ok(self.base.wrapping_add(above as i64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn varints_come_back(value in any::<u64>()) {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            prop_assert_eq!(Bytes::new(&out).varint(), Ok(value));
            prop_assert!(Bytes::new(&out[..out.len() - 1]).varint().is_err());
        }

        #[test]
        fn columns_come_back(values in prop::collection::vec(any::<i64>(), 0..20), small in prop::collection::vec(-3i64..300, 0..20)) {
            for values in [values, small] {
                let mut out = vec![7];
                put_column(&mut out, &values);
                let (column, end) = Column::read(&out, 1, values.len()).unwrap();
                prop_assert_eq!(end, out.len());
                for (nth, value) in values.iter().enumerate() {
                    prop_assert_eq!(column.get(&out, nth), Ok(*value));
                }
            }
        }
    }
}
