//! One number for what may be found: an entry, a turn or a passage. Vectors and candidates are known by it.

use throughline_core::recall::CandidateMark;

/// Added to the row of a turn, it gives the turn's number; twice, that of a passage.
pub const TURNS: i64 = 1 << 40;

/// What a mark stands for, by the number of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// An entry or bullet.
    Entry(i64),
    /// A turn.
    Turn(i64),
    /// A passage.
    Chunk(i64),
}

/// The mark of an entry or bullet.
pub const fn of_entry(row: i64) -> CandidateMark {
    CandidateMark::new(row)
}

/// The mark of a turn.
pub const fn of_turn(row: i64) -> CandidateMark {
    CandidateMark::new(TURNS + row)
}

/// The mark of a passage.
pub const fn of_chunk(row: i64) -> CandidateMark {
    CandidateMark::new(2 * TURNS + row)
}

/// What a mark stands for.
pub const fn marked(mark: CandidateMark) -> Marked {
    match mark.get() {
        number if number < TURNS => Marked::Entry(number),
        number if number < 2 * TURNS => Marked::Turn(number - TURNS),
        number => Marked::Chunk(number - 2 * TURNS),
    }
}
