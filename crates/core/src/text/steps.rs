//! Counts what text functions look at, so that tests can prove that they are linear. Costs nothing outside tests.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Notes that `n` bytes or items were looked at.
#[inline(always)]
pub(crate) fn count(n: usize) {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + n as u64));
    #[cfg(not(test))]
    let _ = n;
}

#[cfg(test)]
pub(crate) use tests::check_linear;

#[cfg(test)]
mod tests {
    use super::STEPS;

    /// How many steps `work` takes.
    fn taken<T>(work: impl FnOnce() -> T) -> u64 {
        STEPS.with(|steps| steps.set(0));
        std::hint::black_box(work());
        STEPS.with(std::cell::Cell::get)
    }

    /// The largest input of [`check_linear`], in bytes, where nothing else is asked for.
    const LARGEST: usize = 256 << 10;

    /// Asks for larger ones, in KB: `THROUGHLINE_LARGEST_KB=4096`.
    const ASKED: &str = "THROUGHLINE_LARGEST_KB";

    /// Proves that `work` is linear: over inputs that double from 64 KB to 256 KB, or as far as is asked for, made by repeating
    /// `piece`, a byte never costs more than `most` steps, and hardly more of a large input than of a small one.
    #[allow(clippy::disallowed_methods, reason = "how far the tests go is said from outside")]
    pub(crate) fn check_linear<T>(piece: &str, most: u64, work: impl Fn(&str) -> T) {
        let asked = std::env::var(ASKED).ok().and_then(|kb| kb.parse::<usize>().ok()).map(|kb| kb << 10);
        let (mut size, mut first) = (64 << 10, None);
        while size <= asked.unwrap_or(LARGEST) {
            let text = piece.repeat(size / piece.len());
            let steps = taken(|| work(&text));
            assert!(steps > 0, "nothing was counted for {piece:?}");
            let (bytes, first) = (text.len() as u64, *first.get_or_insert(steps / text.len() as u64));
            assert!(steps <= most * bytes, "{piece:?} × {size}: {} steps a byte", steps / bytes);
            assert!(
                steps <= (2 * first + 2) * bytes,
                "{piece:?} × {size}: {} steps a byte, not {first}",
                steps / bytes
            );
            size *= 2;
        }
    }
}
