//! The panel's pass: a cookie that says when it ends, and a key that belongs to it, both sealed with the token. A restart
//! forgets none; a new token ends all.
//!
//! Browsers show a cookie to every port of a host, so the cookie alone opens only the panel's files, which hold nothing. The
//! key is kept by the page, in a storage that other ports do not see, and is sent in a header.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{SignedDuration, Timestamp};
use sha2::Sha256;

use super::Token;

/// The cookie's name.
pub(crate) const COOKIE: &str = "throughline";

/// The header that the page sends its key in.
pub(crate) const KEY: &str = "throughline-key";

/// How long a browser stays let in.
const LIFETIME: SignedDuration = SignedDuration::from_hours(24 * 7);

/// What a browser is given.
#[derive(Debug)]
pub(crate) struct Pass {
    /// For the browser: `until.seal.nonce`.
    pub(crate) cookie: String,
    /// For the page.
    pub(crate) key: String,
}

/// Makes and checks passes.
#[derive(Clone)]
pub(crate) struct Passes {
    token: Token,
}

impl Passes {
    /// Sealed with this token.
    pub(crate) fn new(token: Token) -> Self {
        Self { token }
    }

    /// A pass from now on; `secret` makes it differ from every other.
    pub(crate) fn issue(&self, secret: [u8; 32], now: Timestamp) -> Pass {
        let until = now.saturating_add(LIFETIME).unwrap_or(now).as_second();
        let nonce = data_encoding::HEXLOWER.encode(&secret[..16]);
        let written =
            |use_: Use| data_encoding::HEXLOWER.encode(&self.seal(use_, until, &nonce).finalize().into_bytes());
        Pass { cookie: format!("{until}.{}.{nonce}", written(Use::Cookie)), key: written(Use::Key) }
    }

    /// Whether a cookie is ours and still good: enough for the panel's files.
    pub(crate) fn knows(&self, cookie: &str, now: Timestamp) -> bool {
        let Some((until, seal, nonce)) = parts(cookie) else { return false };
        until > now.as_second() && self.is_sealed(Use::Cookie, until, nonce, seal)
    }

    /// Whether a cookie is ours and still good, and the key belongs to it.
    pub(crate) fn admits(&self, cookie: &str, key: &str, now: Timestamp) -> bool {
        let Some((until, _, nonce)) = parts(cookie) else { return false };
        self.knows(cookie, now) && self.is_sealed(Use::Key, until, nonce, key)
    }

    /// How long, in seconds, for the cookie itself.
    pub(crate) fn seconds() -> i64 {
        LIFETIME.as_secs()
    }

    fn is_sealed(&self, use_: Use, until: i64, nonce: &str, seal: &str) -> bool {
        let seal = data_encoding::HEXLOWER.decode(seal.as_bytes());
        seal.is_ok_and(|seal| self.seal(use_, until, nonce).verify_slice(&seal).is_ok())
    }

    fn seal(&self, use_: Use, until: i64, nonce: &str) -> Hmac<Sha256> {
        let mut key = [0; 64];
        key.iter_mut().zip(self.token.as_str().bytes()).for_each(|(byte, given)| *byte = given);
        let mut mac = Hmac::<Sha256>::new(&key.into());
        let what = match use_ {
            Use::Cookie => "cookie",
            Use::Key => "key",
        };
        mac.update(format!("panel {what} {until} {nonce}").as_bytes());
        mac
    }
}

/// What a seal is for: that of a cookie is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Cookie,
    Key,
}

/// When a cookie ends, its seal and its nonce.
fn parts(cookie: &str) -> Option<(i64, &str, &str)> {
    let (until, rest) = cookie.split_once('.')?;
    let (seal, nonce) = rest.split_once('.')?;
    Some((until.parse().ok()?, seal, nonce))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    #[test]
    fn a_pass_is_good_until_its_end_for_its_own_token() {
        let passes = Passes::new(Token::of([1; 32]));
        let Pass { cookie, key } = passes.issue([7; 32], NOW);
        assert!(passes.knows(&cookie, NOW) && passes.admits(&cookie, &key, NOW));
        assert!(!passes.knows(&cookie, NOW + LIFETIME) && !passes.admits(&cookie, &key, NOW + LIFETIME));
        assert!(!Passes::new(Token::of([2; 32])).knows(&cookie, NOW));
        let longer = cookie.replacen("604800", "999800", 1);
        assert_ne!(longer, cookie);
        for forged in [longer.as_str(), "", ".", "..", "9999999999..", "9999999999.00.00", "x.y.z"] {
            assert!(!passes.knows(forged, NOW) && !passes.admits(forged, &key, NOW), "{forged}");
        }
    }

    #[test]
    fn a_key_belongs_to_one_cookie_and_does_not_follow_from_it() {
        let passes = Passes::new(Token::of([1; 32]));
        let (one, other) = (passes.issue([7; 32], NOW), passes.issue([8; 32], NOW));
        assert!(passes.admits(&one.cookie, &one.key, NOW));
        let seal = one.cookie.split('.').nth(1).unwrap();
        for key in ["", "00", seal, one.cookie.as_str(), other.key.as_str()] {
            assert!(!passes.admits(&one.cookie, key, NOW), "{key}");
        }
    }
}
