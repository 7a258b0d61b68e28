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

/// How many steps `work` takes.
#[cfg(test)]
pub(crate) fn taken<T>(work: impl FnOnce() -> T) -> u64 {
    STEPS.with(|steps| steps.set(0));
    std::hint::black_box(work());
    STEPS.with(std::cell::Cell::get)
}

/// Proves that `work` is linear: over inputs that double from 64 KB to `largest`, made by repeating `piece`, a byte never
/// costs more than `most` steps.
#[cfg(test)]
pub(crate) fn check_linear<T>(piece: &str, largest: usize, most: u64, work: impl Fn(&str) -> T) {
    let mut size = 64 << 10;
    while size <= largest {
        let text = piece.repeat(size / piece.len());
        let steps = taken(|| work(&text));
        assert!(steps > 0, "nothing was counted for {piece:?}");
        assert!(steps <= most * text.len() as u64, "{piece:?} × {size}: {} steps a byte", steps / text.len() as u64);
        size *= 2;
    }
}
