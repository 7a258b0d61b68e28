//! One number for what may be found: an entry, a turn or a passage. Vectors and candidates are known by it.

use throughline_core::recall::CandidateMark;

/// Added to the row of a turn, it gives the turn's number; twice, that of a passage.
pub(crate) const TURNS: i64 = 1 << 40;

/// What a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marked {
    Entry(i64),
    Turn(i64),
    Chunk(i64),
}

pub(crate) const fn of_entry(row: i64) -> CandidateMark {
    CandidateMark::new(row)
}

pub(crate) const fn of_turn(row: i64) -> CandidateMark {
    CandidateMark::new(TURNS + row)
}

pub(crate) const fn of_chunk(row: i64) -> CandidateMark {
    CandidateMark::new(2 * TURNS + row)
}

pub(crate) const fn marked(mark: CandidateMark) -> Marked {
    match mark.get() {
        number if number < TURNS => Marked::Entry(number),
        number if number < 2 * TURNS => Marked::Turn(number - TURNS),
        number => Marked::Chunk(number - 2 * TURNS),
    }
}
