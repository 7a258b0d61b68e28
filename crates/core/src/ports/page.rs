//! Pages of listings.

/// One page of a listing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// How many at most.
    pub limit: usize,
    /// Where the previous page ended.
    pub cursor: Option<String>,
}
