//! Statements that were taken back, and the digests by which they are known without their text.

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::{EntryId, SessionId, TurnId, spelled};

/// Why a statement is not given any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// Another statement took its place.
    Superseded,
    /// It was forgotten, or its line was removed.
    Forgotten,
    /// It was erased: only its digest is left.
    Erased,
}

spelled!(Withdrawal, "withdrawal", "superseded, forgotten, erased", {
    Superseded => "superseded", Forgotten => "forgotten", Erased => "erased",
});

/// A statement that was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawn {
    /// What it said; none if it was erased.
    pub content: Option<String>,
    /// The turns it came from.
    pub turns: Vec<TurnId>,
    /// The conversation it came from.
    pub session: Option<SessionId>,
    /// Why it is not given.
    pub why: Withdrawal,
    /// What took its place.
    pub by: Option<EntryId>,
    /// When it was taken back.
    pub at: Timestamp,
}

/// A keyed digest of a normalised statement (HMAC-SHA-256): without the key of its store, no guess can be tried against it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StatementDigest([u8; 32]);

impl StatementDigest {
    /// Of a statement in one of its [`digested`](crate::lineage::digested) forms.
    pub fn of(key: &[u8], normalised: &str) -> Self {
        const BLOCK: usize = 64;
        let mut padded = [0_u8; BLOCK];
        padded.iter_mut().zip(key).for_each(|(place, byte)| *place = *byte);
        let with = |pad: u8| padded.map(|byte| byte ^ pad);
        let inner = Sha256::new().chain_update(with(0x36)).chain_update(normalised).finalize();
        Self(Sha256::new().chain_update(with(0x5c)).chain_update(inner).finalize().into())
    }

    /// The digest itself.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_standard_hmac() {
        let digest = StatementDigest::of(b"Jefe", "what do ya want for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(data_encoding::HEXLOWER.encode(digest.as_bytes()), expected);
    }
}
