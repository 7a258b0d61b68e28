//! Waiting, and the chance in it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Time that passes between two tries.
pub trait Pause: Send + Sync {
    /// Lets time pass, and asks now and then whether to go on; `false` if not.
    fn pause(&self, how_long: Duration, go_on: &mut dyn FnMut() -> bool) -> bool;
    /// A number from 0 to 1, so that not everybody comes back at the same moment.
    fn chance(&self) -> f64;
}

/// How often it is asked whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// Real time, on the thread that calls.
#[derive(Debug)]
pub struct ThreadPause(AtomicU64);

impl ThreadPause {
    /// The seed is what makes this process differ from another.
    pub fn seeded(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Pause for ThreadPause {
    fn pause(&self, how_long: Duration, go_on: &mut dyn FnMut() -> bool) -> bool {
        let mut left = how_long;
        while !left.is_zero() {
            let step = left.min(ASK_EVERY);
            thread::sleep(step);
            left -= step;
            if !go_on() {
                return false;
            }
        }
        true
    }

    /// SplitMix64: a few operations, and good enough to spread tries.
    fn chance(&self) -> f64 {
        let mut z = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        f64::from((z >> 32) as u32) / f64::from(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_spread_over_its_range() {
        let pause = ThreadPause::seeded(7);
        let drawn: Vec<f64> = (0..1000).map(|_| pause.chance()).collect();
        assert!(drawn.iter().all(|chance| (0.0..=1.0).contains(chance)));
        let mean = drawn.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
        assert!(ThreadPause::seeded(8).chance() != ThreadPause::seeded(7).chance());
    }

    #[test]
    fn a_pause_ends_as_soon_as_nobody_wants_to_go_on() {
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            false
        };
        assert!(!ThreadPause::seeded(1).pause(Duration::from_secs(3600), &mut go_on));
        assert_eq!(asked, 1);
        assert!(ThreadPause::seeded(1).pause(Duration::ZERO, &mut || false));
    }
}
