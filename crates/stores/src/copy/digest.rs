//! Digests of tables. They do not depend on the order of the rows: stores may sort texts differently.

use sha2::{Digest as _, Sha256};

use super::{Cell, Table};

/// A digest of the rows of a table: the sum of the digests of each, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    table: &'static str,
    rows: u64,
    sum: [u64; 4],
}

impl TableDigest {
    /// That of no rows.
    pub fn new(table: &Table) -> Self {
        Self { table: table.name, rows: 0, sum: [0; 4] }
    }

    /// How many rows were added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[Cell]) {
        let mut hasher = Sha256::new();
        row.iter().for_each(|cell| put(&mut hasher, cell));
        let digest = hasher.finalize();
        for (sum, part) in self.sum.iter_mut().zip(digest.as_slice().chunks_exact(8)) {
            *sum = sum.wrapping_add(u64::from_le_bytes(part.try_into().unwrap_or_default()));
        }
        self.rows += 1;
    }

    /// One digest of several tables, as hexadecimal digits.
    pub fn of_all(tables: &[Self]) -> String {
        let mut hasher = Sha256::new();
        for table in tables {
            put_bytes(&mut hasher, table.table.as_bytes());
            hasher.update(table.rows.to_le_bytes());
            table.sum.iter().for_each(|part| hasher.update(part.to_le_bytes()));
        }
        hasher.finalize().as_slice().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Every cell says its kind and its length, so that no two rows have the same bytes.
fn put(hasher: &mut Sha256, cell: &Cell) {
    match cell {
        Cell::Null => hasher.update([0]),
        Cell::Int(number) => {
            hasher.update([1]);
            hasher.update(number.to_le_bytes());
        }
        Cell::Real(number) => {
            hasher.update([2]);
            hasher.update(number.to_bits().to_le_bytes());
        }
        Cell::Flag(flag) => hasher.update([3, u8::from(*flag)]),
        Cell::Text(text) => {
            hasher.update([4]);
            put_bytes(hasher, text.as_bytes());
        }
        Cell::Bytes(bytes) => {
            hasher.update([5]);
            put_bytes(hasher, bytes);
        }
        Cell::Texts(texts) => {
            hasher.update([6]);
            hasher.update((texts.len() as u64).to_le_bytes());
            texts.iter().for_each(|text| put_bytes(hasher, text.as_bytes()));
        }
    }
}

fn put_bytes(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}
