//! What every store does alike, whatever it keeps its rows in: how rows become documents of the word index and candidates of a
//! recall, how the signs of vectors are packed, what a change takes back, and how a whole memory is copied.
//!
//! Goes in: what a store read. Comes out: what it writes, or gives. Never happens: SQL, a file, a clock.

mod balance;
pub mod copy;
pub mod marks;
pub mod signs;
pub mod words;

use jiff::Timestamp;

pub use balance::{Balance, NewWithdrawal};

/// A time as stores keep it, in milliseconds. One that no calendar has becomes the nearest that there is: a single bad row must
/// not keep the others from being read.
pub fn time(milliseconds: i64) -> Timestamp {
    let (first, last) = (Timestamp::MIN.as_second() * 1000, Timestamp::MAX.as_second() * 1000);
    let nearest = if milliseconds < first { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(milliseconds.clamp(first, last)).unwrap_or(nearest)
}

/// The first whole millisecond that is not before `at`: stored times are whole.
pub fn rounded_up(at: Timestamp) -> i64 {
    let milliseconds = at.as_millisecond();
    let rest = at.as_nanosecond() - i128::from(milliseconds) * 1_000_000;
    milliseconds + i64::from(rest > 0)
}
