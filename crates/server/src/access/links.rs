//! One-time links: a code that opens the panel once, within minutes.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

/// How long a link waits to be opened.
const LIFETIME: SignedDuration = SignedDuration::from_mins(10);

/// More links than a person asks for: the oldest goes.
const MOST: usize = 16;

/// The links that were given out and not yet opened. Only digests are kept.
#[derive(Default)]
pub(crate) struct Links {
    waiting: Mutex<Vec<([u8; 32], Timestamp)>>,
}

impl Links {
    /// A new link's code, from a secret nobody else knows.
    pub(crate) fn issue(&self, secret: [u8; 32], now: Timestamp) -> String {
        let code = data_encoding::BASE64URL_NOPAD.encode(&secret);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|(_, until)| *until > now);
        if waiting.len() >= MOST {
            waiting.remove(0);
        }
        waiting.push((digest(&code), now.saturating_add(LIFETIME).unwrap_or(now)));
        code
    }

    /// Whether this code opens the panel; it does so once.
    pub(crate) fn redeem(&self, code: &str, now: Timestamp) -> bool {
        let digest = digest(code);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|(_, until)| *until > now);
        let found = waiting.iter().position(|(known, _)| *known == digest);
        found.map(|at| waiting.remove(at)).is_some()
    }
}

fn digest(code: &str) -> [u8; 32] {
    Sha256::digest(code.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_once_and_not_for_long() {
        let links = Links::default();
        let now = Timestamp::UNIX_EPOCH;
        let code = links.issue([1; 32], now);
        assert!(!links.redeem("something else", now));
        assert!(links.redeem(&code, now));
        assert!(!links.redeem(&code, now));
        let late = links.issue([2; 32], now);
        assert!(!links.redeem(&late, now + LIFETIME));
    }
}
