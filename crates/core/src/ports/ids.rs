//! New identifiers.

/// New identifiers.
pub trait Ids: Send + Sync {
    /// Sixteen characters of `a-z2-7` that were never given before and whose first six differ, nearly always.
    fn next(&self) -> String;
}
