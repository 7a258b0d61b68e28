//! How full identity is.

use serde::Serialize;

/// What identity may hold, in characters.
pub const IDENTITY_LIMIT: usize = 1000;

/// How full identity is; shown as `[67% — 670/1,000 chars]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct IdentityUsage {
    /// Characters that would be injected.
    pub chars: usize,
    /// Characters that fit.
    pub limit: usize,
}

impl IdentityUsage {
    /// Counts the characters of a profile that would be injected.
    pub fn of(profile: &str) -> Self {
        Self { chars: profile.trim().chars().count(), limit: IDENTITY_LIMIT }
    }

    /// Whether it is over its limit.
    pub fn is_over(self) -> bool {
        self.chars > self.limit
    }
}

impl std::fmt::Display for IdentityUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = self.chars * 100 / self.limit;
        write!(f, "[{percent}% — {}/{} chars]", thousands(self.chars), thousands(self.limit))
    }
}

fn thousands(n: usize) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", thousands(n / 1000), n % 1000) }
}
