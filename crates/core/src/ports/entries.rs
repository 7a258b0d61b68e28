//! Entries: kept as rows, changed only by logged operations ([`Changes`](super::Changes)).

use crate::model::{Entry, EntryId, Memory, Namespace};
use crate::recall::Filter;

use super::{Page, Stored};

/// Entries, and the lines of documents, looked up and listed.
pub trait Entries {
    /// One memory by its id.
    fn memory(&self, id: &EntryId) -> Stored<Option<Memory>>;
    /// The active entry with this key.
    fn keyed(&self, namespace: &Namespace, project: Option<&str>, key: &str) -> Stored<Option<Entry>>;
    /// Every id that `reference` may mean: an exact id, else exact keys (active first), else an id's beginning.
    fn resolve(&self, reference: &str) -> Stored<Vec<EntryId>>;
    /// Memories that pass the filter, newest first.
    fn list(&self, filter: &Filter, page: &Page) -> Stored<Listing>;
}

/// What a page holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, utoipa::ToSchema)]
pub struct Listing {
    /// Newest first.
    pub memories: Vec<Memory>,
    /// Where the next page begins, if there is one.
    pub cursor: Option<String>,
}
