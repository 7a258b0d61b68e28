//! The panel's cookie: a pass that says when it ends, sealed with the token. A restart forgets none; a new token ends all.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{SignedDuration, Timestamp};
use sha2::Sha256;

use super::Token;

/// The cookie's name.
pub(crate) const COOKIE: &str = "throughline";

/// How long a browser stays let in. Browsers show a cookie to every port of a host, so it does not last for months.
const LIFETIME: SignedDuration = SignedDuration::from_hours(24 * 7);

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

    /// A pass from now on.
    pub(crate) fn issue(&self, now: Timestamp) -> String {
        let until = now.saturating_add(LIFETIME).unwrap_or(now).as_second();
        format!("{until}.{}", data_encoding::HEXLOWER.encode(&self.seal(until).finalize().into_bytes()))
    }

    /// Whether a pass is ours and still good.
    pub(crate) fn admits(&self, pass: &str, now: Timestamp) -> bool {
        let Some((until, seal)) = pass.split_once('.') else { return false };
        let (Ok(until), Ok(seal)) = (until.parse::<i64>(), data_encoding::HEXLOWER.decode(seal.as_bytes())) else {
            return false;
        };
        until > now.as_second() && self.seal(until).verify_slice(&seal).is_ok()
    }

    /// How long, in seconds, for the cookie itself.
    pub(crate) fn seconds() -> i64 {
        LIFETIME.as_secs()
    }

    fn seal(&self, until: i64) -> Hmac<Sha256> {
        let mut key = [0; 64];
        key.iter_mut().zip(self.token.as_str().bytes()).for_each(|(byte, given)| *byte = given);
        let mut mac = Hmac::<Sha256>::new(&key.into());
        mac.update(format!("panel {until}").as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_good_until_its_end_for_its_own_token() {
        let passes = Passes::new(Token::of([1; 32]));
        let now = Timestamp::UNIX_EPOCH;
        let pass = passes.issue(now);
        assert!(passes.admits(&pass, now));
        assert!(!passes.admits(&pass, now + LIFETIME));
        assert!(!Passes::new(Token::of([2; 32])).admits(&pass, now));
        let longer = pass.replacen("604800", "999800", 1);
        assert_ne!(longer, pass);
        for forged in [longer.as_str(), "", ".", "9999999999.", "9999999999.00", "x.y"] {
            assert!(!passes.admits(forged, now), "{forged}");
        }
    }
}
